"""Every agent file that the tests of the checker and the builder use, and what becomes of it.

The tests are run once more, and what they hand over is written down; so a test that is added is
part of the harvest.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import attrs
import pytest

from lambdagent.errors import CompileError
from lambdagent.frontend.build import build_term
from lambdagent.frontend.check import check_config
from lambdagent.frontend.nodes import (
    BOOL,
    FLOAT,
    INT,
    NULLS,
    PLAIN,
    ListNode,
    Node,
    Scalar,
    is_null,
)
from tests.frontend import (
    test_build,
    test_build_confirmed,
    test_build_memory,
    test_check,
    test_check_blocks,
    test_yaml_cases,
)

MODULES = (
    test_build,
    test_build_confirmed,
    test_build_memory,
    test_check,
    test_check_blocks,
    test_yaml_cases,
)


@attrs.frozen
class Held:
    """A file, as values, and the findings about it: code and what is said."""

    value: Any
    findings: tuple[tuple[str, str], ...]


class Recorder:
    """Stands in for the checker and the builder, and writes down what comes by."""

    def __init__(self) -> None:
        self.found: dict[str, Held] = {}

    def note(self, root: Node | None, error: CompileError | None) -> None:
        findings = error.diagnostics if error else ()
        if root is None or any(each.code.startswith("S0") for each in findings):
            return  # no values: the text itself is at fault
        told = tuple((each.code, each.what) for each in findings)
        self.found.setdefault(f"{tree_text(root)}{told}", Held(core_value(root), told))

    def check(self, tree: Any, source: Any, environment: Any) -> Any:
        try:
            config = check_config(tree, source, environment)
        except CompileError as error:
            self.note(tree.root, error)
            raise
        self.note(tree.root, None)
        return config

    def build(self, config: Any, *overrides: Any) -> Any:
        try:
            return build_term(config, *overrides)
        except CompileError as error:
            self.note(config.root, error)
            raise


@cache
def harvest() -> tuple[Held, ...]:
    """Return what the tests check and build, each once."""
    recorder = Recorder()
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            patch.setattr(module, "check_config", recorder.check, raising=False)
            patch.setattr(module, "build_term", recorder.build, raising=False)
        for module in MODULES:
            run(module)
    return tuple(recorder.found.values())


def run(module: ModuleType) -> None:
    """Run the tests of `module` that need no fixtures and no random examples."""
    for name, test in vars(module).items():
        if not name.startswith("test_") or not inspect.isfunction(test):
            continue
        marks = getattr(test, "pytestmark", [])
        if hasattr(test, "hypothesis") or any(mark.name != "parametrize" for mark in marks):
            continue
        rows = [list(arguments(mark)) for mark in marks]
        for chosen in itertools.product(*rows):
            given = {key: value for row in chosen for key, value in row.items()}
            if inspect.signature(test).parameters.keys() <= given.keys():
                test(**given)


def arguments(mark: pytest.Mark) -> Iterator[dict[str, Any]]:
    """Yield what a `parametrize` mark gives, row by row."""
    names, values = mark.args[:2]
    if isinstance(names, str):
        names = [each.strip() for each in names.split(",")]
        if len(names) == 1:
            values = [(value,) for value in values]
    for value in values:
        yield dict(zip(names, value, strict=True))


def tree_text(root: Node) -> str:
    """Return a text that is another for another tree."""
    if isinstance(root, Scalar):
        return f"{root.kind} {root.text!r}"
    if isinstance(root, ListNode):
        return f"[{', '.join(map(tree_text, root.items))}]"
    inside = (f"{key!r}: {tree_text(value)}" for key, (_, value) in root.entries.items())
    return f"{{{', '.join(inside)}}}"


def core_value(node: Node) -> Any:
    """Return what a reader of YAML 1.2 makes of `node`: the core schema of its chapter 10.3."""
    if isinstance(node, ListNode):
        return [core_value(item) for item in node.items]
    if not isinstance(node, Scalar):
        return {key: core_value(value) for key, (_, value) in node.entries.items()}
    return core_scalar(node)


def core_scalar(node: Scalar) -> Any:
    text = node.text
    if is_null(node):
        return None
    if node.kind == BOOL or (node.kind == PLAIN and text in CORE_FLAGS):
        return CORE_FLAGS.get(text, text.lower() in ("yes", "on"))
    if node.kind in (INT, FLOAT, PLAIN):
        for read in (int, lambda digits: int(digits, 0), float):
            if text[:1] not in "+-.0123456789" or "_" in text or not text.isascii():
                break
            try:
                value = read(text.replace(".inf", "inf").replace(".nan", "nan"))
                return min(value, LARGE) if isinstance(value, int) else value
            except ValueError:
                continue
    return text


LARGE = 2**70  # `jsonschema` writes out what it refuses, and Python no number of 5,000 digits
CORE_FLAGS = {
    word: low == "true" for low in ("true", "false") for word in (low, low.title(), low.upper())
}
assert not NULLS & CORE_FLAGS.keys()
