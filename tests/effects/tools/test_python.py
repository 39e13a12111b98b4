import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import weakref
from typing import Annotated, Any

import pytest

from lambdagent.effects.protocol import Cancellation, ToolFailure
from lambdagent.effects.tools import in_thread
from lambdagent.effects.tools.python import PythonTool
from lambdagent.ir.data import Data, Record, freeze
from tests.effects.calls import invocation


@pytest.fixture(params=["sync", "async"])
def answer(request: pytest.FixtureRequest):
    """Call a tool by either face; both must do the same."""

    def by_face(function: Any, argument: Data = "", text: str | None = None, **more: Any) -> Data:
        tool, call = PythonTool("tool", function), invocation(argument, text, **more)
        if request.param == "sync":
            return tool.call(call)
        return asyncio.run(tool.acall(call))

    return by_face


def failure(answer, *arguments, **more) -> str:
    with pytest.raises(ToolFailure) as caught:
        answer(*arguments, **more)
    return caught.value.text


def add(a: int, b: int = 1) -> int:
    return a + b


async def later(x):
    await asyncio.sleep(0)
    return [x]


class Doubler:
    def double(self, n):
        return 2 * n

    async def __call__(self, n):
        return self.double(n)


ARGUMENTS = freeze({"a": 1, "b": {"c": [2]}})


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        (lambda x: x, "text", "text"),
        (lambda x: x["b"]["c"], ARGUMENTS, (2,)),
        (lambda x: type(x).__name__, freeze([1]), "list"),
        (add, freeze({"a": 1, "b": 2}), 3),
        (add, freeze({"a": 1}), 2),
        (lambda query: query, freeze({"query": "amber"}), "amber"),
        (lambda query: query, freeze({"other": "amber"}), Record(other="amber")),
        (lambda query: query, Record(), Record()),
        (lambda query="none": query, Record(), "none"),
        (lambda a, b: a + b, '{"a": 1, "b": 2}', 3),
        (lambda a, *, b: a + b, freeze({"a": 1, "b": 2}), 3),
        (lambda **all_of_them: all_of_them, ARGUMENTS, ARGUMENTS),
        (lambda *rest: len(rest), "x", 1),
        (lambda: "now", "ignored", "now"),
        (lambda: "now", Record(), "now"),
        (len, "four", 4),
        (max, freeze([3, 1]), 3),
        (later, "x", ("x",)),
        (Doubler().double, 2, 4),
        (Doubler(), 2, 4),
    ],
)
def test_a_function_gets_what_it_takes(answer, function, argument, expected):
    assert answer(function, argument) == expected


def test_a_parameter_that_wants_a_mapping_gets_the_object(answer):
    def take(query: dict[str, str]) -> str:
        return query["query"]

    assert answer(take, freeze({"query": "amber"})) == "amber"


def test_an_annotation_may_be_any_object(answer):
    def take(query: Annotated[str, ["unhashable"]]) -> str:
        return query

    assert answer(take, "amber") == "amber"


def test_a_parameter_that_wants_text_gets_text(answer):
    def take(query: str) -> str:
        return query

    assert answer(take, freeze({"q": 1}), text='{"q": 1}') == '{"q": 1}'


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        ({"a": [1, (2,)]}, freeze({"a": [1, [2]]})),
        ({1: 2}, "{1: 2}"),
        (2 + 3j, "(2+3j)"),
        (Exception("e"), "e"),
    ],
)
def test_a_result_becomes_data(answer, result, expected):
    assert answer(lambda _: result) == expected


@pytest.mark.parametrize(
    ("argument", "what"),
    [
        (freeze({"b": 1}), "missing a required argument: 'a'"),
        (freeze({"a": 1, "c": 1}), "'c'"),
    ],
)
def test_arguments_that_do_not_fit_are_told_with_what_does(answer, argument, what):
    def take(a, b=1, *, d=2):
        return a

    text = failure(answer, take, argument)
    assert text.startswith("[TOOL_ERROR: tool] it takes (a, b=1, *, d=2), but ")
    assert what in text


def test_a_text_for_two_parameters_does_not_fit(answer):
    assert "missing a required argument: 'b'" in failure(answer, lambda a, b: a, "text")


def test_an_exception_is_text_for_the_program(answer):
    def broken(x):
        raise ValueError("x" * 5000)

    text = failure(answer, broken)
    assert text.startswith("[TOOL_ERROR: tool] ValueError: xxx")
    assert len(text) < 2100


@pytest.mark.parametrize("error", [StopIteration(1), SystemExit(3), KeyError("k"), TypeError("t")])
def test_every_exception_counts(answer, error):
    def broken(x):
        raise error

    async def broken_later(x):
        raise error

    assert failure(answer, broken).startswith(f"[TOOL_ERROR: tool] {type(error).__name__}: ")
    if not isinstance(error, StopIteration | SystemExit):  # asyncio itself changes these
        assert failure(answer, broken_later) == failure(answer, broken)


