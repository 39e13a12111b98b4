"""Surface term → program.

Subterms are lowered before the terms that hold them, with an explicit stack; a subterm that occurs
twice as the same object is lowered once and is then one agent with one conversation. The model
call of a ReAct loop, and that of a router, are parts of their construct and have conversations of
their own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lambdagent.desugar.compose import lower_compose, lower_fst, lower_pair, lower_snd
from lambdagent.desugar.condition import lower_if
from lambdagent.desugar.guard import lower_guard
from lambdagent.desugar.loop import lower_loop
from lambdagent.desugar.memory import lower_memory
from lambdagent.desugar.model_call import lower_model_call
from lambdagent.desugar.output_schema import lower_fitting_answer
from lambdagent.desugar.par import lower_concat, lower_par
from lambdagent.desugar.react import lower_react
from lambdagent.desugar.route import lower_route
from lambdagent.desugar.table import ParseExpression, SiteTable
from lambdagent.desugar.tool import lower_tool
from lambdagent.ir import surface
from lambdagent.ir.core import Term
from lambdagent.ir.data import Record
from lambdagent.ir.labels import TERMINATE
from lambdagent.ir.program import Program

_STEP_NAMES = ("x", "step")
_ANSWER_NAMES = ("x",)


def desugar(root: surface.Term, parse: ParseExpression, name: str = "agent") -> Program:
    """Return the program that `root` means.

    Deterministic, total, and without effect: equal terms give programs of equal digest.

    Args:
        root: An agent.
        parse: Reads the expressions of guards, loops and conditions.
        name: What people call the agent.
    """
    lowering = _Lowering(SiteTable(parse))
    term = lowering.lower(root)
    return Program(term, lowering.table.sites, name, lowering.verbose)


class _Lowering:
    """What is lowered so far, by identity of the surface term."""

    def __init__(self, table: SiteTable) -> None:
        self.table = table
        self.done: dict[int, Term] = {}
        self.verbose = False  # whether a loop among them shows its rounds

    def lower(self, root: surface.Term) -> Term:
        done = self.done
        opened: set[int] = set()  # those whose operands are done, or above them on the stack
        stack = [root]
        while stack:
            term = stack[-1]
            number = id(term)
            if number not in opened:
                opened.add(number)
                stack += reversed(_operands(term))
            elif number in done:
                stack.pop()
            else:
                done[number] = FORMS[type(term)](self, term)
        return done[id(root)]

    def of(self, term: surface.Term) -> Term:
        return self.done[id(term)]

    def test(self, condition: str | surface.Term, wanted: str, names: tuple[str, ...]) -> Term:
        """Return a condition: a host predicate, or an agent whose answer is read as a truth."""
        if isinstance(condition, str):
            return self.table.predicate(wanted, condition, names)
        return lower_compose([self.of(condition), self.table.add("truth", wanted)])

    def compose(self, term: surface.Compose) -> Term:
        return lower_compose(
            [
                self.of(stage) if count is None else lower_concat(self.table, count)
                for stage, count in _with_counts(term.stages)
            ]
        )

    def loop(self, term: surface.Loop) -> Term:
        self.verbose = self.verbose or term.verbose
        step = term.body
        if isinstance(step, surface.ReActStep):
            react = lower_react(term, step, [self.of(tool) for tool in _called(step)], self.table)
            if step.think.output_schema is None:
                return react
            return lower_fitting_answer(react, step.think, self.table)
        condition = self.test(term.condition, "loop", _STEP_NAMES)
        return lower_loop(term, self.of(step), condition, self.table)

    def react_step(self, term: surface.ReActStep) -> Term:
        return self.loop(surface.Loop(term, max_steps=1))

    def route(self, term: surface.Route) -> Term:
        classifier = term.classifier
        if isinstance(classifier, surface.Lam):
            labels = Record(labels=term.labels)
            lowered = lower_model_call(classifier, self.table, extra=labels)
        else:
            lowered = self.of(classifier)
        default = None if term.default is None else self.of(term.default)
        routes: list[tuple[str, Term | None]] = [
            (name, self.of(agent)) for name, agent in term.routes.items()
        ]
        routes += [(name, None) for name in term.others]
        return lower_route(lowered, routes, default, self.table)

    def guard(self, term: surface.Guard) -> Term:
        predicate = self.test(term.validator, "guard", _ANSWER_NAMES)
        return lower_guard(term, self.of(term.agent), predicate, self.table)

    def if_(self, term: surface.If) -> Term:
        condition = self.test(term.condition, "if", _ANSWER_NAMES)
        return lower_if(condition, self.of(term.then), self.of(term.otherwise))

    def memory(self, term: surface.Memory) -> Term:
        summary = None if term.summary is None else self.of(term.summary)
        return lower_memory(term, self.of(term.agent), summary, self.table)


def _called(step: surface.ReActStep) -> list[surface.Tool]:
    return [tool for tool in step.tools if tool.name != TERMINATE]


def _with_counts(
    stages: Sequence[surface.Term],
) -> Iterator[tuple[surface.Term, int | None]]:
    """Yield the stages; with a `Concat` right after a `Par` the number of branches it joins."""
    before: surface.Term | None = None
    for stage in stages:
        joins = isinstance(stage, surface.Concat) and isinstance(before, surface.Par)
        yield stage, len(before.branches) if joins and isinstance(before, surface.Par) else None
        before = stage


def _operands(term: surface.Term) -> Sequence[surface.Term]:
    """Return the subterms that are lowered on their own, in order."""
    match term:
        case surface.Lam():  # first, since most terms are model calls
            return ()
        case surface.ReActStep():
            return _called(term)
        case surface.Loop(surface.ReActStep() as step):
            return _called(step)
        case surface.Compose(stages):
            return [stage for stage, count in _with_counts(stages) if count is None]
        case surface.Route(surface.Lam(), routes, default):
            return [*routes.values(), *([] if default is None else [default])]
    return surface.parts(term)


FORMS: Mapping[type[surface.Term], Callable[[_Lowering, Any], Term]] = {
    surface.Lam: lambda low, term: lower_model_call(term, low.table),
    surface.ConversationLam: lambda low, term: lower_model_call(term, low.table),
    surface.Tool: lambda low, term: lower_tool(term, low.table),
    surface.ReActStep: _Lowering.react_step,
    surface.Compose: _Lowering.compose,
    surface.Loop: _Lowering.loop,
    surface.Route: _Lowering.route,
    surface.Par: lambda low, term: lower_par([low.of(branch) for branch in term.branches]),
    surface.Concat: lambda low, _: lower_concat(low.table, None),
    surface.Pair: lambda low, term: lower_pair(low.of(term.left), low.of(term.right)),
    surface.Fst: lambda _low, _: lower_fst(),
    surface.Snd: lambda _low, _: lower_snd(),
    surface.If: _Lowering.if_,
    surface.Guard: _Lowering.guard,
    surface.Memory: _Lowering.memory,
}
