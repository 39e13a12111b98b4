// The macro trace as a timeline and as a flame graph. Both are drawn again when their width changes.

const ROW = 26;
const LABEL_WIDTH = 7.2; // of a character, near enough to know whether a label fits

// What widths can stand for; each gives the size of a record.
function measures(run) {
  const steps = ownSteps(run);
  const size = {
    time: (record) => record.to - record.from,
    tokens: (record) => (record.tokens ? record.tokens[0] + record.tokens[1] : 0),
    steps: (record) => steps.get(record),
  };
  const total = (by) => run.records.reduce((sum, record) => sum + size[by](record), 0);
  return Object.keys(size)
    .filter((by) => by === "steps" || total(by) > 0)
    .map((by) => ({ by, of: size[by], text: { time: seconds, tokens: tokensText, steps: stepsText }[by] }));
}

const tokensText = (count) => counted(count, "token");
const stepsText = (count) => counted(count, "step");

// The steps that a thread made since its last record, for each record.
function ownSteps(run) {
  const made = new Map(run.records.map((record) => [record, 0]));
  const ends = new Map();
  for (const record of run.records) {
    if (record.done !== null) ends.set(record.done, [...(ends.get(record.done) ?? []), record]);
  }
  const since = new Map();
  run.columns.thread.forEach((thread, at) => {
    since.set(thread, (since.get(thread) ?? 0) + 1);
    for (const record of ends.get(run.first + at) ?? []) {
      made.set(record, since.get(thread));
      since.set(thread, 0);
    }
  });
  return made;
}

function recordTitle(record, measure) {
  const said = record.output[0].slice(0, 200);
  return `${record.term}: ${measure.text(measure.of(record))}\n${said}`;
}

// --- timeline ---

class Timeline {
  constructor(place, run, go) {
    Object.assign(this, { place, run, go });
    this.lanes = [...new Set(run.records.map((record) => record.thread))];
  }

  // From where to where each record goes, in seconds or in steps.
  spans(measure) {
    if (measure.by !== "time") {
      return this.run.records.map((record) => {
        const done = this.run.clamped(record.done ?? this.run.last);
        return [record.asked ?? done, done];
      });
    }
    return this.run.records.map((record) => [record.from, record.to]);
  }

  draw(measure) {
    const width = Math.max(this.place.clientWidth, 200);
    const spans = this.spans(measure);
    const byTime = measure.by === "time";
    const least = byTime ? 0 : this.run.first;
    const end = byTime ? 1e-6 : Math.max(this.run.last, least + 1);
    const most = spans.reduce((latest, [, late]) => Math.max(latest, late), end);
    const hasNames = this.lanes.length > 1;
    const top = hasNames ? 18 : 4;
    const pitch = ROW + (hasNames ? 18 : 6);
    const height = top + this.lanes.length * pitch + 20;
    const x = (value) => 4 + ((value - least) / (most - least)) * (width - 8);
    this.x = x;
    const isCrowded = spans.length * 6 > width;
    const svg = drawn("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Timeline: ${counted(this.run.records.length, "record")} in ${counted(this.lanes.length, "thread")}; the list below has the same.`,
    });
    this.lanes.forEach((lane, row) => {
      const y = top + row * pitch;
      svg.append(drawn("rect", { class: "lane", x: 0, y, width, height: ROW, rx: 4 }));
      if (hasNames) svg.append(drawn("text", { class: "axis", x: 4, y: y - 5 }, lane));
    });
    this.places = this.bars(svg, spans, { x, top, pitch, measure, isCrowded });
    const axisText = byTime ? seconds : (value) => value.toLocaleString("en");
    svg.append(
      drawn("text", { class: "axis", x: 4, y: height - 4 }, byTime ? "0 s" : axisText(least)),
      drawn("text", { class: "axis end", x: width - 4, y: height - 4 }, axisText(most)),
    );
    this.moments = byTime ? this.moved(spans) : null;
    this.cursor = drawn("line", { class: "cursor", y1: 0, y2: height - 18 });
    this.outline = drawn("rect", { class: "outline", height: ROW, rx: 4 });
    svg.append(this.outline, this.cursor);
    this.place.replaceChildren(svg);
  }

  // Draw a bar for each record, where they are crowded the largest in each pixel; return where
  // each record is.
  bars(svg, spans, { x, top, pitch, measure, isCrowded }) {
    const { records } = this.run;
    const rows = new Map(this.lanes.map((lane, row) => [lane, row]));
    const places = records.map((record, number) => {
      const [start, end] = spans[number].map(x);
      const y = top + rows.get(record.thread) * pitch;
      return { x: start, y, width: Math.max(end - start, isCrowded ? 1 : 5) };
    });
    const kept = new Map();
    places.forEach(({ x: left, y }, number) => {
      const pixel = isCrowded ? `${y} ${Math.floor(left)}` : number;
      const other = kept.get(pixel);
      if (other === undefined || measure.of(records[number]) > measure.of(records[other])) {
        kept.set(pixel, number);
      }
    });
    for (const number of kept.values()) {
      const record = records[number];
      const bar = box(record, places[number].x, places[number].y, places[number].width, record.term);
      bar.append(drawn("title", {}, recordTitle(record, measure)));
      bar.addEventListener("click", () => this.go(number));
      svg.append(bar);
    }
    return places;
  }

  // The steps at which time passed, and how late it was then.
  moved(spans) {
    const found = [[this.run.first, 0]];
    this.run.records.forEach((record, number) => {
      if (record.asked !== null) found.push([record.asked, spans[number][0]]);
      if (record.asked !== null && record.done !== null) found.push([record.done, spans[number][1]]);
    });
    found.sort((one, other) => one[0] - other[0]);
    return { steps: found.map(([step]) => step), seconds: found.map(([, late]) => late) };
  }

  // Move the cursor to a step, and the outline to a record.
  moveTo(number, record) {
    filled(this.outline, this.places[record], []);
    const { moments } = this;
    const at = this.x(moments ? moments.seconds[firstAbove(moments.steps, number) - 1] : number);
    this.cursor.setAttribute("x1", at);
    this.cursor.setAttribute("x2", at);
  }
}