def test_a_tool_may_choose_its_failure_text(answer):
    def broken(x):
        raise ToolFailure("[NO] luck")

    assert failure(answer, broken) == "[NO] luck"


async def test_a_plain_function_does_not_block_the_event_loop():
    entered, released = threading.Event(), threading.Event()

    def wait(x):
        entered.set()
        assert released.wait(20)
        return x

    task = asyncio.create_task(PythonTool("t", wait).acall(invocation("a")))
    await asyncio.to_thread(entered.wait, 20)
    released.set()
    assert await task == "a"


async def test_many_waiting_functions_do_not_wait_for_each_other():
    barrier = threading.Barrier(64, timeout=20)
    tool = PythonTool("t", lambda x: barrier.wait() >= 0)
    assert all(await asyncio.gather(*(tool.acall(invocation()) for _ in range(64))))


def test_the_time_limit_ends_the_wait(answer):
    ended = []

    async def wait(x):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(x)

    assert failure(answer, wait, "a", timeout_s=0.02) == "[TIMEOUT after 0.02s]"
    assert ended == ["a"]


async def test_the_time_limit_ends_the_wait_for_a_plain_function():
    released = threading.Event()
    tool = PythonTool("t", lambda x: released.wait(20))
    with pytest.raises(ToolFailure, match=r"TIMEOUT after 0\.02s"):
        await tool.acall(invocation(timeout_s=0.02))
    released.set()


def test_a_timeout_of_the_function_itself_is_its_failure(answer):
    async def broken(x):
        raise TimeoutError("mine")

    assert failure(answer, broken) == "[TOOL_ERROR: tool] TimeoutError: mine"


async def test_an_iterator_that_ends_in_a_thread_hangs_nobody():
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(lambda: next(iter(())))


async def test_the_next_call_finds_the_thread_of_the_last_one(monkeypatch):
    monkeypatch.setattr("lambdagent.effects.tools._IDLE_S", 20)
    tool = PythonTool("t", lambda x: threading.get_ident())
    assert len({await tool.acall(invocation()) for _ in range(20)}) == 1


async def test_a_thread_that_hangs_takes_no_other_call():
    released, threads = threading.Event(), set()

    def wait(x):
        threads.add(threading.get_ident())
        return released.wait(20)

    with pytest.raises(ToolFailure, match="TIMEOUT"):
        await PythonTool("t", wait).acall(invocation(timeout_s=0.02))
    threads.add(await PythonTool("t", lambda x: threading.get_ident()).acall(invocation()))
    released.set()
    assert len(threads) == 2


def test_a_thread_that_waits_in_vain_ends():
    async def thread() -> threading.Thread:
        return await in_thread(threading.current_thread)

    used = asyncio.run(thread())
    used.join(20)
    assert not used.is_alive()


async def test_a_waiting_thread_keeps_nothing_of_its_last_call():
    class Argument:
        """Something that weak references may name."""

    given = [Argument()]
    seen = weakref.ref(given[0])
    await in_thread(lambda: given.pop() and None)
    await in_thread(lambda: None)  # the thread is done with the call before
    assert seen() is None


async def test_a_call_in_a_reused_thread_sees_the_variables_of_its_caller():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    assert await in_thread(lambda: variable.set("inside") and None) is None
    assert await in_thread(variable.get) == "unset"
    variable.set("outside")
    assert await in_thread(variable.get) == "outside"


def test_a_fork_waits_for_no_thread_that_it_does_not_have():
    async def one() -> int:
        return await in_thread(lambda: 7)

    assert asyncio.run(one()) == 7
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # ends a child that waits
        try:
            os._exit(asyncio.run(one()))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_hanging_call_does_not_keep_the_process():
    program = """
import asyncio, threading
from lambdagent.effects.tools import in_thread
async def main():
    await in_thread(int)
    asyncio.ensure_future(in_thread(threading.Event().wait))
    await asyncio.sleep(0)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=20, check=False)
    assert done.returncode == 0


def test_cancelling_ends_an_asynchronous_function(answer):
    cancel, ended = Cancellation(), []

    async def wait(x):
        cancel.cancel()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(x)

    assert failure(answer, wait, "a", cancel=cancel) == "[TOOL_ERROR: tool] it was cancelled"
    assert ended == ["a"]


async def test_cancelling_the_task_ends_an_asynchronous_function():
    started, ended = asyncio.Event(), []

    async def wait(x):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(x)

    task = asyncio.create_task(PythonTool("t", wait).acall(invocation("a")))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["a"]


async def test_a_thread_that_outlives_its_waiter_harms_nobody():
    entered, released, done = threading.Event(), threading.Event(), threading.Event()

    def wait(x):
        entered.set()
        released.wait(20)
        done.set()

    task = asyncio.create_task(PythonTool("t", wait).acall(invocation("a")))
    await asyncio.to_thread(entered.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    released.set()
    assert await asyncio.to_thread(done.wait, 20)
