"""Engines under the driver: ends of waits, hand-over, and who asks for which engine."""

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, cast

import pytest

from lambdagent import (
    BudgetError,
    Compose,
    EffectError,
    Loop,
    SchemaError,
    Session,
    arun,
    build_agent,
    compile_term,
    from_config,
    run,
)
from lambdagent.api.compiling import compile_file
from lambdagent.effects.driver import drive
from lambdagent.effects.execution import Execution
from lambdagent.effects.handlers import Handlers
from lambdagent.ir.core import App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data
from lambdagent.ir.program import Program
from lambdagent.machine.engines import Choice
from lambdagent.machine.link import link
from lambdagent.machine.recursive import Stopped
from lambdagent.machine.rules import Misfit
from lambdagent.machine.state import Event
from lambdagent.machine.step import start
from tests.effects.agents import MODEL, Speaker, call, react, say, speaker
from tests.laws.observe import Answering
from tests.laws.terms import program, site, spine

FOREVER = 1 << 60


@pytest.fixture
def never() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def looping(n: int = FOREVER) -> Program:
    """A tail loop of `n` iterations."""
    body = Lam(Lam(App(Var(1), Var(0))))
    term: Term = App(App(Prim("fix", (n,)), body), Lam(Var(0)))
    return Program(term, {})


# --- what ran ------------------------------------------------------------------------------------


def test_a_result_names_the_engine_and_says_why():
    agent = react(speaker(say("done")))
    assert run(agent, "x").engine == "recursive"
    result = (
        run(agent, "x", engine="cek")
        if False
        else run(react(speaker(say("y"))), "x", engine="cek")
    )
    assert (result.engine, result.engine_reason) == ("cek", "asked for")
    result = run(Compose(), "x", engine="adaptive")
    reason = "adaptive: no fork, at most 0 model calls"
    assert (result.engine, result.engine_reason) == ("recursive", reason)


def test_a_fork_hands_over():
    result = run(Compose() | Compose(), "x")
    assert result.value == ("x", "x")
    assert result.engine == "cek"
    assert result.engine_reason == "handed over to cek: a fork, whose branches run at once"


def test_an_event_loop_and_a_limit_of_transitions_need_the_stepping_machine():
    result = asyncio.run(arun(Compose(), "x"))
    assert result.engine_reason == "direct style would hold up the event loop"
    result = run(Compose(), "x", transition_limit=1000)
    assert result.engine_reason == "only cek counts transitions, which are limited"


def test_what_was_asked_before_a_fork_is_not_asked_again():
    model = Speaker(lambda c: f"{c.agent}: {c.last_text}")
    config = {"type": "simple", "name": "first", "systemPrompt": "p", "model": MODEL}
    first = build_agent(config, providers={"openai": model})
    second = build_agent({**config, "name": "second"}, providers={"openai": model})
    shown: list[str] = []
    agent = first >> (second | Compose())
    result = run(agent, "x", watch=lambda record: shown.append(record.output))
    assert result.value == ("second: first: x", "first: x")
    assert model.asked == ["x", "first: x"]
    assert shown == ["first: x", "second: first: x"]
    assert [record.step for record in result.trace] == [0, 1]


# --- who decides ---------------------------------------------------------------------------------


def agent_file(folder: Path, engine: str) -> Path:
    path = folder / "agent.yml"
    path.write_text(
        "type: simple\nsystemPrompt: p\nmodel: {provider: scripted, script: {replies: [a, b]}}\n"
        f"runtime: {{engine: {engine}}}\n",
        encoding="utf-8",
    )
    return path


def test_adaptive_asks_the_bounds():
    for steps, engine in ((8, "recursive"), (9, "cek")):
        agent = react(speaker(say("done")), maxSteps=steps)
        result = run(agent, "x", engine="adaptive")
        assert result.engine == engine
        assert f"{steps} model calls" in result.engine_reason


def test_the_file_the_environment_and_the_caller_decide_in_this_order(tmp_path: Path):
    program = compile_file(agent_file(tmp_path, "cek")).program
    assert Session(program, environment={}).run("x").engine == "cek"
    adaptive = {"LAMBDAGENT_ENGINE": "adaptive"}
    reason = "adaptive: no fork, at most 1 model call"
    assert Session(program, environment=adaptive).run("x").engine_reason == reason
    session = Session(program, engine="recursive", environment={"LAMBDAGENT_ENGINE": "cek"})
    assert session.run("x").engine == "recursive"


