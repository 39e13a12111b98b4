// Shows one step: nothing is drawn but what it needs, so a long run is as quick as a short one.

const AROUND = 3; // frames that a term shows around its redex
const FRAMES = 40; // frames of a continuation that are listed
const NEAR = 6; // steps listed on each side of the current one
const CALLS = 5; // records listed on each side of the current one
const LINE = 30; // pixels that a term shows above its redex
const ADDRESS_MS = 400; // browsers take a few new addresses a second
const SPEEDS = [1, 2, 5, 10, 30, 100];

class Stepper {
  constructor(run, show) {
    this.run = run;
    this.number = null;
    this.shown = show; // told of each step that is shown
    this.found = [];
    this.timer = null;
    this.address = null;
    byId("slider").min = run.first;
    byId("slider").max = run.last;
    say(byId("count"), run.last.toLocaleString("en"));
    byId("speed").append(
      ...SPEEDS.map((speed) => element("option", { value: speed }, `${speed} a second`)),
    );
    byId("speed").value = "5";
    this.drawStrip();
  }

  // --- where to go ---

  go(number, isQuiet = false) {
    const goal = this.run.clamped(Math.round(number));
    if (goal === this.number) return;
    const before = this.number;
    this.number = goal;
    this.render(this.run.step(goal), isQuiet, before);
    this.shown(goal);
    if (this.address === null) {
      this.address = setTimeout(() => this.writeAddress(), ADDRESS_MS);
    }
  }

  by(count) {
    this.go(this.number + count);
  }

  towards(kind, by) {
    const goal = this.run.towards(kind, this.number, by);
    if (goal !== null) this.go(goal);
    else say(byId("announcement"), `There is no ${kind}-step ${by > 0 ? "after" : "before"} this one.`);
  }

  writeAddress() {
    this.address = null;
    history.replaceState(null, "", `#step=${this.number}`);
  }

  // --- playing ---

  get isPlaying() {
    return this.timer !== null;
  }

