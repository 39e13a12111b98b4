"""Memories that last: who reads what others said, what is remembered, what a kept run writes."""

import asyncio
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest

from lambdagent import (
    CheckpointError,
    EffectError,
    Owner,
    Run,
    Session,
    Term,
    build_agent,
    compile_term,
    load_program,
)
from lambdagent.effects.protocol import StoreError
from lambdagent.effects.stores.redis_server import RedisStore
from lambdagent.effects.stores.sqlite import SqliteStore
from lambdagent.errors import Diagnostic
from lambdagent.frontend.build import SUMMARY_PROMPT
from lambdagent.ir.program_text import program_json
from tests.effects.agents import MODEL, Face, Speaker, face, speaker
from tests.redis_server import RedisServer, server

__all__ = ["face", "server"]


def agent(model: Speaker, name: str = "", **memory: Any) -> Term:
    config = {
        "type": "simple",
        "name": name or f"a{uuid4().hex}",
        "systemPrompt": "p",
        "model": MODEL,
        "memory": memory,
    }
    return build_agent(config, providers={"openai": model})


def ask(face: Face, term: Term, value: str, owner: Owner | None = None) -> None:
    with Session(term, owner=owner) as session:
        face.run(session, value)


ANN, BOB = Owner(user="ann"), Owner(user="bob")
PLACES = ["local", "sqlite"]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    found = {"strategy": request.param}
    return found | ({"path": str(tmp_path / "m.db")} if request.param == "sqlite" else {})


def test_each_user_has_a_memory(face: Face, place: dict[str, str]):
    model = speaker("1", "2", "3")
    term = agent(model, scope="user", **place)
    ask(face, term, "mine", ANN)
    ask(face, term, "other", BOB)
    ask(face, term, "again", ANN)
    assert model.asked == [
        "mine",
        "other",
        "[Memory Context]\n- mine: 1 (0s ago)\n\n[Current Input]\nagain",
    ]


def test_all_runs_have_one_memory_by_its_name(face: Face, place: dict[str, str]):
    model, name = speaker("1", "2", "3"), f"n{uuid4().hex}"
    ask(face, agent(model, scope="global", name=name, **place), "one", ANN)
    ask(face, agent(model, scope="global", name=name, **place), "two", BOB)
    ask(face, agent(model, scope="global", name=f"{name}2", **place), "three")
    assert "- one: 1" in model.asked[1]
    assert model.asked[2] == "three"


def test_runs_of_a_session_have_one_memory(face: Face, place: dict[str, str]):
    model = speaker("1", "2", "3")
    term = agent(model, **place)
    with Session(term) as session:
        face.run(session, "one")
        face.run(session, "two")
    assert "- one: 1" in model.asked[1]
    ask(face, term, "three")
    assert model.asked[2] == "three"


def test_a_session_without_a_name_leaves_nothing_behind(face: Face, tmp_path: Path):
    path = tmp_path / "m.db"
    term = agent(speaker("1", "2"), strategy="sqlite", path=str(path))
    ask(face, term, "one")
    ask(face, term, "two", Owner(session="kept"))
    store = SqliteStore(path)
    with store._open() as connection:
        rows = connection.execute("SELECT space FROM entries").fetchall()
    store.close()
    assert [space.split("/")[:2] for (space,) in rows] == [["session", "kept"]]


def test_names_of_users_are_told_apart_whatever_they_hold(tmp_path: Path):
    names = ["a", "a/b", "a%2Fb", "", "用户", "\ud800", "../a"]
    model = speaker(*map(str, range(2 * len(names))))
    term = agent(model, scope="user", strategy="sqlite", path=str(tmp_path / "m.db"))
    for _ in range(2):
        for name in names:
            ask(Face("sync"), term, "q", Owner(user=name))
    again = model.asked[len(names) :]
    assert [text.partition(" (")[0] for text in again] == [
        f"[Memory Context]\n- q: {number}" for number in range(len(names))
    ]


def test_a_memory_for_users_is_for_nobody_else(place: dict[str, str]):
    with pytest.raises(EffectError, match=r"E021.*no user is named"):
        Session(agent(speaker(), scope="user", **place), environment={})
    named = {"LAMBDAGENT_USER": "ann"}
    with Session(agent(speaker(), scope="user", **place), environment=named) as session:
        assert session.owner == ANN


