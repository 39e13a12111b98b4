"""Random surface agents, and an oracle that answers their models and tools.

Agents take any input. Their names are drawn from a counter, so two agents never share a site.
"""

from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import strategies as st

from lambdagent.desugar.passes import desugar
from lambdagent.frontend.expression import parse_expression
from lambdagent.ir import surface
from lambdagent.ir.data import Data, Record, thaw
from lambdagent.ir.exchange import Failure
from lambdagent.ir.model import Model
from lambdagent.ir.program import Program
from lambdagent.machine.link import link
from tests.laws.observe import Answer, Oracle, Path, Seen, _hash, observe

EXPRESSIONS = (
    "True",
    "False",
    "len(str(x)) < 12",
    "'b' in x",
    "x == 'yes'",
    "x > 3",
    "1 / 0 == x",
)
LOOP_EXPRESSIONS = (*EXPRESSIONS, "step >= 1")
ROUTES = ("a", "b", "c")
STRATEGIES = ("managed", "sliding_window(3)", "summary(1)", "summary(3)")
SCHEMAS = ({"type": "array"}, {"type": "object", "required": ["tool"]}, {"maximum": 0})
REPLIES = (
    "a",
    "b.",
    "Final words",
    "yes",
    "no",
    '{"tool": "search", "args": {"q": "x"}}',
    '{"tool": "look", "args": "here"}',
    '{"tool": "terminate", "args": "the end"}',
    '{"tool": "unknown", "args": 1}',
    "[1, 2]",
    "42 apples",
    '{"tool": "look", "args": "a"}\n{"tool": "search", "args": {"q": "b"}}',
)


def asking(*calls: tuple[str, Data], finish: str = "tool_calls") -> Record:
    """A reply that calls tools in the provider's own form."""
    made = tuple(
        Record(id=f"c{n}", name=name, arguments=args) for n, (name, args) in enumerate(calls)
    )
    return Record(text="", finish_reason=finish, tool_calls=made)


CALLS = (
    asking(("search", Record(q="x"))),
    asking(("look", Record(input="here")), ("search", Record(q="y")), ("look", Record(input="b"))),
    asking(("search", Record(q=1)), ("nowhere", Record()), ("look", "{broken")),
    asking(("look", Record(input="a")), ("terminate", Record(answer="too early"))),
    asking(("terminate", Record(answer="the end"))),
    asking(("look", Record(input="a")), ("look", Record()), finish="length"),
)


def compiled(term: surface.Term) -> Program:
    return desugar(term, parse_expression)


