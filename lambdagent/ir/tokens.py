r"""About how many tokens of a model a text is, without the vocabulary of the model.

ASCII is cut as vocabularies cut it: a word with the space before it, longer words in pieces; up to
three digits or capitals; up to two signs; a run of spaces. What no language has, such as keys and
hashes, is cut finer: each pair of letters that words seldom have costs more. Characters beyond
ASCII are weighed by the first byte that they have in UTF-8. A text is never more tokens than it
has bytes, here and in every vocabulary that falls back to bytes.

Against the five vocabularies of tests/fixtures/tokens.json, English, code and JSON come out at
0.99 to 1.44 of the count, everyday Chinese at 0.77 to 1.72, random letters, digits and signs at
0.7 to 1.3. That is meant: what is taken for too large is cut a little early, what is taken for too
small is refused by the provider. Worst are languages of which a vocabulary has few words, at 0.61;
docs/conversations.md has the table.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

# Returns how many tokens a text is.
Counter = Callable[[str], int]

# What a chat's format adds to each message, and to all of them together.
OF_A_MESSAGE: Final = 4
OF_A_REQUEST: Final = 3
# What names and ids add to a call of a tool and to its answer.
OF_A_CALL: Final = 32

# The longest word of one piece is shorter than in English, since other languages are cut finer.
_PIECES = re.compile(
    r" ?[A-Z]?[a-z]{1,7}|[A-Z]{1,3}|[0-9]{1,3}| ?[!-/:-@\[-`{-~]{1,2}|\n{1,16}|[ \t]{1,16}"
    r"|[\x00-\x1f\x7f]"
)
# Letters, each with those that seldom come after it: all but itself, which drawn lines repeat, and
# the pairs that make up 98.5 % of the pairs in 23 million characters of English text and code.
_RARE: Final = (
    *("aehjoqz", "bfghkmnpqtvwxz", "cbfgjnqvwxz", "dfghjkmpqvwxz", "ehjkz", "fbcdghjkmnpqvwxz"),
    *("gbcdfjkpqvwxyz", "hbcdfgjkmnpqvwxyz", "ihjquwy", "jabcdfghiklmnpqrtuvwxyz"),
    *("kbcdfghjlmnopqrtuvxyz", "lcghjkmnqwxz", "mcfghjknqrtvwxyz", "nbhjqrwxz", "ohqyz"),
    *("pbfgjkmnqvwxz", "qabcdefghijklmnoprstvwxyz", "rhjqwxz", "sbjqvxz", "tbgjkqvxz"),
    *("uhjkqvwxyz", "vbcdfghjklmnpqrstuwxyz", "wbcdfgjklmpqtuvxyz", "xbdfghjklmnoqrsuvwz"),
    *("yabcfhjkquvxz", "zbcdfghijklmnopqrstuvwxy"),
)
_RARE_PAIRS = re.compile("|".join(f"{row[0]}(?=[{row[1:]}])" for row in _RARE))
# Tenths of a token.
_RARE_WEIGHT: Final = 8
_DIGITS = re.compile(r"[0-9]")
_NUMBERS = re.compile(r"[0-9]{1,3}")

# Tenths of a token for a character that begins with one of these bytes.
_WEIGHTS: Final = (
    (bytes([*range(0xC2, 0xCD)]), 10),  # accented Latin
    (bytes([0xCD, 0xCE, 0xCF]), 9),  # Greek
    (bytes([*range(0xD0, 0xD4)]), 6),  # Cyrillic
    (bytes([0xD4, 0xD5]), 15),  # Armenian
    (bytes([0xD6, 0xD7]), 8),  # Hebrew
    (bytes([*range(0xD8, 0xE0)]), 9),  # Arabic
    (bytes([0xE0]), 12),  # Indic scripts, Thai
    (bytes([0xE1]), 18),  # Georgian, Ethiopic, Khmer; also what Vietnamese has
    (bytes([0xE2]), 12),  # signs
    (bytes([*range(0xEA, 0xEE)]), 11),  # Korean
    (bytes([0xEE]), 30),  # what is of no language
    (bytes([*range(0xF0, 0xF5)]), 25),  # emoji, rare Chinese
)
_HAN: Final = bytes([*range(0xE3, 0xEA), 0xEF])
_HAN_WEIGHT: Final = 12
# Vocabularies that were made for Chinese cut it less.
_CHINESE: Final = frozenset({"dashscope", "deepseek", "moonshot", "zhipu"})
_CHINESE_HAN_WEIGHT: Final = 9
# Who takes each digit for a token.
_BY_DIGIT: Final = frozenset({"dashscope"})


def estimate_tokens(text: str, provider: str = "") -> int:
    """Return about how many tokens `text` is for the models of `provider`; never fewer than 0.

    >>> estimate_tokens("How many tokens is this?"), estimate_tokens("多少")
    (6, 3)
    """
    return (_known if len(text) <= _SHORT else _estimate)(text, provider)


def _estimate(text: str, provider: str) -> int:
    count = len(_PIECES.findall(text))
    if provider in _BY_DIGIT:
        count += len(_DIGITS.findall(text)) - len(_NUMBERS.findall(text))
    count += len(_RARE_PAIRS.findall(text.lower())) * _RARE_WEIGHT // 10
    if text.isascii():
        return min(count, len(text))
    encoded = text.encode("utf-8", "surrogatepass")
    size = len(encoded)
    tenths = sum(
        weight * (size - len(encoded.translate(None, first))) for first, weight in _WEIGHTS
    )
    han = _CHINESE_HAN_WEIGHT if provider in _CHINESE else _HAN_WEIGHT
    tenths += han * (size - len(encoded.translate(None, _HAN)))
    return min(count - (-tenths // 10), size)


# Turns are counted again for each request as long as they are in the window. What is known has at
# most 8 million characters.
_SHORT: Final = 2_000
_known = lru_cache(maxsize=4_000)(_estimate)


def cut_to(text: str, most: int, count: Counter) -> str:
    """Return the beginning of `text` that is at most `most` tokens, with an ellipsis; or all.

    Nothing is left where not even the ellipsis fits.
    """
    if count(text) <= most:
        return text
    low, high = -1, min(len(text) - 1, 8 * most)  # so many characters fit, so many may not
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle].rstrip() + "…") <= most:
            low = middle
        else:
            high = middle - 1
    return "" if low < 0 else text[:low].rstrip() + "…"
