"""Runs on disk: begun, ended by anything, gone on with without asking again."""

import threading

import attrs
import pytest

from lambdagent import build_agent
from lambdagent.api.compiling import compile_term
from lambdagent.api.doubts import ask_again
from lambdagent.api.kept import Run
from lambdagent.api.overriding import make_overrides
from lambdagent.api.programs import overridden
from lambdagent.effects.journal import read_journal
from lambdagent.errors import (
    BudgetError,
    CheckpointError,
    EffectError,
    GuardError,
    RouteError,
    RunError,
    finding,
)
from lambdagent.ir.exchange import Failure, key_text
from tests.api.kept_world import (
    MODEL,
    KilledError,
    World,
    agent,
    clock,
    council,
    echo,
    go_on,
    load,
    noting,
    plain,
    react,
    react_config,
    same,
    searching,
    undisturbed,
)

__all__ = ["go_on"]

# Agents of every shape: their makers, and what their models say.
AGENTS = {
    "react": (react, searching(3)),
    "react without conversation": (
        lambda world: react(world, model={**MODEL, "conversation": False}),
        searching(3),
    ),
    "react with summaries": (
        lambda world: react(world, model={**MODEL, "conversation": "summary(3)"}),
        noting(3),
    ),
    "parallel": (council, echo),
    "chain": (
        lambda world: agent(
            world,
            type="chain",
            chain={
                "steps": [
                    {"name": "one", "prompt": "First."},
                    {
                        "name": "two",
                        "prompt": "Second.",
                        "guard": {"validator": "len(x) > 1000", "retry": 2, "fallback": "none"},
                    },
                    {"name": "three", "prompt": "Third."},
                ]
            },
        ),
        echo,
    ),
    "memory": (
        lambda world: agent(
            world,
            type="simple",
            memory={"enabled": True, "strategy": "local", "size": 5, "ttl": 60},
        ),
        echo,
    ),
}


@pytest.fixture(params=AGENTS)
def kind(request):
    return AGENTS[request.param]


# --- begin, go on, end ---------------------------------------------------------------------------


def test_a_run_is_on_disk_before_anything_is_called(tmp_path):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path) as begun:
        pass
    assert world.count == 0
    with load(begun.path, world) as run:
        assert run.beginning == begun.beginning
        assert run.beginning.input == "in"
        assert run.resume().value == "done after 3"


def test_a_kept_run_is_as_any_other(tmp_path, kind, go_on):
    make, say = kind
    whole, _ = undisturbed(make, tmp_path, say)
    world = World(say)
    with Run.begin(make(world), "in", tmp_path / "runs", fsync=False, clock=clock) as run:
        result = go_on(run)
    same(result, whole)
    assert result.engine == "cek"


def test_a_finished_run_comes_to_its_answer_at_once(tmp_path, kind, go_on):
    make, say = kind
    world = World(say)
    with Run.begin(make(world), "in", tmp_path / "runs", fsync=False, clock=clock) as run:
        whole = run.resume()
    for seen in (None, []):
        again = World(say)
        with load(run.path, again) as run:
            result = go_on(run, watch=None if seen is None else seen.append)
        same(result, whole)
        assert again.count == 0
        assert seen is None or len(seen) == len(whole.trace)


def test_a_run_can_be_resumed_by_the_same_object_again(tmp_path, go_on):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        first = go_on(run)
        same(go_on(run), first)
    assert world.count == 7


FAILING = {
    "a guard": (
        lambda world: agent(
            world,
            type="simple",
            guard={"validator": "False", "retry": 1, "fallback": "error"},
        ),
        GuardError,
    ),
    "out of rounds": (
        lambda world: compile_term(
            attrs.evolve(build_agent(react_config(1), **world.tools), on_exhausted="error")
        ),
        BudgetError,
    ),
    "a route": (
        lambda world: agent(
            world,
            type="router",
            router={
                "classifier": {"prompt": "Classify.", "categories": ["a", "b"]},
                "routes": {"a": {"type": "simple", "systemPrompt": "Speak."}},
            },
        ),
        RouteError,
    ),
}


@pytest.mark.parametrize(("make", "error"), FAILING.values(), ids=FAILING.keys())
def test_a_failed_run_comes_to_its_failure_again(tmp_path, make, error, go_on):
    world = World(searching(5))
    run = Run.begin(make(world), "in", tmp_path, fsync=False)
    with run, pytest.raises(error) as first:
        run.resume()
    for _ in range(2):
        again = World(searching(5))
        with load(run.path, again) as run, pytest.raises(error) as second:
            go_on(run)
        assert again.count == 0
        assert str(second.value) == str(first.value)
        assert plain(second.value.trace) == plain(first.value.trace)
    assert read_journal(run.path / "journal").outcome == "failed"


