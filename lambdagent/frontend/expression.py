"""The expressions of `validator`, `earlyStop` and `termination.custom`: a safe subset of Python.

In: the text of one expression and the names it may use. Out: rows, nested tuples of plain `Data`,
which `machine.expression` evaluates. Anything outside the subset is refused here, with its column.
Python parses the text but never executes it.

Rows:

    ("const", value)  ("name", n)  ("tuple"|"set", items)  ("dict", keys, values)  ("text", parts)
    ("not"|"neg"|"pos", e)  ("and"|"or", items)  ("binary", op, a, b)
    ("compare", first, ((op, e), …))  ("if", test, then, otherwise)
    ("index", e, i)  ("slice", e, low, high, step)
    ("call", function, args, ((keyword, e), …))  ("method", name, e, args, ((keyword, e), …))
    ("tuples"|"sets"|"lazy", element, clauses)  ("dicts", key, value, clauses)
    clauses: ((targets, whole, iterable, conditions), …); `whole`: the target is one name
"""

import ast
import re
import warnings
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, TypeAlias

import attrs

from lambdagent.ir.data import Data
from lambdagent.ir.pattern import PatternError, compile_pattern
from lambdagent.messages import Phrase, phrase

MAX_TEXT = 2000
MAX_DEPTH = 50
MAX_SETUP_US = 30_000

# fmt: off
FUNCTIONS = (
    "abs", "all", "any", "bool", "float", "int", "json.loads", "len", "max", "min",
    "re.fullmatch", "re.match", "re.search", "round", "sorted", "str", "sum",
)
METHODS = (
    "casefold", "count", "endswith", "find", "get", "index", "isalnum", "isalpha", "isdigit",
    "islower", "isnumeric", "isspace", "isupper", "items", "join", "keys", "lower", "lstrip",
    "partition", "removeprefix", "removesuffix", "replace", "rfind", "rsplit", "rstrip",
    "split", "splitlines", "startswith", "strip", "title", "upper", "values",
)
# fmt: on
_KEYWORDS = {
    "max": ("default",),
    "min": ("default",),
    "sorted": ("reverse",),
    "sum": ("start",),
    "round": ("ndigits",),
    "split": ("sep", "maxsplit"),
    "rsplit": ("sep", "maxsplit"),
    "splitlines": ("keepends",),
    "re.search": ("flags",),
    "re.match": ("flags",),
    "re.fullmatch": ("flags",),
}
_CONSUMERS = ("all", "any", "max", "min", "sorted", "sum", "join")
_FLAGS = {
    name: int(getattr(re, name))
    for name in ("A", "ASCII", "I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE")
}
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",  # codespell:ignore
    ast.Is: "is",
    ast.IsNot: "is not",
}
_UNARY: dict[type[ast.unaryop], str] = {ast.Not: "not", ast.USub: "neg", ast.UAdd: "pos"}
_ALLOWED = phrase(
    "allowed are literals, comparisons, `and or not`, arithmetic, `a if c else b`, indexing, "
    "comprehensions, the functions {functions} and methods of texts and dicts that change nothing",
    functions=" ".join(FUNCTIONS),
)
_CONSTRUCTS: dict[type[ast.AST], str] = {
    ast.Lambda: "`lambda`",
    ast.NamedExpr: phrase("an assignment (`:=`)"),
    ast.Await: "`await`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield`",
    ast.Starred: phrase("`*` before a value"),
    ast.Attribute: phrase("an attribute that is not called"),
    ast.GeneratorExp: phrase("a generator outside `any all sum min max sorted` and `join`"),
}
_Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class ExpressionError(ValueError):
    """The text is no expression of the subset. `column` counts characters of the text from 1."""

    def __init__(self, message: str, column: int) -> None:
        told = phrase("{message} (column {column})", message=message, column=column)
        super().__init__(told)
        self.message = message
        self.column = column


def parse_expression(text: str, names: Collection[str]) -> Data:
    """Return the rows of `text`.

    Args:
        text: One expression, on one line or several.
        names: The variables the expression may read, such as `x`.

    Raises:
        ExpressionError: `text` is no Python expression, or leaves the subset.
    """
    if len(text) > MAX_TEXT:
        what = phrase(
            "an expression has at most {most} characters, got {count}",
            most=MAX_TEXT,
            count=len(text),
        )
        raise ExpressionError(what, MAX_TEXT + 1)
    if not text.strip():
        what = phrase("the expression is empty")
        raise ExpressionError(what, 1)
    return _rows(text, frozenset(names))