def test_what_is_there_from_the_start_is_older_than_the_rest(face: Face, tmp_path: Path):
    model, path = speaker("1", "2", "3"), tmp_path / "m.db"
    config = {
        "type": "simple",
        "name": "a",
        "systemPrompt": "p",
        "model": MODEL,
        "memory": {
            "strategy": "sqlite",
            "scope": "global",
            "size": 2,
            "path": str(path),
        },
    }
    term = build_agent(config, providers={"openai": model}, memory_store={"x": "y", "z": "w"})
    for value in ("one", "two", "three"):
        ask(face, term, value)
    shown = [text.partition("\n\n")[0].replace(" (0s ago)", "") for text in model.asked]
    assert shown[0] == "[Memory Context]\n- x: y\n- z: w"
    assert shown[1] == "[Memory Context]\n- z: w\n- one: 1"
    assert shown[2] == "[Memory Context]\n- one: 1\n- two: 2"


def test_a_size_of_0_asks_nothing_and_keeps_nothing(face: Face, place: dict[str, str]):
    model = speaker("1", "2")
    term = agent(model, scope="global", size=0, **place)
    ask(face, term, "one")
    ask(face, term, "two")
    assert model.asked == ["one", "two"]


def test_an_entry_is_gone_after_its_time(place: dict[str, str]):
    model, now = speaker("1", "2", "3"), [100.0]
    term = agent(model, scope="global", ttl=10, **place)
    for value, then in (("one", 109.0), ("two", 111.0), ("three", 0.0)):
        with Session(term, clock=lambda: now[0]) as session:
            session.run(value)
        now[0] = then
    assert "- one: 1 (9s ago)" in model.asked[1]
    assert "- one" not in model.asked[2]
    assert "- two: 2 (2s ago)" in model.asked[2]


def test_a_model_writes_what_is_remembered(face: Face, place: dict[str, str]):
    model = speaker("a long answer", "short", "next", "s2")
    term = agent(model, scope="global", summarize="llm", **place)
    with Session(term) as session:
        assert face.run(session, "one").value == "a long answer"
        face.run(session, "two")
    assert model.asked[1] == '["one", "a long answer"]'
    assert model.calls[1].messages[0].text == SUMMARY_PROMPT
    assert "- one: short (0s ago)" in model.asked[2]


def test_a_secret_of_the_environment_is_not_read_from_a_store(face: Face, tmp_path: Path):
    path = tmp_path / "m.db"
    model = speaker("1")
    term = agent(model, "n", strategy="sqlite", scope="global", path=str(path))
    store = SqliteStore(path, "global/n")
    store.put("key", "it is sk-0123456789")
    store.close()
    with Session(term, environment={"OPENAI_API_KEY": "sk-0123456789"}) as session:
        face.run(session, "x")
    assert "it is [OPENAI_API_KEY]" in model.asked[0]


def test_a_program_says_where_its_memory_is_and_runs_from_its_table(tmp_path: Path):
    (tmp_path / "a.yml").write_text(
        "type: simple\nname: a\nsystemPrompt: p\n"
        "model: {provider: scripted, script: {rules: [{match: 'x: y', reply: known},"
        " {match: '', reply: y}]}}\n"
        "memory: {strategy: sqlite, scope: user, path: m.db}\n"
    )
    program = load_program(tmp_path / "a.yml")
    (tmp_path / "a.json").write_text(program_json(program))
    for name, answer in (("a.yml", "y"), ("a.json", "known")):
        with Session(load_program(tmp_path / name), owner=ANN) as session:
            assert session.run("x").value == answer


