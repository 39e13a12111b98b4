"""Compiles generated files: `python -m tests.fuzz.fuzz COUNT [FIRST]`.

None may end with a traceback or an internal error, take over a second or over 200 MB, or end with
an exit code that is not in the table. The first of each kind of harm is written down beside.
"""

import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lambdagent.cli.main import main
from lambdagent.cli.output import Output
from tests.fuzz.files import File, file

LONGEST_S = 1.0
LARGEST_MB = 200
EXIT_CODES = {0, 2}
FORMATS = ("text", "json", "python", "sarif", "github")
_SHARE = 250


class Harm(NamedTuple):
    """What compiling a file did."""

    number: int
    what: str


def harm_of(number: int, folder: Path, *, measured: bool = True) -> Harm | None:
    """Compile file `number` in `folder`, and return what is wrong with how that went.

    If `measured`, time and memory are too: of this process, so nothing else may be in it.
    """
    made = file(number)
    (folder / made.name).write_bytes(made.data)
    if measured:
        _forget_peak()
    started = time.process_time()
    code, said = _compiled(folder / made.name, number)
    elapsed_s = time.process_time() - started
    peak_mb = _peak_mb() if measured else 0
    (folder / made.name).unlink()
    for wrong, what in (
        ("Traceback (most recent call" in said or "internal error" in said, said[-500:]),
        (code not in EXIT_CODES, f"exit code {code}: {said[-300:]}"),
        (measured and elapsed_s > LONGEST_S, f"{elapsed_s:.2f} s"),
        (peak_mb > LARGEST_MB, f"{peak_mb:.0f} MB"),
    ):
        if wrong:
            return Harm(number, what)
    return None


def _compiled(path: Path, number: int) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    argv = ["compile", str(path), "--format", FORMATS[number % len(FORMATS)]]
    try:
        code = main(argv, Output(out, err))
    except BaseException as error:  # noqa: BLE001 - none may come out
        return -1, f"Traceback (most recent call last): {error!r}"
    return code, err.getvalue()


def _forget_peak() -> None:
    """Have the kernel count the largest memory from here on."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


@contextmanager
def speaking(number: int) -> Iterator[None]:
    """Tell everything in one language or the other."""
    before = os.environ.get("LAMBDAGENT_LANG")
    os.environ["LAMBDAGENT_LANG"] = ("en", "zh")[number % 2]
    yield
    if before is None:
        del os.environ["LAMBDAGENT_LANG"]
    else:
        os.environ["LAMBDAGENT_LANG"] = before


def harms(numbers: Sequence[int]) -> list[Harm]:
    """Return the harm that the files of these `numbers` do."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            with speaking(number // 7):
                harm = harm_of(number, Path(folder))
            if harm is not None:
                found.append(harm)
    return found


def told(harm: Harm) -> str:
    """Return a line about a file that does harm."""
    made: File = file(harm.number)
    return f"{harm.number} ({made.name}, {len(made.data):,} bytes): {harm.what}"


def fuzz(count: int, first: int = 0) -> int:
    """Compile `count` files from number `first` on; return how many do harm."""
    shares = [
        range(i, min(i + _SHARE, first + count)) for i in range(first, first + count, _SHARE)
    ]
    bad = 0
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for found in pool.map(harms, shares):
            for harm in found:
                sys.stdout.write(f"{told(harm)}\n")
                sys.stdout.flush()
            bad += len(found)
    sys.stdout.write(f"{count} files, {bad} of them do harm\n")
    return bad


if __name__ == "__main__":
    sys.exit(fuzz(*map(int, sys.argv[1:])) > 0)
