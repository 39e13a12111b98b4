"""The journal: what is told is read, a cut end is an earlier journal, nonsense is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects.frames import create
from lambdagent.effects.handlers import Request
from lambdagent.effects.journal import (
    MAGIC,
    Journal,
    Recall,
    Told,
    create_journal,
    key_of,
    read_journal,
)
from lambdagent.effects.packed import pack
from lambdagent.errors import CheckpointError
from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Failure, key_text
from lambdagent.ir.sites import Site
from lambdagent.machine.request_digest import RequestDigest
from tests.effects.test_packed import data

LLM, TOOL = Site("llm:a", "llm"), Site("tool:t", "tool", idempotent=False)
keys = st.lists(st.integers(0, 9), max_size=2).map(
    lambda parts: (*(part for each in parts for part in (each, each)), len(parts))
)
answers = data | st.builds(
    Failure, st.sampled_from(["ToolError", "Timeout"]), st.text(max_size=5), data
)


def told_of(path: Path) -> Told:
    return read_journal(path)


def digest(site: Site, argument: str) -> int:
    return RequestDigest().of(site.name, argument)


def empty(folder: Path) -> Path:
    path = folder / "journal"
    create_journal(path)
    return path


def begun(path: Path) -> Journal:
    return Journal(path, read_journal(path), fsync=False)


def ask(journal: Journal, key: tuple[int, ...], site: Site = LLM, text: str = "q") -> None:
    journal.intent(key, site.name, digest(site, text), 0.5)


def shown(told: Told) -> str:
    """`repr` knows NaN and tells 1 from True."""
    return repr(told)


# --- round trips ---------------------------------------------------------------------------------


@given(st.dictionaries(keys, answers, max_size=5), st.booleans())
def test_what_is_told_is_read(tmp_path_factory, said, finished):
    path = empty(tmp_path_factory.mktemp("journal"))
    journal = begun(path)
    for key in said:
        ask(journal, key)
    for key, answer in reversed(said.items()):
        journal.result(key, answer, 0.25, 1.5)
    if finished:
        journal.finish("answered")
    journal.commit()
    end = journal.end
    journal.close()
    told = read_journal(path)
    assert told.intents.keys() == said.keys()
    assert all(intent == (LLM.name, digest(LLM, "q"), 0.5) for intent in told.intents.values())
    assert {key: repr(each.answer) for key, each in told.answers.items()} == {
        key: repr(answer) for key, answer in said.items()
    }
    assert all((each.at_s, each.took_s) == (0.25, 1.5) for each in told.answers.values())
    assert told.outcome == ("answered" if finished else None)
    assert told.open == []
    assert told.end == end == path.stat().st_size


def test_an_empty_journal_says_nothing(tmp_path):
    told = read_journal(empty(tmp_path))
    assert told[:3] == ({}, {}, None)
    assert told.length_s == 0.0


def test_an_intent_without_result_is_open(tmp_path):
    path = empty(tmp_path)
    journal = begun(path)
    for key in [(2,), (1,), (0, 1, 3)]:
        ask(journal, key)
    journal.result((1,), "answer", 0.0, 0.0)
    journal.close()
    assert read_journal(path).open == [(0, 1, 3), (2,)]


def test_an_open_request_may_be_asked_again(tmp_path):
    path = empty(tmp_path)
    for _ in range(3):
        journal = begun(path)
        ask(journal, (0,))
        journal.close()
    journal = begun(path)
    journal.result((0,), "answer", 0.0, 0.0)
    journal.close()
    assert read_journal(path).open == []


def test_time_goes_on_where_the_last_process_stopped(tmp_path):
    path = empty(tmp_path)
    journal = begun(path)
    ask(journal, (0,))
    journal.result((0,), "a", 1.0, 2.5)
    journal.close()
    assert read_journal(path).length_s == 3.5
    journal = begun(path)
    journal.intent((1,), LLM.name, 1, 0.25)
    journal.close()
    assert read_journal(path).intents[1,].at_s == 3.75


@pytest.mark.parametrize("outcome", ["answered", "failed"])
def test_the_end_is_told(tmp_path, outcome):
    path = empty(tmp_path)
    journal = begun(path)
    journal.finish(outcome)
    journal.close()
    assert read_journal(path).outcome == outcome


def test_a_long_number_and_half_surrogates_are_answers(tmp_path):
    path = empty(tmp_path)
    journal = begun(path)
    answer = Record(n=1 << 5000, t="\ud800", f=float("inf"))
    ask(journal, (0,))
    journal.result((0,), answer, 0.0, 0.0)
    journal.close()
    assert read_journal(path).answers[0,].answer == answer


# --- a cut end -----------------------------------------------------------------------------------


def test_a_journal_cut_at_any_byte_is_an_earlier_one(tmp_path):
    path = empty(tmp_path)
    journal = begun(path)
    before = [(journal.end, shown(read_journal(path)))]
    for number in range(4):
        ask(journal, (number,))
        before.append((journal.end, shown(read_journal(path))))
        journal.result((number,), Record(text=f"answer {number}"), 0.0, 0.0)
        before.append((journal.end, shown(read_journal(path))))
    journal.finish("answered")
    journal.close()
    whole = path.read_bytes()
    for size in range(len(MAGIC), len(whole)):
        path.write_bytes(whole[:size])
        assert shown(read_journal(path)) == [told for end, told in before if end <= size][-1]
        Journal(path, read_journal(path)).close()
        assert path.stat().st_size == read_journal(path).end


# --- nonsense ------------------------------------------------------------------------------------

INTENT = (0, (0,), "llm:a", 7, 0)
RESULT = (1, (0,), "answer", 0, 0)
NONSENSE: dict[str, list[Data]] = {
    "no record": ["text"],
    "no number": [()],
    "another number": [(4, "x")],
    "a key that is no path": [(0, (0, 1), "llm:a", 7, 0)],
    "an empty key": [(0, (), "llm:a", 7, 0)],
    "a negative key": [(0, (-1,), "llm:a", 7, 0)],
    "a key of texts": [(0, ("0",), "llm:a", 7, 0)],
    "a key that is true": [(0, (True,), "llm:a", 7, 0)],
    "a site that is no text": [(0, (0,), 7, 7, 0)],
    "a digest that is no number": [(0, (0,), "llm:a", "7", 0)],
    "too much": [(*INTENT, 0)],
    "an answer to nothing": [RESULT],
    "an answer to a key that is a record": [INTENT, (1, (Record(),), "a", 0, 0)],
    "two answers": [INTENT, RESULT, RESULT],
    "a failure that is a text": [INTENT, (2, (0,), "answer", 0, 0)],
    "a failure of two": [INTENT, (2, (0,), ("kind", "message"), 0, 0)],
    "another end": [(3, "sleeping", 0)],
    "something after the end": [(3, "failed"), INTENT],
    "two ends": [(3, "failed"), (3, "failed", 0)],
    "a time of a thousand digits": [(0, (0,), "llm:a", 7, 10**1000)],
    "an answer that took for ever": [INTENT, (1, (0,), "answer", 0, 10**1000)],
    "an answer after for ever": [INTENT, (1, (0,), "answer", 10**1000, 0)],
}


@pytest.mark.parametrize("records", NONSENSE.values(), ids=NONSENSE.keys())
def test_what_is_no_record_is_refused(tmp_path, records):
    path = tmp_path / "journal"
    create(path, MAGIC, [pack(record) for record in records])
    place = create(tmp_path / "less", MAGIC, [pack(record) for record in records[:-1]])
    with pytest.raises(CheckpointError) as caught:
        read_journal(path)
    assert caught.value.diagnostic.code == "K001"
    assert f"at byte {place}:" in str(caught.value)


@given(st.lists(st.binary(max_size=20) | data.map(pack), max_size=3))
def test_any_payloads_are_a_journal_or_refused(tmp_path_factory, payloads):
    path = tmp_path_factory.mktemp("journal") / "journal"
    create(path, MAGIC, payloads)
    try:
        read_journal(path)
    except CheckpointError as error:
        assert error.diagnostic.code == "K001"  # noqa: PT017 - either may happen


@given(st.data())
def test_records_with_any_field_changed_are_a_journal_or_refused(tmp_path_factory, draw):
    path = tmp_path_factory.mktemp("journal") / "journal"
    records = [list(INTENT), list(RESULT), [2, [0], ["kind", "message", None], 0, 0]]
    record = draw.draw(st.sampled_from(records))
    record[draw.draw(st.integers(0, len(record) - 1))] = draw.draw(data)
    changed = tuple(tuple(part) if isinstance(part, list) else part for part in record)
    create(path, MAGIC, [pack(INTENT), pack(changed)])
    try:
        told = read_journal(path)
    except CheckpointError as error:
        assert error.diagnostic.code == "K001"  # noqa: PT017 - either may happen
    else:
        assert told.length_s >= 0 or changed[3] != 0


# --- to recall -----------------------------------------------------------------------------------


def recall(tmp_path: Path, *, answered: bool = True) -> Recall:
    path = empty(tmp_path)
    journal = begun(path)
    ask(journal, (0,))
    if answered:
        journal.result((0,), "answer", 0.0, 0.0)
    journal.close()
    return Recall(read_journal(path))


def test_what_was_answered_is_answered_the_same(tmp_path):
    found = recall(tmp_path).answer_to(Request((0,), LLM, "q"))
    assert found is not None
    assert found.answer == "answer"


def test_what_was_not_answered_or_not_asked_is_not_known(tmp_path):
    known = recall(tmp_path, answered=False)
    assert known.answer_to(Request((0,), LLM, "q")) is None
    assert known.answer_to(Request((1,), LLM, "q")) is None


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize(("site", "text"), [(LLM, "another"), (TOOL, "q")])
def test_another_question_at_the_same_key_is_refused(tmp_path, answered, site, text):
    known = recall(tmp_path, answered=answered)
    with pytest.raises(CheckpointError, match=f"K006.*asks `{site.name}` something else at @0"):
        known.answer_to(Request((0,), site, text))


@given(keys)
def test_keys_have_one_text(key):
    assert key_of(key_text(key)) == key


@pytest.mark.parametrize("text", ["", "@", "1", "@x", "@1.", "@1.2", "@-1", "@1..2", "@1.x.2"])
def test_what_is_no_key_is_none(text):
    assert key_of(text) is None
