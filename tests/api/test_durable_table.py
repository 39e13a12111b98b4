"""Which tests show that a kind of fault of other durable runtimes cannot occur here."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]

# The faults, numbered as they were collected, each with the modules of its tests and their names.
TABLE = """\
1: every step stores the whole list of messages again
    durable the_deltas_of_a_run_are_linear_in_its_length
    kept the_files_of_a_run_grow_by_the_same_for_every_round
2: one large value is stored with every state
    durable_faults a_large_answer_is_not_stored_again_at_every_step
3: prompts and schemas are stored with every state
    durable_faults prompts_and_tools_are_stored_with_the_program_alone
4: nothing that is old can be removed
    durable_faults old_runs_can_be_removed_and_those_that_are_not_finished_stay
    checkpoints finished_runs_are_removed_and_others_stay
5: every answer of a tool is in every state
    kept the_files_of_a_run_grow_by_the_same_for_every_round
    states a_state_that_is_there_is_a_small_delta
6: every call records the whole conversation that it asks about
    durable_faults what_is_asked_is_not_in_the_journal
7: to go on reads and runs everything again
    durable_faults to_go_on_from_a_state_runs_nothing_again
8: the order in which a step and its effects are written is up to chance
    durable_faults everything_is_on_the_disk_before_a_call_leaves
    durable_faults the_journal_knows_of_a_call_before_it_is_made_and_of_every_answer_before
    durable states_of_a_future_that_the_journal_does_not_know_are_forgotten
9: a run that was accepted leaves no trace before its first step
    durable_faults an_accepted_run_is_there_before_its_first_call
11: a later step changes what an earlier state holds
    durable_faults what_a_tool_does_to_its_answer_later_changes_no_record
13: what cannot be read becomes nothing, silently
    states what_is_no_state_is_refused
    journal what_is_no_record_is_refused
14: what is stored needs the classes that wrote it
    durable_faults what_a_tool_returns_is_kept_as_data_and_no_class_is_needed_to_read_it
    kept_before a_stopped_run_goes_on
15: new code strands every run, and nothing says so
    durable_faults other_code_of_a_tool_is_no_other_program
    kept_runs a_changed_program_is_refused_with_the_difference
16: what runs side by side is recorded in the order in which it ends
    durable_faults the_order_in_which_branches_end_is_no_part_of_a_run
    schedule no_schedule_shows
17: another process offers the model other tools than the history knows
    durable_faults another_process_offers_the_model_the_same_tools
    durable_faults a_process_with_other_tools_is_told_which
20: only some agents can be kept, or none without another product
    durable_faults whatever_runs_can_be_kept_as_it_is
21: after a person has answered, what came before runs again
    confirmed a_run_goes_on_with_the_decision_and_repeats_nothing
    confirmed every_call_of_a_run_is_confirmed_on_its_own
23: an approval, or what was answered beside it, is lost
    confirmed a_kill_at_any_call_after_the_decision_asks_nobody_again
    confirmed mixed_branches_lose_no_answer_of_those_that_nobody_confirms
25: to go back into an inner agent runs all of it again
    durable_faults a_fork_inside_a_branch_does_not_run_the_branches_beside_it_again
26: who goes back sees answers that came later
    durable_faults a_fork_knows_no_answer_that_came_later
    confirmed an_earlier_decision_can_be_another_one_in_a_fork
"""
FAULTS = {
    int(number): [line.split() for line in lines.splitlines()]
    for number, lines in re.findall(r"^(\d+): .*\n((?: .*\n)*)", TABLE, re.MULTILINE)
}


def test_no_fault_is_left_out():
    assert list(FAULTS) == [*range(1, 10), 11, *range(13, 18), 20, 21, 23, 25, 26]


@pytest.mark.parametrize("number", FAULTS)
def test_a_fault_has_its_tests(number: int):
    assert FAULTS[number]
    for module, name in FAULTS[number]:
        (path,) = TESTS.rglob(f"test_{module}.py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        defined = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
        assert f"test_{name}" in defined, name