def test_a_term_remembers_what_its_file_asks_for(tmp_path: Path):
    agent = from_config(agent_file(tmp_path, "cek"))
    assert run(agent, "x").engine == "cek"
    other = from_config(agent_file(tmp_path, "recursive"))
    assert compile_term(agent).digest() == compile_term(other).digest()
    assert run(Compose(), "x").engine == "recursive"


def test_an_engine_that_does_not_exist_is_refused():
    with pytest.raises(SchemaError, match="LAMBDAGENT_ENGINE"):
        Session(Compose(), environment={"LAMBDAGENT_ENGINE": "fast"})
    with pytest.raises(SchemaError, match="`recursive`, `cek` or `adaptive`"):
        run(Compose(), "x", engine="fast")  # type: ignore[arg-type]


# --- ends of waits -------------------------------------------------------------------------------


def test_a_tool_out_of_time_moves_the_run_to_the_stepping_machine(never: threading.Event):
    calls: list[str] = []

    def stuck(text: str) -> str:
        calls.append(text)
        never.wait()
        return "too late"

    model = speaker(call("quick"), call("stuck"), call("quick"), say("done"))
    tools = {"stuck": stuck, "quick": lambda text: f"quick {text}"}
    agent = react(model, tools, toolTimeout=0.05)
    result = run(agent, "x")
    assert result.value == "done"
    assert result.engine_reason == "handed over to cek: a request ran out of time"
    assert calls == ["x"]
    assert len(model.calls) == 4
    kinds = [record.kind for record in result.trace if record.kind in {"llm", "tool"}]
    assert kinds == ["llm", "tool"] * 3 + ["llm"]


@pytest.mark.parametrize("engine", ["recursive", "cek"])
def test_a_run_that_only_computes_is_ended_by_its_time(engine: str):
    session = Session(looping(), engine=engine)
    with pytest.raises(BudgetError, match=r"0\.05"):
        session.run("x", timeout_s=0.05)


def test_a_run_out_of_time_says_what_it_has_done(never: threading.Event):
    agent = react(speaker(call("stuck")), {"stuck": lambda _: never.wait()})
    with pytest.raises(BudgetError) as caught:
        run(agent, "x", timeout_s=0.05)
    assert [record.kind for record in caught.value.trace][:1] == ["llm"]


IDENTITY = Lam(Var(0))


def apart(term: Term) -> Term:
    """Return `term` where direct style cannot see what it is."""
    return App(IDENTITY, term)


def rejected(agent: Term, retries: int = FOREVER) -> Term:
    """A guard that accepts nothing."""
    return spine(Prim("guard", (retries,)), agent, Lam(Lit(False)), IDENTITY)


def nested(depth: int) -> Term:
    agent = site("thought:t")
    for _ in range(depth):
        agent = rejected(agent, 9)
    return agent


TWICE = Lam(Lam(App(Var(1), App(Var(1), Var(0)))))


@pytest.mark.parametrize(
    "term",
    [
        looping().term,
        rejected(IDENTITY),
        rejected(site("thought:t")),
        nested(40),
        spine(apart(Prim("guard", (FOREVER,))), IDENTITY, Lam(Lit(False)), IDENTITY),
        spine(Prim("fix", (60,)), TWICE, IDENTITY),
        spine(Prim("fix", (60,)), apart(TWICE), site("thought:t")),
        spine(Prim("catch"), Lam(App(rejected(IDENTITY), Lit(1)))),
    ],
)
def test_stopping_ends_direct_style_wherever_it_is(term: Term):
    linked = link(program(Lam(App(term, Var(0)))))
    execution = Execution(linked, start(linked, "x"), choice=Choice("recursive", "asked for"))
    threading.Timer(0.02, execution.stop).start()
    with pytest.raises(Stopped):
        execution.run_direct(lambda _: None, lambda: 0.0)
    assert execution.is_direct


def test_a_fault_of_a_provider_is_raised_and_not_asked_again():
    model = Speaker(lambda _: len(None))  # type: ignore[arg-type]
    config = {"type": "simple", "systemPrompt": "p", "model": MODEL}
    with pytest.raises((TypeError, EffectError)):
        run(build_agent(config, providers={"openai": model}), "x")
    assert len(model.calls) == 1


# --- what comes out of callbacks -----------------------------------------------------------------

LABELLED = App(IDENTITY, Var(0), Label("terminate", "end"))
REJECTED = App(rejected(IDENTITY, 0), Var(0))
NOTED = spine(Prim("if"), App(site("predicate:short"), Lit(7)), IDENTITY, IDENTITY)