@pytest.mark.parametrize(("strategy", "most"), [("local", 0), ("sqlite", 1)])
def test_many_runs_at_once_need_few_threads_and_files(
    strategy: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    term = agent(Speaker(lambda _: "ok"), scope="user", strategy=strategy)
    program, before = compile_term(term), len(list(Path("/proc/self/fd").iterdir()))
    owners = [Owner(user=f"u{number % 10}") for number in range(60)]
    sessions = [Session(program, owner=owner) for owner in owners]
    peak = [0]

    async def ask_all() -> list[Any]:
        others = threading.active_count()

        async def watch() -> None:
            while True:
                peak[0] = max(peak[0], threading.active_count() - others)
                await asyncio.sleep(0)

        watching = asyncio.create_task(watch())
        results = await asyncio.gather(*(each.arun("q") for each in sessions))
        watching.cancel()
        return [each.value for each in results]

    assert asyncio.run(ask_all()) == ["ok"] * 60
    assert peak[0] <= most + 1  # one more may be about to end
    assert len(list(Path("/proc/self/fd").iterdir())) - before <= 10
    for session in sessions:
        session.close()


# --- kept runs -----------------------------------------------------------------------------------


class Cut(SqliteStore):
    """A store whose line is cut now and then."""

    cut = True
    puts = 0

    def __init__(self, file: str, space: str, size: int) -> None:
        super().__init__(Path(file), space, size)

    def put(self, key: str, value: Any, ttl: float = 0) -> None:
        if Cut.cut:
            raise ConnectionError
        Cut.puts += 1
        super().put(key, value, ttl)


def test_a_kept_run_goes_on_from_where_its_store_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "memories_of_a_test", sys.modules[__name__])
    monkeypatch.setattr(Cut, "cut", True)
    monkeypatch.setattr(Cut, "puts", 0)
    path, model = tmp_path / "m.db", speaker("only once")
    where = {"customStore": "memories_of_a_test:Cut", "settings": {"file": str(path)}}
    term = agent(model, "c", strategy="custom", scope="user", **where)
    run = Run.begin(term, "q", tmp_path / "runs", owner=ANN, fsync=False)
    with run, pytest.raises(EffectError, match=r"E009.*`c` failed: ConnectionError"):
        run.resume()
    assert not run.has_ended
    monkeypatch.setattr(Cut, "cut", False)
    with Run.load(run.path, providers={"openai": model}, environment={}) as again:
        assert again.resume().value == "only once"
        assert again.resume().value == "only once"
    assert (model.asked, Cut.puts) == (["q"], 1)
    store = SqliteStore(path, "user/ann/c")
    assert store.list_recent(5) == [("q", "only once")]
    store.close()


def test_a_kept_run_goes_on_when_its_server_was_started_again(tmp_path: Path, server: RedisServer):
    def answer(_call: object) -> str:
        server.stop()
        return "only once"

    model = Speaker(answer)
    term = agent(model, "c", strategy="redis", scope="user")
    environment = {"LAMBDAGENT_REDIS_URL": server.url}
    options = {"environment": environment, "fsync": False}
    with Run.begin(term, "q", tmp_path / "runs", owner=ANN, **options) as run:
        with pytest.raises(EffectError, match=r"E009.*the server at"):
            run.resume()
        with pytest.raises(EffectError, match="E009"):
            Run.load(run.path, providers={"openai": model}, **options)
    server.start()
    with Run.load(run.path, providers={"openai": model}, **options) as again:
        assert again.resume().value == "only once"
    assert model.asked == ["q"]
    store = RedisStore(server.url, "user/ann/c")
    assert store.list_recent(5) == [("q", "only once")]
    store.close()


class Spaceless:
    """A store that is not told whose memory it is."""

    held: ClassVar[dict[str, Any]] = {}

    def get(self, key: str) -> Any:
        return self.held.get(key)

    def put(self, key: str, value: Any, ttl: int = 0) -> None:
        self.held[key] = value

    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        return list(self.held.items())[-n:]

    def clear(self) -> None:
        self.held.clear()


def test_a_class_that_may_hold_the_memories_of_others_is_not_cleared(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "memories_of_a_test", sys.modules[__name__])
    monkeypatch.setattr(Spaceless, "held", {"of": "others"})
    where = {"strategy": "custom", "customStore": "memories_of_a_test:Spaceless"}
    with Session(agent(speaker("1"), **where)) as session:
        session.run("q")
    assert Spaceless.held == {"of": "others", "q": "1"}


class Stubborn(Spaceless):
    """A store that does not forget."""

    fault: ClassVar[Exception]

    def __init__(self, space: str) -> None:
        pass

    def clear(self) -> None:
        raise self.fault


