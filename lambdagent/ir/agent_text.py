"""Surface term → λ text for people, which reads back as the same agent.

    λx. LLM_{gpt, "Be kind.", writer}(history ⊕ x)   λx. Tool("search", x)   f >> g   PAR(f, g)
    λx. CASE (c x) [("label", f), (_, d)] x   λx. IF {x | len(x) > 3} x THEN f x ELSE g x
    Y₅(λself. λstate. …)   Guard(f, {x | …}, retry=2, fallback=error)   Memory(f, Γ ∪ local{…})

See Note [What stands where]. Source: specification 15.3.
"""

# Note [What stands where]
#
# The term shows the structure, and of each model call the model, the prompt and the name of the
# agent. The ``where`` table after it holds what is too long for that or unusual: a row
# ``model.gpt`` for each model, ``llm.writer`` for a model call, ``tool.search`` for a tool. What a
# row leaves out is as usual. A long prompt is shown up to `_SHOWN` characters and ``…``; its row
# has all of it, so nothing is cut. An agent that occurs twice as the same object is one agent with
# one conversation: it is defined before the term, and its name stands in both places.

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from lambdagent.ir import surface
from lambdagent.ir.agent_rows import RowTable, plain_number
from lambdagent.ir.data_text import data_text, escaped, integer_text, quoted, scalar_text
from lambdagent.ir.labels import EARLY_STOP_NAMES, OTHER
from lambdagent.ir.layout import Mark, Piece, bracketed, call, laid_out
from lambdagent.ir.program_text import BRIEF, print_where
from lambdagent.ir.shared_agents import definitions, is_identity
from lambdagent.ir.spelling import spelled

# What stands in an unfinished text: pieces, and terms whose text is still to come.
_Parts: TypeAlias = list[Any]

_SHOWN = 32
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# An expression that stands in braces as it is; others are in quotes, as JSON.
_BARE = re.compile(r"""(?:[^{}"'\n]++|"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+')*+""")
_MODEL = re.compile(r"[^\W_][\w.:/+@-]*")


def print_agent(root: surface.Term) -> str:
    """Return `root` as text that reads back as an agent of the same meaning.

    Linear in the distinct subterms. Python objects behind tools, models and memories are in no
    text, nor are credentials in URLs; all else is.
    """
    writer = _Writer(root)
    text = writer.whole(root)
    table = writer.rows.table()
    return f"{text}\n\n{print_where(table, [*writer.rows.hidden])}\n" if table else f"{text}\n"


def print_brief(root: surface.Term) -> str:
    """Return `root` without its ``where`` table; the first line says so."""
    return f"{BRIEF}{_Writer(root).whole(root)}\n"