def test_a_provider_that_fails_is_not_asked_again(tmp_path):
    def fail(_):
        raise EffectError(fault)

    fault = finding("E003", site="llm:one", limit="1", setting="model.timeout")
    world = World(fail)
    run = Run.begin(agent(world, type="simple"), "in", tmp_path, fsync=False)
    with run, pytest.raises(EffectError):
        run.resume()
    again = World(fail)
    with load(run.path, again) as run, pytest.raises(EffectError, match="E003"):
        run.resume()
    assert again.count == 0


# --- interrupted ---------------------------------------------------------------------------------


def test_what_ends_a_run_at_any_call_makes_it_ask_nothing_twice(tmp_path, kind, go_on):
    make, say = kind
    whole, calls = undisturbed(make, tmp_path, say)
    for number in range(calls.count):
        world = World(say, die_at=number, carried_out=False)
        directory = tmp_path / f"died{number}"
        run = Run.begin(make(world), "in", directory, fsync=False, clock=clock)
        with run, pytest.raises(KilledError):
            go_on(run)
        again, seen = World(say), []
        with load(run.path, again, clock=clock) as run:
            same(go_on(run, doubt=ask_again, watch=seen.append), whole)
        # In a parallel run others may have been under way at the time; then they are asked again.
        assert sum(world.counts.values()) + again.count >= calls.count
        told = read_journal(run.path / "journal")
        assert len(told.answers) == len(told.intents)
        if make is not council:
            assert world.counts + again.counts == calls.counts
        # In order of time, which is another one where branches are parallel.
        shown = [(each.kind, each.term, each.input, each.output) for each in seen]
        assert sorted(shown) == sorted(
            (each.kind, each.term, each.input, each.output) for each in whole.trace
        )


# What the files say at the moment of a call is what a kill there leaves.
def test_a_kill_at_any_call_loses_nothing(tmp_path, kind):
    make, say = kind
    whole, calls = undisturbed(make, tmp_path, say)
    world = World(say, snapshots=tmp_path / "snapshots")
    with Run.begin(make(world), "in", tmp_path / "runs", fsync=False, clock=clock) as run:
        world.run = run.path
        same(run.resume(), whole)
    snapshots = sorted((tmp_path / "snapshots").iterdir())
    assert len(snapshots) == calls.count
    for path in snapshots:
        answered = len(read_journal(path / "journal").answers)
        again = World(say)
        with load(path, again, clock=clock) as run:
            same(run.resume(doubt=ask_again), whole)
        clocks = sum(
            "now" in intent.site for intent in read_journal(path / "journal").intents.values()
        )
        assert again.count <= calls.count + clocks - answered
        if not clocks:
            assert again.count == calls.count - answered


def test_a_run_that_dies_at_every_second_call_gets_there(tmp_path, go_on):
    whole, calls = undisturbed(react, tmp_path, searching(3))
    world = World(searching(3), die_at=1, carried_out=False)
    run = Run.begin(react(world), "in", tmp_path / "runs", fsync=False)
    asked, result = calls.counts - calls.counts, None
    with run, pytest.raises(KilledError):
        go_on(run)
    while result is None:
        asked += world.counts
        world = World(searching(3), die_at=1, carried_out=False)
        with load(run.path, world) as run:
            try:
                result = go_on(run, doubt=ask_again)
            except KilledError:
                assert world.count == 2
    same(result, whole)
    assert asked + world.counts == calls.counts


def test_a_run_out_of_time_goes_on_later(tmp_path, go_on):
    gate, waiting = threading.Event(), threading.Event()

    def say(text: str) -> str:
        if "found q0" in text and not gate.is_set():
            waiting.set()
            gate.wait(20)
        return searching(2)(text)

    world = World(say)
    run = Run.begin(react(world), "in", tmp_path, fsync=False)
    try:
        with run, pytest.raises(RunError) as caught:
            run.resume(timeout_s=0.3)
    finally:
        gate.set()
    assert caught.value.diagnostic.code == "R006"
    assert [record.kind for record in caught.value.trace] == ["llm", "route", "tool"]
    again = World(searching(2))
    with load(run.path, again) as run:
        assert go_on(run).value == "done after 2"
    assert again.count == 3


