"""The recursive engine: a program in direct style, run on Python's own stack.

In: a state in which the program is about to be applied, and who answers. Out: the state in which
it has halted or failed, with the counters, effects and events of the stepping machine. What direct
style cannot do is refused with `HandOver`; the stepping machine then does it from the start, with
the answers already received.

Source: semantics.md §6.
"""

# Note [When direct style hands over]
#
# Its continuation is Python's stack, which cannot be moved or forked. So it hands over at a fork,
# whose branches run at once only on the stepping machine; at Python's recursion limit; at an
# effect asked from deep inside, whose handler would have too little stack; and where it is stuck,
# since the machine words that error.

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

import attrs

from lambdagent.ir.data import Data, Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.program import Program
from lambdagent.machine.answers import decode_answer, error_record
from lambdagent.machine.direct import FILENAME, Direct, Thrown, write_direct
from lambdagent.machine.direct_text import NotDirectError
from lambdagent.machine.export import exported
from lambdagent.machine.link import Linked, LinkedSite
from lambdagent.machine.rules import Misfit
from lambdagent.machine.state import (
    CATCH,
    DELTA,
    FIXPOINT,
    GUARDED,
    Code,
    Eval,
    Event,
    Fail,
    Halt,
    Machine,
    Path,
    Store,
    Thread,
    Value,
)
from lambdagent.machine.store import REMEMBERS
from lambdagent.machine.values import Noted, project

# Answers a request, by key, site and argument.
Ask: TypeAlias = "Callable[[Path, str, Value], Data | Failure]"
Emit: TypeAlias = "Callable[[Event], object]"


class HandOver(Exception):  # noqa: N818 - no error: the stepping machine goes on
    """Direct style cannot go on; the reason is the text."""


class Stopped(Exception):  # noqa: N818 - somebody asked for it
    """The run was told to stop."""


class _EscapedError(Exception):
    """Something that is no answer came out of `ask` or `emit`; it is the argument."""


@attrs.frozen(eq=False)
class _Compiled:
    direct: Direct
    program: Callable[[Run], tuple[Any, Any, Any]]


# By program: what one linked program becomes serves every other.
_COMPILED: WeakKeyDictionary[Program, _Compiled | None] = WeakKeyDictionary()


def compiled(linked: Linked) -> _Compiled | None:
    """Return `linked` in direct style, or None if it cannot be written so; worked out once."""
    program = linked.program
    if program not in _COMPILED:
        _COMPILED[program] = _compile(linked)
    return _COMPILED[program]


def _compile(linked: Linked) -> _Compiled | None:
    try:
        direct = write_direct(linked)
        names = dict(direct.names)
        # The text is made of names of ours and numbers; what the program says stands in `names`.
        exec(compile(direct.text, FILENAME, "exec"), names)  # noqa: S102
    except (NotDirectError, SyntaxError, RecursionError, MemoryError):
        return None
    return _Compiled(direct, names["program"])


class Recursive:
    """One run in direct style."""

    def __init__(self, linked: Linked, machine: Machine, ask: Ask, emit: Emit) -> None:
        """Be about to go on from `machine`, the first state of a run.

        Raises:
            HandOver: The program cannot be written in direct style.
        """
        found = compiled(linked)
        if found is None:
            raise HandOver("the program is too large or nested too deep for direct style")
        # The first state holds the input in `(□ v)`, its only frame.
        self._input = cast(Eval, machine.root.state).kont[2]
        self._run = Run(linked, found.direct, machine.root.store, ask, emit)
        self._main, self._counters, self._stop = found.program(self._run)
        self._stopped = False

    def stop(self) -> None:
        """Have `run` raise `Stopped`; from another thread. See Note [Stopping direct code]."""
        self._stopped = True
        self._stop()
        self._run.stop()

    def run(self) -> Machine:
        """Return the state in which the program has halted or failed.

        Raises:
            HandOver: The stepping machine has to do it.
            Stopped: `stop` was called.
        """
        try:
            state = self._end()
        except _EscapedError as error:
            escaped = error.args[0]
        except RecursionError:
            raise HandOver("Python's recursion limit") from None
        except Misfit:
            raise HandOver("no rule applies") from None
        except TypeError:
            if self._stopped:
                raise Stopped from None
            raise HandOver("no rule applies") from None
        else:
            return self._ended(state)
        raise escaped  # here, where nothing is handled: it keeps its own cause

    def _ended(self, state: Halt | Fail) -> Machine:
        run = self._run
        (b, d, m), beta = self._counters(), run.beta
        if self._stopped:
            raise Stopped
        if type(state) is Halt:
            state = Halt(exported(state.value, run.direct))
        counters = (int(b) + beta, int(d) + run.delta, int(m) + run.mu, run.gamma, run.epsilon, 0)
        return Machine({(): Thread((), run.clock, run.cells(), state)}, counters)

    def _end(self) -> Halt | Fail:
        """Return how the program ends; the value of direct style, if it does with one."""
        try:
            return Halt(self._main(self._input))
        except Thrown as thrown:
            return Fail(self._run.caught(thrown, inside=False))