def answers(seed: int) -> Oracle:
    """Answer by content: models with one of `REPLIES`, tools with text, records or failures."""

    def oracle(_key: Path, site: str, argument: Data) -> Answer:
        kind, _, name = site.partition(":")
        number = _hash(seed, name.partition("#")[0], thaw(argument))
        if kind == "now":
            return 1000.0 + number % 7
        if kind == "recall":
            return tuple(Record(key=f"k{i}", value="v", age=i) for i in range(number % 3))
        if kind == "remember":
            return None
        if kind == "confirm":
            return (True, True, False, "not now")[number % 4]
        if kind == "tool":
            made: list[Answer] = [
                "found",
                Record(n=number % 9),
                (1, "two"),
                Failure("ToolError", "x"),
            ]
            return made[number % 4]
        if number % 4 == 0:
            return CALLS[number // 4 % len(CALLS)]
        return Record(text=REPLIES[number // 4 % len(REPLIES)])

    return oracle


def run_agent(term: surface.Term, value: Data, seed: int) -> Seen:
    return observe(link(compiled(term)), value, answers(seed))


# Where memories are, and who shares them: half of them in the store of the machine.
MEMORIES = [("local", "session"), ("local", "session"), ("local", "user"), ("sqlite", "global")]


class AgentMaker:
    """Draws agents."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self._made = 0
        self._forms: list[Callable[[int], surface.Term]] = [
            self._compose,
            self._if,
            self._loop,
            self._par,
            self._pair,
            self._route,
            self._guard,
            self._memory,
            self._react,
        ]

    def name(self, stem: str) -> str:
        self._made += 1
        return f"{stem}{self._made}"

    def agent(self, depth: int = 3) -> surface.Term:
        if depth <= 1:
            return self._leaf()
        form = self._draw(st.sampled_from([lambda _: self._leaf(), *self._forms]))
        return form(depth - 1)

    def lam(self, parser: str = "text") -> surface.Lam:
        name = self.name("writer")
        strategy = self._draw(st.sampled_from([None, *STRATEGIES]))
        schema = None
        if parser in surface.SCHEMA_PARSERS and self._draw(st.integers(0, 3)) == 0:
            schema = self._draw(st.sampled_from(SCHEMAS))
        if strategy is None:
            return surface.Lam(name, "prompt", output_parser=parser, output_schema=schema)
        return surface.ConversationLam(
            name, "prompt", output_parser=parser, strategy=strategy, output_schema=schema
        )

    def tool(self, name: str | None = None) -> surface.Tool:
        confirm = self._draw(st.integers(0, 3)) == 0
        return surface.Tool(name or self.name("tool"), confirm=confirm)

    def _leaf(self) -> surface.Term:
        made = self._draw(st.sampled_from(["lam", "lam", "tool", "id", "terminate", "parsed"]))
        match made:
            case "tool":
                return self.tool()
            case "id":
                return surface.Compose()
            case "terminate":
                return self.tool("terminate")
            case "parsed":
                return self.lam(self._draw(st.sampled_from(["json", "number"])))
        return self.lam()

    def test(self, expressions: tuple[str, ...] = EXPRESSIONS) -> str | surface.Term:
        if self._draw(st.integers(0, 3)) == 0:
            return self.lam("boolean")
        return self._draw(st.sampled_from(expressions))

    def small(self) -> int:
        return self._draw(st.integers(1, 4))

    def _compose(self, depth: int) -> surface.Term:
        count = self._draw(st.integers(0, 3))
        return surface.Compose(*(self.agent(depth) for _ in range(count)))

    def _if(self, depth: int) -> surface.Term:
        return surface.If(self.test(), self.agent(depth), self.agent(depth))

    def _loop(self, depth: int) -> surface.Term:
        exhausted = self._draw(st.sampled_from(["last", "error"]))
        body = self.agent(depth)
        return surface.Loop(
            body, self.test(LOOP_EXPRESSIONS), self.small(), on_exhausted=exhausted
        )

    def _par(self, depth: int) -> surface.Term:
        branches = [self.agent(depth) for _ in range(self._draw(st.integers(1, 3)))]
        par = surface.Par(*branches)
        return par >> surface.Concat() if self._draw(st.booleans()) else par

    def _pair(self, depth: int) -> surface.Term:
        pair = surface.Pair(self.agent(depth), self.agent(depth))
        after = self._draw(st.sampled_from([surface.Fst(), surface.Snd(), None]))
        return pair if after is None else pair >> after

    def _route(self, depth: int) -> surface.Term:
        routes = {label: self.agent(depth) for label in ROUTES[: self.small() - 1]}
        default = self.agent(depth) if self._draw(st.booleans()) else None
        return surface.Route(self.lam(), routes or {"a": self.lam()}, default)

    def _guard(self, depth: int) -> surface.Term:
        fallback = self._draw(st.sampled_from(["error", "empty", "last", "some text"]))
        retry = self._draw(st.integers(0, 4))
        return surface.Guard(self.agent(depth), self.test(), retry, fallback)

    def _memory(self, depth: int) -> surface.Term:
        summary = self.lam() if self._draw(st.booleans()) else None
        strategy, scope = self._draw(st.sampled_from(MEMORIES))
        return surface.Memory(
            self.agent(depth),
            self.name("memory"),
            summary=summary,
            strategy=strategy,
            scope=scope,
            size=self._draw(st.integers(0, 3)),
            ttl_s=3,
        )

    def _react(self, _depth: int) -> surface.Term:
        schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
        search = attrs.evolve(
            self.tool("search"), parameters=self._draw(st.sampled_from([None, schema]))
        )
        tools = [search, self.tool("look"), self.tool("terminate")]
        think = self.lam()
        if self._draw(st.booleans()):
            model = Model(provider="scripted", tool_calling="native")
            think = attrs.evolve(think, model=model)
        step = surface.ReActStep(
            self.name("react"),
            think=think,
            max_concurrent=self._draw(st.integers(1, 3)),
            tools=tools[: self.small()],
            observation_enabled=self._draw(st.booleans()),
            early_stop=self._draw(st.sampled_from([None, "turn >= 2", "'found' in observation"])),
        )
        exhausted = self._draw(st.sampled_from(["last", "error"]))
        return surface.Loop(step, max_steps=self.small(), on_exhausted=exhausted)


@st.composite
def agents(draw: Any, count: int = 1, depth: int = 3) -> Any:
    """One agent, or a tuple of several without common names."""
    maker = AgentMaker(draw)
    made = tuple(maker.agent(depth) for _ in range(count))
    return made[0] if count == 1 else made
