"""Calls that wait for a person, as `run` has them approved or denied."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable

from lambdagent.api.kept import Run
from lambdagent.cli.output import Output, has_terminal
from lambdagent.effects.confirming import Confirmation
from lambdagent.effects.journal import key_of
from lambdagent.errors import SuspendedError, UsageError, finding
from lambdagent.ir.exchange import key_text
from lambdagent.machine.state import Path as Key
from lambdagent.messages import phrase, say

Decide = Callable[[Confirmation], "bool | str | None"]


def confirm_of(arguments: Namespace, run: Run | None, out: Output) -> Decide:
    """Return who decides: the options about what waits already, then people in a terminal.

    Raises:
        UsageError: An option is about a call that does not wait.
    """
    decided: dict[Key, bool | str] = {}
    if run is not None and (arguments.approve or arguments.deny):
        decided = _decided(arguments, run.confirmations, out)

    def decide(call: Confirmation) -> bool | str | None:
        if call.key in decided:
            return decided[call.key]
        return _asked(call, out) if has_terminal() else None

    return decide


def _decided(
    arguments: Namespace, calls: list[Confirmation], out: Output
) -> dict[Key, bool | str]:
    """Return what the options say, by key; what they name goes before what is about all."""
    waiting = {call.key: call for call in calls}
    named: dict[Key, bool | str] = {}
    rest: list[bool | str] = []
    given: list[tuple[str | None, bool | str]] = [(key, True) for key in arguments.approve]
    given += [_denied(text) for text in arguments.deny]
    for text, decision in given:
        if text is None:
            rest.append(decision)
            continue
        key = key_of(text)
        if key not in waiting:
            raise _not_waiting(phrase(" at `{text}`", text=text), waiting)
        if key in named:
            raise UsageError(finding("U001", option="--approve", other="--deny"))
        named[key] = decision
    if len(rest) > 1:
        raise UsageError(finding("U001", option="--approve", other="--deny"))
    if not waiting:
        raise _not_waiting("", waiting)
    found = {**dict.fromkeys(waiting, *rest), **named} if rest else named
    for key in sorted(found):
        word = say("approved") if found[key] is True else say("denied")
        call = waiting[key]
        out.note(
            say(
                "{word}: the call of `{tool}` at {key}, with: {shown}",
                word=word,
                tool=call.tool,
                key=key_text(key),
                shown=call.shown,
            )
        )
    return found


def _denied(text: str) -> tuple[str | None, bool | str]:
    """Return the key that ``KEY=WHY`` names, if it does, and the reason."""
    key, equals, why = text.partition("=")
    return (key, why or False) if equals and key_of(key) is not None else (None, text or False)


def _not_waiting(place: str, waiting: dict[Key, Confirmation]) -> UsageError:
    listed = ", ".join(map(key_text, sorted(waiting)))
    known = (
        phrase("those that wait are at {listed}", listed=listed)
        if listed
        else phrase("the run can go on, or has ended")
    )
    return UsageError(finding("U014", place=place, known=known))


def _asked(call: Confirmation, out: Output) -> bool | str | None:
    """Return what a person says about a call; None is to decide later."""
    out.error(
        say("`{tool}` is about to be called, with: {shown}", tool=call.tool, shown=call.shown)
    )
    while True:
        out.error(say("[y] make it   [n] do not, and say why   [s] stop here, and decide later"))
        said = sys.stdin.readline()
        match said.strip().casefold()[:1]:
            case "y":
                return True
            case "n":
                out.error(say("Why not, on one line:"))
                return sys.stdin.readline().strip() or False
            case "s":
                return None
            case "" if not said:
                return None


def suspended_row(error: SuspendedError, run: Run | None) -> dict[str, object]:
    """Return what a run waits for as JSON."""
    calls = [
        {"key": key_text(call.key), "tool": call.tool, "argument": call.argument}
        for call in error.confirmations
    ]
    return {
        "suspended": {"run": None if run is None else str(run.path), "confirm": calls},
        "trace": [record.to_json() for record in error.trace],
    }