function box(record, left, y, width, label) {
  const group = drawn("g", { class: `bar ${record.kind}` });
  group.append(drawn("rect", { x: left, y, width, height: ROW, rx: Math.min(4, width / 3) }));
  const room = Math.floor((width - 10) / LABEL_WIDTH);
  if (room > 2) {
    group.append(drawn("text", { x: left + 6, y: y + 17 }, cut(label, room - 1)));
  }
  return group;
}

// --- flame graph ---

// The records by place and by term: a tree in which each node is as large as its parts together.
function tree(run, measure) {
  const root = { name: run.head.agent, kind: "run", size: 0, parts: new Map(), record: 0 };
  run.records.forEach((record, number) => {
    const size = measure.of(record);
    let node = root;
    node.size += size;
    for (const [name, kind] of [...record.place.map((each) => [each, "place"]), [record.term, record.kind]]) {
      const key = `${kind} ${name}`;
      if (!node.parts.has(key)) {
        node.parts.set(key, { name, kind, size: 0, parts: new Map(), record: number, count: 0 });
      }
      node = node.parts.get(key);
      node.size += size;
      node.count += 1;
    }
    node.parts.set(`call ${number}`, { name: called(record), kind: record.kind, size, parts: new Map(), record: number, count: 1 });
  });
  return root;
}

function called(record) {
  return record.output[0].split("\n", 1)[0] || record.key;
}

class FlameGraph {
  constructor(place, run, go) {
    Object.assign(this, { place, run, go });
  }

  draw(measure) {
    const width = Math.max(this.place.clientWidth, 200);
    const rows = [];
    const waiting = [[tree(this.run, measure), 0, 0, width]];
    while (waiting.length) {
      const [node, depth, left, room] = waiting.pop();
      rows.push([node, depth, left, room]);
      let at = left;
      for (const part of node.parts.values()) {
        const share = node.size ? (part.size / node.size) * room : 0;
        if (share >= 1) waiting.push([part, depth + 1, at, share]);
        at += share;
      }
    }
    const height = (Math.max(...rows.map(([, depth]) => depth)) + 1) * (ROW + 2);
    const svg = drawn("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Flame graph by ${measure.by}: ${shares(rows, measure)}`,
    });
    for (const [node, depth, left, room] of rows) {
      const count = node.count > 1 && node.kind !== "place" ? ` ×${node.count}` : "";
      const bar = box(node, left + 0.5, depth * (ROW + 2), Math.max(room - 1, 1), `${node.name}${count}`);
      bar.append(drawn("title", {}, `${node.name}${count}: ${measure.text(node.size)}`));
      bar.addEventListener("click", () => this.go(node.record));
      svg.append(bar);
    }
    this.place.replaceChildren(svg);
  }
}

// The largest parts in words.
function shares(rows, measure) {
  return rows
    .filter(([node, depth]) => depth > 0 && node.kind !== "place" && node.parts.size)
    .slice(0, 5)
    .map(([node]) => `${node.name} ${measure.text(node.size)}`)
    .join(", ");
}