class Run:
    """What the functions of a program in direct style use; counts what they do not."""

    def __init__(self, linked: Linked, direct: Direct, store: Store, ask: Ask, emit: Emit) -> None:
        """Begin with the cells of `store`."""
        self.clock = 0
        self.beta = self.delta = self.mu = self.gamma = self.epsilon = 0
        self.linked = linked
        self.direct = direct
        self._before = store
        # In direct style nobody sees the states between, so the store is written in place.
        self._store = dict(store)
        self._ask = ask
        self._emit = emit
        self._headroom = sys.getrecursionlimit() // 2
        self._room = self.room if direct.recurses else _enough

    def stop(self) -> None:
        """Have what counts here raise a TypeError. See Note [Stopping direct code]."""
        self.beta = cast(int, None)

    # --- effects ---------------------------------------------------------------------------------

    def room(self) -> None:
        """Refuse to go out to the world from deep inside.

        Raises:
            HandOver: More than half of the stack is in use.
        """
        try:
            sys._getframe(self._headroom)  # noqa: SLF001 - the one way to ask how deep we are
        except ValueError:
            return
        raise HandOver("an effect deep inside")

    def asker(self, name: str) -> Callable[[Value], Value]:
        """Return the function that answers the site `name`, which is no host function."""
        linked_site = self.linked.sites[name]
        if linked_site.store is not None:
            return self._store_asker(linked_site)
        if linked_site.site.kind == "fail":
            return self._fail_asker(name)
        return self._oracle_asker(name)

    def _store_asker(self, linked_site: LinkedSite) -> Callable[[Value], Value]:
        cell, name = linked_site.cell, linked_site.site.name
        function: Any = linked_site.store
        is_told = linked_site.site.kind == REMEMBERS

        def ask(value: Value) -> Value:
            self.epsilon += 1
            before = self._store.get(cell)
            answer, after = function(before, value)
            if after is not before:
                self._store[cell] = after
                if is_told:
                    self._tell(Event((self.clock,), "memory", name, None, self.clock, 0))
            return answer

        return ask

    def _fail_asker(self, name: str) -> Callable[[Value], Value]:
        static = self.linked.sites[name].site.static

        def ask(value: Value) -> Value:
            failure = Failure(str(static["error"]), str(static["message"]), project(value))
            raise Thrown(error_record(failure, name, (self.clock,)))

        return ask

    def _oracle_asker(self, name: str) -> Callable[[Value], Value]:
        site = self.linked.sites[name].site
        room = self._room

        def ask(argument: Value) -> Value:
            room()
            key = (self.clock,)
            try:
                answer = self._ask(key, name, argument)
            except BaseException as error:  # noqa: BLE001 - raised again at the end of the run
                raise _EscapedError(error) from None
            value = decode_answer(site, answer)
            self.clock += 1
            self.epsilon += 1
            if type(value) is Failure:
                raise Thrown(error_record(value, name, key))
            return value

        return ask

    def note(self, name: str, noted: Noted) -> Value:
        """Return the value of what a host function noted, and tell the note."""
        self._tell(Event((self.clock,), noted.kind, name, noted.note, self.clock, 0))
        return noted.value

    def label(self, kind: str, name: str, value: Value, began: int) -> None:
        """Tell what a labelled term returned."""
        self._tell(Event((self.clock,), kind, name, value, began, 0))

    def _tell(self, event: Event) -> None:
        """Tell an event, whose listener must not run out of stack: it is told only once."""
        self._room()
        try:
            self._emit(event)
        except BaseException as error:  # noqa: BLE001 - raised again at the end of the run
            raise _EscapedError(error) from None

    def fork(self) -> Value:
        """Refuse.

        Raises:
            HandOver: Always.
        """
        raise HandOver("a fork, whose branches run at once")

    # --- functions that are no lambdas: each takes back the β that its caller counted ------------

    def site_value(self, name: str) -> Callable[[Value], Value]:
        """Return the site `name` as a value."""
        linked_site = self.linked.sites[name]
        ask = self.asker(name) if linked_site.host is None else self._host_asker(name)

        def site(value: Value) -> Value:
            self.beta -= 1
            return ask(value)

        return site

    def _host_asker(self, name: str) -> Callable[[Value], Value]:
        host: Any = self.linked.sites[name].host
        room = self._room

        def ask(value: Value) -> Value:
            self.delta += 1
            room()
            answer = host(value)
            return self.note(name, answer) if type(answer) is Noted else answer

        return ask

    def partial(self, spec: Code, args: tuple[Value, ...]) -> Callable[[Value], Value]:
        """Return a constant applied to some of its operands."""

        def partial(value: Value) -> Value:
            self.beta -= 1
            operands = (*args, value)
            if len(operands) < spec[4]:
                return self.partial(spec, operands)
            return self.fire(spec, list(operands))

        return partial

    def fix(self, n: int, body: Value, exhaustion: Value) -> Callable[[Value], Value]:
        """``fix_0(g, e) v ⟶ e v``;  ``fix_{n+1}(g, e) v ⟶ g (fix_n(g, e)) v`` (μ)."""

        def fixpoint(value: Value) -> Value:
            self.mu += 1
            if n == 0:
                return exhaustion(value)
            function = body(self.fix(n - 1, body, exhaustion))
            self.beta += 1
            return function(value)

        return fixpoint

    def guarded(self, n: int, agent: Value, predicate: Value, fallback: Value) -> Any:
        """``guard[r] f P h ⟶ guard_r(f, P, h)``."""

        def guarded(value: Value) -> Value:
            self.beta -= 1
            return self.guard(n, agent, predicate, fallback, value)

        return guarded

    def guard(
        self, n: int, agent: Value, predicate: Value, fallback: Value, value: Value
    ) -> Value:
        """``guard_r(f, P, h) x``: until ``P (f x)``, then that; after r retries ``h (f x)``."""
        while True:
            self.beta += 1
            answer = agent(value)
            self.beta += 1
            valid = predicate(answer)
            if valid is True:
                self.gamma += 1
                return answer
            if valid is not False:
                raise Misfit
            self._tell(Event((self.clock,), "guard", "", answer, n, 0))
            self.gamma += 1
            if n == 0:
                self.beta += 1
                return fallback(answer)
            n -= 1

    def fire(self, spec: Code, args: list[Value]) -> Value:
        """Fire the machine's rule of a constant whose operands are values."""
        if spec[6] is None:
            return self.fork()
        control, focus, kont, kind = spec[6](spec[5], args, ())
        if control is not None:
            raise Misfit
        self.delta += kind == DELTA
        if not kont:
            return self._function(focus)
        _, frame, thunk = kont
        if not frame:
            return self.enter(thunk, focus)
        if frame[0] != CATCH:
            raise Misfit
        try:
            return self.enter(thunk, focus)
        except Thrown as thrown:
            error = self.caught(thrown)
        self.beta += 1
        return frame[2](error)

    def _function(self, value: Value) -> Value:
        if type(value) is tuple:
            if value[0] == FIXPOINT:
                return self.fix(*value[1:])
            if value[0] == GUARDED:
                return self.guarded(*value[1:])
        return value

    def enter(self, function: Value, value: Value) -> Value:
        """Enter a lazy operand: part of its form's rule, no β of its own."""
        if type(function) is FunctionType and function.__code__.co_name in self.direct.functions:
            return function(value)
        self.beta += 1
        return function(value)

    def caught(self, thrown: Thrown, *, inside: bool = True) -> Record:
        """Return the error; uncount what the functions that it left have not reached.

        See Note [Counting in direct style]. The first function of the traceback has caught it
        `inside` itself, and has left its innermost `try` alone.
        """
        trace = thrown.__traceback__
        skipped = 2 if inside else 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILENAME:
                late = self.direct.late.get(trace.tb_lineno)
                if late is not None:
                    self.beta -= late[skipped]
                    self.delta -= late[skipped + 1]
            skipped = 0
            trace = trace.tb_next
        return thrown.error

    # --- values of the stepping machine ----------------------------------------------------------

    def cells(self) -> Store:
        """Return the store, with functions as the stepping machine has them.

        The cells from before, which longer ones share, hold none.
        """
        known = {id(cell) for cell in self._before.values()}
        return {
            name: cell if id(cell) in known else exported(cell, self.direct, known)
            for name, cell in self._store.items()
        }


def _enough() -> None:
    """There is always room in a program without recursion."""
