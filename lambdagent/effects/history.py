"""How much of a conversation a model is sent: what its strategy says, and what fits.

In: what is sent in any case, and what `conv.read` answers. Out: the turns that are sent, and a
mark for the others. All of a request fits into what the model reads, less its longest answer.
"""

from collections.abc import Sequence

from lambdagent.effects.tokenizers import counter_of
from lambdagent.errors import EffectError, finding
from lambdagent.ir.model import Model
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference
from lambdagent.ir.strategies import (
    BUDGET,
    FULL,
    MANAGED,
    SUMMARY,
    WITHIN_HISTORY,
    Strategy,
    parse_strategy,
)
from lambdagent.ir.tokens import OF_A_REQUEST, Counter, estimate_tokens
from lambdagent.machine.state import Value
from lambdagent.machine.values import parts
from lambdagent.machine.window import (
    NO_LIMIT,
    Limits,
    Window,
    input_tokens,
    mark_of,
    message_tokens,
    split,
)
from lambdagent.messages import phrase

# How many tokens are kept free for quotes of what is left out, where the rest would fill all.
_MARK_TOKENS = 500


def fitting(
    site: Site, model: Model | None, fixed: Sequence[str], history: Value, newest: Value
) -> tuple[Window, str]:
    """Return which turns are sent before `newest`, and a mark for the others, "" for none.

    Args:
        site: Where the model is asked.
        model: Whose window it is; without one there is no limit.
        fixed: What is sent in any case, `newest` aside.
        history: What `conv.read` answers.
        newest: What is new.

    Raises:
        EffectError: What is to be sent in any case does not fit (E015).
        LookupError: `history` is something else.
        TypeError: The same.
        ValueError: The same.
    """
    turns, limits = parts(history)
    return _Request(site, model, fixed, newest).fitting(turns, *parts(limits))


class _Request:
    """A request of a conversation: what is sent in any case, and how much else fits."""

    def __init__(
        self, site: Site, model: Model | None, fixed: Sequence[str], newest: Value
    ) -> None:
        self.site = site
        self.newest = newest
        self.count: Counter
        if model is None:
            self.count, self.room = estimate_tokens, NO_LIMIT
        else:
            self.count = counter_of(model.provider, model.name)
            self.room = model.context_window - (model.max_tokens or 0)
        self.fixed = OF_A_REQUEST + input_tokens(newest, self.count)
        self.fixed += sum(message_tokens(text, self.count) for text in fixed)

    def fitting(self, turns: Value, max_tokens: int, rest: int | str) -> tuple[Window, str]:
        """Return which turns are sent, and the mark; `max_tokens` and `rest` as in `conv.read`."""
        strategy = Strategy(MANAGED) if isinstance(rest, int) else parse_strategy(rest)
        most = self.room
        if strategy.name == BUDGET:
            most = min(most, strategy.limit)
        left = most - self.fixed
        if left < 0:
            raise self.too_large(self.fixed, most, strategy)
        if strategy.name in WITHIN_HISTORY:
            left = min(left, max_tokens)
        window = split(turns, self.newest, _limits(strategy, left, rest), self.count)
        if window.tokens > most - self.fixed:  # all turns, or calls that what is new answers
            raise self.too_large(self.fixed + window.tokens, most, strategy)
        mark = ""
        if strategy.name in {MANAGED, SUMMARY}:
            mark = mark_of(window.older, left - window.tokens, self.count)
        return window, mark

    def too_large(self, size: int, most: int, strategy: Strategy) -> EffectError:
        """Return the error that a request of `size` tokens does not fit."""
        if strategy.name == BUDGET and most == strategy.limit:
            why = phrase(
                "`conversation: {strategy}` lets it have {most}",
                strategy=str(strategy),
                most=most,
            )
            hint = phrase("shorten the prompt or the input, or raise the budget")
        elif strategy.name == FULL and size > self.fixed:
            why = phrase(
                "`conversation: full` sends all that was said, and {most} fit into"
                " `model.contextWindow` less `model.maxTokens`",
                most=most,
            )
            hint = phrase("write `conversation: true`, `sliding_window(20)` or `summary(10)`")
        else:
            why = phrase(
                "{most} fit into `model.contextWindow` less `model.maxTokens`, and neither the"
                " prompt nor what is new is ever cut",
                most=max(most, 0),
            )
            hint = phrase("shorten them, or raise `model.contextWindow` if the model reads more")
        found = finding(
            "E015", site=site_reference(self.site.name), size=size, reason=why, hint=hint
        )
        return EffectError(found)


def _limits(strategy: Strategy, left: int, rest: int | str) -> Limits:
    """Return the limits of a conversation that may have `left` tokens."""
    match strategy.name:
        case "managed":
            turns = rest if isinstance(rest, int) else NO_LIMIT
            return Limits(left, turns, reserve=min(left // 4, _MARK_TOKENS))
        case "full":
            return Limits()
        case "sliding_window":
            return Limits(left, messages=strategy.limit)
        case "summary":
            return Limits(left, messages=strategy.limit, reserve=left // 4)
    return Limits(left)
