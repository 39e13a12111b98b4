"""Python source → its syntax tree, and what can be told of an expression without running it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import TypeAlias

import attrs

from lambdagent.errors import ConfigError, finding
from lambdagent.messages import phrase
from lambdagent.source import Source, Span

# What names stand for at the top of a module: the expression last assigned to each.
Names: TypeAlias = "dict[str, ast.expr]"

MAX_PYTHON_BYTES = 1 << 20
_DEEPEST = 50  # names that stand for names, and sums of texts


@attrs.frozen(eq=False)
class Module:
    """A source and its tree."""

    source: Source
    tree: ast.Module
    _lines: list[str]

    def span(self, node: ast.AST) -> Span:
        """Return where `node` stands, columns in characters."""
        line = getattr(node, "lineno", 1)
        end = getattr(node, "end_lineno", line)
        first = self._column(line, getattr(node, "col_offset", 0))
        return Span(line, first, end, self._column(end, getattr(node, "end_col_offset", 0)))

    def _column(self, line: int, offset: int) -> int:
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return (
            offset + 1
            if text.isascii()
            else len(text.encode()[:offset].decode("utf-8", "ignore")) + 1
        )


def parse_python(source: Source) -> Module:
    """Return the tree of `source`; nothing of it is run.

    Raises:
        ConfigError: It is no Python, or too large.
    """
    if len(source.text) > MAX_PYTHON_BYTES:
        raise ConfigError(finding("I014", limit=f"{MAX_PYTHON_BYTES >> 20} MB"), source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its own literals
            return Module(source, ast.parse(source.text), source.text.split("\n"))
    except SyntaxError as error:
        line = max(error.lineno or 1, 1)
        column = max(error.offset or 1, 1)
        where = Span(line, column, line, column + 1)
        raise ConfigError(finding("I013", where, reason=error.msg), source) from error
    except (ValueError, MemoryError, RecursionError) as error:
        reason = phrase("it nests too deeply") if not isinstance(error, ValueError) else str(error)
        raise ConfigError(finding("I013", reason=reason), source) from error


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of `tree` in the order of the text."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(list(ast.iter_child_nodes(node)))


def assigned(tree: ast.Module) -> Names:
    """Return what names stand for; of a name that is assigned twice, the last."""
    found: Names = {}
    for node in walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
    return found


def name_of(node: ast.AST) -> str:
    """Return the last name of what is called or named, such as `Agent` for ``agents.Agent(…)``."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def text_of(node: ast.expr | None, names: Names) -> str | None:
    """Return the text that `node` is, as far as that is written in the file."""
    pieces: list[str] = []
    stack: list[tuple[ast.expr | None, int]] = [(node, 0)]
    while stack:
        part, depth = stack.pop()
        if depth > _DEEPEST or len(pieces) > 10_000:
            return None
        match part:
            case ast.Constant(value=str(text)):
                pieces.append(_sound(text))
            case ast.Name(id=name) if name in names:
                stack.append((names[name], depth + 1))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                stack += [(right, depth + 1), (left, depth + 1)]
            case ast.Call(func=ast.Attribute(value=inner, attr="strip"), args=[], keywords=[]):
                stack.append((inner, depth + 1))
            case (
                ast.Call(func=ast.Name(id="dedent"), args=[inner])
                | ast.Call(func=ast.Attribute(attr="dedent"), args=[inner])
            ):
                stack.append((inner, depth + 1))
            case _:
                return None
    return "".join(pieces)


def _sound(text: str) -> str:
    """Return `text` with a mark for each half of a character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def number_of(node: ast.expr | None, names: Names) -> float | None:
    """Return the number that `node` is."""
    for _ in range(_DEEPEST):
        match node:
            case ast.Name(id=name) if name in names:
                node = names[name]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as inner):
                number = number_of(inner, names)
                return None if number is None else -number
            case ast.Constant(value=bool()):
                return None
            case ast.Constant(value=int(number)) if abs(number) < 2**53:
                return float(number)
            case ast.Constant(value=float(number)):
                return number
            case _:
                return None
    return None


def is_nothing(value: ast.expr) -> bool:
    """Whether `value` is a constant that stands for nothing, such as ``None`` or ``[]``."""
    match value:
        case ast.Constant(value=constant):
            return not constant
        case ast.List(elts=inner) | ast.Tuple(elts=inner):
            return not inner
    return False