@pytest.mark.parametrize("engine", ["recursive", "cek"])
@pytest.mark.parametrize("body", [LABELLED, REJECTED, NOTED, App(site("tool:str"), Var(0))])
@pytest.mark.parametrize("error", [TypeError, RecursionError, ValueError, Misfit])
def test_what_callbacks_raise_comes_out_once_with_its_cause(
    engine: str, body: Term, error: type[Exception]
):
    calls: list[object] = []
    cause = OSError("disk")

    def fail(*args: object) -> NoReturn:
        calls.append(args)
        raise error from cause

    choice = Choice(engine, "asked for")
    linked = link(program(Lam(body)))
    execution = Execution(linked, start(linked, "x"), choice=choice, watch=fail)
    with pytest.raises(error) as caught:
        drive(execution, cast(Handlers, Answering(fail)))
    assert len(calls) == 1
    assert caught.value.__cause__ is cause
    assert caught.value.__context__ is None


def deep_inside(body: Term, n: int) -> Program:
    """``body``, which calls itself before it does anything else, `n` times."""
    again = App(Lam(App(Prim("succ"), body)), App(Var(1), Var(0)))
    return program(Lam(App(spine(Prim("fix", (n,)), Lam(Lam(again)), Lam(Lit(0))), Var(0))))


ASK = site("tool:str")


def wrapped(wrap: Callable[[Term], Term], n: int) -> Term:
    term: Term = ASK
    for _ in range(n):
        term = wrap(term)
    return term


def fix(n: int, body: Term, exhaustion: Term = ASK) -> Term:
    return spine(Prim("fix", (n,)), body, exhaustion)


FAILING = Lam(App(site("fail:stop"), Lit("")))
ALWAYS = Lam(Lit(True))


DEEP: list[Callable[[int], Term]] = [
    lambda n: fix(n, Prim("catch")),
    lambda n: fix(n, Lam(App(Prim("catch"), Var(0)))),
    lambda n: fix(n, Lam(Lam(App(Var(1), Var(0))))),
    lambda n: fix(n, Lam(Lam(spine(Prim("catch"), FAILING, Var(1))))),
    lambda n: fix(n, Lam(Lam(spine(Prim("catch"), Var(1), IDENTITY)))),
    lambda n: fix(n, Lam(Lam(spine(Prim("if"), Lit(True), Var(1), Var(1))))),
    lambda n: fix(n, Lam(Lam(App(spine(Prim("guard", (0,)), Var(1), ALWAYS, IDENTITY), Var(0))))),
    lambda n: wrapped(lambda term: spine(Prim("guard", (0,)), term, ALWAYS, IDENTITY), n),
    lambda n: wrapped(lambda term: fix(0, Lam(Lam(Var(0))), term), n),
    lambda n: wrapped(lambda term: fix(0, Prim("catch"), term), n),
]


@pytest.mark.parametrize("deep", DEEP)
@pytest.mark.parametrize("n", [180, 260])
def test_nobody_is_asked_where_little_stack_is_left(deep: Callable[[int], Term], n: int):
    most = depth() + sys.getrecursionlimit() // 2

    def ask(_: object) -> Data:
        assert depth() < most
        return "answer"

    for term in (deep(n), Lam(App(deep(n), Var(0)))):
        choice = Choice("recursive", "asked for")
        linked = link(program(term))
        execution = Execution(linked, start(linked, "x"), choice=choice)
        drive(execution, cast(Handlers, Answering(ask)))
        assert execution.exchanges


def depth() -> int:
    frame, count = inspect.currentframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


@pytest.mark.parametrize("body", [LABELLED, REJECTED, App(Lam(Var(1)), NOTED)])
@pytest.mark.parametrize("n", range(100, 520, 20))
def test_events_from_deep_inside_are_told_once_to_listeners_that_need_stack(body: Term, n: int):
    told: list[Event] = []

    def watch(event: Event, left: object) -> None:
        if left == 0:
            told.append(event)
        else:
            watch(event, left - 1 if isinstance(left, int) else 100)

    linked = link(deep_inside(body, n))
    choice = Choice("recursive", "asked for")
    execution = Execution(linked, start(linked, "x"), choice=choice, watch=watch)
    drive(execution, cast(Handlers, Answering(lambda _: None)))
    assert len(told) == len(execution.events) == n


def test_a_loop_that_ends_runs_in_direct_style():
    assert run(looping(1000), "x").counters["mu"] == 1001
    assert run(Loop(Compose(), "False", 50), "x").engine == "recursive"
