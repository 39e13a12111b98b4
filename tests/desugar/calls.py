"""What the tests of lowering share: runs of an agent against a list of replies."""

from collections.abc import Callable, Sequence

import attrs

from lambdagent.desugar.passes import desugar
from lambdagent.effects.render import messages_of
from lambdagent.frontend.expression import parse_expression
from lambdagent.ir import surface
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.exchange import Failure
from lambdagent.ir.program import Program
from lambdagent.machine.link import link
from lambdagent.machine.state import Fail, Store
from lambdagent.machine.step import requests, resume, run, start
from lambdagent.machine.text import text_of_value
from lambdagent.machine.values import project


@attrs.frozen
class Ran:
    """A run that is over.

    Attributes:
        value: The answer as data; None for a failure.
        error: The error record of a failure.
        asked: Site and text of each request, by key.
        messages: What each model call was sent: role and text.
    """

    value: Data
    error: Record | None
    asked: list[tuple[str, str]]
    messages: list[list[tuple[str, str]]]
    store: Store

    @property
    def sites(self) -> list[str]:
        return [site for site, _ in self.asked]


Reply = object
Replies = Sequence[Reply] | Callable[[str, str], Reply]


def compiled(term: surface.Term) -> Program:
    return desugar(term, parse_expression)


def ask(
    term: surface.Term, value: object, replies: Replies, store: Store | None = None, now: float = 0
) -> Ran:
    """Run `term` on `value`; the models and tools answer with `replies`, in order or by request.

    A text is what a model or a tool says; `now` is what clocks say.
    """
    linked = link(compiled(term))
    machine = start(linked, freeze(value), store)
    asked, messages = [], []
    left = iter(replies) if not callable(replies) else None
    while True:
        machine = run(linked, machine, budget=1_000_000)
        waiting = requests(machine)
        if not waiting:
            break
        key, request = waiting[0]
        site = linked.sites[request.site].site
        if site.kind == "now":
            machine = resume(linked, machine, key, now)
            continue
        text = text_of_value(request.argument)
        asked.append((site.name, text))
        if site.kind == "llm":
            sent = messages_of(site, request.argument)
            messages.append([(message.role, message.text) for message in sent])
        reply = replies(site.name, text) if callable(replies) else next(left)
        if isinstance(reply, str) and site.kind == "llm":
            reply = Record(text=reply)
        answer = reply if isinstance(reply, Failure) else freeze(reply)
        machine = resume(linked, machine, key, answer)
    assert left is None or next(left, None) is None, "not every reply was asked for"
    state = machine.root.state
    if isinstance(state, Fail):
        return Ran(None, state.error, asked, messages, machine.root.store)
    return Ran(project(state.value), None, asked, messages, machine.root.store)