def test_a_timeout_of_a_tool_is_an_answer_and_stays_one(tmp_path):
    gate = threading.Event()
    world = World(lambda text: searching(1)(text.replace("TIMEOUT", "found q")))
    program = react(world, 1, react={"maxSteps": 3, "toolTimeout": 0.05})

    def search(q: str) -> str:
        """Search for it."""
        gate.wait(20)
        return q

    overrides = make_overrides(tools={"search": search}, environment={}, **world.bound)
    try:
        with Run.begin(overridden(program, overrides), "in", tmp_path, fsync=False) as run:
            first = run.resume()
    finally:
        gate.set()
    told = read_journal(run.path / "journal")
    failures = [each.answer for each in told.answers.values() if isinstance(each.answer, Failure)]
    assert [failure.kind for failure in failures] == ["Timeout"]
    again = World(world.say)
    with load(run.path, again) as run:
        same(run.resume(), first)
    assert again.count == 0


# --- what belongs to a run -----------------------------------------------------------------------


def test_another_program_is_refused(tmp_path):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path / "runs") as run:
        pass
    with Run.begin(react(world, systemPrompt="Rest."), "in", tmp_path / "other") as other:
        pass
    (run.path / "program.json").write_bytes((other.path / "program.json").read_bytes())
    with pytest.raises(CheckpointError, match="K005"):
        load(run.path, world)


def test_another_description_of_a_tool_is_refused_by_name(tmp_path):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path) as run:
        pass

    def search(q: str) -> str:
        """Another description."""
        return q

    with pytest.raises(CheckpointError, match=r"K005.*`tool:search` has another `description`"):
        Run.load(run.path, tools={"search": search}, **world.bound)


def test_a_tool_that_is_not_given_is_told(tmp_path):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path) as run:
        pass
    with pytest.raises(EffectError, match="there is no tool `search`"):
        Run.load(run.path, **world.bound)


def files_of_a_run_at(url: str, tmp_path) -> dict[str, bytes]:
    """What is on disk of a run whose model is at `url`, where nobody answers."""
    model = {**MODEL, "baseUrl": url, "timeout": 1}
    config = {"type": "simple", "name": "one", "systemPrompt": "Speak.", "model": model}
    key = {"OPENAI_API_KEY": "sk-0123456789abcdef"}
    run = Run.begin(build_agent(config), "in", tmp_path, environment=key)
    with run, pytest.raises(EffectError):
        run.resume()
    return {path.name: path.read_bytes() for path in run.path.iterdir()}


def test_no_key_is_on_disk(tmp_path):
    files = files_of_a_run_at("http://127.0.0.1:9/v1", tmp_path)
    assert [name for name, content in files.items() if b"sk-0123" in content] == []


def test_no_password_of_a_url_is_on_disk(tmp_path):
    files = files_of_a_run_at("http://user:hunter2@127.0.0.1:9/v1", tmp_path)
    assert [name for name, content in files.items() if b"hunter2" in content] == []


@pytest.mark.parametrize("conversation", [False, True, "summary(9)"])
def test_the_files_of_a_run_grow_by_the_same_for_every_round(tmp_path, conversation):
    sizes = []
    for rounds in (20, 40, 80):
        said = noting(rounds) if isinstance(conversation, str) else searching(rounds)
        world = World(said, instant=True)
        program = react(world, rounds, model={**MODEL, "conversation": conversation})
        with Run.begin(program, "in", tmp_path, fsync=False, autosave=5) as run:
            run.resume()
        sizes.append(sum(path.stat().st_size for path in run.path.iterdir()))
    assert sizes[2] - sizes[1] <= 2.2 * (sizes[1] - sizes[0])


# --- forks ---------------------------------------------------------------------------------------


def test_a_fork_goes_on_from_a_changed_answer_and_leaves_the_old_run(tmp_path, go_on):
    world = World(searching(3))
    with Run.begin(react(world), "in", tmp_path, fsync=False) as run:
        whole = run.resume()
    before = {path.name: path.read_bytes() for path in run.path.iterdir()}
    again = World(lambda text: searching(3)(text.replace("found nothing", "found q")))
    with load(run.path, again) as old, old.fork((3,), {(3,): "found nothing"}) as fork:
        result = go_on(fork)
        assert fork.path != run.path
        assert fork.beginning.parent == (run.path.name, key_text((3,)))
    assert result.value == "done after 3"
    # Nothing of what came before is asked again, and all that comes after is.
    assert again.count == 3
    assert any(record.output == "found nothing" for record in result.trace)
    assert {path.name: path.read_bytes() for path in run.path.iterdir()} == before
    with load(run.path, World(searching(3))) as old:
        same(old.resume(), whole)
