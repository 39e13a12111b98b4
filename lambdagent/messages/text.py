"""The words of one diagnostic, and words that stand inside others."""

from __future__ import annotations

from typing import NamedTuple


class Text(NamedTuple):
    """The words of one code; ``{…}`` are filled in."""

    what: str
    why: str = ""
    fix: str = ""


class Phrase(str):
    """Words of ours that are filled into a `Text`, such as ``a whole number from 1``.

    As a text they are English, so that data, journals and comparisons never depend on a reader.
    Whoever tells them to people translates `template`, and then fills in `values`.
    """

    __slots__ = ("chinese", "template", "values")

    template: str
    values: dict[str, object]
    chinese: str | None  # where that stands beside the English, and in no table


def phrased(words: str, template: str, values: dict[str, object]) -> Phrase:
    """Return `words` as what `template` says with `values`."""
    made = Phrase(words)
    made.template = template
    made.values = values
    made.chinese = None
    return made


def bilingual(english: str, chinese: str) -> Phrase:
    """Return words of which both languages are at hand, such as the documentation of a field."""
    made = phrased(english, english, {})
    made.chinese = chinese
    return made


def phrase(template: str, /, **values: object) -> Phrase:
    """Return the words `template`; if there are `values`, they are filled in for ``{…}``.

    The template is written out where this is called, so that a test finds all of them.

    >>> phrase("a number from {least}", least=1)
    'a number from 1'
    """
    return phrased(template.format_map(values) if values else template, template, values)
