"""The words of every diagnostic, in one table keyed by code for each language.

`S` schema, `L` lint, `P` λ syntax, `R` run, `E` effect, `M` machine, `K` checkpoint, `T` trace,
`U` usage, `I` import. English stands in the modules of this package, Chinese in `zh`, family by
family; words that are filled into others are `Phrase`s, whose Chinese is keyed by their English.
Only the tables of the language that is in use are loaded.
"""

from __future__ import annotations

from lambdagent.messages.language import (
    ENGLISH,
    choose,
    language_of,
    recognized,
    recognized_values,
    say,
    text_of,
    told,
)
from lambdagent.messages.text import Phrase, Text, bilingual, phrase

__all__ = [
    "ENGLISH",
    "Phrase",
    "Text",
    "bilingual",
    "choose",
    "language_of",
    "phrase",
    "recognized",
    "recognized_values",
    "say",
    "text_of",
    "told",
]
