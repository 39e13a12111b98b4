"""Law 5: what a state stands for changes only as the calculus says, on every transition.

The machine runs beside the substitution evaluator. On a reduction the evaluator makes one step,
which must be of the same kind; on an administrative transition none. After each, both must stand
for the same term, up to the equations of `reference.settled`.
"""

from hypothesis import given

from lambdagent.ir.alpha import alpha_equal, digest
from lambdagent.ir.core import Term
from lambdagent.ir.data import Data
from lambdagent.ir.program import Program
from lambdagent.machine.link import link
from lambdagent.machine.readback import Readback
from lambdagent.machine.state import Kind
from lambdagent.machine.step import start
from tests.laws import reference
from tests.laws.observe import Oracle, content, keyed, move, observe
from tests.laws.terms import inputs, programs, seeds, thrice

# Beyond this many transitions a program is only compared at its end.
CLOSELY = 250
MOST_RAISED = 6


def same(machine_term: Term, evaluation: reference.Evaluation) -> bool:
    left = reference.settled(machine_term)
    right = reference.settled(reference.shown(evaluation.term))
    return alpha_equal(left, right, labels=False)


def reduction(before: tuple[int, ...], after: tuple[int, ...]) -> Kind | None:
    kinds = [kind for kind in Kind if after[kind] != before[kind]]
    assert len(kinds) <= 1
    assert sum(after) - sum(before) == len(kinds)
    return kinds[0] if kinds else None


def run_side_by_side(program: Program, value: Data, oracle: Oracle) -> None:
    linked = link(program)
    reader = Readback.of(linked)
    machine = start(linked, value)
    evaluation = reference.Evaluation(linked, value, oracle)
    assert same(reader.unload(machine), evaluation)
    while machine.transitions < CLOSELY:
        moved = move(linked, machine, oracle)
        if moved is None:
            break
        kind = reduction(machine.counters, moved[0].counters)
        machine = moved[0]
        if kind is not None:
            contract(evaluation, kind)
        unloaded = reader.unload(machine)
        # Errors are raised, and joins pass them on, without a reduction.
        for _ in range(MOST_RAISED):
            if not same(unloaded, evaluation):
                contract(evaluation, None)
        assert same(unloaded, evaluation), (machine.transitions, kind)


def contract(evaluation: reference.Evaluation, wanted: Kind | None) -> None:
    """Make the step of the kind `wanted`, using equations until its redex is the leftmost."""
    for _ in range(10_000):
        before = evaluation.term
        kind = evaluation.contract()
        if kind is not None or wanted is None:
            assert kind == wanted
            return
        assert evaluation.term is not before
    raise AssertionError


@thrice
@given(programs(), inputs, seeds)
def test_a_transition_makes_no_step_but_its_own(program, value, seed):
    run_side_by_side(program, value, content(seed))


@thrice
@given(programs(), inputs, seeds)
def test_the_machine_and_substitution_agree_on_the_whole_run(program, value, seed):
    linked = link(program)
    evaluation = reference.Evaluation(linked, value, keyed(seed))
    seen = observe(linked, value, keyed(seed))
    for _ in range(10 * seen.transitions + 10):
        if evaluation.finished:
            break
        evaluation.contract()
    assert evaluation.finished
    assert tuple(evaluation.counters) == seen.counters
    assert sorted(key for key, *_ in evaluation.log) == [call.key for call in seen.obs.log]
    error = reference.failure_of(evaluation.term)
    if seen.error is not None:
        assert error is not None
        assert error.value == seen.error
    else:
        assert seen.obs.outcome == ("done", digest(evaluation.term))
