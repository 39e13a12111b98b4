"""What of a conversation a model is sent: strategies by name, as people write them.

    managed             the last turns within the limit of tokens, and quotes of the others
    full                all of it
    sliding_window(n)   the last n messages, what is new among them
    token_budget(n)     as much as fits into requests of n tokens
    summary(n)          the last n messages, and what a model wrote in place of the others

System messages are always sent, and so is what is new. A turn is sent whole or not at all.

Source: the BLOGE documentation, "memory strategies"; specification 5.5.
"""

import re
from typing import Final, NamedTuple

MANAGED: Final = "managed"
FULL: Final = "full"
SLIDING_WINDOW: Final = "sliding_window"
BUDGET: Final = "token_budget"
SUMMARY: Final = "summary"

# Those that keep to a limit of tokens for the history, and not to one of their own.
WITHIN_HISTORY: Final = frozenset({MANAGED, SLIDING_WINDOW, SUMMARY})

# As JSON Schema writes regular expressions too, for what a file may say.
WRITTEN: Final = r"^(full|(sliding_window|token_budget|summary)\([1-9][0-9]{0,14}\))$"
_FORM = re.compile(
    r"(managed|full)(?:\(\))?|(sliding_window|token_budget|summary)\(\s*([1-9][0-9]{0,14})\s*\)"
)


class Strategy(NamedTuple):
    """A strategy, and its number; 0 for one that has none."""

    name: str
    limit: int = 0

    def __str__(self) -> str:
        """Return the strategy as it is written: ``sliding_window(20)``."""
        return f"{self.name}({self.limit})" if self.limit else self.name


def summariser(agent: str) -> str:
    """Return what the agent is called that summarises the conversations of `agent`."""
    return f"{agent}.summary"


def is_strategy(value: object) -> bool:
    """Whether `value` is a text that writes a strategy."""
    return isinstance(value, str) and _FORM.fullmatch(value.strip()) is not None


def parse_strategy(text: str) -> Strategy:
    """Return the strategy that `text` writes.

    Raises:
        ValueError: It writes none.

    >>> parse_strategy("summary( 10 )"), str(parse_strategy("full()"))
    (Strategy(name='summary', limit=10), 'full')
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        what = f"no strategy of conversations: {text[:60]}"
        raise ValueError(what)
    plain, name, limit = found.groups()
    return Strategy(plain) if plain else Strategy(name, int(limit))