@pytest.mark.parametrize(
    ("fault", "fix"),
    [
        (ConnectionError("no way of-the-environment"), "remove it there, or leave it"),
        (StoreError("no way", "start it"), "start it"),
    ],
)
def test_a_session_that_is_not_forgotten_is_told_and_has_its_answer(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, fix: str
):
    monkeypatch.setitem(sys.modules, "memories_of_a_test", sys.modules[__name__])
    monkeypatch.setattr(Stubborn, "fault", fault, raising=False)
    where = {"strategy": "custom", "customStore": "memories_of_a_test:Stubborn"}
    told: list[Diagnostic] = []
    environment = {"A_TOKEN": "of-the-environment"}
    term = agent(speaker("1", "2", "3"), "a", **where)
    with Session(term, environment=environment, remark=told.append) as session:
        assert session.run("q").value == "1"
        assert told == []
    (left,) = told
    assert (left.code, fix in str(left.fix)) == ("E022", True)
    assert "the memory `a` of this session is not forgotten" in left.what
    assert "no way" in left.what
    assert "of-the-environment" not in left.what
    with Session(term, owner=Owner(session="named"), remark=told.append) as session:
        session.run("q")
    assert len(told) == 1
    with pytest.warns(UserWarning, match="is not forgotten"), Session(term) as session:
        session.run("q")


def test_a_home_that_is_not_known_is_told(monkeypatch: pytest.MonkeyPatch):
    def nowhere() -> Path:
        what = "Could not determine home directory."
        raise RuntimeError(what)

    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(EffectError, match=r"E009.*determine home directory"):
        Session(agent(speaker(), strategy="sqlite"), environment={})


def test_the_session_of_a_kept_run_is_the_run(tmp_path: Path):
    model = speaker("1", "2")
    path = tmp_path / "m.db"
    term = agent(model, "s", strategy="sqlite", path=str(path))
    with Run.begin(term, "q", tmp_path / "runs", fsync=False) as run:
        run.resume()
    beginning = run.beginning
    assert (beginning.user, beginning.session) == (None, beginning.id)
    store = SqliteStore(path, f"session/{beginning.id}/s")
    assert store.list_recent(5) == [("q", "1")]
    store.close()
    with Run.begin(term, "q", tmp_path / "runs", owner=Owner("ann", "s1"), fsync=False) as run:
        run.resume()
    assert (run.beginning.user, run.beginning.session) == ("ann", "s1")


def test_a_kept_run_is_not_begun_when_its_store_is_down(tmp_path: Path):
    term = agent(speaker(), strategy="sqlite", path=str(tmp_path / "no" / "m.db"))
    with pytest.raises(EffectError, match="E009"):
        Run.begin(term, "q", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_finished_run_needs_no_store(tmp_path: Path):
    path = tmp_path / "m.db"
    model = speaker("1")
    term = agent(model, "f", strategy="sqlite", scope="global", path=str(path))
    with Run.begin(term, "q", tmp_path / "runs", fsync=False) as run:
        run.resume()
    path.write_text("damaged, for all that a finished run cares\n" * 100)
    with Run.load(run.path, environment={}) as again:
        assert again.resume().value == "1"


def test_a_run_whose_user_is_no_text_is_damaged(tmp_path: Path):
    term = agent(speaker("1"))
    with Run.begin(term, "q", tmp_path / "runs", fsync=False) as run:
        pass
    file = run.path / "run.json"
    file.write_text(file.read_text().replace('"user": null', '"user": 5'))
    with pytest.raises(CheckpointError, match="K001"):
        Run.load(run.path)


def test_a_file_that_is_locked_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tried: list[Path] = []

    def locked(path: Path) -> None:
        tried.append(path)
        what = "database is locked"
        raise sqlite3.OperationalError(what)

    monkeypatch.setattr("lambdagent.effects.stores.sqlite._connected", locked)
    path = tmp_path / "m.db"
    term = agent(speaker(), strategy="sqlite", path=str(path))  # it is read, and written to
    with pytest.raises(EffectError, match=r"E009.*database is locked"):
        Session(term, environment={})
    assert tried == [path]


def test_a_time_that_no_server_can_keep_is_refused_before_the_run():
    model = speaker()
    term = agent(model, "a", strategy="redis", scope="global", ttl=1e14)
    with pytest.raises(EffectError, match="cannot keep entries for 1e\\+14 s") as caught:
        Session(term, environment={})
    assert caught.value.diagnostic.fix == "set `ttl` to 1e+13 at most, or to 0"
    assert model.asked == []
