"""Directories of runs: whole or not there, private, gone on with by one at a time."""

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.api.kept import Run
from lambdagent.api.run_files import find_run, stored_program
from lambdagent.effects import run_directory
from lambdagent.effects.frames import put_file
from lambdagent.effects.run_directory import (
    Beginning,
    RunDirectory,
    create_run,
    new_id,
    runs_in,
)
from lambdagent.errors import CheckpointError, NoSuchFileError
from lambdagent.ir.core import App, Lam, Lit, Prim, Var
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.program import Program
from lambdagent.ir.program_text import program_json
from tests.effects.test_packed import texts

PROGRAM = Program(Lam(App(App(Prim("pair"), Lit("k")), Var(0, "x")), "x"), {}, "small")
BEGINNING = Beginning(
    agent="small", digest=PROGRAM.digest(), input="in", began=1_700_000_000.25, autosave=50
)


def created(directory: Path, **changed) -> RunDirectory:
    return create_run(
        directory,
        program_json(PROGRAM),
        attrs.evolve(BEGINNING, **{"id": new_id(BEGINNING.began), **changed}),
    )


def closed(directory: Path, **changed) -> RunDirectory:
    run = created(directory, **changed)
    run.release()
    return run


def code_of(caught) -> str:
    return caught.value.diagnostic.code


# --- to begin ------------------------------------------------------------------------------------

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts


def _collections(inner: st.SearchStrategy[Data]) -> st.SearchStrategy[Data]:
    return st.lists(inner, max_size=3).map(tuple) | st.dictionaries(texts, inner, max_size=3).map(
        Record
    )


@given(st.recursive(scalars, _collections, max_leaves=6), texts, st.integers(0, 99))
def test_what_a_run_began_with_is_read_back(tmp_path_factory, value, agent, autosave):
    directory = tmp_path_factory.mktemp("runs")
    parent = ("another", "@3") if autosave % 2 else None
    run = closed(directory, input=value, agent=agent, autosave=autosave, parent=parent)
    found = RunDirectory(run.path).beginning()
    assert repr(found.input) == repr(value)
    assert (found.agent, found.autosave, found.parent) == (agent, autosave, parent)
    assert found.began == BEGINNING.began


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.0, 1 << 5000, "\ud800"])
def test_values_that_json_does_not_have_are_read_back_too(tmp_path, value):
    found = closed(tmp_path, input=value).beginning()
    assert repr(found.input) == repr(value)


def test_an_input_of_the_greatest_depth_is_read_back(tmp_path):
    value: object = "core"
    for _ in range(200):
        value = [value]
    frozen = freeze(value)
    assert closed(tmp_path, input=frozen).beginning().input == frozen


def test_nobody_else_may_read_a_run(tmp_path):
    before = os.umask(0)
    try:
        with Run.begin(PROGRAM, "in", tmp_path / "runs", autosave=0) as run:
            run.resume()
    finally:
        os.umask(before)
    assert stat.S_IMODE(run.path.stat().st_mode) == 0o700
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in run.path.iterdir()}
    names = ("program.json", "run.json", "journal", "states", "lock")
    assert files == dict.fromkeys(names, 0o600)


def test_every_run_has_a_name_of_its_own(tmp_path):
    runs = [closed(tmp_path) for _ in range(5)]
    assert len({run.id for run in runs}) == 5
    assert all(run.id.startswith("20231114-221320-") for run in runs)
    assert [run.id for run in runs_in(tmp_path)] == sorted(run.id for run in runs)


def test_its_size_is_that_of_its_files(tmp_path):
    run = closed(tmp_path)
    assert run.size_bytes == sum(path.stat().st_size for path in run.path.iterdir())


# A process may die between any two files: what has no `run.json` is no run, and in nobody's way.
@pytest.mark.parametrize("survived", range(3))
def test_what_a_crash_leaves_of_a_beginning_is_no_run(tmp_path, monkeypatch, survived):
    class KilledError(BaseException):
        pass

    left = [survived]

    def counted(real):
        def wrapper(*arguments):
            if not left[0]:
                raise KilledError
            left[0] -= 1
            return real(*arguments)

        return wrapper

    monkeypatch.setattr(run_directory, "put_file", counted(put_file))
    create_journal = run_directory.create_journal
    monkeypatch.setattr(run_directory, "create_journal", counted(create_journal))
    with pytest.raises(KilledError):
        created(tmp_path)
    monkeypatch.undo()
    assert runs_in(tmp_path) == []
    with pytest.raises(NoSuchFileError, match="K002"):
        find_run(tmp_path)
    run = closed(tmp_path)
    assert find_run(tmp_path).path == run.path


