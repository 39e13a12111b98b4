"use strict";

// The data of the page → a run whose steps can be asked for. Nothing here touches what is shown.

const KINDS = ["β", "δ", "μ", "γ", "ε", "π"];

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

class Run {
  constructor(data) {
    this.head = data.head;
    this.records = data.records;
    this.first = data.first;
    this.texts = data.texts;
    this.rules = data.rules.map(([name, kind, line, sentence]) => ({ name, kind, line, sentence }));
    this.threads = data.threads;
    this.frames = data.frames;
    this.bindings = data.bindings;
    this.columns = Object.fromEntries(
      Object.entries(data.steps).map(([name, numbers]) => [name, Int32Array.from(numbers)]),
    );
    this.last = this.first + this.columns.rule.length - 1;
    this.depths = depths(this.frames.next);
    this.marks = new Map(KINDS.map((kind) => [kind, this.stepsOf(kind)]));
    const ends = this.records.map((record, at) => [record.done ?? Infinity, at]);
    ends.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    this.ends = { steps: ends.map(([step]) => step), records: ends.map(([, at]) => at) };
  }

  // The numbers of the steps of a kind, in order.
  stepsOf(kind) {
    const isOfKind = this.rules.map((rule) => rule.kind === kind);
    const found = [];
    this.columns.rule.forEach((rule, at) => {
      if (isOfKind[rule]) found.push(this.first + at);
    });
    return Int32Array.from(found);
  }

  clamped(number) {
    return Math.min(Math.max(number, this.first), this.last);
  }

  // One step, with its texts.
  step(number) {
    const at = number - this.first;
    const row = {};
    for (const [name, numbers] of Object.entries(this.columns)) row[name] = numbers[at];
    return {
      number,
      rule: this.rules[row.rule],
      thread: this.threads[row.thread],
      site: this.texts[row.site],
      redex: this.texts[row.redex],
      result: this.texts[row.result],
      around: row.around,
      left: row.left,
      kont: row.kont,
      env: this.bound(row.env),
      store: this.bound(row.store),
      others: this.bound(row.others),
    };
  }

  bound(number) {
    const row = this.bindings[number];
    const pairs = [];
    for (let at = 0; at < row.length; at += 2) {
      pairs.push([this.texts[row[at]], this.texts[row[at + 1]]]);
    }
    return pairs;
  }

  // Up to `most` frames from `top`, the innermost first, but for those that `base` has too.
  stack(top, most, base = 0) {
    const { before, after, next } = this.frames;
    const found = [];
    for (let at = top; at && at !== base && found.length < most; at = next[at]) {
      found.push({ number: at, before: this.texts[before[at]], after: this.texts[after[at]] });
    }
    return found;
  }

  // The next step of a kind after `number`, or with `by` = -1 the one before; null if none.
  towards(kind, number, by) {
    const marks = this.marks.get(kind);
    const at = by > 0 ? firstAbove(marks, number) : firstAbove(marks, number - 1) - 1;
    return at >= 0 && at < marks.length ? marks[at] : null;
  }

  // How many reductions of each kind there are up to a step.
  counters(number) {
    return KINDS.map((kind) => [kind, firstAbove(this.marks.get(kind), number)]);
  }

  // The steps that a search finds, in order.
  search(query) {
    const wanted = query.trim().toLowerCase();
    if (!wanted) return [];
    const fits = (text) => text.toLowerCase().includes(wanted);
    const texts = Uint8Array.from(this.texts, (text) => fits(text));
    const rules = this.rules.map((rule) => fits(rule.name) || rule.kind === query.trim());
    const threads = this.threads.map((thread) => thread !== this.threads[0] && fits(thread));
    const ends = new Set(
      this.records.filter((each) => fits(each.input[0]) || fits(each.output[0]) || fits(each.term))
        .map((each) => each.done),
    );
    const { rule, thread, site, redex, result } = this.columns;
    const found = [];
    for (let at = 0; at < rule.length; at += 1) {
      const number = this.first + at;
      if (rules[rule[at]] || texts[site[at]] || texts[redex[at]] || texts[result[at]] ||
          threads[thread[at]] || ends.has(number)) {
        found.push(number);
      }
    }
    return found;
  }

  // The number of the record that a step is about: the first that is not done before it, or the last.
  recordAt(number) {
    const { steps, records } = this.ends;
    return records[Math.min(firstAbove(steps, number - 1), records.length - 1)];
  }
}

// How many frames there are from each frame outwards; a frame comes after the one around it.
function depths(next) {
  const found = new Int32Array(next.length);
  for (let at = 1; at < next.length; at += 1) found[at] = found[next[at]] + 1;
  return found;
}

// The place of the first number above `bound`, in numbers that rise.
function firstAbove(numbers, bound) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
