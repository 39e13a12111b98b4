"""Conversations in the store: what the sites `conv.…` make of a cell and an argument.

    conv.read ()          ⟨turns, ⟨token limit, turn limit or strategy⟩⟩
    conv.append ⟨x, r⟩    one turn more
    conv.over x           whether there are turns that a model is to summarise before x is asked
    conv.old x            what was said in those turns, for the model that does
    conv.fold ⟨x, z⟩      z in the place of those turns

A cell is a list of turns, newest first, as in `window`. What is decided here is decided by the
estimate of tokens alone, which is the same everywhere: a store is not journalled.
"""

from typing import Final

from lambdagent.ir.data import Data, Record
from lambdagent.ir.strategies import parse_strategy
from lambdagent.ir.tokens import cut_to, estimate_tokens
from lambdagent.machine.state import CONS, NIL, NIL_VALUE, PAIR, Cell, StoreFunction, Value
from lambdagent.machine.text import text_of_value
from lambdagent.machine.values import list_items, pair, parts
from lambdagent.machine.window import (
    Limits,
    Window,
    is_summary,
    split,
    summary_turn,
    told,
)

# Of the line that says how many turns a summary is about, and of the prompt that asks for it.
_HEAD_TOKENS: Final = 24
_PROMPT_TOKENS: Final = 200


def read_conversation(static: Record) -> StoreFunction:
    """Return ⟨all turns, newest first, what of them is sent⟩.

    It costs the same however long the conversation is: the turns are the cell, shared, and what of
    them a model sees is chosen when the request is rendered; see `effects.render`.
    """
    limits = pair(_number(static["max_tokens"]), _number(static["recent_turns"]))
    if "strategy" in static:
        limits = pair(_number(static["max_tokens"]), str(static["strategy"]))

    def run(cell: Cell, _argument: Value) -> tuple[Value, Cell]:
        return (PAIR, cell or NIL_VALUE, limits), cell

    return run


def append_conversation(_static: Record) -> StoreFunction:
    """Add the turn ⟨input, reply⟩."""

    def run(cell: Cell, argument: Value) -> tuple[Value, Cell]:
        exchange, reply = parts(argument)
        return None, _with_turn(cell or NIL_VALUE, exchange, reply)

    return run


def _with_turn(older: Value, exchange: Value, reply: Value) -> Value:
    return (CONS, (PAIR, exchange, (PAIR, reply, turn_number(older) + 1)), older)


def turn_number(cell: Value) -> int:
    """Return the number of the newest turn; 0 before the first."""
    number: int = cell[1][2][2] if cell[0] == CONS else 0
    return number


def merge_conversation(base: Cell, left: Cell, right: Cell) -> Cell:
    """Return `left` with the turns that `right` has and `base` has not."""
    known = turn_number(base or NIL_VALUE)
    fresh = []
    for turn in list_items(right or NIL_VALUE):
        if turn[2][2] <= known:
            break
        fresh.append(turn)
    merged = left or NIL_VALUE
    for turn in reversed(fresh):
        merged = _with_turn(merged, turn[1], turn[2][1])
    return merged


# --- summaries that a model writes ---------------------------------------------------------------


def over_conversation(static: Record) -> StoreFunction:
    """Return whether there are turns to summarise."""

    def run(cell: Cell, newest: Value) -> tuple[Value, Cell]:
        older = _window(static, cell, newest).older
        done = older[0] == NIL or (is_summary(older[1]) and older[2][0] == NIL)
        return not done, cell

    return run


def old_conversation(static: Record) -> StoreFunction:
    """Return what was said in the turns to summarise, as one text."""
    limit = _number(static["max_tokens"])
    most = max(limit - _PROMPT_TOKENS, limit // 2)

    def run(cell: Cell, newest: Value) -> tuple[Value, Cell]:
        return told(_window(static, cell, newest), most, estimate_tokens), cell

    return run


def fold_conversation(static: Record) -> StoreFunction:
    """Put a summary in the place of the turns that it is about; it is cut where it is too long."""
    reserve = _reserve(static)
    most = max(reserve - _HEAD_TOKENS, reserve // 2)

    def run(cell: Cell, argument: Value) -> tuple[Value, Cell]:
        newest, written = parts(argument)
        window = _window(static, cell, newest)
        text = cut_to(text_of_value(written).strip(), most, estimate_tokens)
        folded: Value = NIL_VALUE
        if window.older[0] == CONS:
            folded = (CONS, summary_turn(text, turn_number(window.older)), NIL_VALUE)
        for turn in reversed(window.turns):
            folded = (CONS, turn, folded)
        return None, folded

    return run


def _window(static: Record, cell: Cell, newest: Value) -> Window:
    """Return what of a conversation is not summarised."""
    strategy = parse_strategy(str(static["strategy"]))
    limits = Limits(
        tokens=_number(static["max_tokens"]), messages=strategy.limit, reserve=_reserve(static)
    )
    return split(cell or NIL_VALUE, newest, limits, estimate_tokens)


def _reserve(static: Record) -> int:
    """Return how many tokens a summary and the line above it may have."""
    return _number(static["max_tokens"]) // 4


def _number(data: Data) -> int:
    return data if isinstance(data, int) else 0
