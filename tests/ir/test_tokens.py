"""The estimate of tokens, against counts of five vocabularies (tests/fixtures/tokens.json)."""

import json
from pathlib import Path
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, hexdigits
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.tokens import cut_to, estimate_tokens

MEASURED = json.loads((Path(__file__).parents[1] / "fixtures" / "tokens.json").read_text("utf-8"))
TEXTS: list[dict[str, Any]] = MEASURED["texts"]
# Whose models have which vocabulary.
OWNERS = {
    "cl100k_base": "openai",
    "o200k_base": "openai",
    "claude": "anthropic",
    "deepseek": "deepseek",
    "qwen": "dashscope",
}
# The least and the most that the estimate may be of the count.
EVERYDAY = (0.95, 1.5)
BOUNDS = {
    "english": EVERYDAY,
    "english, dense words": EVERYDAY,
    "english, names": (0.85, 1.1),
    "chinese": (1.0, 1.8),
    "chinese, technical": (1.0, 1.8),
    "chinese, rare": (0.6, 1.0),
    "chinese, traditional": (0.75, 1.4),
    "mixed": EVERYDAY,
    "japanese": (1.0, 1.7),
    "korean": (1.0, 2.1),
    "russian": (1.0, 2.7),
    "german": (0.85, 1.25),
    "arabic": (0.95, 3.3),
    "hindi": (0.95, 4.5),
    "thai": (0.65, 3.3),
    "code, python": EVERYDAY,
    "code, c": EVERYDAY,
    "code, minified": EVERYDAY,
    "code, sql and shell": EVERYDAY,
    "json, compact": EVERYDAY,
    "json, indented": EVERYDAY,
    "json, numbers": EVERYDAY,
    "json, ids": EVERYDAY,
    "json, escaped": EVERYDAY,
    "observation": EVERYDAY,
    "markdown": EVERYDAY,
    "log": EVERYDAY,
    "html": EVERYDAY,
    "base64": (1.0, 1.45),
    "emoji": (0.85, 2.1),
    "emoji, joined": (0.75, 1.5),
    "random letters": (0.95, 1.35),
    "random words": (0.8, 1.0),
    "random letters and digits": EVERYDAY,
    "random signs": (0.7, 0.8),
    "json, random": EVERYDAY,
    "polish": (0.85, 1.3),
    "turkish": (0.75, 1.35),
    "finnish": (0.6, 1.0),
    "vietnamese": (1.0, 2.8),
    "greek": (0.8, 2.5),
    "hebrew": (0.9, 2.8),
    "armenian": (0.7, 3.8),
    "georgian": (0.9, 6.3),
    "bengali": (0.65, 4.3),
    "amharic": (0.6, 1.3),
    "khmer": (0.6, 3.5),
    "digits": EVERYDAY,
    "spaces": EVERYDAY,
    "capitals": (1.0, 2.0),
    "math": (0.9, 1.2),
    "words": (1.0, 2.0),
}


@pytest.mark.parametrize("row", TEXTS, ids=[f"{row['kind']} {i}" for i, row in enumerate(TEXTS)])
def test_the_estimate_is_near_the_count_of_every_vocabulary(row: dict[str, Any]):
    least, most = BOUNDS[row["kind"]]
    for vocabulary, count in row["counts"].items():
        ratio = estimate_tokens(row["text"], OWNERS[vocabulary]) / count
        assert least <= ratio <= most, (vocabulary, ratio)


@given(st.text(), st.sampled_from(["", *OWNERS.values()]))
def test_a_text_is_no_more_tokens_than_it_has_bytes(text: str, provider: str):
    assert 0 <= estimate_tokens(text, provider) <= len(text.encode())


ALPHABETS = (ascii_lowercase, ascii_uppercase, ascii_letters, ascii_letters + digits, hexdigits)


@given(st.integers(0, 2**32), st.sampled_from(ALPHABETS), st.integers(3, 300))
def test_random_letters_count_as_more_than_words(seed: int, alphabet: str, longest: int):
    """Keys and hashes: the five vocabularies make a token of 1.5 to 2 of their characters."""
    random = Random(seed)
    words = ("".join(random.choices(alphabet, k=random.randint(2, longest))) for _ in range(100))
    text = " ".join(words)[:600]
    assert estimate_tokens(text) >= len(text) / 3


@given(st.sampled_from(ascii_letters), st.integers(1, 3000))
def test_a_letter_that_is_repeated_is_no_random_text(letter: str, times: int):
    assert estimate_tokens(letter * times) <= 1 + times / 3


@given(st.text(min_size=1))
def test_only_nothing_is_no_token(text: str):
    assert estimate_tokens(text) > 0


@given(st.text(min_size=1, max_size=3))
def test_no_text_is_so_long_that_it_counts_as_little(text: str):
    """No token has more characters than the longest of the pieces."""
    assert estimate_tokens(text * 10_000) >= 10_000 * len(text) / 17


def test_half_of_a_character_is_counted():
    assert estimate_tokens("\ud800") > 0


@given(st.text(), st.integers(0, 40))
def test_a_text_is_cut_to_what_fits(text: str, most: int):
    shown = cut_to(text, most, estimate_tokens)
    assert estimate_tokens(shown) <= most
    assert shown == text or text.startswith(shown.removesuffix("…"))
    assert (shown == text) == (estimate_tokens(text) <= most)


def test_as_much_is_left_as_fits():
    assert cut_to("one two three four five", 4, estimate_tokens) == "one two…"
    assert cut_to("字" * 100, 10, estimate_tokens) == "字字字字字字字…"
