// Joins the run, what is shown and what is pressed.

class AgentLevel {
  constructor(run, go) {
    this.run = run;
    this.go = (number) => go(run.records[number].done ?? run.last);
    this.measures = measures(run);
    this.current = undefined;
    const select = byId("measure");
    const names = { time: "by time", tokens: "by tokens", steps: "by steps" };
    select.append(...this.measures.map(({ by }) => element("option", { value: by }, names[by])));
    select.addEventListener("change", () => this.draw());
    this.timeline = new Timeline(byId("timeline"), run, this.go);
    this.flame = new FlameGraph(byId("flame"), run, this.go);
    this.draw();
    let width = byId("timeline").clientWidth;
    new ResizeObserver(() => {
      if (byId("timeline").clientWidth === width) return;
      width = byId("timeline").clientWidth;
      this.draw();
    }).observe(byId("timeline"));
  }

  draw() {
    const measure = this.measures.find(({ by }) => by === byId("measure").value);
    this.timeline.draw(measure);
    this.flame.draw(measure);
    if (this.number !== undefined) this.timeline.moveTo(this.number, this.current);
  }

  show(number) {
    this.number = number;
    const current = this.run.recordAt(number);
    if (current !== this.current) {
      this.current = current;
      this.renderRecords();
      this.renderRecord(this.run.records[current]);
    }
    this.timeline.moveTo(number, current);
  }

  renderRecords() {
    const { records } = this.run;
    const start = Math.max(0, Math.min(this.current - CALLS, records.length - 2 * CALLS - 1));
    const rows = records.slice(start, start + 2 * CALLS + 1).map((record, at) =>
      row(start + at === this.current, () => this.go(start + at),
        element("span", { class: "count" }, String(start + at)),
        element("span", { class: `kind ${record.kind}` }, record.kind),
        element("span", { class: "name" }, record.term),
        element("span", { class: "term" }, called(record).slice(0, 200))));
    replaceRows(byId("records"), rows);
  }

  renderRecord(record) {
    const facts = [record.kind, record.key];
    if (record.called) facts.push(`from ${seconds(record.from)}`, `for ${seconds(record.to - record.from)}`);
    if (record.tokens) facts.push(`${record.tokens[0]} tokens in, ${record.tokens[1]} out`);
    if (record.cost !== null) facts.push(record.cost);
    if (record.done !== null) facts.push(`done at step ${record.done.toLocaleString("en")}`);
    const said = (name, text) =>
      text[1] ? [element("h4", {}, name), element("pre", { tabindex: 0, role: "group", "aria-label": name }, ...whole(text))] : [];
    byId("record-body").replaceChildren(
      element("p", {}, element("strong", {}, record.term), ` ${facts.join(" · ")}`),
      ...record.notes.map((note) => element("p", { class: "note" }, note)),
      ...said("input", record.input),
      ...(record.kind === "terminate" ? [] : said("output", record.output)),
    );
  }
}

function showHead(run) {
  const { head } = run;
  document.title = visible(`${head.agent}: a run, step by step`);
  say(byId("agent"), head.agent);
  const how = { done: "answer", failed: "error", unfinished: "so far" }[head.outcome.how];
  const facts = [["input", whole(head.input)], [how, whole(head.outcome.text)]];
  if (head.engine !== null) facts.push(["engine", [head.engine]]);
  if (head.tokens !== null) facts.push(["tokens", [head.tokens.toLocaleString("en")]]);
  if (head.cost !== null) facts.push(["cost", [head.cost]]);
  const calls = run.records.filter(({ called: isCall }) => isCall).length;
  facts.push(["calls", [calls.toLocaleString("en")]], ["time", [seconds(head.elapsed)]]);
  facts.push(["steps", [(head.length - run.first).toLocaleString("en")]]);
  byId("facts").replaceChildren(
    ...facts.map(([name, parts]) =>
      element("div", { class: name === how ? `wide ${head.outcome.how}` : name === "input" ? "wide" : "" },
        element("dt", {}, name), element("dd", { tabindex: parts[0].length > 300 ? 0 : null }, ...parts))),
  );
  const remarks = [];
  if (run.last < head.length) {
    remarks.push(`This page has the first ${counted(run.last - run.first, "step")} of ${(head.length - run.first).toLocaleString("en")}.`);
  }
  if (head.endless) remarks.push("The run was not followed to its end.");
  byId("remark").hidden = !remarks.length;
  say(byId("remark"), remarks.join(" "));
}

function listen(stepper) {
  const clicks = {
    first: () => stepper.go(stepper.run.first),
    "back-beta": () => stepper.towards("β", -1),
    back: () => stepper.by(-1),
    play: () => stepper.toggle(),
    on: () => stepper.by(1),
    "on-beta": () => stepper.towards("β", 1),
    "on-effect": () => stepper.towards("ε", 1),
    last: () => stepper.go(stepper.run.last),
    "found-back": () => stepper.find(-1),
  };
  for (const [name, act] of Object.entries(clicks)) byId(name).addEventListener("click", act);
  byId("slider").addEventListener("input", (event) => stepper.go(Number(event.target.value)));
  byId("number").addEventListener("change", (event) => {
    const wanted = Number.parseInt(event.target.value.replaceAll(/[^0-9]/g, ""), 10);
    if (!Number.isNaN(wanted)) stepper.go(wanted);
    event.target.value = stepper.number;
  });
  byId("query").addEventListener("input", (event) => stepper.search(event.target.value));
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    stepper.find(1);
  });
  byId("query").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      stepper.find(-1);
    }
  });
  addEventListener("hashchange", () => {
    const step = stepOfAddress();
    if (step !== null) stepper.go(step);
  });
  document.addEventListener("keydown", (event) => press(stepper, event));
}

function press(stepper, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { target, key } = event;
  const isTyped = target.matches("select, input:not([type=range])");
  if (isTyped) {
    if (key === "Escape") byId("stepper").focus({ preventScroll: true });
    return;
  }
  if (key === " " && target.matches("button, summary")) return;
  const act = {
    ArrowLeft: () => stepper.by(-1),
    ArrowRight: () => stepper.by(1),
    PageUp: () => stepper.towards("β", -1),
    p: () => stepper.towards("β", -1),
    PageDown: () => stepper.towards("β", 1),
    n: () => stepper.towards("β", 1),
    e: () => stepper.towards("ε", 1),
    E: () => stepper.towards("ε", -1),
    Home: () => stepper.go(stepper.run.first),
    End: () => stepper.go(stepper.run.last),
    " ": () => stepper.toggle(),
    "/": () => byId("query").focus(),
  }[key];
  if (act) {
    event.preventDefault();
    act();
  }
}

// The step that the address of the page names; null if it names none.
function stepOfAddress() {
  const found = /^#step=(\d{1,15})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

async function begin() {
  const run = new Run(await unpacked(byId("data").textContent));
  byId("data").remove();
  showHead(run);
  byId("stepper").hidden = false;
  byId("agent-level").hidden = !run.records.length;
  let agentLevel = null;
  const stepper = new Stepper(run, (number) => agentLevel?.show(number));
  if (run.records.length) agentLevel = new AgentLevel(run, (step) => stepper.go(step));
  listen(stepper);
  const asked = stepOfAddress();
  stepper.go(asked ?? run.first);
  if (asked !== null) byId("stepper").scrollIntoView();
  document.documentElement.dataset.ready = "yes";
}

begin().catch((error) => {
  byId("fault").hidden = false;
  say(byId("fault"), `This page cannot be shown: ${error.message}. A browser of 2023 or later can show it.`);
  throw error;
});
