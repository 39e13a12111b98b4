"""The file of states: the newest one that the journal leads to; damage is told."""

from pathlib import Path

import pytest

from lambdagent.effects.frames import create, read_frames
from lambdagent.effects.packed import pack, unpack
from lambdagent.effects.states import MAGIC, StateFile, forget_states, read_states
from lambdagent.errors import CheckpointError
from lambdagent.ir.core import App, Lam, Lit, Prim, Var
from lambdagent.ir.data import Data
from lambdagent.machine.checkpoint import digest_machine
from lambdagent.machine.link import Linked, link
from lambdagent.machine.state import Machine
from lambdagent.machine.step import requests, resume, run, start
from tests.machine.terms import INPUT, SITES, linked, prim, program, site, thunk

ASK = App(site("tool:t"), INPUT)
CODE = linked(prim("pair", ASK, prim("pair", ASK, prim("pair", ASK, ASK))))


def states_of(code: Linked) -> list[Machine]:
    """The states of a run at which it waits, and its end."""
    machine = run(code, start(code, "input"))
    found = [machine]
    while asked := requests(machine):
        machine = run(code, resume(code, machine, asked[0][0], f"answer {len(found)}"))
        found.append(machine)
    return found


STATES = states_of(CODE)


def written(path: Path, code: Linked = CODE, states: list[Machine] | None = None) -> Path:
    """A file of states, the number n at a journal of 100·n bytes."""
    file = StateFile(path, code, fsync=False)
    for number, machine in enumerate(STATES if states is None else states):
        file.save(machine, 100 * number)
    file.close()
    return path


def digest(machine: Machine | None) -> str | None:
    return None if machine is None else digest_machine(CODE, machine)


