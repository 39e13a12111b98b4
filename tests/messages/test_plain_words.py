"""No words of ours reach a finding as plain English: they are `Phrase`s."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "lambdagent"
_WORDS = re.compile(r"(?<![\w`{./-])[a-z]{2,} +[a-z`{(]|[a-z`}] +[a-z]{2,}(?![\w`/}])")
# What makes findings, and where in their arguments the words are that may be translated.
_MAKERS = ("finding", "lose", "lost", "no_file", "_lose", "Reached", "UnreachableError")
# What people type: commands, and operators of expressions and of λ texts.
_TYPED = re.compile(r"--\w|lambdagent \w|case t of |(is not|not in)$")
_PHRASES = {"phrase", "say", "bilingual", "told"}


def is_plain(text: str) -> bool:
    return bool(_WORDS.search(text)) and not _TYPED.match(text)


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def assigned(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What each name of a module is set to, wherever that is."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    match target, value:
                        case ast.Name(id=name), _:
                            found.setdefault(name, []).append(value)
                        case ast.Tuple(elts=names), ast.Tuple(elts=values):
                            for each, inner in zip(names, values, strict=False):
                                if isinstance(each, ast.Name):
                                    found.setdefault(each.id, []).append(inner)
                        case _:
                            pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, []).append(value)
    return found


def text_of(node: ast.expr) -> str:
    """The text that `node` is, ``{}`` for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(text_of, parts))
        case ast.FormattedValue():
            return "{}"
    return ""


def choices(node: ast.expr) -> list[ast.expr]:
    """What `node` may be, or is made of."""
    match node:
        case ast.JoinedStr(values=parts):
            return [each.value for each in parts if isinstance(each, ast.FormattedValue)]
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return [one, other]
        case ast.BoolOp(values=values) | ast.Dict(values=values):
            return values
        case ast.Subscript(value=inner):
            return [inner]
        case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=given):
            return [inner, *given[1:]]
        case ast.Call(keywords=given) if called(node) in _PHRASES:  # what is filled in is words
            return [each.value for each in given]
    return []


def plain_words(node: ast.expr, names: dict[str, list[ast.expr]]) -> Iterator[str]:
    """The words that `node` may be, and that are no phrase."""
    stack = [node]
    seen: set[str] = set()
    while stack:
        part = stack.pop()
        if is_plain(text_of(part)):
            yield text_of(part)
        stack += choices(part)
        if isinstance(part, ast.Name) and part.id not in seen:
            seen.add(part.id)
            stack += names.get(part.id, [])


def found_in(text: str) -> list[tuple[int, str]]:
    tree = ast.parse(text)
    names = assigned(tree)
    return [
        (call.lineno, words)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        if called(call) in _MAKERS or called(call) in _PHRASES - {"bilingual"}
        for value in [
            *(call.args if called(call) not in _PHRASES else []),
            *(each.value for each in call.keywords),
        ]
        for words in plain_words(value, names)
    ]


def test_no_words_of_ours_reach_a_finding_as_plain_english():
    plain = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(PACKAGE / "messages")
        for line, words in found_in(path.read_text(encoding="utf-8"))
    ]
    assert plain == []


@pytest.mark.parametrize(
    "text",
    [
        "finding('I001', reason='the tasks run one after another')",
        "block.lost(key, f'agents.yaml has no `{name}`')",
        "A = 'no task is given to it'\nblock.lost(key, A)",
        "why = 'it is x' if y else phrase('it is z')\nfinding('I001', reason=why)",
        "D = {'a': 'there is none'}\nblock.lost(key, D.get(k, phrase('it is z')))",
        "phrase('it names {x}; {more}', x=1, more='and no other')",
    ],
)
def test_plain_words_are_found_wherever_they_hide(text: str):
    assert found_in(text)
