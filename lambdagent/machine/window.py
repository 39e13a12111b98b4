"""Turns of a conversation → those that a model is sent, and one text for the others.

    conversation   newest turn first: turn :: older;  turn = ⟨input, ⟨reply, number⟩⟩
    summary        stands in the place of turns that a model has summarised, the last of them
                   being `number`: ⟨tag["summary"] (), ⟨text, number⟩⟩

A turn is in the window whole or not at all. Where an input is what tools answered, their calls
stand in the reply before it: the window has both or neither. So the calls that what is new answers
are in every window, and one that would begin with answers begins with the question instead that
all of these calls are about.

The cost is linear in the window, whatever the length of the conversation; where a window begins in
a loop of calls, each round of the loop before it is passed over.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import attrs

from lambdagent.ir.data import Record
from lambdagent.ir.labels import REPLY, RESULTS, SUMMARY
from lambdagent.ir.tokens import OF_A_CALL, OF_A_MESSAGE, Counter, cut_to
from lambdagent.machine.state import CONS, NIL, TAGGED, Value
from lambdagent.machine.text import cut, text_of_value
from lambdagent.machine.values import list_items, pair, parts, tagged

# How many of the older turns a mark quotes, and how much of each.
_QUOTED_TURNS: Final = 10
_QUOTED_LENGTH: Final = 80
NO_LIMIT: Final = 1 << 62


class Limits(NamedTuple):
    """How much of a conversation is sent.

    Attributes:
        tokens: Most tokens of the turns, and of the mark for those that are left out.
        turns: Most turns.
        messages: Most messages, what is new among them.
        reserve: Tokens of the mark, kept free once something is left out.
    """

    tokens: int = NO_LIMIT
    turns: int = NO_LIMIT
    messages: int = NO_LIMIT
    reserve: int = 0


class Window(NamedTuple):
    """What of a conversation is sent.

    Attributes:
        turns: Newest first.
        older: The cell of the turns that are left out.
        tokens: Of `turns`.
        answers: What tools answered to the last calls that are left out, in the place of which a
            question stands; None if no answers are left out alone.
    """

    turns: list[Value]
    older: Value
    tokens: int
    answers: Value | None = None


def turn_of(value: Value) -> tuple[Value, Value, int]:
    """Return input, reply and number of a turn.

    Raises:
        TypeError: It is none.
    """
    asked, rest = parts(value)
    reply, number = parts(rest)
    return asked, reply, number


def is_summary(turn: Value) -> bool:
    """Whether a summary stands in the place of a turn."""
    return _is_tagged(turn[1], SUMMARY)


def _is_tagged(value: Value, labels: tuple[str, ...]) -> bool:
    return type(value) is tuple and bool(value[0] == TAGGED) and bool(value[1] == labels)


def summary_turn(text: str, number: int) -> Value:
    """Return what stands for the turns up to `number`."""
    return pair(tagged(SUMMARY, 0, ""), pair(text, number))


def message_tokens(text: str, count: Counter) -> int:
    """Return how many tokens a message of `text` is."""
    return count(text) + OF_A_MESSAGE


def input_tokens(asked: Value, count: Counter) -> int:
    """Return how many tokens an input is: one message, or one for each answer of a tool."""
    return count(text_of_value(asked)) + OF_A_MESSAGE * _messages_in(asked)


def split(turns: Value, newest: Value, limits: Limits, count: Counter) -> Window:
    """Return the last turns before `newest` that are within `limits`.

    The one whose calls `newest` answers is among them even if it is not.

    Raises:
        TypeError: A turn is none.
    """
    found = _Walk(count, [turns])
    messages = _messages_in(newest)
    least = 1 if _is_tagged(newest, RESULTS) else 0
    while (turn := found.next_turn()) is not None:
        messages += _messages_in(turn[1]) + 1
        tokens = found.spent[-1] + found.tokens_of(turn)
        number = len(found.kept) + 1
        fits = messages <= limits.messages and tokens <= limits.tokens
        if number > least and not (fits and number <= limits.turns):
            break
        found.keep(turn, tokens)
    if found.left[0] == NIL:
        return found.window()
    window = found.window()
    while len(found.kept) > least and window.tokens > limits.tokens - limits.reserve:
        found.drop()
        window = found.window()
    return window


def _tokens_beside(reply: Value, count: Counter) -> int:
    """Return what a reply takes beside its text: the frame of its calls, and its thoughts."""
    said = reply[3] if _is_tagged(reply, REPLY) else None
    if not isinstance(said, Record):
        return 0
    calls, reasoning = said.get("tool_calls"), said.get("reasoning")
    tokens = OF_A_CALL * len(calls) if isinstance(calls, tuple) else 0
    return tokens + (message_tokens(reasoning, count) if isinstance(reasoning, str) else 0)


def _messages_in(asked: Value) -> int:
    """Return how many messages an input is: each answer of a tool is one."""
    if _is_tagged(asked, RESULTS):
        return sum(1 for _ in list_items(asked[3]))
    return 1


@attrs.frozen(eq=False, repr=False)
class _Walk:
    """Turns from the newest on: those kept so far, and where it stands.

    Attributes:
        cells: That of each turn that is kept, and of the first that is not.
        spent: Tokens before each turn that is kept, and after the last.
    """

    count: Counter
    cells: list[Value]
    kept: list[Value] = attrs.field(factory=list)
    spent: list[int] = attrs.field(factory=lambda: [0])

    @property
    def left(self) -> Value:
        return self.cells[-1]

    def next_turn(self) -> Value | None:
        if self.left[0] != CONS or is_summary(self.left[1]):
            return None
        return self.left[1]

    def keep(self, turn: Value, tokens: int) -> None:
        self.kept.append(turn)
        self.spent.append(tokens)
        self.cells.append(self.left[2])

    def drop(self) -> None:
        for each in (self.kept, self.spent, self.cells):
            each.pop()

    def tokens_of(self, turn: Value) -> int:
        asked, reply, _ = turn_of(turn)
        said = message_tokens(text_of_value(reply), self.count) + _tokens_beside(reply, self.count)
        return input_tokens(asked, self.count) + said

    def window(self) -> Window:
        """Return what is kept; where it would begin with answers, with their question instead."""
        whole = Window(list(self.kept), self.left, self.spent[-1])
        if not self.kept or not _is_tagged(self.kept[-1][1], RESULTS):
            return whole
        question = _question(self.left)
        if question is None:
            return whole
        answers, reply, number = turn_of(self.kept[-1])
        begun = pair(question, pair(reply, number))
        tokens = (
            whole.tokens + input_tokens(question, self.count) - input_tokens(answers, self.count)
        )
        return Window([*self.kept[:-1], begun], self.left, tokens, answers)


def _question(older: Value) -> Value | None:
    """Return the newest input that is not what tools answered; None if all are."""
    for turn in list_items(older):
        if is_summary(turn):
            return None
        if not _is_tagged(turn[1], RESULTS):
            return turn[1]
    return None


# --- what is left out ----------------------------------------------------------------------------


def mark_of(older: Value, most: int, count: Counter) -> str:
    """Return one text of at most `most` tokens for turns that are left out.

    It says how many they are, what a model wrote about them, and how the latest of them began, as
    far as that fits; nothing where there are none, or not even the first line fits.
    """
    if older[0] != CONS:
        return ""
    head = f"[Conversation summary: {turn_of(older[1])[2]} earlier turns]"
    left = most - message_tokens(head, count)
    if left < 0:
        return ""
    summaries, quotes = [], []
    for turn in islice(list_items(older), _QUOTED_TURNS):
        asked, reply, _ = turn_of(turn)
        if is_summary(turn):
            summaries.append(text_of_value(reply))
        else:
            began = (cut(text_of_value(part), _QUOTED_LENGTH) for part in (asked, reply))
            quotes.append("- " + " → ".join(began))
    lines: list[str] = []  # the newest first, after the summaries
    for line in [*summaries, *quotes]:
        shown = cut_to(line, left - 1, count) if len(lines) < len(summaries) else line
        tokens = count(shown) + 1  # the end of the line
        if not shown or tokens > left:
            break
        left -= tokens
        lines.append(shown)
    most = len(summaries)
    return "\n".join([head, *reversed(lines[:most]), *reversed(lines[most:])])


def told(window: Window, most: int, count: Counter) -> str:
    """Return what was said in turns that are left out, oldest first, in at most `most` tokens.

    Long messages are cut, so that short ones stay whole.
    """
    said = list(_said(window))
    costs = sorted(count(text) + count(who) + OF_A_MESSAGE for who, text in said)
    left, longest = most, 0
    for number, tokens in enumerate(costs):
        longest = left // (len(costs) - number)
        if tokens > longest:
            break
        left -= tokens
        longest = tokens
    shown = []
    for who, text in reversed(said):
        part = cut_to(text, longest - count(who) - OF_A_MESSAGE, count)
        shown.append(f"{who}:\n{part}")
    return "\n\n".join(shown)


def _said(window: Window) -> Iterator[tuple[str, str]]:
    """Yield who said what in turns that are left out, newest first."""
    if window.answers is not None:
        yield "Tools", text_of_value(window.answers)
    for turn in list_items(window.older):
        asked, reply, _ = turn_of(turn)
        if is_summary(turn):
            yield "Summary of what was said before", text_of_value(reply)
        else:
            yield "Assistant", text_of_value(reply)
            yield "Tools" if _is_tagged(asked, RESULTS) else "User", text_of_value(asked)