def test_a_beginning_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def full(path, data):
        raise CheckpointError(run_directory.finding("K008", path=str(path), reason="no space"))

    monkeypatch.setattr(run_directory, "put_file", full)
    with pytest.raises(CheckpointError, match="K008"):
        created(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_names_of_all_new_directories_are_on_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(
        run_directory, "sync_directory", lambda path: synced.append(path.resolve())
    )
    monkeypatch.chdir(tmp_path)
    run = closed(Path("a/b/c"))
    assert synced[:4] == [tmp_path, tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c"]
    assert run.path.resolve().parent == tmp_path / "a/b/c"


def test_a_file_in_the_place_of_a_directory_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="K008"):
        created(tmp_path / "file" / "runs")


# --- where nothing can be written or read --------------------------------------------------------


@contextmanager
def as_somebody() -> Iterator[Path]:
    """A directory of root's, seen by a person who may read it only."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        is_root = os.geteuid() == 0
        path.chmod(0o755 if is_root else 0o500)
        if is_root:
            os.seteuid(65_534)
        try:
            yield path
        finally:
            if is_root:
                os.seteuid(0)
            path.chmod(0o700)


def test_a_directory_that_cannot_be_written_is_told():
    with as_somebody() as path, pytest.raises(CheckpointError) as caught:
        created(path)
    assert code_of(caught) == "K008"
    assert "Permission denied" in str(caught.value)
    with as_somebody() as path, pytest.raises(CheckpointError, match="K008"):
        created(path / "deeper" / "still")


def test_a_run_of_somebody_else_cannot_be_read_or_gone_on_with():
    with as_somebody() as path:
        if os.getuid() != 0:
            pytest.skip("needs two users")
        os.seteuid(0)
        run = closed(path)
        os.seteuid(65_534)
        with pytest.raises(CheckpointError, match="K009"):
            RunDirectory(run.path).beginning()
        with pytest.raises(CheckpointError, match="K008"):
            RunDirectory(run.path).acquire()
        with pytest.raises(CheckpointError, match="K008"):
            RunDirectory(run.path).remove()


def test_a_file_is_no_directory_of_runs(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(CheckpointError, match="K008"):
        created(path)
    with pytest.raises(NoSuchFileError, match="K002"):
        runs_in(path)
    with pytest.raises(NoSuchFileError, match="K002"):
        runs_in(tmp_path / "none")


# --- one at a time -------------------------------------------------------------------------------

HOLD = """
import sys
from pathlib import Path
from lambdagent.effects.run_directory import RunDirectory
held = RunDirectory(Path(sys.argv[1]))
held.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(run: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that goes on with `run`, for all we know."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_run_that_another_process_goes_on_with_is_left_alone(tmp_path):
    path = closed(tmp_path).path
    with another_process(path) as process:
        with Run.load(path) as run:
            for go_on in (run.resume, run.save):
                with pytest.raises(CheckpointError, match=r"K003.*under way in another process"):
                    go_on()
        with pytest.raises(CheckpointError, match="K003"):
            RunDirectory(path).remove()
        assert RunDirectory(path).beginning() == attrs.evolve(BEGINNING, id=path.name)
        # The lock ends with its process, whatever ends that.
        process.kill()
        process.wait()
        with Run.load(path) as run:
            assert run.resume().value == ("k", "in")


def test_a_second_one_in_this_process_is_told_too(tmp_path):
    first = created(tmp_path)
    with pytest.raises(CheckpointError, match=f"K003.*{first.id}"):
        RunDirectory(first.path).acquire()
    first.acquire()
    first.release()
    first.release()
    second = RunDirectory(first.path)
    second.acquire()
    with pytest.raises(CheckpointError, match="K003"):
        first.acquire()
    second.release()


# --- to remove -----------------------------------------------------------------------------------


def test_a_removed_run_is_gone(tmp_path):
    keep, gone = closed(tmp_path), closed(tmp_path)
    gone.remove()
    assert [run.id for run in runs_in(tmp_path)] == [keep.id]
    assert not gone.path.exists()
    with pytest.raises(NoSuchFileError, match="K002"):
        gone.beginning()


def test_what_is_half_removed_is_no_run(tmp_path):
    run = closed(tmp_path)
    (run.path / "run.json").unlink()
    assert runs_in(tmp_path) == []
    with pytest.raises(NoSuchFileError, match="K002"):
        Run.load(run.path)
    run.remove()
    assert list(tmp_path.iterdir()) == []


def test_only_one_that_is_not_finished_is_found_by_its_directory(tmp_path):
    with Run.begin(PROGRAM, "in", tmp_path) as finished:
        finished.resume()
    assert find_run(tmp_path).path == finished.path  # there is no other
    one = closed(tmp_path)
    assert find_run(tmp_path).id == one.id
    assert find_run(finished.path).path == finished.path
    two = closed(tmp_path)
    with pytest.raises(CheckpointError) as caught:
        find_run(tmp_path)
    assert code_of(caught) == "K010"
    assert one.id in str(caught.value)
    assert two.id in str(caught.value)


# --- damage --------------------------------------------------------------------------------------


def outcome(path: Path) -> object:
    """What the run comes to, or the code of the error."""
    try:
        with Run.load(path) as run:
            return run.resume().value, run.beginning.input
    except (CheckpointError, NoSuchFileError) as error:
        assert str(path) in str(error) or error.diagnostic.code == "K005"  # noqa: PT017
        return error.diagnostic.code


@pytest.mark.parametrize("name", ["run.json", "program.json"])
def test_every_overwritten_byte_is_the_same_run_or_told(tmp_path, name):
    path = closed(tmp_path).path
    file = path / name
    whole = file.read_bytes()
    told = set()
    for place in range(len(whole)):
        for value in {ord("9"), whole[place] ^ 1} - {whole[place]}:
            changed = bytearray(whole)
            changed[place] = value
            file.write_bytes(changed)
            for left in ("states", "lock"):
                (path / left).unlink(missing_ok=True)
            found = outcome(path)
            if found != (("k", "in"), "in"):
                assert found in {"K001", "K004", "K005"}, (place, value)
                told.add(found)
    assert "K001" in told


@pytest.mark.parametrize("name", ["run.json", "program.json", "journal"])
def test_every_cut_file_is_told(tmp_path, name):
    path = closed(tmp_path).path
    file = path / name
    whole = file.read_bytes()
    for size in range(0, len(whole) - 1, 3):
        file.write_bytes(whole[:size])
        assert outcome(path) in {"K001", "K004", "K005"}


@pytest.mark.parametrize("name", ["program.json", "journal"])
def test_a_missing_file_is_told(tmp_path, name):
    path = closed(tmp_path).path
    (path / name).unlink()
    assert outcome(path) == "K009"


@pytest.mark.parametrize("name", ["run.json", "program.json", "journal", "states"])
def test_a_directory_in_place_of_a_file_is_told(tmp_path, name):
    path = closed(tmp_path).path
    (path / name).unlink(missing_ok=True)
    (path / name).mkdir()
    assert outcome(path) in {"K002", "K009"}


def test_another_version_is_told(tmp_path):
    path = closed(tmp_path).path
    row = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**row, "lambdagent-run": 2}))
    with pytest.raises(CheckpointError, match=r"K004.*of format 2, and this version reads 1"):
        RunDirectory(path).beginning()


ROWS = ["7", "[]", "null", '"text"', "{}", '{"lambdagent-run": 1}', "[" * 100_000, "{" * 10, ""]


@pytest.mark.parametrize("text", ROWS, ids=lambda text: text[:20] or "nothing")
def test_what_describes_no_run_is_told(tmp_path, text):
    path = closed(tmp_path).path
    (path / "run.json").write_text(text)
    with pytest.raises(CheckpointError, match="K001"):
        RunDirectory(path).beginning()
    (path / "program.json").write_text(text)
    with pytest.raises(CheckpointError, match="K001"):
        stored_program(RunDirectory(path), BEGINNING.digest)


@pytest.mark.parametrize("field", ["agent", "digest", "input", "began", "autosave", "parent"])
def test_a_field_that_somebody_changed_is_told(tmp_path, field):
    path = closed(tmp_path).path
    row = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**row, field: "another"}))
    with pytest.raises(CheckpointError, match=r"K001.*does not match its check"):
        RunDirectory(path).beginning()
    row.pop(field)
    (path / "run.json").write_text(json.dumps(row))
    with pytest.raises(CheckpointError, match="K001"):
        RunDirectory(path).beginning()
