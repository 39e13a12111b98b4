"""Has commands read generated files: `python -m tests.fuzz.fuzz COUNT [FIRST]`.

None may end with a traceback or an internal error, take over a second or over 200 MB, or end with
an exit code that is not in the table. `python -m tests.fuzz.fuzz 1 NUMBER` does one file again.
"""

# Note [A second]
#
# Time is that of the processor, which a busy host stretches all the same. So a file that takes
# more is done again, the least time counts, and a second is as many rounds of a fixed loop as fit
# into one when nothing else runs.

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
# By command: success, a run that failed its check, what does not compile, findings.
EXIT_CODES = {
    "compile": {0, 2, 3},
    "lambda": {0, 2},
    "lint": {0, 2, 3},
    "import": {0, 2, 3},
    "trace": {0, 1, 2},
}
_SHARE = 250
_AGAIN = 3
_LOOP, _LOOP_S = 200_000, 0.005


class Harm(NamedTuple):
    """What reading a file did."""

    number: int
    what: str


def harm_of(number: int, folder: Path, *, measured: bool = True) -> Harm | None:
    """Have file `number` read in `folder`, and return what is wrong with how that went.

    If `measured`, time and memory are too: of this process, so nothing else may be in it.
    """
    made = file(number)
    if measured:
        _forget_peak()
    code, said, elapsed_s = _read(made, folder)
    peak_mb = _peak_mb() if measured else 0
    allowed = EXIT_CODES[made.before[0]]
    for wrong, what in (
        ("Traceback (most recent call" in said or "internal error" in said, said[-500:]),
        (code not in allowed, f"exit code {code}: {said[-300:]}"),
        (measured and elapsed_s > LONGEST_S and _is_slow(made, folder), f"{elapsed_s:.2f} s"),
        (peak_mb > LARGEST_MB, f"{peak_mb:.0f} MB"),
    ):
        if wrong:
            return Harm(number, what)
    return None


def _read(made: File, folder: Path) -> tuple[int, str, float]:
    """Return exit code, what was said to people, and the seconds that it took."""
    path = folder / made.name
    path.write_bytes(made.data)
    out, err = io.StringIO(), io.StringIO()
    started = time.process_time()
    try:
        code = main(made.argv(str(path)), Output(out, err))
    except BaseException as error:  # noqa: BLE001 - none may come out
        code, said = -1, f"Traceback (most recent call last): {error!r}"
    else:
        said = err.getvalue()
    elapsed_s = time.process_time() - started
    path.unlink()
    return code, said, elapsed_s


def _is_slow(made: File, folder: Path) -> bool:
    """See Note [A second]."""
    return min(_read(made, folder)[2] / _stretched() for _ in range(_AGAIN)) > LONGEST_S


def _stretched() -> float:
    """Return how much longer than on a calm host things take, 1 at least."""
    started = time.process_time()
    for _ in range(_LOOP):
        pass
    return max(1.0, (time.process_time() - started) / _LOOP_S)


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
    command = " ".join(made.argv(made.name))
    return f"{harm.number} (`{command}`, {len(made.data):,} bytes): {harm.what}"


def fuzz(count: int, first: int = 0) -> int:
    """Have `count` files read from number `first` on; return how many do harm."""
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