class _Writer:
    """The rows that the text needs, and the names of shared agents."""

    def __init__(self, root: surface.Term) -> None:
        self.rows = RowTable()
        self.shared = definitions(root)
        self.names = {id(term): name for name, term in self.shared.items()}

    def whole(self, root: surface.Term) -> str:
        """Return the definitions of shared agents, each after those that it uses, and the term."""
        made = []
        for name, term in self.shared.items():
            del self.names[id(term)]
            made.append(self.text(term, f"{name} = ", ";\n\n"))
            self.names[id(term)] = name
        return "".join(made) + self.text(root)

    def text(self, root: surface.Term, before: str = "", after: str = "") -> str:
        pieces: list[Piece] = [before]
        stack: _Parts = [root]
        while stack:
            part = stack.pop()
            if isinstance(part, surface.Term):
                stack += reversed(self.parts(part))
            else:
                pieces.append(part)
        return laid_out([*pieces, after])

    def parts(self, term: surface.Term) -> _Parts:
        name = self.names.get(id(term))
        if name is not None:
            return [name]
        form = _FORMS.get(type(term))
        return [type(term).__name__] if form is None else form(self, term)

    def operand(self, term: surface.Term) -> _Parts:
        """Return `term` where something follows it."""
        if id(term) in self.names or isinstance(
            term, surface.Par | surface.Pair | surface.Guard | surface.Memory | surface.Concat
        ):
            return [term]
        return ["(", Mark.INDENT, term, Mark.DEDENT, ")"]

    # --- effects ---

    def lam(self, term: surface.Lam, step: surface.ReActStep | None = None) -> _Parts:
        model, prompt, name = self.rows.lam(term, step, _SHOWN)
        items = [] if model is None else [_model_name(model)]
        inside = ", ".join([*items, quoted(prompt), spelled(name)])
        heard = isinstance(term, surface.ConversationLam)
        body = f"LLM_{{{inside}}}({'history ⊕ x' if heard else 'x'})"
        if term.output_parser != "text":
            body = f"{spelled(term.output_parser)}({body})"
        return [f"λx. {body}"]

    def tool(self, term: surface.Tool) -> _Parts:
        if is_identity(term) and not term.description:  # which models are told that call natively
            return ["λx. x"]
        return [f"λx. Tool({quoted(self.rows.tool(term))}, x)"]

    def memory(self, term: surface.Memory) -> _Parts:
        kept = [f"size={scalar_text(term.size)}", f"ttl={scalar_text(plain_number(term.ttl_s))}"]
        kept += [] if term.name == "memory" else [f"name={quoted(term.name)}"]
        kept += [] if term.scope == "session" else [f"scope={quoted(term.scope)}"]
        kept += [] if term.place is None else [f"place={quoted(term.place)}"]
        kept += [f"settings={data_text(term.settings)}"] if term.settings else []
        kept += [f"initial={data_text(term.initial)}"] if term.initial else []
        # The object in the registry is in no text; a memory without it has no store.
        strategy = term.strategy if term.binding is None else "custom"
        summary = [] if term.summary is None else [[term.summary]]
        store = f"Γ ∪ {strategy}{{{', '.join(kept)}}}"
        return call("Memory", [[term.agent], [store], *summary], broken=True)

    # --- composition ---

    def compose(self, term: surface.Compose) -> _Parts:
        if not term.stages:
            return ["λx. x"]
        if len(term.stages) == 1:
            return ["λx. ", *self.operand(term.stages[0]), " x"]
        parts: _Parts = [Mark.OPEN]
        for number, stage in enumerate(term.stages):
            parts += [Mark.SPACE, ">> "] if number else []
            parts += self.operand(stage)
        return [*parts, Mark.CLOSE]

    def par(self, term: surface.Par) -> _Parts:
        return call("PAR", [[branch] for branch in term.branches])

    def pair(self, term: surface.Pair) -> _Parts:
        return call("PAIR", [[term.left], [term.right]])

    # --- choice ---

    def route(self, term: surface.Route) -> _Parts:
        entries: list[_Parts] = [
            _entry(quoted(label), agent) for label, agent in term.routes.items()
        ]
        entries += [[f"({quoted(label)}, {OTHER})"] for label in term.others]
        if term.default is not None:
            entries.append(_entry(OTHER, term.default))
        classifier: _Parts = self.operand(term.classifier)
        if isinstance(term.classifier, surface.Lam):
            classifier = ["(", *self.lam(term.classifier), ")"]
        classify = ["λx. CASE (", *classifier, " x)"]
        return [*classify, *bracketed(" [", entries, "] x", first=Mark.LINE)]

    def if_(self, term: surface.If) -> _Parts:
        then, otherwise = self.operand(term.then), self.operand(term.otherwise)
        branches = [Mark.SPACE, "THEN ", *then, " x", Mark.SPACE, "ELSE ", *otherwise, " x"]
        test = [*self.test(term.condition, "x"), " x"]
        return [Mark.OPEN, "λx. IF ", *test, Mark.INDENT, *branches, Mark.DEDENT, Mark.CLOSE]

    def test(self, condition: str | surface.Term, names: str) -> _Parts:
        """Return a condition over `names`: an expression, or an agent."""
        if isinstance(condition, str):
            return [_predicate(condition, names)]
        return call("Truth", [[condition]])

    def guard(self, term: surface.Guard) -> _Parts:
        test = self.test(term.validator, "x")
        known = term.fallback in {"error", "empty", "last"}
        fallback = term.fallback if known else quoted(term.fallback)
        settings = [[f"retry={integer_text(term.retry)}"], [f"fallback={fallback}"]]
        return call("Guard", [[term.agent], test, *settings])

    # --- loops ---

    def loop(self, term: surface.Loop) -> _Parts:
        body = term.body
        if isinstance(body, surface.ReActStep):
            lines = self.rounds_of(body)
        else:
            lines = self.rounds_until(term)
        return self.fixpoint(term.max_steps, lines, term.on_exhausted)

    def react_step(self, term: surface.ReActStep) -> _Parts:
        return self.fixpoint(1, self.rounds_of(term), "last")

    def fixpoint(self, steps: int, lines: list[_Parts], exhausted: str) -> _Parts:
        """Return ``Yₙ(λself. λstate. …)``, the first of `lines` naming the variable."""
        shown = integer_text(steps)
        index = shown.translate(_SUBSCRIPTS) if shown.isdigit() else f"[{shown}]"
        parts: _Parts = [f"Y{index}(λself. ", *lines[0], Mark.INDENT]
        for line in lines[1:]:
            parts += [Mark.LINE, *line]
        if exhausted == "error":
            parts += [",", Mark.LINE, "MaxTurns"]
        return [*parts, Mark.DEDENT, Mark.LINE, ")"]

    def rounds_of(self, step: surface.ReActStep) -> list[_Parts]:
        tools = [_entry(quoted(tool.name), tool) for tool in step.tools]
        shown = "format(t, obs)" if step.observation_enabled else "format(t)"
        stop = ""
        if step.early_stop is not None:
            stop = f"IF {_predicate(step.early_stop, _used(step.early_stop))} THEN t ELSE "
        return [
            ["λstate."],
            ["let t = (", *self.lam(step.think, step), ") state in"],
            [*bracketed("CASE (classify t) [", tools, "]", first=Mark.LINE), " >> λobs."],
            [f"IF (obs = t) THEN t ELSE {stop}self(state ⊕ {shown})"],
        ]

    def rounds_until(self, term: surface.Loop) -> list[_Parts]:
        test = self.test(term.condition, "x, step")
        return [
            ["λx."],
            ["let x = ", *self.operand(term.body), " x in"],
            ["IF ", *test, " ⟨x, step⟩ THEN x ELSE self x"],
        ]


