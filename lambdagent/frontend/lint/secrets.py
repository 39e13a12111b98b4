"""Credentials that are written in a file: where they stand, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lambdagent.frontend.lint.rules import File, Found
from lambdagent.frontend.nodes import BYTE_ORDER_MARK, span_between
from lambdagent.messages import phrase
from lambdagent.source import Source

# After a key that says so: letters and digits without a space, unless they name a variable.
_VALUE = (
    r"[\"']?[ \t]*[:=][ \t]*[\"']?"
    r"(?![A-Z][A-Z0-9]*_[A-Z0-9_]*\b)(?=[^\s\"',\d]{0,31}\d)(?=[^\s\"',A-Za-z]{0,31}[A-Za-z])"
    r"([^\s\"',{}\[\]<>$*]{8,})"
)
# What a text must hold for a pattern to be tried: a character, which is found quickly, and a word,
# in small letters; the pattern: its group is the secret; a name.
_PATTERNS = tuple(
    (character, word, re.compile(pattern), name)
    for character, word, pattern, name in (
        ("s", "passw", f"(?i:passw(?:or)?d){_VALUE}", phrase("a password")),
        ("s", "secret", f"(?i:(?:client[_-]?)?secret){_VALUE}", phrase("a secret")),
        (
            "k",
            "key",
            f"(?i:(?:api|access|secret|private)[_-]?key(?:[_-]?id)?){_VALUE}",
            phrase("a key"),
        ),
        ("k", "token", f"(?i:(?:access|api|auth|refresh)[_-]?token){_VALUE}", phrase("a token")),
        ("-", "sk-", r"(?<![\w-])(sk-[\w-]*[A-Za-z0-9]{16,}[\w-]*)", phrase("the key of a model")),
        ("k", "akia", r"\b(AKIA[0-9A-Z]{16})\b", phrase("a key of AWS")),
        ("_", "gh", r"\b(gh[oprsu]_[A-Za-z0-9]{36,})", phrase("a token of GitHub")),
        ("-", "glpat-", r"\b(glpat-[\w-]{20,})", phrase("a token of GitLab")),
        ("-", "xox", r"\b(xox[abeoprs]-[\w-]{10,})", phrase("a token of Slack")),
        ("z", "aiza", r"\b(AIza[\w-]{35})", phrase("a key of Google")),
        ("_", "hf_", r"\b(hf_[A-Za-z0-9]{30,})", phrase("a token of Hugging Face")),
        (
            "j",
            "eyj",
            r"\b(eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})",
            phrase("a signed token"),
        ),
        ("-", "private key", r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)", phrase("a private key")),
        ("b", "bearer", r"[Bb]earer +((?!\$)[\w.~+/-]{16,}=*)", phrase("a bearer token")),
        (
            "b",
            "basic",
            r"Authorization:[ \"']*[Bb]asic +([\w+/]{8,}=*)",
            phrase("a password"),
        ),
        (
            "@",
            "://",
            r"://[^\s/?#@:$]*:((?!\$)[^\s/?#@]+)@",
            phrase("the password of an address"),
        ),
        (
            "=",
            "?",
            r"[?&](?:api_?key|key|token|secret)=((?!\$)[\w.~%+-]{8,})",
            phrase("the key of an address"),
        ),
    )
)


# Asked for the finding, and again where a text is shown.
@lru_cache(maxsize=16)
def secrets_in(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return where credentials stand in `text`, in order, and what each is.

    >>> secrets_in("baseUrl: https://bob:hunter2@example.com/v1")
    ((21, 28, 'the password of an address'),)
    """
    found: list[tuple[int, int, str]] = []
    small = text.lower()
    for character, word, pattern, name in _PATTERNS:
        if character in small and word in small:
            found += ((*match.span(1), name) for match in pattern.finditer(text))
    kept: list[tuple[int, int, str]] = []
    for each in sorted(found):
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return tuple(kept)


def written_secret(file: File) -> Iterator[Found]:
    """L026."""
    text = file.source.text
    skipped = int(text.startswith(BYTE_ORDER_MARK))
    for start, end, what in secrets_in(text):
        where = span_between(start - skipped, end - skipped, text)
        yield Found((), {"what": what}, where=where)


def without_secrets(source: Source) -> Source:
    """Return `source` as it may be shown: asterisks stand for credentials, one for each letter."""
    found = secrets_in(source.text)
    if not found:
        return source
    parts, end = [], 0
    for start, stop, _ in found:
        parts += [source.text[end:start], "*" * (stop - start)]
        end = stop
    return Source(source.name, "".join([*parts, source.text[end:]]))


def hide(text: str) -> str:
    """Return a text, which may quote a file, without credentials.

    >>> hide("got https://bob:hunter2@example.com/v1")
    'got https://bob:*******@example.com/v1'
    """
    return without_secrets(Source("", text)).text
