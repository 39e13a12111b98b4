"""The language that people are told things in: which it is, and what words it has.

It is one for the process: whoever starts one chooses, as `language_of` its environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from string import Formatter
from typing import Any, Final

from lambdagent.messages.text import Phrase, Text, phrase, phrased

ENGLISH: Final = "en"
_CHINESE: Final = "zh"
_TABLES: Final = {ENGLISH: "lambdagent.messages.english", _CHINESE: "lambdagent.messages.zh"}
# The first of these that is set decides, as POSIX has it for messages.
_LOCALE: Final = ("LC_ALL", "LC_MESSAGES", "LANG")

_chosen = ENGLISH


def language_of(environment: Mapping[str, str]) -> str:
    """Return the language that `environment` asks for.

    >>> language_of({"LANG": "zh_CN.UTF-8"}), language_of({"LAMBDAGENT_LANG": "en", "LANG": "zh"})
    ('zh', 'en')
    """
    names = ("LAMBDAGENT_LANG", *_LOCALE)
    asked = next(filter(None, (environment.get(name) for name in names)), "")
    return _CHINESE if asked.casefold().startswith(_CHINESE) else ENGLISH


def choose(language: str) -> None:
    """Tell everything in `language` from now on."""
    global _chosen  # noqa: PLW0603 - there is one reader
    _chosen = language


def text_of(code: str, language: str | None = None) -> Text:
    """Return the words of the diagnostic `code` in `language`, by default the chosen one."""
    return _messages(language or _chosen)[code]


@cache
def _messages(language: str) -> Mapping[str, Text]:
    found: Mapping[str, Text] = import_module(_TABLES[language]).MESSAGES
    return found


def told(value: Any) -> Any:
    """Return `value` in the chosen language if it is a phrase of ours, else `value` itself."""
    if not isinstance(value, Phrase) or _chosen == ENGLISH:
        return value
    if value.chinese is not None:
        return phrased(value.chinese, value.template, {})
    template: str = import_module(_TABLES[_chosen]).PHRASES[value.template]
    if value.values:
        words = {name: told(each) for name, each in value.values.items()}
        return phrased(template.format_map(words), value.template, value.values)
    return phrased(template, template, {})


def say(template: str, /, **values: object) -> str:
    """Return the words `template` in the chosen language, its ``{…}`` filled in from `values`."""
    return str(told(phrase(template, **values)))


# Note [Words in the data of a run]
#
# What a program gets to see of a failure, and what a journal keeps of it, must not depend on who
# reads along: it is English. When a person is told of it, the templates that it was made from are
# found again, and told in the language of the person.


def recognized(text: str) -> str:
    """Return what `text`, the English of a run, says as a phrase, if it is one of ours.

    See Note [Words in the data of a run].
    """
    if _chosen == ENGLISH:
        return text
    for template in import_module(_TABLES[_chosen]).OF_RUNS:
        values = _values_in(template if _FIELD.search(template) else _escaped(template), text)
        if values is not None:
            return phrased(text, template, {n: recognized(v) for n, v in values.items()})
    return text


def recognized_values(pairs: Iterable[tuple[str, str]]) -> dict[str, str] | None:
    """Return what was filled into templates to give texts; None if some other text was.

    Args:
        pairs: Templates, and the texts.
    """
    found: dict[str, str] = {}
    for template, text in pairs:
        values = _values_in(template, text)
        if values is None:
            return None
        found |= values
    return {name: recognized(value) for name, value in found.items()}


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _values_in(template: str, text: str) -> dict[str, str] | None:
    pattern, names = "", set()
    for literal, name, _, _ in Formatter().parse(template):
        pattern += re.escape(literal)
        if name is not None:
            pattern += f"(?P={name})" if name in names else f"(?P<{name}>.*?)"
            names.add(name)
    match = re.fullmatch(pattern, text, re.DOTALL)
    return None if match is None else match.groupdict()


_FIELD = re.compile(r"(?<!\{)\{[a-z]+\}(?!\})")