  play() {
    if (this.number === this.run.last) this.go(this.run.first);
    say(byId("play"), "Pause");
    const onwards = () => {
      this.go(this.number + 1, true);
      if (this.number === this.run.last) this.pause();
      else this.timer = setTimeout(onwards, 1000 / Number(byId("speed").value));
    };
    this.timer = setTimeout(onwards, 0);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    say(byId("play"), "Play");
    this.announce(this.run.step(this.number));
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  // --- searching ---

  search(query) {
    this.found = this.run.search(query);
    this.tell(query.trim());
  }

  // To the next step that was found, or with `by` = -1 to the one before; round the end.
  find(by) {
    const { found } = this;
    if (!found.length) return;
    const at = by > 0 ? firstAbove(found, this.number) : firstAbove(found, this.number - 1) - 1;
    this.go(found[(at + found.length) % found.length]);
    this.tell(byId("query").value.trim());
  }

  tell(query) {
    const { found } = this;
    const at = firstAbove(found, this.number) - 1;
    const place = found[at] === this.number ? `${(at + 1).toLocaleString("en")} of ` : "";
    say(byId("found"), query ? `${place}${counted(found.length, "step")} found` : "");
  }

  // --- showing ---

  render(step, isQuiet, before) {
    byId("slider").value = step.number;
    byId("slider").setAttribute("aria-valuetext", `step ${step.number} of ${this.run.last}`);
    if (document.activeElement !== byId("number")) byId("number").value = step.number;
    for (const name of ["first", "back"]) disable(name, step.number === this.run.first);
    for (const name of ["on", "last"]) disable(name, step.number === this.run.last);
    this.renderRule(step);
    this.renderTerms(step);
    this.renderKont(step);
    const returns = "A value is at hand; nothing is looked up.";
    bindings(byId("env"), step.env, step.rule.name ? returns : "Empty.");
    bindings(byId("store"), step.store, "Empty.");
    bindings(byId("others"), step.others, "There are none.");
    this.renderNear(step.number);
    if (this.found.length) this.tell(byId("query").value.trim());
    if (!isQuiet && before !== null) this.announce(step);
  }

  renderRule({ number, rule, thread, site }) {
    const kind = byId("kind");
    kind.className = `kind ${kindName(rule.kind)}`;
    say(kind, rule.name ? rule.kind || "·" : "start");
    kind.setAttribute("title", rule.kind ? `a ${rule.kind}-reduction` : "no reduction");
    say(byId("rule-name"), rule.name || "The run begins");
    const where = [site && `at ${site}`, this.run.threads.length > 1 && `in ${thread}`];
    say(byId("where"), where.filter(Boolean).join(" "));
    say(byId("line"), rule.line || "⟨t v, (), ()⟩");
    say(byId("sentence"), rule.sentence || "The program is applied to its input.");
    byId("counters").replaceChildren(
      ...this.run.counters(number).filter(([, count]) => count).map(([kind_, count]) =>
        element("li", {}, element("span", { class: `kind ${kindName(kind_)}` }, kind_),
          ` ${count.toLocaleString("en")}`)),
    );
  }

  renderTerms({ redex, result, around: outer, rule }) {
    const frames = this.run.stack(outer, AROUND);
    const isWhole = this.run.depths[outer] <= AROUND;
    const isSame = redex === result;
    byId("before").replaceChildren(...term(redex, isSame ? "same" : "redex", frames, isWhole));
    byId("after").replaceChildren(
      ...(isSame && rule.name
        ? [element("span", { class: "remark-inside" }, "the same term: only the machine has moved")]
        : term(result, isSame ? "same" : "result", frames, isWhole)),
    );
    for (const name of ["before", "after"]) {
      const mark = byId(name).querySelector("mark");
      byId(name).scrollTop = mark ? mark.offsetTop - LINE : 0;
    }
  }

  renderKont({ kont, around: base, left }) {
    const gone = this.run.stack(left, FRAMES, base);
    const frames = this.run.stack(kont, FRAMES);
    const fresh = new Set(this.run.stack(kont, FRAMES, base).map(({ number }) => number));
    const depth = this.run.depths[kont];
    say(byId("depth"), depth ? counted(depth, "frame") : "");
    const rows = [
      ...gone.map((frame) => frameRow(frame, "gone", "done with: ")),
      ...frames.map((frame) =>
        fresh.has(frame.number) ? frameRow(frame, "fresh", "pushed: ") : frameRow(frame, "", "")),
    ];
    if (depth > frames.length) {
      rows.push(element("li", { class: "nothing" }, `… and ${counted(depth - frames.length, "frame")} around it`));
    }
    if (!depth) rows.push(element("li", { class: "nothing" }, "Empty: what is evaluated is the answer."));
    byId("kont").replaceChildren(...rows);
  }

  renderNear(number) {
    const start = Math.max(this.run.first, Math.min(number - NEAR, this.run.last - 2 * NEAR));
    const end = Math.min(this.run.last, start + 2 * NEAR);
    const rows = [];
    for (let each = start; each <= end; each += 1) {
      const { rule, redex, result } = this.run.step(each);
      const becomes = redex === result ? redex : `${redex}  ⟶  ${result}`;
      rows.push(row(each === number, () => this.go(each),
        element("span", { class: "count" }, String(each)),
        element("span", { class: `kind ${kindName(rule.kind)}` }, rule.kind || "·"),
        element("span", { class: "name" }, rule.name || "start"),
        element("span", { class: "term" }, becomes.slice(0, 200))));
    }
    replaceRows(byId("near"), rows);
  }

  announce({ number, rule }) {
    const sentence = rule.sentence || "The run begins.";
    say(byId("announcement"), `Step ${number} of ${this.run.last}. ${rule.name}: ${sentence}`);
  }

  // Where the effects and rounds of the run are, above the slider.
  drawStrip() {
    const width = 600;
    const span = Math.max(this.run.last - this.run.first, 1);
    const svg = drawn("svg", { viewBox: `0 0 ${width} 8`, preserveAspectRatio: "none" });
    for (const kind of ["μ", "γ", "π", "ε"]) {
      const places = new Set();
      for (const step of this.run.marks.get(kind)) {
        places.add(Math.round(((step - this.run.first) / span) * (width - 2)));
      }
      const path = [...places].map((place) => `M${place} 0h2v8h-2z`).join("");
      if (path) svg.append(drawn("path", { class: kindName(kind), d: path }));
    }
    byId("strip").replaceChildren(svg);
  }
}

function kindName(kind) {
  const names = { β: "beta", δ: "delta", μ: "mu", γ: "gamma", ε: "epsilon", π: "pi" };
  return names[kind] ?? "administrative";
}

function disable(name, isDisabled) {
  byId(name).setAttribute("aria-disabled", String(isDisabled));
}

function frameRow({ before, after }, name, word) {
  return element("li", { class: `term ${name}` },
    element("span", { class: "unseen" }, word), before, element("b", { class: "hole" }, "□"), after);
}

// A row that leads somewhere.
function row(isCurrent, lead, ...children) {
  const button = element("button", { type: "button", "aria-current": isCurrent ? "step" : null }, ...children);
  button.addEventListener("click", lead);
  return element("li", {}, button);
}

// Put rows in place of others; who stood on one of them stands on the current one.
function replaceRows(place, rows) {
  const hadFocus = place.contains(document.activeElement);
  place.replaceChildren(...rows);
  if (hadFocus) place.querySelector("[aria-current]")?.focus({ preventScroll: true });
}
