"""Answers of the world → values, and errors → the nearest handler.

Source: semantics.md §3.4, §5.
"""

from __future__ import annotations

from typing import cast

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Data, Record, shallow
from lambdagent.ir.data_text import data_text
from lambdagent.ir.exchange import Failure
from lambdagent.ir.labels import REPLY, VERDICT
from lambdagent.ir.sites import Site
from lambdagent.machine.decoders import DecodeError, Kind, decode_output
from lambdagent.machine.state import (
    AWAIT_ARG,
    CATCH,
    Fail,
    Kont,
    Path,
    Return,
    ThreadState,
    Value,
)
from lambdagent.machine.values import inject, tagged


def decode_answer(site: Site, answer: Data | Failure) -> Value | Failure:
    """Return the value of `answer` at `site`, or the failure that it is.

    A model's answer is a record with a `text`; the site's decoder reads that text, or keeps the
    whole ``reply``. What a person says to a call is true, which approves it, or why not; nothing
    else approves. A failure at a site whose errors are text is the text of its message.
    """
    if isinstance(answer, Failure):
        return answer.message if site.on_error == "text" else answer
    if site.kind == "confirm":
        return _verdict(str(site.static["tool"]), answer)
    if site.decoder == "raw":
        return inject(answer)
    if site.decoder == "reply":
        return tagged(REPLY, 0, inject(answer))
    text = text_of(answer)
    if site.decoder == "text":
        return text
    try:
        return inject(decode_output(cast(Kind, site.decoder), text))
    except DecodeError as error:
        return Failure("ValidationError", str(error), text)


def _verdict(tool: str, answer: Data) -> Value:
    """Return ``approved⟨()⟩``, or ``denied⟨text⟩`` with what the model is told."""
    if answer is True:
        return tagged(VERDICT, 0, UNIT)
    reason = "" if answer is False else text_of(answer)
    return tagged(VERDICT, 1, f"[DENIED: {tool}] {reason}".rstrip())


def text_of(answer: Data) -> str:
    """Return the text of an answer: its `text` when it is a record that has one."""
    if isinstance(answer, Record):
        answer = answer.get("text")
    if isinstance(answer, str):
        return answer
    return "" if answer is None else data_text(answer)


def error_record(failure: Failure, site: str, key: Path) -> Record:
    """Return the error value that handlers see: {kind, message, site, key, data}.

    Its data is cut where it is nested deeply: an error may hold the error before it, and so on.
    """
    return Record(
        kind=failure.kind,
        message=failure.message,
        site=site,
        key=key,
        data=shallow(failure.data),
    )


def throw(error: Record, kont: Kont) -> ThreadState:
    """Return the state after `error`: at the nearest handler in `kont`, or failed.

    ``fail e, K[catch □ h] ⟶ h e, K``; the store is not rolled back.
    """
    while kont:
        if kont[0] == CATCH:
            return Return(error, (AWAIT_ARG, kont[1], kont[2]))
        kont = kont[1]
    return Fail(error)
