"""Tree with names → agent, for texts with `LLM_{…}`, `Guard(…)`, `PAR(…)`: a surface term.

Each form of `ir.agent_text` is read into the term it is printed from; what the term means is left
to the lowering. Definitions are agents with a name: all uses are this one agent, with one
conversation. One pass with a stack of its own; all faults of a text are found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

from lark import Token

from lambdagent.errors import Diagnostic, LambdaSyntaxError, finding
from lambdagent.frontend import lambda_shapes as shapes
from lambdagent.frontend.expression import ExpressionError, parse_expression
from lambdagent.frontend.lambda_agent_faults import (
    ASKED_HINT,
    BRANCH_HINT,
    GUARDED,
    NO_NAME,
    REMEMBERING,
    TEST_HINT,
    THINKER,
    TOOL_HINT,
    branch_called,
    called,
    definition_hint,
    hint_for,
    unknown_name,
)
from lambdagent.frontend.lambda_names import FOREIGN
from lambdagent.frontend.lambda_rows import Rows
from lambdagent.frontend.lambda_settings import GUARD, STORE, STORE_FIELDS, read_settings
from lambdagent.frontend.lambda_shapes import Branch, branch_of, fill, link_of, tool_key
from lambdagent.frontend.lambda_tree import (
    Abstraction,
    Applied,
    Asked,
    Choice,
    Definition,
    File,
    Form,
    Lexeme,
    Piped,
    Predicate,
    Setting,
    Store,
    Tree,
    first_token,
    name_of,
    span_of,
    token_of,
    trees,
)
from lambdagent.frontend.report import nearest
from lambdagent.frontend.schema import VALIDATOR_NAMES
from lambdagent.ir import surface
from lambdagent.ir.core import Prim
from lambdagent.ir.labels import EARLY_STOP_NAMES, OTHER, TERMINATE
from lambdagent.messages import phrase
from lambdagent.source import Span

# How an agent is made: a function of the agents inside it, and the trees of those.
Plan: TypeAlias = tuple[Callable[..., surface.Term], list[Tree]]

_MAX_FINDINGS = 20
_LOOP_NAMES = ("x", "step")
# A step alone means the same as a loop of one round.
_ONE_STEP = {"max_steps": 1, "on_exhausted": "last"}

# The words by which people know a text of agents.
FORMS = ("PAR", "PAIR", "Guard", "Memory", "Tool", "Truth", "LLM_", "CASE", "IF", "concat")


def holds_agents(file: File) -> bool:
    """Whether something in `file` stands in agents only."""
    kinds = {Choice, Predicate, Asked, Form}
    return any(type(t) in kinds or getattr(t, "type", "") == "CONCAT" for t in trees(file))


def read_agent(file: File) -> surface.Term:
    """Return the agent that `file` is.

    Raises:
        LambdaSyntaxError: With every finding, in the order of the text.
    """
    reader = _Reader(file)
    for definition in file.definitions:
        reader.define(definition)
    if file.term is None:
        raise LambdaSyntaxError(finding("P030"))
    agent = reader.read(file.term)
    findings = reader.findings + reader.rows.findings
    if not findings:
        findings = reader.rows.unused()
    if findings:
        raise LambdaSyntaxError(sorted(findings, key=lambda each: each.where or _START))
    return agent


_START = Span(1, 1, 1, 2)


class _Test(NamedTuple):
    """A condition: the text of an expression, or an agent that is read yet."""

    text: str | None
    agents: list[Tree]

    def of(self, agents: tuple[surface.Term, ...]) -> str | surface.Term:
        return agents[0] if self.text is None else self.text


class _Reader:
    """The definitions so far, and what is found out about the text.

    A ReAct loop of one round reads as its step, but for one that is the body of a loop somewhere:
    all uses are one agent, and a step right inside a loop would be a ReAct loop.
    """

    def __init__(self, file: File) -> None:
        self.rows = Rows(file.rows)
        self.bodies = shapes.bodies(file)
        self.definitions: dict[str, surface.Term] = {}
        self.places: dict[str, Token] = {}
        for each in file.definitions:
            self.places.setdefault(name_of(each.name), each.name)
        self.findings: list[Diagnostic] = []
        self.current = ""
        self.near = _START

    def report(self, code: str, tree: Tree | None, **values: Any) -> None:
        if len(self.findings) < _MAX_FINDINGS:
            self.findings.append(finding(code, self.place(tree), **values))

    def place(self, tree: Tree | None) -> Span:
        """Return where `tree` starts, or else the last place that is known."""
        token = first_token(tree)
        return self.near if token is None else span_of(token)

    def define(self, definition: Definition) -> None:
        token = definition.name
        self.current = name = name_of(token)
        if name in self.definitions:
            self.report("P020", token, name=name, first=self.places[name].line)
        made = self.read(definition.value)
        self.definitions[name] = shapes.as_body(made) if name in self.bodies else made
        self.current = ""

    def read(self, root: Tree) -> surface.Term:
        todo: list[Any] = [root]
        done: list[surface.Term] = []
        while todo:
            item = todo.pop()
            if isinstance(item, tuple):
                build, count = item
                start = len(done) - count
                done[start:] = [build(*done[start:])]
            else:
                build, inside = self.plan(item)
                todo.append((build, len(inside)))
                todo.extend(reversed(inside))
        return done.pop()

    def plan(self, tree: Tree) -> Plan:
        token = token_of(tree)
        if token is not None:
            self.near = span_of(token)
        plan = _PLANS.get(type(tree))
        return self.none(tree) if plan is None else plan(self, tree)

    def none(self, tree: Tree) -> Plan:
        """Report that `tree` is no agent; something stands for it until all is read."""
        self.report("P038", tree, what=called(tree), hint=hint_for(tree))
        return _nothing

    # --- forms by their tree ---

    def leaf(self, token: Token) -> Plan:
        if token.type == "CONCAT":
            return surface.Concat, []
        if token.type != "NAME":
            return self.none(token)
        name = name_of(token)
        known = self.definitions.get(name)
        if known is None or name == self.current:
            self.undefined(token, name)
            return _nothing
        return (lambda: known), []

    def undefined(self, token: Token, name: str) -> None:
        if name == self.current:
            self.report("P021", token, name=name)
        elif name in self.places:
            self.report("P022", token, name=name, line=self.places[name].line)
        else:
            form = FOREIGN.get(name)
            meant = form or (len(name) > 1 and nearest(name, self.definitions))
            self.report("P023", token, name=name, hint=definition_hint(name, meant or ""))

    def piped(self, tree: Piped) -> Plan:
        return surface.Compose, tree.stages

    def form(self, tree: Form) -> Plan:
        match str(tree.token):
            case "PAR":
                return surface.Par, self.agents_of(tree, 1)
            case "PAIR":
                return surface.Pair, self.agents_of(tree, 2, 2)
            case "Guard":
                return self.guard(tree)
            case "Memory":
                return self.memory(tree)
        return self.none(tree)

    def agents_of(self, tree: Form, least: int, most: int | None = None) -> list[Tree]:
        agents: list[Any] = []
        for each in tree.operands:
            if isinstance(each, Setting | Store):
                self.operand(tree, phrase("agents only"), each)
            else:
                agents.append(each)
        count = len(agents)
        if count < least or (most is not None and count > most):
            expected = phrase("one agent") if least == 1 else phrase("{least} agents", least=least)
            self.report("P039", tree, form=tree.token, expected=expected, actual=str(count))
            return [Piped([])] * least
        return agents

    def operand(self, tree: Form, expected: str, got: Tree | Setting | Store) -> None:
        token = got.name if isinstance(got, Setting) else token_of(got) or tree.token
        self.report("P039", token, form=tree.token, expected=expected, actual=f"`{token}`")

    def guard(self, tree: Form) -> Plan:
        terms = [each for each in tree.operands if not isinstance(each, Setting | Store)]
        given = [each for each in tree.operands if isinstance(each, Setting)]
        if len(terms) != 2 or len(terms) + len(given) < len(tree.operands):
            actual = phrase("{count} terms", count=len(terms))
            self.report("P039", tree, form="Guard", expected=GUARDED, actual=actual)
            return _nothing
        settings = read_settings(tree.token, given, GUARD, self.report)
        agent, validator = terms
        test = self.test(validator, VALIDATOR_NAMES)

        def build(inner: surface.Term, *tests: surface.Term) -> surface.Term:
            return surface.Guard(inner, test.of(tests), **settings)

        return build, [agent, *test.agents]

    def memory(self, tree: Form) -> Plan:
        agents = [each for each in tree.operands if not isinstance(each, Setting | Store)]
        store = [*tree.operands, None, None][1]
        if len(tree.operands) not in {2, 3} or not isinstance(store, Store):
            actual = phrase("{count} operands", count=len(tree.operands))
            self.report("P039", tree, form="Memory", expected=REMEMBERING, actual=actual)
            return _nothing
        if len(agents) + 1 < len(tree.operands):
            self.operand(tree, phrase("an agent first"), store)
            return _nothing
        words = self.store(store)

        def build(inner: surface.Term, summary: surface.Term | None = None) -> surface.Term:
            return surface.Memory(inner, summary=summary, **words)

        return build, agents

    def store(self, store: Store) -> dict[str, Any]:
        """Return what a memory is made with, whose store is `store`."""
        strategy = name_of(store.token, store.token.partition("∪")[2].strip())
        if strategy not in surface.STRATEGIES:
            expected = phrase("a store that is {known}", known=", ".join(surface.STRATEGIES))
            self.report(
                "P039", store.token, form="Memory", expected=expected, actual=f"`{strategy}`"
            )
            strategy = "local"
        settings = read_settings(store.token, store.settings, STORE, self.report)
        words = {STORE_FIELDS.get(key, key): value for key, value in settings.items()}
        return {"strategy": strategy, **words}

    def test(self, tree: Tree, names: Collection[str]) -> _Test:
        """Return the condition that `tree` is, over `names`."""
        match tree:
            case Form("Truth"):
                return _Test(None, self.agents_of(tree, 1, 1))
        if not isinstance(tree, Predicate):
            self.report("P038", tree, what=phrase("this condition"), hint=TEST_HINT)
            return _Test("", [])
        shown = tree.token[1:].partition("|")[0].split(",")
        try:
            for name in map(str.strip, shown):
                if name not in names:
                    self.report("P040", tree, reason=unknown_name(name, names))
            parse_expression(tree.text, names)
        except ExpressionError as error:
            where = tree.span_at(error.column)
            self.findings.append(finding("P040", where, reason=error.message))
        return _Test(tree.text, [])

    # --- forms by their shape ---

    def applied(self, tree: Applied) -> Plan:
        """Plan ``Yₙ(…)``: a loop, or a loop that acts."""
        head, *arguments = tree.items
        if not isinstance(head, Prim) or head.name != "fix" or len(arguments) != 1:
            return self.none(tree)
        ended = fill(shapes.ENDED, arguments[0])
        body = arguments[0] if ended is None else ended["BODY"]
        bound: dict[str, Any] = {
            "max_steps": head.params[0],
            "on_exhausted": "last" if ended is None else "error",
        }
        found = fill(shapes.LOOP, body)
        if found is not None:
            return self.loop(found, bound)
        for shape, observed in shapes.REACT:
            found = fill(shape, body)
            if found is not None:
                return self.react(found, bound, observed=observed)
        wrong = shapes.misfit([shapes.LOOP, *(shape for shape, _ in shapes.REACT)], body)
        self.report("P045", wrong)
        return _nothing

    def loop(self, found: Mapping[str, Any], bound: Mapping[str, Any]) -> Plan:
        test = self.test(found["TEST"], _LOOP_NAMES)

        def build(inner: surface.Term, *tests: surface.Term) -> surface.Term:
            return surface.Loop(shapes.as_body(inner), test.of(tests), **bound)

        return build, [found["BODY"], *test.agents]

    def react(self, found: Mapping[str, Any], bound: Mapping[str, Any], *, observed: bool) -> Plan:
        think = self.model_call(found["THINK"])
        if think is None:
            self.report("P038", found["THINK"], what=THINKER, hint=ASKED_HINT)
            return _nothing
        asked, lam = think
        entries = self.entries(found["TOOLS"])
        for entry in entries:
            if entry.is_rest:
                self.report("P038", entry.tree, what=NO_NAME, hint=TOOL_HINT)
                return _nothing
        stop = self.test(found["STOP"], EARLY_STOP_NAMES).text if "STOP" in found else None
        told = self.rows.step(asked, lam)

        def build(*agents: surface.Term) -> surface.Term:
            step = surface.ReActStep(
                **told,
                think=lam,
                tools=[
                    self.tool_of(entry.label, agent, entry.tree)
                    for entry, agent in zip(entries, agents, strict=True)
                ],
                observation_enabled=observed,
                early_stop=stop,
            )
            is_step = bound == _ONE_STEP
            return step if is_step else surface.Loop(step, **bound)

        return build, [entry.tree for entry in entries]

    def tool_of(self, label: str, agent: surface.Term, tree: Tree) -> surface.Tool:
        """Return the tool that `agent` is under the `label` of its branch."""
        if label == TERMINATE and agent == surface.Compose():
            return surface.Tool(TERMINATE)
        agent = shapes.as_tool(agent)
        if not isinstance(agent, surface.Tool):
            self.report("P038", tree, what=branch_called(label), hint=TOOL_HINT)
            return surface.Tool(label)
        if agent.name != label:
            expected = phrase("the tool `{label}` under this label", label=label)
            actual = f"`{agent.name}`"
            self.report("P039", tree, form="CASE", expected=expected, actual=actual)
            return surface.Tool(label)
        return agent

    def abstraction(self, tree: Abstraction) -> Plan:
        if fill(shapes.IDENTITY, tree) is not None:
            return surface.Compose, []
        called = self.model_call(tree)
        if called is not None:
            return (lambda: called[1]), []
        key = tool_key(tree)
        if key is not None:
            return (lambda: self.rows.tool(key)), []
        for shape, kind in ((shapes.FST, surface.Fst), (shapes.SND, surface.Snd)):
            if fill(shape, tree) is not None:
                return kind, []
        found = fill(shapes.ROUTE, tree)
        if found is not None:
            return self.route(found)
        found = fill(shapes.IF, tree)
        if found is not None:
            return self.if_(found)
        found = fill(shapes.ONCE, tree)
        return self.none(tree) if found is None else (surface.Compose, [found["AGENT"]])

    def model_call(self, tree: Tree) -> tuple[Asked, surface.Lam] | None:
        """Return the model call that `tree` is, if it is one."""
        for forms, hears in ((shapes.ASKED, False), (shapes.HEARD, True)):
            for shape in forms:
                found = fill(shape, tree)
                if found is not None:
                    parser = name_of(found["PARSER"]) if "PARSER" in found else "text"
                    if parser not in surface.PARSERS:
                        self.wrong_parser(found["PARSER"], parser)
                        parser = "text"
                    asked = found["ASKED"]
                    return asked, self.rows.lam(asked, parser, hears=hears)
        return None

    def wrong_parser(self, tree: Tree, parser: str) -> None:
        known = ", ".join(surface.PARSERS)
        expected = phrase("one of {known} around the call", known=known)
        self.report("P039", tree, form="λx. … LLM_{…}", expected=expected, actual=f"`{parser}`")

    def route(self, found: Mapping[str, Any]) -> Plan:
        entries = self.entries(found["ROUTES"])
        for entry in entries:
            if entry.label == OTHER and not entry.is_rest:
                what = branch_called(f'"{OTHER}"')
                self.report("P038", entry.tree, what=what, hint=BRANCH_HINT)
                return _nothing
        routes = [entry for entry in entries if not entry.is_other and not entry.is_rest]
        others: tuple[Any, ...] = tuple(entry.label for entry in entries if entry.is_other)
        rest = [entry.tree for entry in entries if entry.is_rest]

        def build(classifier: surface.Term, *agents: surface.Term) -> surface.Term:
            labels = (entry.label for entry in routes)
            named = dict(zip(labels, agents, strict=False))
            return surface.Route(classifier, named, agents[-1] if rest else None, others)

        return build, [found["CLASSIFIER"], *(entry.tree for entry in routes), *rest]

    def entries(self, tree: Tree) -> list[Branch]:
        """Return the branches of ``[("label", f), …]``."""
        entries: list[Branch] = []
        labels: set[tuple[str, bool]] = set()
        while (link := link_of(tree, "cons")) is not None:
            item, tree = link
            entry = branch_of(item)
            if entry is None:
                self.report("P038", item, what=phrase("this branch"), hint=BRANCH_HINT)
                continue
            if (entry.label, entry.is_rest) in labels:
                self.report("P014", item, label=entry.label)
                continue
            labels.add((entry.label, entry.is_rest))
            entries.append(entry)
        if not isinstance(tree, Prim) or tree.name != "nil":
            self.report("P038", tree, what=phrase("what `CASE` chooses from"), hint=BRANCH_HINT)
        return entries

    def if_(self, found: Mapping[str, Any]) -> Plan:
        test = self.test(found["TEST"], VALIDATOR_NAMES)

        def build(*agents: surface.Term) -> surface.Term:
            *tests, then, otherwise = agents
            return surface.If(test.of(tuple(tests)), then, otherwise)

        return build, [*test.agents, found["YES"], found["NO"]]


def _nothing_of(*_agents: surface.Term) -> surface.Term:
    return surface.Compose()


_nothing: Plan = (_nothing_of, [])

_PLANS: Mapping[type, Callable[[_Reader, Any], Plan]] = {
    Lexeme: _Reader.leaf,
    Piped: _Reader.piped,
    Form: _Reader.form,
    Applied: _Reader.applied,
    Abstraction: _Reader.abstraction,
}
