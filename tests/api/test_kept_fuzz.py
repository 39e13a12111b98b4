"""Every file of small runs with every field gone or odd, in frames and with checks that fit.

Whoever can write a run directory can write what fits its checks. Then the run comes to something,
or an error says which file is at fault: there is no hang, no code that runs, no words of Python,
and no file is changed by who refuses it.
"""

import json
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest

from lambdagent.api.doubts import ask_again
from lambdagent.api.kept import Run
from lambdagent.effects.run_directory import _check
from lambdagent.errors import CheckpointError, LambdagentError, NoSuchFileError
from lambdagent.frontend.lambda_json import parse_program_json
from lambdagent.ir.data import freeze
from lambdagent.source import Source
from tests.api.kept_world import KilledError, World, council, load, react, searching

ODD: list[Any] = [None, True, -1, 7, 1 << 70, 1.5, "", "odd", [], [[]], {}, {"odd": None}]
PYTHON = re.compile(
    r"[A-Z]\w+Error\b|Traceback|NoneType|unpack|out of range|indices|not supported"
    r"|object at|' object|<class"
    r"|expected str|\bint\b|\bstr\b|tuple|dict\b|attribute|positional"
)
FINE = {"K001", "K004", "K005", "K006", "K009", "K013", "K018"}
# What a run comes to whose answers or program are others.
OTHER_RUN = {"E005", "E010", "R011", "R001", "R002", "R004", "R010", "S202", "S203"}


def said(text: str) -> str:
    return f"said {len(text)}"


def speak(text: str) -> str:
    return searching(1)(text) if "Work." in text else said(text)


def world() -> World:
    return World(speak)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    """A finished run, one that waits for a tool, and one that waits for branches."""
    directory = tmp_path_factory.mktemp("runs")
    with Run.begin(react(world(), 1), "in", directory, autosave=0, fsync=False) as finished:
        finished.resume()
    made = {"finished": finished.path}
    for name, make in (("stopped", lambda it: react(it, 1)), ("joining", council)):
        dying = World(speak, die_at=1)
        run = Run.begin(make(dying), "in", directory, autosave=0, fsync=False)
        with run, pytest.raises(KilledError):
            run.resume()
        made[name] = run.path
    return made


def changed(data: Any) -> Iterator[Any]:
    """`data` with each part of it gone, twice, or odd."""
    if isinstance(data, dict | list):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            rest = data.copy()
            part = rest.pop(key)
            yield rest
            if isinstance(rest, list):
                yield [*data[:key], part, *data[key:]]
            for other in [*(odd for odd in ODD if odd != part), *changed(part)]:
                rest = data.copy()
                rest[key] = other
                yield rest


def frame(payload: bytes) -> bytes:
    length = len(payload)
    check = zlib.crc32(length.to_bytes(4, "little")) & 0xFFFF
    return struct.pack("<IHI", length, check, zlib.crc32(payload)) + payload + b"\xa7"


def framed(raw: bytes) -> Iterator[bytes]:
    """A file of frames with each part of each record changed."""
    records, place = [], 8
    while place + 11 <= len(raw):
        (length,) = struct.unpack_from("<I", raw, place)
        payload = raw[place + 10 : place + 10 + length]
        records.append(msgpack.unpackb(payload, unicode_errors="surrogatepass"))
        place += length + 11
    for others in changed(records):
        yield raw[:8] + b"".join(frame(msgpack.packb(each, default=big)) for each in others)


def big(value: int) -> msgpack.ExtType:
    return msgpack.ExtType(1, value.to_bytes(value.bit_length() // 8 + 1, signed=True))


def beginnings(raw: bytes) -> Iterator[bytes]:
    """A `run.json` with each field changed, whose check fits."""
    for row in changed(json.loads(raw)):
        yield checked(row)


def checked(row: dict[str, Any]) -> bytes:
    if "check" in row:
        row = {**row, "check": _check(freeze(row))}
    return json.dumps(row).encode()


def programs(raw: bytes) -> Iterator[bytes]:
    """A `program.json` with each field changed, that says no digest of its own."""
    row = json.loads(raw)
    row.pop("digest", None)
    for other in changed(row):
        yield json.dumps(other).encode()


CHANGES: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "run.json": beginnings,
    "program.json": programs,
    "journal": framed,
    "states": framed,
}


def outcome(path: Path) -> str:
    """What a run comes to: ``fine``, or the code of its error."""
    again, remarks = world(), []
    before = {each.name: each.read_bytes() for each in path.iterdir()}
    try:
        with load(path, again) as run:
            run.resume(timeout_s=20, doubt=ask_again, remark=remarks.append)
        code = "fine"
    except (CheckpointError, NoSuchFileError) as error:
        code, told = error.diagnostic.code, str(error)
        for name in before.keys() - {"states", "lock"}:  # a journal may have more to say
            assert (path / name).read_bytes().startswith(before[name])
    except LambdagentError as error:
        code, told = error.diagnostic.code, str(error)
    said = "" if code == "fine" else told
    said += "".join(each.what for each in remarks)
    assert not PYTHON.search(said.replace(str(path), "")), said
    return code


@pytest.fixture(params=[60, pytest.param(1 << 30, marks=pytest.mark.slow)])
def most(request) -> int:
    """How many changes of one file are tried; there are thousands."""
    return request.param


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("kind", ["finished", "stopped", "joining"])
def test_odd_values_that_fit_their_checks_are_used_or_told(tmp_path, runs, kind, name, most):
    whole = (runs[kind] / name).read_bytes()
    others = list(CHANGES[name](whole))
    seen: dict[str, int] = {}
    for number, other in enumerate(others[:: max(1, len(others) // most)]):
        path = tmp_path / str(number)
        shutil.copytree(runs[kind], path)
        (path / name).write_bytes(other)
        try:
            code = outcome(path)
        except BaseException as error:
            error.add_note(f"{name} of {kind} is {other!r}")
            raise
        assert code == "fine" or code in FINE | OTHER_RUN, (code, other)
        seen[code] = seen.get(code, 0) + 1
        shutil.rmtree(path)
    assert seen


@pytest.mark.parametrize("kind", ["finished", "stopped", "joining"])
def test_another_program_with_its_own_digest_is_run_or_told(tmp_path, runs, kind, most):
    raw = (runs[kind] / "program.json").read_bytes()
    row = json.loads((runs[kind] / "run.json").read_bytes())
    others = list(programs(raw))
    for number, other in enumerate(others[:: max(1, len(others) // most)]):
        try:
            program = parse_program_json(Source("program.json", other.decode()))
        except LambdagentError:
            continue
        path = tmp_path / str(number)
        shutil.copytree(runs[kind], path)
        (path / "program.json").write_bytes(other)
        (path / "run.json").write_bytes(checked({**row, "digest": program.digest()}))
        try:
            code = outcome(path)
        except BaseException as error:
            error.add_note(f"the program of {kind} is {other!r}")
            raise
        assert code == "fine" or code in FINE | OTHER_RUN, (code, other)
        shutil.rmtree(path)
