"""Python functions as tools.

In goes what the program passed, out comes what the function returned, as `Data`. An exception
becomes a `ToolFailure` that the program sees as ``[TOOL_ERROR: name] Type: message``.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache, partial
from typing import Any, TypeVar

import attrs

from lambdagent.effects.protocol import ToolFailure, ToolInvocation, as_data, timeout_text
from lambdagent.effects.tools import in_thread
from lambdagent.effects.typed_arguments import Maker, MisfitError, makers_of
from lambdagent.ir import registry
from lambdagent.ir.data import Data, Record, thaw

T = TypeVar("T")

_MOST = 1_000  # tools that are ready
_SHOWN = 80  # characters of a value that does not fit
_MESSAGE_LIMIT = 2_000  # characters of an exception that the program gets to see
_POSITIONAL = {
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
}
_STARRED = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
_SEVERAL = inspect.Parameter.VAR_POSITIONAL


@attrs.frozen
class _Parameters:
    """What a signature says about passing by keyword.

    Attributes:
        required: How many there are without a default.
        names: What an object may give them by.
        only_keywords: Whether one value alone can never be passed.
        any_keywords: Whether it takes others, too.
        one_mapping: Whether the only parameter is annotated as a mapping.
    """

    required: int
    names: frozenset[str]
    only_keywords: bool
    any_keywords: bool
    one_mapping: bool

    def want_keywords(self, given: Record) -> bool:
        """Whether an object goes by keyword, not as one value."""
        keys = set(given)
        if self.one_mapping and keys == self.names:  # unless it is a mapping in a mapping
            return isinstance(next(iter(given.values())), Record)
        if self.required > 1 or self.only_keywords:
            return True
        if self.any_keywords and keys > self.names:
            return True
        return bool(keys & self.names) if len(self.names) > 1 else keys == self.names


def _parameters(signature: inspect.Signature) -> _Parameters:
    each = list(signature.parameters.values())
    required = [p for p in each if p.default is p.empty and p.kind not in _STARRED]
    positional = [p for p in each if p.kind not in {p.KEYWORD_ONLY, p.VAR_KEYWORD}]
    annotation = str(each[0].annotation) if len(each) == 1 else ""
    return _Parameters(
        len(required),
        frozenset(p.name for p in each if p.kind is not p.VAR_KEYWORD),
        bool(each) and (not positional or any(p.kind is p.KEYWORD_ONLY for p in required)),
        any(p.kind is p.VAR_KEYWORD for p in each),
        any(word in annotation for word in ("dict", "Dict", "Mapping")),
    )


class PythonTool:
    """A function, or any callable, plain or asynchronous.

    An object whose keys are parameters is passed by keyword. Anything else is the one argument: as
    text where the parameter is annotated ``str``, else as it is, with lists and dicts. What is
    annotated with a dataclass, an enumeration and the like gets one; see `typed_arguments`.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        """Call `function` as the tool `name`."""
        self.name = name
        self._function = function
        self._signature = _signature(function)
        self._parameters = _parameters(self._signature)
        self._takes_one = _takes_one(self._signature)
        self._wants_text = _wants_text(self._signature)
        self._makers = makers_of(function, self._signature.parameters)
        self._asynchronous = _is_asynchronous(function)

    def call(self, invocation: ToolInvocation) -> Data:
        """Return what the function returned; an asynchronous one gets an event loop of its own.

        Only the latter can be stopped: a plain function takes the time it takes.

        Raises:
            ToolFailure: It raised, took too long, or its parameters do not fit the argument.
        """
        result = self._invoke(self._ready(invocation))
        if type(result) is str:
            return result
        with self._failing():
            if inspect.isawaitable(result):
                result = asyncio.run(self._awaited(result, invocation))
            return as_data(result)

    async def acall(self, invocation: ToolInvocation) -> Data:
        """Return what the function returned; a plain one runs on a thread of its own.

        Raises:
            ToolFailure: It raised, took too long, or its parameters do not fit the argument.
        """
        ready = self._ready(invocation)
        if self._asynchronous:
            result = self._invoke(ready)
        else:
            work = in_thread(lambda: self._invoke(ready))
            result = await _limited(invocation.timeout_s, work)
        if type(result) is str:
            return result
        with self._failing():
            if inspect.isawaitable(result):
                result = await self._awaited(result, invocation)
            return as_data(result)

    def _ready(self, invocation: ToolInvocation) -> Callable[[], object]:
        """Return the function with its arguments.

        One value for one parameter always fits. Not to ask the signature, and `_invoke`, make a
        call take 0.5 µs instead of 6.
        """
        if self._takes_one and not self._makers and not isinstance(invocation.argument, Record):
            return partial(self._function, self._single(invocation))
        bound = self._bind(invocation)
        return partial(self._function, *bound.args, **bound.kwargs)

    def _invoke(self, ready: Callable[[], object]) -> object:
        # As `_failing`, which as a context manager would take longer than a short function.
        try:
            return ready()
        except ToolFailure:
            raise
        except (Exception, SystemExit) as error:
            raise self._raised(error) from error

    async def _awaited(self, result: Awaitable[object], invocation: ToolInvocation) -> object:
        """Return what `result` comes to, unless the invocation is cancelled before.

        It is awaited in this task, which is told of the cancellation: a task more would be a turn
        of the event loop more.
        """
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        waits, stopped = True, False

        def stop() -> None:
            nonlocal stopped
            if waits and task is not None:
                stopped = True
                task.cancel()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it is over
                loop.call_soon_threadsafe(stop)

        forget = invocation.cancel.on_cancel(tell)
        try:
            return await _limited(invocation.timeout_s, result)
        except asyncio.CancelledError as error:
            if stopped and task is not None and task.uncancel() == 0:
                raise self._failure("it was cancelled") from error
            raise
        finally:
            waits = False
            forget()

    def _bind(self, invocation: ToolInvocation) -> inspect.BoundArguments:
        argument = invocation.argument
        try:
            keywords = self._keywords(argument)
            if keywords is not None:
                bound = _by_name(self._signature, thaw(keywords))
            elif not self._signature.parameters:
                bound = self._signature.bind()
            else:
                bound = self._signature.bind(self._single(invocation))
        except TypeError as error:
            what = f"it takes {self._signature}, but {error}"
            raise self._failure(what, may_pass=False) from error
        for name, make in self._makers.items():
            if name in bound.arguments:
                given = bound.arguments[name]
                bound.arguments[name] = self._made(name, make, given, named=keywords is not None)
        return bound

    def _made(self, name: str, make: Maker, value: Any, *, named: bool) -> Any:
        """Return the value of the parameter `name`; one that was not `named` need not fit."""
        try:
            return make(value)
        except MisfitError as error:
            if not named:
                return value
            hint = self._signature.parameters[name].annotation
            wanted = getattr(hint, "__name__", hint)
            why = f" ({str(error)[:_MESSAGE_LIMIT]})" if str(error) else ""
            what = f"`{name}` must be {wanted}, not {str(value)[:_SHOWN]}{why}"
            raise self._failure(what, may_pass=False) from error

    def _keywords(self, argument: Data) -> Record | None:
        """Return the argument if it goes by keyword, None if it is one value."""
        parameters = self._parameters
        if isinstance(argument, str) and parameters.required > 1:
            argument = _object_in(argument)
        if not isinstance(argument, Record):
            return None
        if not argument:
            return argument if parameters.required == 0 else None
        return argument if parameters.want_keywords(argument) else None

    def _single(self, invocation: ToolInvocation) -> Any:
        return invocation.text if self._wants_text else thaw(invocation.argument)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn whatever the function raises into the text that the program sees."""
        try:
            yield
        except ToolFailure:
            raise
        except (Exception, SystemExit) as error:
            raise self._raised(error) from error

    def _raised(self, error: BaseException) -> ToolFailure:
        return self._failure(f"{type(error).__name__}: {str(error)[:_MESSAGE_LIMIT]}")

    def _failure(self, message: str, *, may_pass: bool = True) -> ToolFailure:
        return ToolFailure(f"[TOOL_ERROR: {self.name}] {message}", may_pass=may_pass)


@lru_cache(_MOST)
def python_tool(name: str, binding: str) -> PythonTool:
    """Return the tool of a function of the registry, whose signature takes 100 µs to read."""
    return PythonTool(name, registry.lookup(binding))


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # a builtin that does not tell
        one = inspect.Parameter("value", inspect.Parameter.POSITIONAL_ONLY)
        return inspect.Signature([one])


def _by_name(signature: inspect.Signature, given: dict[str, Any]) -> inspect.BoundArguments:
    """Return `given` bound by name, also where the function wants a place."""
    places: list[Any] = []
    each = [*signature.parameters.values()]
    several = next((p.name for p in each if p.kind is _SEVERAL), None)
    more = given.pop(several) if several and isinstance(given.get(several), list) else []
    for parameter in each:
        if parameter.kind is not parameter.POSITIONAL_ONLY and not (
            more and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ):
            break
        if parameter.name not in given and (not more or parameter.default is parameter.empty):
            break
        places.append(given.pop(parameter.name, parameter.default))
    return signature.bind(*places, *more, **given)


def _takes_one(signature: inspect.Signature) -> bool:
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    return len(kinds) == 1 and kinds[0] in _POSITIONAL


def _wants_text(signature: inspect.Signature) -> bool:
    """Whether the first parameter is annotated as text; an annotation may be any object."""
    annotation = next((p.annotation for p in signature.parameters.values()), None)
    return annotation is str or (isinstance(annotation, str) and annotation == "str")


async def _limited(limit_s: float, work: Awaitable[T]) -> T:
    """Return what `work` comes to, and end it at the limit."""
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return await work
    except TimeoutError as error:
        if limit.expired():
            raise ToolFailure(timeout_text(limit_s)) from error
        raise


def _is_asynchronous(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - it is looked at, not tested for
    )


def _object_in(text: str) -> Data:
    try:
        return as_data(json.loads(text))
    except (ValueError, RecursionError):
        return text