def test_the_newest_state_that_the_journal_leads_to_is_found(tmp_path):
    path = written(tmp_path / "states")
    assert len(STATES) == 5
    for size in range(0, 600, 50):
        machine, is_ahead = read_states(path, link(CODE.program), size)
        number = min(size // 100, len(STATES) - 1)
        assert digest(machine) == digest(STATES[number])
        assert is_ahead == (number < len(STATES) - 1)
    assert read_states(path, CODE, -1) == (None, True)


def test_where_there_is_no_file_there_is_no_state(tmp_path):
    assert read_states(tmp_path / "states", CODE, 100) == (None, False)


def test_states_can_be_forgotten(tmp_path):
    path = written(tmp_path / "states")
    forget_states(path)
    assert read_states(path, CODE, 100) == (None, False)
    forget_states(path)
    path.mkdir()
    with pytest.raises(CheckpointError, match="K008"):
        forget_states(path)


def test_another_process_begins_with_a_whole_state(tmp_path):
    path = written(tmp_path / "states", states=STATES[:2])
    file = StateFile(path, CODE)
    file.save(STATES[3], 300)
    file.close()
    assert read_states(path, CODE, 299) == (None, True)
    assert digest(read_states(path, CODE, 300)[0]) == digest(STATES[3])


def test_a_state_that_is_there_is_a_small_delta(tmp_path):
    path = tmp_path / "states"
    file = StateFile(path, CODE)
    file.save(STATES[0], 0)
    before = path.stat().st_size
    file.save(STATES[0], 0)
    file.close()
    assert path.stat().st_size - before < 40


def test_the_file_begins_again_before_it_is_much_longer_than_a_state(tmp_path):
    rounds = 1_000
    path = tmp_path / "states"
    ask = App(site("tool:t"), Var(0))
    body = prim(
        "fix",
        Lam(Lam(App(Lam(App(Var(2), Var(0))), ask))),
        Lam(Var(0)),
        params=(rounds,),
    )
    code = link(program(App(body, INPUT), SITES))
    file, longest = StateFile(path, code, fsync=False), 0
    machine, begun = run(code, start(code, "x")), 0
    while asked := requests(machine):
        machine = run(code, resume(code, machine, asked[0][0], "y" * 200 + str(begun)))
        before = path.stat().st_size if path.exists() else 0
        file.save(machine, begun)
        begun += path.stat().st_size < before
        longest = max(longest, path.stat().st_size)
    file.close()
    # A state is of constant size here: the file is bounded, however long the run is.
    assert 1 <= begun <= rounds // 50
    assert longest < (1 << 16) + 1_000
    found, _ = read_states(path, code, 1 << 30)
    assert found is not None
    assert digest_machine(code, found) == digest_machine(code, machine)


# --- crashes and damage --------------------------------------------------------------------------


def test_a_file_cut_at_any_byte_holds_earlier_states(tmp_path):
    path = written(tmp_path / "states")
    whole = path.read_bytes()
    frames, _ = read_frames(path, MAGIC)
    ends = [offset for offset, _ in frames[2:]] + [len(whole)]
    for size in range(len(MAGIC), len(whole)):
        path.write_bytes(whole[:size])
        number = sum(end <= size for end in ends)
        machine, _ = read_states(path, CODE, 1 << 30)
        assert digest(machine) == (digest(STATES[number - 1]) if number else None)


def test_every_flipped_bit_is_told(tmp_path):
    path = written(tmp_path / "states", states=STATES[:2])
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in (0, 3, 7):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            with pytest.raises(CheckpointError) as caught:
                read_states(path, CODE, 1 << 30)
            assert caught.value.diagnostic.code in {"K001", "K004"}


def test_states_of_another_program_are_refused(tmp_path):
    path = written(tmp_path / "states")
    other = linked(prim("pair", ASK, Lit(1)))
    with pytest.raises(CheckpointError, match=r"K001.*another program"):
        read_states(path, other, 1 << 30)


def test_a_file_of_another_version_is_refused(tmp_path):
    path = written(tmp_path / "states")
    path.write_bytes(MAGIC[:-1] + b"\x02" + path.read_bytes()[len(MAGIC) :])
    with pytest.raises(CheckpointError, match=r"K004.*format 2"):
        read_states(path, CODE, 0)


ORIGIN = (1, CODE.digest)
NONSENSE: dict[str, list[Data]] = {
    "no origin": ["text"],
    "an origin of one": [(1,)],
    "another format": [(2, CODE.digest)],
    "a state that is a text": [ORIGIN, "text"],
    "a state of nothing": [ORIGIN, ()],
    "a state without threads": [ORIGIN, (0, (), (), (), (), 0)],
    "no root": [ORIGIN, (0, (), (), ((1,),), (0,) * 6, 0)],
    "a row that is none": [ORIGIN, (0, ((99,),), (), (), (0,) * 6, 0)],
    "counters that are none": [ORIGIN, (0, (), (), (), 7, 0)],
    "too few counters": [ORIGIN, (0, (("c", 1),), (((), 0, (), ("halt", 0)),), (), (0,), 0)],
    "transitions that are none": [
        ORIGIN,
        (0, (("c", 1),), (((), 0, (), ("halt", 0)),), (), (0,) * 6, "x"),
    ],
    "an end that is a text": [
        ORIGIN,
        ("x", (("c", 1),), (((), 0, (), ("halt", 0)),), (), (0,) * 6, 0),
    ],
    "a failure that is none": [ORIGIN, (0, (), (((), 0, (), ("fail", 7)),), (), (0,) * 6, 0)],
    "a path that is a text": [
        ORIGIN,
        (0, (("c", 1),), ((7, 0, (), ("halt", 0)),), (), (0,) * 6, 0),
    ],
    "a clock that is a text": [
        ORIGIN,
        (0, (("c", 1),), (((), "x", (), ("halt", 0)),), (), (0,) * 6, 0),
    ],
}


# A file that somebody made with right checksums is still no reason for anything but this error.
@pytest.mark.parametrize("rows", NONSENSE.values(), ids=NONSENSE.keys())
def test_what_is_no_state_is_refused(tmp_path, rows):
    path = tmp_path / "states"
    create(path, MAGIC, [pack(row) for row in rows])
    with pytest.raises(CheckpointError, match="K001"):
        read_states(path, CODE, 1 << 30)


def test_a_state_is_plain_data(tmp_path):
    path = written(tmp_path / "states")
    frames, _ = read_frames(path, MAGIC)
    assert unpack(frames[0][1]) == (1, CODE.digest, "")
    for number, (_, payload) in enumerate(frames[1:]):
        end, rows, threads, gone, counters, transitions = unpack(payload)
        assert end == 100 * number
        assert tuple(counters) == tuple(STATES[number].counters)
        assert transitions == STATES[number].transitions
        assert (len(threads), gone) == (1, ())
        assert isinstance(rows, tuple)


def test_threads_that_are_joined_are_gone(tmp_path):
    code = linked(prim("par", thunk(ASK_IN_THUNK), thunk(ASK_IN_THUNK), params=(2,)))
    path = written(tmp_path / "states", code, states_of(code))
    found, _ = read_states(path, code, 1 << 30)
    assert found is not None
    assert list(found.threads) == [()]


ASK_IN_THUNK = App(Prim("site", ("tool:t",)), Var(1))