def _entry(label: str, agent: surface.Term) -> _Parts:
    return [f"({label}, ", Mark.INDENT, agent, Mark.DEDENT, ")"]


def _predicate(text: str, names: str) -> str:
    bare = text and text == text.strip() == escaped(text) and text[0] != '"'
    return f"{{{names} | {text if bare and _BARE.fullmatch(text) else quoted(text)}}}"


def _used(text: str) -> str:
    """Return which names an exit test seems to use, for people."""
    words = set(re.findall(r"\w+", text))
    return ", ".join(name for name in EARLY_STOP_NAMES if name in words) or "x"


def _model_name(key: str) -> str:
    return key if _MODEL.fullmatch(key) else spelled(key)


_FORMS: Mapping[type[surface.Term], Callable[[_Writer, Any], _Parts]] = {
    surface.Lam: _Writer.lam,
    surface.ConversationLam: _Writer.lam,
    surface.Tool: _Writer.tool,
    surface.ReActStep: _Writer.react_step,
    surface.Compose: _Writer.compose,
    surface.Loop: _Writer.loop,
    surface.Route: _Writer.route,
    surface.Par: _Writer.par,
    surface.Concat: lambda _writer, _term: ["concat"],
    surface.Pair: _Writer.pair,
    surface.Fst: lambda _writer, _term: ["λp. fst p"],
    surface.Snd: lambda _writer, _term: ["λp. snd p"],
    surface.If: _Writer.if_,
    surface.Guard: _Writer.guard,
    surface.Memory: _Writer.memory,
}