# A file's expressions are parsed when it is checked and again when it is desugared.
@lru_cache(maxsize=512)
def _rows(text: str, names: frozenset[str]) -> Data:
    body, shift = _parse(text)
    translator = _Translator(text, shift, names)
    translator.check_depth(body)
    return translator.row(body, names)


def _parse(text: str) -> tuple[ast.expr, int]:
    """Return the tree and how many characters were put before the text.

    Line breaks may stand anywhere, as in brackets. The text is put into brackets only if it does
    not parse without them; it is one expression only if these brackets belong to each other.
    """
    lead = len(text) - len(text.lstrip())
    try:
        return _python(text[lead:]), -lead
    except SyntaxError as error:
        body = _bracketed(text) if "\n" in text.strip() else None
        if body is not None:
            return body, 1
        column = lead + _offset(text[lead:], error.lineno or 1, (error.offset or 1) - 1) + 1
        what = phrase("this is no expression: {reason}", reason=error.msg)
        raise ExpressionError(what, min(column, len(text) + 1)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        what = phrase("this is no expression: {reason}", reason=error or type(error).__name__)
        raise ExpressionError(what, 1) from None


def _python(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body


def _bracketed(text: str) -> ast.expr | None:
    try:
        outer = _python(f"[{text}\n]")
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(outer, ast.List) or len(outer.elts) != 1:
        return None
    return outer.elts[0]


def _offset(text: str, line: int, column: int) -> int:
    """Return the place of a character given by line (from 1) and column (from 0)."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return start + max(column, 0)


@attrs.frozen(eq=False, repr=False)
class _Translator:
    text: str
    shift: int
    names: frozenset[str]
    setup_us: dict[tuple[Any, ...], int] = attrs.field(factory=dict)
    """What it takes to compile the patterns that are written in the text."""

    def column(self, node: ast.AST) -> int:
        """Return the column of `node`; Python counts bytes of UTF-8 in the text it was given."""
        given = "[" + self.text if self.shift > 0 else self.text[-self.shift :]
        line: int = getattr(node, "lineno", 1)
        offset: int = getattr(node, "col_offset", 0)
        if isinstance(node, ast.Attribute):
            # The name after the dot, not the start of the chain.
            line = node.end_lineno or line
            offset = (node.end_col_offset or 0) - len(node.attr.encode())
        in_line = given.split("\n")[line - 1].encode()[:offset]
        place = _offset(given, line, len(in_line.decode(errors="ignore")))
        return max(1, place - self.shift + 1)

    def refuse(self, node: ast.AST, what: str) -> ExpressionError:
        return ExpressionError(what, self.column(node))

    def check_depth(self, body: ast.expr) -> None:
        """Refuse deep nesting, so that all that follows may recurse."""
        stack: list[tuple[ast.AST, int]] = [(body, 1)]
        while stack:
            node, depth = stack.pop()
            if depth > MAX_DEPTH:
                raise ExpressionError(
                    phrase("an expression nests at most {most} deep", most=MAX_DEPTH), 1
                )
            # Only what costs a level of its own in the rows is counted.
            deeper = depth + isinstance(node, ast.expr)
            stack.extend((child, deeper) for child in ast.iter_child_nodes(node))

    def row(self, node: ast.expr | None, scope: frozenset[str]) -> Data:
        """Return the row of `node`; None is an absent part, such as a slice's end."""
        match node:
            case None:
                return ("const", None)
            case ast.Constant() | ast.Name() | ast.JoinedStr():
                return self.atom(node, scope)
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return ("set" if isinstance(node, ast.Set) else "tuple", self.rows(items, scope))
            case ast.Dict():
                return self.dictionary(node, scope)
            case ast.Call():
                return self.call(node, scope)
            case ast.Subscript(value=value, slice=ast.Slice(lower=low, upper=high, step=step)):
                return ("slice", *(self.row(part, scope) for part in (value, low, high, step)))
            case ast.Subscript(value=value, slice=index):
                return ("index", self.row(value, scope), self.row(index, scope))
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                return self.comprehension(node, scope)
            case _:
                return self.operation(node, scope)

    def rows(self, nodes: list[ast.expr], scope: frozenset[str]) -> tuple[Data, ...]:
        return tuple(self.row(node, scope) for node in nodes)

    def operation(self, node: ast.expr, scope: frozenset[str]) -> Data:
        match node:
            case ast.BoolOp(op=op, values=values):
                return ("and" if isinstance(op, ast.And) else "or", self.rows(values, scope))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return (_UNARY[type(op)], self.row(operand, scope))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return ("binary", _BINARY[type(op)], self.row(left, scope), self.row(right, scope))
            case ast.BinOp() | ast.UnaryOp():
                raise self.refuse(
                    node, phrase("operators on bits cannot be used; use + - * / // % **")
                )
            case ast.Compare():
                return self.compare(node, scope)
            case ast.IfExp(test=test, body=body, orelse=other):
                return ("if", *self.rows([test, body, other], scope))
            case _:
                raise self.refuse(node, self.unknown(node))

    def unknown(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return phrase(
                "`{name}` starts with an underscore; such names cannot be used", name=node.attr
            )
        what = _CONSTRUCTS.get(type(node), f"`{type(node).__name__}`")
        return _not_allowed(what)

    def atom(self, node: ast.Constant | ast.Name | ast.JoinedStr, scope: frozenset[str]) -> Data:
        match node:
            case ast.Constant(value=value):
                if value is None or isinstance(value, bool | int | float | str):
                    return ("const", value)
                kind = type(value).__name__
                what = phrase(
                    "a literal of type {kind} cannot be used; {allowed}",
                    kind=kind,
                    allowed=_ALLOWED,
                )
                raise self.refuse(node, what)
            case ast.Name(id=name):
                if name.startswith("_"):
                    what = phrase(
                        "`{name}` starts with an underscore; such names cannot be used", name=name
                    )
                    raise self.refuse(node, what)
                if name not in scope:
                    raise self.refuse(node, _not_known(_NAME, name, sorted(scope)))
                return ("name", name)
            case ast.JoinedStr(values=values):
                return ("text", tuple(self.part(value, scope) for value in values))

    def part(self, node: ast.expr, scope: frozenset[str]) -> Data:
        """Return one piece of an f-string; a format or `!r` could reach attributes and widths."""
        if isinstance(node, ast.FormattedValue):
            if node.conversion != -1 or node.format_spec is not None:
                what = phrase(
                    "an f-string may hold only plain `{value}` parts, without `!` and `:`"
                )
                raise self.refuse(node, what)
            return self.row(node.value, scope)
        return self.row(node, scope)

    def dictionary(self, node: ast.Dict, scope: frozenset[str]) -> Data:
        keys = [key for key in node.keys if key is not None]
        if len(keys) < len(node.keys):
            raise self.refuse(node, _not_allowed(phrase("`**` in a dict")))
        return ("dict", self.rows(keys, scope), self.rows(node.values, scope))

    def compare(self, node: ast.Compare, scope: frozenset[str]) -> Data:
        pairs: list[Data] = []
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            name = _COMPARE[type(op)]
            if name in {"is", "is not"} and not (_is_single(left) or _is_single(right)):
                raise self.refuse(
                    right, phrase("`is` works with None, True and False only; use `==`")
                )
            pairs.append((name, self.row(right, scope)))
            left = right
        return ("compare", self.row(node.left, scope), tuple(pairs))

    def comprehension(self, node: _Comprehension, scope: frozenset[str]) -> Data:
        clauses: list[Data] = []
        for clause in node.generators:
            if clause.is_async:
                raise self.refuse(clause.iter, _not_allowed("`async`"))
            iterable = self.row(clause.iter, scope)
            targets = tuple(self.targets(clause.target))
            scope |= set(targets)
            conditions = self.rows(clause.ifs, scope)
            clauses.append((targets, isinstance(clause.target, ast.Name), iterable, conditions))
        if isinstance(node, ast.DictComp):
            return (
                "dicts",
                self.row(node.key, scope),
                self.row(node.value, scope),
                tuple(clauses),
            )
        kind = {ast.ListComp: "tuples", ast.SetComp: "sets", ast.GeneratorExp: "lazy"}[type(node)]
        return (kind, self.row(node.elt, scope), tuple(clauses))

    def targets(self, target: ast.expr) -> Iterator[str]:
        for item in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if not isinstance(item, ast.Name):
                raise self.refuse(
                    item, phrase("after `for` stands one name, or several with commas between")
                )
            if item.id.startswith("_"):
                what = phrase(
                    "`{name}` starts with an underscore; such names cannot be used", name=item.id
                )
                raise self.refuse(item, what)
            yield item.id

    def call(self, node: ast.Call, scope: frozenset[str]) -> Data:
        name, subject = self.callee(node.func)
        args: tuple[Data, ...]
        if (
            name in _CONSUMERS
            and len(node.args) == 1
            and isinstance(node.args[0], ast.GeneratorExp)
        ):
            args = (self.comprehension(node.args[0], scope),)
        else:
            args = tuple(self.argument(name, i, arg, scope) for i, arg in enumerate(node.args))
        keywords = tuple(self.keyword(name, keyword, scope) for keyword in node.keywords)
        if name.startswith("re.") and node.args:
            self.check_pattern(node)
        if subject is None:
            return ("call", name, args, keywords)
        return ("method", name, self.row(subject, scope), args, keywords)

    def callee(self, node: ast.expr) -> tuple[str, ast.expr | None]:
        """Return the name of what is called, and the value before the dot for a method."""
        match node:
            case ast.Name(id=name):
                if name.startswith("_"):
                    what = phrase(
                        "`{name}` starts with an underscore; such names cannot be used", name=name
                    )
                    raise self.refuse(node, what)
                if name not in FUNCTIONS:
                    raise self.refuse(node, _not_known(_FUNCTION, name, FUNCTIONS))
                return name, None
            case ast.Attribute(value=ast.Name(id="re" | "json" as module), attr=name) if (
                module not in self.names and not name.startswith("_")
            ):
                full = f"{module}.{name}"
                if full not in FUNCTIONS:
                    raise self.refuse(node, _not_known(_FUNCTION, full, FUNCTIONS))
                return full, None
            case ast.Attribute(value=value, attr=name):
                if name.startswith("_"):
                    raise self.refuse(node, self.unknown(node))
                if name not in METHODS:
                    raise self.refuse(node, _not_known(_METHOD, name, METHODS))
                return name, value
            case _:
                what = phrase(
                    "only functions and methods can be called, by their name; {allowed}",
                    allowed=_ALLOWED,
                )
                raise self.refuse(node, what)

    def argument(self, name: str, index: int, node: ast.expr, scope: frozenset[str]) -> Data:
        if name.startswith("re.") and index == 2:
            return ("const", self.flags(node))
        return self.row(node, scope)

    def keyword(self, name: str, keyword: ast.keyword, scope: frozenset[str]) -> Data:
        known = _KEYWORDS.get(name, ())
        if keyword.arg not in known:
            given = f"`{keyword.arg}=`" if keyword.arg else "`**`"
            what = phrase("`{name}` takes no {given}", name=name, given=given)
            if known:
                what = phrase(
                    "`{name}` takes no {given}; it has {known}",
                    name=name,
                    given=given,
                    known=" ".join(known),
                )
            raise self.refuse(keyword.value, what)
        index = 2 if keyword.arg == "flags" else 0
        return (keyword.arg, self.argument(name, index, keyword.value, scope))

    def flags(self, node: ast.expr) -> int:
        match node:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.flags(left) | self.flags(right)
            case ast.Attribute(value=ast.Name(id="re"), attr=name) if name in _FLAGS:
                return _FLAGS[name]
            case _:
                what = phrase(
                    "flags are written re.I or re.I | re.M; known are {known}",
                    known=" ".join(_FLAGS),
                )
                raise self.refuse(node, what)

    def check_pattern(self, node: ast.Call) -> None:
        """Compile a literal pattern now, so that its fault is found now."""
        pattern = node.args[0]
        if not isinstance(pattern, ast.Constant) or not isinstance(pattern.value, str):
            return
        given = [*node.args[2:3], *(keyword.value for keyword in node.keywords)]
        key = (pattern.value, *map(self.flags, given[:1]))
        try:
            self.setup_us[key] = compile_pattern(*key).setup_us
        except PatternError as error:
            raise self.refuse(pattern, error.args[0]) from error
        if sum(self.setup_us.values()) > MAX_SETUP_US:
            raise self.refuse(
                pattern,
                phrase("the patterns of an expression have too many wide classes together"),
            )


def _is_single(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


_NAME, _FUNCTION, _METHOD = phrase("name"), phrase("function"), phrase("method")


def _not_known(kind: Phrase, name: str, known: Collection[str]) -> Phrase:
    near = get_close_matches(name, known, n=1)
    listed = " ".join(known) if known else phrase("none")
    if not near:
        return phrase(
            "`{name}` is no known {kind}; known are {known}", name=name, kind=kind, known=listed
        )
    return phrase(
        "`{name}` is no known {kind}; did you mean `{near}`? known are {known}",
        name=name,
        kind=kind,
        near=near[0],
        known=listed,
    )


def _not_allowed(what: str) -> Phrase:
    return phrase("{what} cannot be used; {allowed}", what=what, allowed=_ALLOWED)
