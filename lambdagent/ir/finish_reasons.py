"""Why a model stopped: the words of services → four that say the same everywhere.

What a service said is kept as it was; these words are beside it.
"""

from typing import Final, Literal

Finish = Literal["stop", "length", "tool_calls", "content_filter"]

_WORDS: Final[dict[Finish, tuple[str, ...]]] = {
    "stop": ("stop", "end_turn", "stop_sequence", "eos", "eos_token"),
    "length": (
        *("length", "max_tokens", "max_output_tokens", "model_length"),
        "model_context_window_exceeded",
    ),
    "tool_calls": ("tool_calls", "tool_use", "function_call"),
    "content_filter": ("content_filter", "refusal", "safety", "sensitive", "recitation"),
}
_MEANT: Final = {word: meant for meant, words in _WORDS.items() for word in words}


def finish_of_reason(reason: str | None) -> Finish | None:
    """Return what a service means by `reason`; None where it says nothing, or nothing known.

    >>> finish_of_reason("end_turn"), finish_of_reason("MAX_TOKENS"), finish_of_reason("pause")
    ('stop', 'length', None)
    """
    return None if reason is None else _MEANT.get(reason.lower())
