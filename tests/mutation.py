"""Mutate modules of the machine, and see whether a law or a test of `machine/` notices.

    make mutate FILES=lambdagent/machine/step.py SAMPLE=60

Each module has a folder under build/mutation, so that a run goes on where the last one ended: what
was killed is not tried again, what survived is tried first, then a sample of the rest.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutation"
MACHINE = Path("lambdagent/machine")
RULES = ("rules", "step", "threads", "store", "cells", "reduction", "checkpoint", "readback")
COPIED = ("lambdagent", "tests", "examples", "pyproject.toml")

# Tests of decoders and expressions read a file beside the repository, and run no rule; those of
# deep terms take long, and add nothing. A mutant that loops is stopped by the limit of one test.
CONFIGURATION = """\
[mutmut]
source_paths = lambdagent
only_mutate = {file}
also_copy = examples
pytest_add_cli_args_test_selection =
    tests/machine
    tests/laws
pytest_add_cli_args =
    -p
    no:cacheprovider
    -m
    not slow
    -k
    not deep
    --ignore=tests/machine/test_decoders.py
    --ignore=tests/machine/test_toolcall.py
    --ignore=tests/machine/test_expression.py
    --timeout=30
timeout_multiplier = 4.0
timeout_constant = 10.0
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = [MACHINE / f"{name}.py" for name in RULES]
    parser.add_argument("files", nargs="*", type=Path, default=default)
    parser.add_argument("--sample", type=int, default=60, help="most new mutants for each file")
    arguments = parser.parse_args()
    for file in arguments.files:
        mutate(file, arguments.sample)


def mutate(file: Path, sample: int) -> None:
    """Run mutants of `file`, and tell which survived."""
    folder = WORK / file.stem
    prepare(folder, file)
    # Without a mutant to run, mutmut makes all of them and measures the tests, and then says so.
    made = mutmut(folder, "run", "none", capture=True)
    if "nothing matches" not in made.stderr:
        sys.exit(made.stdout + made.stderr)
    left = results(folder)
    fresh = [name for name, status in left.items() if status == "not checked"]
    again = [name for name in left if name not in fresh]
    chosen = [*again, *Random(0).sample(fresh, min(sample, len(fresh)))]
    if chosen:
        mutmut(folder, "run", *chosen)
    after = results(folder)
    alive = {name: after[name] for name in chosen if name in after}
    for name, status in alive.items():
        difference = mutmut(folder, "show", name, capture=True).stdout
        tell(f"{file}:{line_of(file, name, difference)}: {status}\n{difference}")
    tell(f"{file}: {len(chosen)} mutants tried, {len(alive)} not killed, {len(fresh)} were new\n")


def prepare(folder: Path, file: Path) -> None:
    """Copy to `folder` what the tests need, with the times at which it was changed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, dirs_exist_ok=True, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    (folder / "setup.cfg").write_text(CONFIGURATION.format(file=file), encoding="utf-8")


def mutmut(folder: Path, *words: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mutmut", *words]
    return subprocess.run(command, cwd=folder, capture_output=capture, text=True, check=False)


def results(folder: Path) -> dict[str, str]:
    """Return the state of each mutant that is not killed."""
    lines = mutmut(folder, "results", capture=True).stdout.splitlines()
    return dict(line.strip().split(": ") for line in lines)


def line_of(file: Path, name: str, difference: str) -> int:
    """Return the line of `file` that a mutant changes.

    Args:
        file: A module.
        name: ``package.module.x_function__mutmut_1``, or ``….xǁClassǁmethod__mutmut_1``.
        difference: A unified difference of the function alone.
    """
    function = re.split("x_|ǁ", name.rpartition("__mutmut_")[0])[-1]
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    starts = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    _, start, after = re.split(r"^@@ -(\d+).*$", difference, maxsplit=1, flags=re.MULTILINE)
    unchanged = after.split("\n-", 1)[0].count("\n")
    return starts[0] + int(start) - 1 + unchanged


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
