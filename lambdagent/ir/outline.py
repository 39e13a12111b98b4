"""Surface term → text and JSON for people and programs: its structure, bounds, constructs.

`describe` is short and names agents; `to_json` has everything but secrets. The text that is a
program again is `ir.agent_text`. Source: specification 3.2.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

from lambdagent.ir import surface
from lambdagent.ir.costs import Interval, count_text
from lambdagent.ir.data_text import escaped, integer_text, quoted, scalar_text
from lambdagent.ir.labels import TERMINATE
from lambdagent.ir.layout import Mark, Piece, bracketed, call, laid_out
from lambdagent.ir.measure import constructs, rounds
from lambdagent.ir.program import Program
from lambdagent.ir.shared_agents import definitions, is_identity, is_readable
from lambdagent.ir.surface_json import program_json

# What stands in an unfinished text: pieces, and terms whose text is still to come.
_Parts: TypeAlias = list[Any]

_IDENTITY = "λx.x"
_SUBSCRIPTS = str.maketrans("0123456789-", "₀₁₂₃₄₅₆₇₈₉₋")


def describe(root: surface.Term, program_name: str, calls: Interval, about: str = "") -> str:
    """Return the text of ``lambdagent compile``: structure, constructs, bound, base case.

    Args:
        root: Any agent.
        program_name: What people call it.
        calls: How often it can ask models, see `ir.bounds`.
        about: What it is for, in the words of its file.
    """
    shared = {} if is_readable(root) else definitions(root, program_name)
    style = _Outline({id(term): name for name, term in shared.items() if surface.parts(term)})
    title = f"{_shown(program_name)} ="
    counts = constructs(root)
    used = (name if n == 1 else f"{name}(×{n})" for name, n in counts.items())
    lines = [
        *([f"# {_shown(about.strip())}", ""] if about.strip() else []),
        _titled(title, style, root),
        "",
        *(
            f"{_titled(f'{name} =', style, term)}\n"
            for name, term in shared.items()
            if id(term) in style.names
        ),
        f"Constructs used: {', '.join(used)}",
        f"β-reduction bound: {_bound(root, calls)}",
        *_base_case(root),
    ]
    return "\n".join(lines) + "\n"


def to_json(root: surface.Term, program: Program) -> dict[str, Any]:
    """Return `root` and what it was lowered to, for ``lambdagent compile --format json``."""
    return program_json(root, constructs(root), program)


# --- bounds --------------------------------------------------------------------------------------


def _bound(root: surface.Term, calls: Interval) -> str:
    most = rounds(root)
    if most is None:
        return _times(calls)
    steps = f"max {count_text(most)} step{'' if most == 1 else 's'}"
    return steps if calls.most == most else f"{steps}, {_times(calls)}"


def _times(calls: Interval) -> str:
    if calls.most == 0:
        return "no model calls"
    unit = "model call" if calls.most == 1 else "model calls"
    most = count_text(calls.most)
    if calls.least == 0:
        return f"max {most} {unit}"
    least = count_text(calls.least, round_up=False)
    return f"exactly {most} {unit}" if least == most else f"{least} to {most} {unit}"


def _base_case(root: surface.Term) -> Iterable[str]:
    loops = [t for t in surface.subterms(root) if isinstance(t, surface.ReActStep)]
    if any(tool.name == TERMINATE for step in loops for tool in step.tools):
        yield "Base case: terminate = λx.x"
    elif loops:
        yield "Base case: an answer without a tool call"


# --- texts of terms ------------------------------------------------------------------------------


def _titled(title: str, style: "_Outline", root: surface.Term) -> str:
    """Return `root` under a title; the agents inside it that have names stand there by name."""
    pieces: list[Piece] = []
    stack = style.form(root)[::-1]
    while stack:
        part = stack.pop()
        if isinstance(part, surface.Term):
            stack += reversed(style.parts(part))
        else:
            pieces.append(part)
    return laid_out([title, Mark.INDENT, Mark.LINE, *pieces, Mark.DEDENT])


def _shown(text: str) -> str:
    return escaped(text.replace("\n", " ⏎ "))


def _is_react(term: surface.Term) -> TypeGuard[surface.ReActStep]:
    return isinstance(term, surface.ReActStep)


class _Outline:
    """The forms, each as parts of its text; by identity the names of those that have one."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = names

    def parts(self, term: surface.Term) -> _Parts:
        return [self.names[id(term)]] if id(term) in self.names else self.form(term)

    def form(self, term: surface.Term) -> _Parts:
        form = _FORMS.get(type(term))
        return [type(term).__name__] if form is None else form(self, term)

    def operand(self, term: surface.Term) -> _Parts:
        """Return `term` as an operand, in parentheses where it needs them."""
        if id(term) in self.names:
            return [term]
        inner = term
        while isinstance(inner, surface.Compose) and len(inner.stages) == 1:
            inner = inner.stages[0]
        is_chain = isinstance(inner, surface.Compose)
        wrapped = is_chain or isinstance(inner, surface.If) or is_identity(inner)
        return ["(", Mark.INDENT, term, Mark.DEDENT, ")"] if wrapped else [term]

    def lam(self, term: surface.Lam) -> _Parts:
        return [f"Lam({_shown(term.name)})"]

    def tool(self, term: surface.Tool) -> _Parts:
        return [_IDENTITY if is_identity(term) else _tool(term, f"Tool({_shown(term.name)})")]

    def compose(self, term: surface.Compose) -> _Parts:
        if not term.stages:
            return [_IDENTITY]
        if len(term.stages) == 1:
            return [term.stages[0]]
        parts: _Parts = [Mark.OPEN]
        for number, stage in enumerate(term.stages):
            parts += [Mark.SPACE, ">> "] if number else []
            parts += self.operand(stage)
        return [*parts, Mark.CLOSE]

    def par(self, term: surface.Par) -> _Parts:
        return call("PAR", [[branch] for branch in term.branches])

    def pair(self, term: surface.Pair) -> _Parts:
        return call("PAIR", [[term.left], [term.right]])

    def route(self, term: surface.Route) -> _Parts:
        entries: _Parts = [
            [f"({_shown(name)}, ", agent, ")"] for name, agent in term.routes.items()
        ]
        if term.default is not None:
            entries.append(["(_, ", term.default, ")"])
        return ["CASE ", *self.operand(term.classifier), *bracketed(" [", entries, "]")]

    def test(self, condition: str | surface.Term, argument: str) -> _Parts:
        """Return a condition: the text of an expression, or an agent applied to `argument`."""
        if isinstance(condition, str):
            return [_shown(condition)]
        return [*self.operand(condition), argument]

    def if_(self, term: surface.If) -> _Parts:
        test = self.test(term.condition, "(x)")
        then, otherwise = self.operand(term.then), self.operand(term.otherwise)
        branches = [Mark.SPACE, "THEN ", *then, Mark.SPACE, "ELSE ", *otherwise]
        return [Mark.OPEN, "IF ", *test, Mark.INDENT, *branches, Mark.DEDENT, Mark.CLOSE]

    def guard(self, term: surface.Guard) -> _Parts:
        predicate = ["{x | ", *self.test(term.validator, "(x)"), "}"]
        known = term.fallback in {"error", "empty", "last"}
        fallback = term.fallback if known else quoted(term.fallback)
        settings = [[f"retry={integer_text(term.retry)}"], [f"fallback={fallback}"]]
        return call("Guard", [[term.agent], predicate, *settings])

    def memory(self, term: surface.Memory) -> _Parts:
        size, ttl = scalar_text(term.size), scalar_text(term.ttl_s)
        scope = "" if term.scope == "session" else f", scope={term.scope}"
        store = f"{_shown(term.strategy)}(size={size}, ttl={ttl}{scope})"
        summary = [] if term.summary is None else [[term.summary]]
        return call("Memory", [[term.agent], [store], *summary], broken=True)

    def loop(self, term: surface.Loop) -> _Parts:
        lines = self.rounds_of(term.body) if _is_react(term.body) else self.rounds_until(term)
        return self.fixpoint(term.max_steps, lines, term.on_exhausted)

    def react_step(self, term: surface.ReActStep) -> _Parts:
        return self.fixpoint(1, self.rounds_of(term), "last")

    def fixpoint(self, steps: int, lines: list[_Parts], exhausted: str) -> _Parts:
        """Return ``Yₙ(λself.λstate. …)``, the first of `lines` naming the variable."""
        index = integer_text(steps).translate(_SUBSCRIPTS)
        parts: _Parts = [f"Y{index}(", *lines[0], Mark.INDENT]
        for line in lines[1:]:
            parts += [Mark.LINE, *line]
        if exhausted == "error":
            parts += [",", Mark.LINE, "MaxTurns"]
        return [*parts, Mark.DEDENT, Mark.LINE, ")"]

    def rounds_of(self, step: surface.ReActStep) -> list[_Parts]:
        tools = [f"({_shown(tool.name)}, {self.tool_body(tool)})" for tool in step.tools]
        again = "self(state ⊕ obs)" if step.observation_enabled else "self(state ⊕ t)"
        stop = "" if step.early_stop is None else f"IF {_shown(step.early_stop)} THEN t ELSE "
        return [
            ["λself.λstate."],
            ["let t = think(state) in"],
            bracketed("CASE t [", [[tool] for tool in tools], "]"),
            [f">> IF is_terminate THEN t ELSE {stop}{again}"],
        ]

    def tool_body(self, tool: surface.Tool) -> str:
        return _IDENTITY if is_identity(tool) else _tool(tool, "Tool")

    def rounds_until(self, term: surface.Loop) -> list[_Parts]:
        return [
            ["λself.λx."],
            ["let x = ", *self.operand(term.body), "(x) in"],
            ["IF ", *self.test(term.condition, "⟨x, step⟩"), " THEN x ELSE self(x)"],
        ]


def _tool(tool: surface.Tool, called: str) -> str:
    return f"Confirm({called})" if tool.confirm else called


_FORMS: Mapping[type[surface.Term], Callable[[_Outline, Any], _Parts]] = {
    surface.Lam: lambda style, term: style.lam(term),
    surface.ConversationLam: lambda style, term: style.lam(term),
    surface.Tool: lambda style, term: style.tool(term),
    surface.ReActStep: lambda style, term: style.react_step(term),
    surface.Compose: lambda style, term: style.compose(term),
    surface.Loop: lambda style, term: style.loop(term),
    surface.Route: lambda style, term: style.route(term),
    surface.Par: lambda style, term: style.par(term),
    surface.Concat: lambda _style, _term: ["concat"],
    surface.Pair: lambda style, term: style.pair(term),
    surface.Fst: lambda _style, _term: ["fst"],
    surface.Snd: lambda _style, _term: ["snd"],
    surface.If: lambda style, term: style.if_(term),
    surface.Guard: lambda style, term: style.guard(term),
    surface.Memory: lambda style, term: style.memory(term),
}
