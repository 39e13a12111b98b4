"""Random graphs: core terms and agents whose parts occur in many places, as the same objects."""

from typing import Any

from hypothesis import strategies as st

from lambdagent.ir import surface
from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Var

LEVELS = 64
_PAIR, _CONS, _NIL, _IF, _ONE = Prim("pair"), Prim("cons"), Prim("nil"), Prim("if"), Lit(1)


def _applied(head: Term, *args: Term, label: Label | None = None) -> Term:
    for arg in args[:-1]:
        head = App(head, arg)
    return App(head, args[-1], label)


# What a level makes of two levels below it; the first four bind nothing that those would need.
_OPEN = (
    lambda a, b: _applied(_PAIR, a, b),
    lambda a, b: _applied(_CONS, a, _applied(_CONS, b, _NIL)),
    lambda a, b: _applied(a, b, label=Label("llm", "w")),
    lambda a, b: _applied(Prim("site", ("concat:join",)), _applied(_PAIR, a, b)),
    lambda a, b: _applied(_PAIR, a),
    lambda a, b: _applied(Prim("case", (("l", "_"),)), _ONE, a, b),
    lambda a, b: App(Prim("fix", (3,)), _applied(_PAIR, a, b)),
)
_CLOSED = (
    lambda a, b: Lam(_applied(_applied(Prim("fst"), _applied(_PAIR, a, b)), Var(0)), "x"),
    lambda a, b: _applied(_IF, Lit(True), Lam(a, "_"), Lam(b, "_")),
    lambda a, b: App(Lam(_applied(_PAIR, a, _applied(_PAIR, Var(0), b)), "t1"), a),
    lambda a, b: Lam(Lam(App(App(a, b), Var(1)), "x"), "x"),
    App,
    lambda a, b: Lam(Lam(App(a, b), "_"), "y"),
)
_LEAVES = (_ONE, Lit(UNIT), _NIL, Prim("fst"), Lam(Var(0), "x"), Lit("t1"))


@st.composite
def graphs(draw: Any) -> Term:
    """Return a closed term of up to 64 levels, each of which uses the last one, mostly twice."""
    made = list(draw(st.permutations(_LEAVES))[:2])
    for _ in range(draw(st.integers(1, LEVELS))):
        form = draw(st.sampled_from((*_OPEN, *_CLOSED)))
        other = draw(st.sampled_from((made[-1], made[-1], *made[-3:])))
        made.append(form(made[-1], other))
    return made[-1]


@st.composite
def open_graphs(draw: Any) -> Term:
    """Return an abstraction whose shared parts use its variable, which no text can share."""
    body: Term = draw(st.sampled_from((Var(0), *_LEAVES)))
    for _ in range(draw(st.integers(1, LEVELS))):
        body = draw(st.sampled_from(_OPEN))(body, body)
    return Lam(App(App(_PAIR, body), Var(0)), "x")


def _step(*tools: surface.Tool) -> surface.ReActStep:
    return surface.ReActStep("s", think=surface.Lam("w"), tools=tools)


def _tool_of(agent: surface.Term) -> surface.Tool:
    return agent if isinstance(agent, surface.Tool) else surface.Tool("search")


# Agents to share: each form that has a reading of its own.
_BASES = (
    lambda: surface.Lam("w"),
    lambda: surface.ConversationLam("w"),
    lambda: surface.Tool("search"),
    lambda: surface.Tool("terminate"),
    _step,
    lambda: _step(surface.Tool("search"), surface.Tool("terminate")),
    lambda: surface.Loop(_step(), max_steps=1),
    lambda: surface.Loop(_step(surface.Tool("search")), "True", 1, on_exhausted="error"),
    lambda: surface.Loop(_step(), max_steps=3),
    lambda: surface.Loop(surface.Lam("w"), max_steps=1),
    surface.Compose,
    surface.Concat,
    surface.Fst,
)
# Each place where an agent can stand.
_PLACES = (
    lambda a: a,
    surface.Compose,
    lambda a: surface.Compose(a, surface.Lam("v"), a),
    lambda a: surface.Par(a, a),
    lambda a: surface.Pair(a, surface.Snd()),
    lambda a: surface.If(a, surface.Lam("v")),
    lambda a: surface.If("x", a, a),
    lambda a: surface.Loop(a, "False", 1),
    lambda a: surface.Loop(a, a, 2, on_exhausted="error"),
    lambda a: surface.Guard(a, "x"),
    lambda a: surface.Guard(surface.Lam("v"), a, 1),
    surface.Memory,
    lambda a: surface.Route(a, {"a": a}, surface.Lam("v")),
    lambda a: surface.Route(surface.Lam("c"), {"a": surface.Lam("v")}, a),
    lambda a: _step(_tool_of(a)),
    lambda a: surface.Loop(_step(_tool_of(a)), max_steps=1),
)


@st.composite
def shared_agents(draw: Any) -> surface.Term:
    """Return an agent in which an agent stands in several places, and that one in several too."""
    agent = draw(st.sampled_from(_BASES))()
    for _ in range(draw(st.integers(1, 3))):
        places = draw(st.lists(st.sampled_from(_PLACES), min_size=1, max_size=3))
        made = [place(agent) for place in places]
        agent = made[0] if len(made) == 1 else surface.Par(*made)
    return agent
