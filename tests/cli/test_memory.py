"""Memories that last, from the command line: who shares them, and stores that are down."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT, Command
from tests.redis_server import RedisServer

PASSWORD = "hunter2-is-long"
SCRIPT = {"rules": [{"match": "I like blue", "reply": "So blue."}, {"reply": "No idea."}]}
STORES = """
import os
import signal
from pathlib import Path
from lambdagent.effects.stores.sqlite import SqliteStore


class Notes(SqliteStore):
    def __init__(self, space, size):
        super().__init__(Path("notes.db"), space, size)


class Down(Notes):
    def put(self, key, value, ttl=0):
        if not Path("up").exists():
            raise ConnectionError("the line is cut")
        super().put(key, value, ttl)


class Deadly(Notes):
    def put(self, key, value, ttl=0):
        super().put(key, value, ttl)
        Path("puts").open("a").write("put ")
        if not Path("up").exists():
            os.kill(os.getpid(), signal.SIGKILL)


class Tells(Notes):
    def __init__(self, space, size, at):
        super().__init__(space, size)
        self.at = at
        if at == "made":
            raise ConnectionError(os.environ["NOTES_PASSWORD"])

    def list_recent(self, n):
        if self.at == "tried":
            raise ConnectionError(os.environ["NOTES_PASSWORD"])
        return super().list_recent(n)

    def put(self, key, value, ttl=0):
        raise ConnectionError(os.environ["NOTES_PASSWORD"])


class Alone:
    def get(self, key): ...
    def put(self, key, value, ttl=0): ...
    def list_recent(self, n): return []
    def clear(self): ...
"""


def agent(memory: str, script: object = SCRIPT) -> str:
    model = f"{{provider: scripted, script: {json.dumps(script)}}}"
    return f"type: simple\nname: a\nsystemPrompt: p\nmodel: {model}\nmemory: {{{memory}}}\n"


def ask(command: Command, *words: str) -> str:
    done = command("run", "a.yml", *words, "-q")
    assert (done.code, done.err) == (0, "")
    return done.out.strip()


def test_users_have_memories_of_their_own(command: Command):
    command.write("a.yml", agent("strategy: sqlite, scope: user, path: m.db"))
    assert ask(command, "I like blue", "--user", "ann") == "So blue."
    assert ask(command, "What do I like?", "--user", "ann") == "So blue."
    assert ask(command, "What do I like?", "--user", "bob") == "No idea."


def test_a_memory_for_users_wants_one(command: Command, monkeypatch: pytest.MonkeyPatch):
    command.write("a.yml", agent("strategy: sqlite, scope: user, path: m.db"))
    done = command("run", "a.yml", "x")
    assert done.code == 1
    assert "error[E021]: the memory `a` is kept for each user, and no user is named" in done.err
    assert "--user NAME" in done.err
    monkeypatch.setenv("LAMBDAGENT_USER", "ann")
    assert ask(command, "I like blue") == "So blue."
    assert ask(command, "What?", "--user", "ann") == "So blue."


def test_a_global_memory_is_that_of_all_runs(command: Command):
    command.write("a.yml", agent("strategy: sqlite, scope: global, path: m.db"))
    ask(command, "I like blue", "--user", "ann")
    assert ask(command, "What?", "--user", "bob") == "So blue."


def test_a_session_goes_on_by_its_name_and_is_gone_without_one(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    command.write("a.yml", agent("strategy: sqlite, path: m.db"))
    assert ask(command, "I like blue", "--session", "s1") == "So blue."
    assert ask(command, "What?", "--session", "s1") == "So blue."
    assert ask(command, "What?", "--session", "s2") == "No idea."
    ask(command, "I like blue")
    assert ask(command, "What?") == "No idea."
    monkeypatch.setenv("LAMBDAGENT_SESSION", "s1")
    assert ask(command, "What?") == "So blue."


def test_the_usual_file_is_in_the_data_directory(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    command.write("a.yml", agent("strategy: sqlite, scope: global"))
    ask(command, "I like blue")
    assert (tmp_path / "data" / "lambdagent" / "memory.db").is_file()
    assert (tmp_path / "data" / "lambdagent").stat().st_mode & 0o777 == 0o700
    assert ask(command, "What?") == "So blue."


def test_redis_is_where_the_environment_says(
    command: Command, server: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAMBDAGENT_REDIS_URL", server.url)
    command.write("a.yml", agent("strategy: redis, scope: user"))
    assert ask(command, "I like blue", "--user", "ann") == "So blue."
    assert ask(command, "What?", "--user", "ann") == "So blue."
    assert ask(command, "What?", "--user", "bob") == "No idea."


def test_a_server_that_is_down_is_told_before_the_run(
    command: Command, monkeypatch: pytest.MonkeyPatch
):
    url = f"redis://ann:{PASSWORD}@127.0.0.1:1/0?health_check_interval=1"
    monkeypatch.setenv("LAMBDAGENT_REDIS_URL", url)
    command.write("a.yml", agent("strategy: redis, scope: global"))
    for more in ([], ["--checkpoint-dir", "runs"], ["--trace-file", "t.json"], ["--traceback"]):
        done = command("run", "a.yml", "x", *more)
        assert done.code == 1
        assert "error[E009]: the memory store `a` failed: the server at" in done.err
        assert "redis://127.0.0.1:1/0" in done.err
        assert "fix: start the server, or set LAMBDAGENT_REDIS_URL" in done.err
        assert PASSWORD not in done.err + done.out
        assert "β" not in done.err
    assert not (command.folder / "runs").exists()


def test_a_file_that_is_no_memory_is_told_before_the_run(command: Command):
    command.write("m.db", "my notes, and many of them\n" * 50)
    command.write("a.yml", agent("strategy: sqlite, scope: global, path: m.db"))
    done = command("run", "a.yml", "x")
    assert done.code == 1
    assert "error[E009]" in done.err
    assert "m.db`: file is not a database" in done.err
    assert "fix: name another file: `memory.path`" in done.err


def test_a_class_of_ones_own_is_found_beside_the_caller(command: Command):
    command.write("own_stores.py", STORES)
    command.write("a.yml", agent("strategy: custom, scope: user, customStore: 'own_stores:Notes'"))
    assert ask(command, "I like blue", "--user", "ann") == "So blue."
    assert ask(command, "What?", "--user", "ann") == "So blue."
    assert ask(command, "What?", "--user", "bob") == "No idea."


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such:Store", "cannot be imported: ModuleNotFoundError"),
        ("own_stores:No", "has no class `No`"),
        ("own_stores:Alone", "`own_stores:Alone` cannot keep users apart"),
    ],
)
def test_a_class_that_cannot_be_a_store_is_told_before_the_run(
    command: Command, path: str, message: str
):
    command.write("own_stores.py", STORES)
    command.write("a.yml", agent(f"strategy: custom, scope: user, customStore: '{path}'"))
    done = command("run", "a.yml", "x", "--user", "ann")
    assert done.code == 1
    assert message in done.err
    assert "fix: " in done.err


@pytest.mark.parametrize("at", ["made", "tried", "put"])
def test_what_a_class_says_is_told_without_secrets(
    command: Command, at: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NOTES_PASSWORD", PASSWORD)
    command.write("own_stores.py", STORES)
    where = f"customStore: 'own_stores:Tells', settings: {{at: {at}}}"
    command.write("a.yml", agent(f"strategy: custom, scope: global, {where}"))
    done = command("run", "a.yml", "x", "--trace")
    assert done.code == 1
    assert "ConnectionError: [NOTES_PASSWORD]" in done.err
    assert PASSWORD not in done.err + done.out


def test_a_run_whose_store_goes_down_goes_on_when_it_is_up(command: Command):
    command.write("own_stores.py", STORES)
    memory = "strategy: custom, scope: user, customStore: 'own_stores:Down'"
    command.write("a.yml", agent(memory, {"replies": ["only once"]}))
    done = command("run", "a.yml", "x", "--user", "ann", "--checkpoint-dir", "runs")
    assert done.code == 1
    assert "the memory store `a` failed: ConnectionError: the line is cut" in done.err
    assert "--resume" in done.err
    command.write("up", "")
    done = command("run", "--resume", "runs", "-q")
    assert (done.code, done.out) == (0, "only once\n")
    done = command("run", "--resume", "runs", "--user", "bob")
    assert done.code == 2
    assert "`--user`" in done.err


@pytest.mark.slow
def test_a_kill_after_a_write_leaves_it_there_once(command: Command):
    command.write("own_stores.py", STORES)
    memory = "strategy: custom, scope: user, customStore: 'own_stores:Deadly'"
    command.write("a.yml", agent(memory, {"replies": ["only once"]}))
    words = [sys.executable, "-m", "lambdagent", "run"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LAMBDAGENT_USER": "ann"}

    def run(*more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*words, *more],
            cwd=command.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("a.yml", "q", "--checkpoint-dir", "runs").returncode == -9
    command.write("up", "")
    environment["LAMBDAGENT_USER"] = "bob"  # the run is ann's
    done = run("--resume", "runs", "-q")
    assert (done.returncode, done.stdout) == (0, "only once\n")
    assert (command.folder / "puts").read_text() == "put put "
    done = run("--resume", "runs", "-q")
    assert (done.returncode, done.stdout) == (0, "only once\n")
    assert (command.folder / "puts").read_text() == "put put "
    code = (
        "from own_stores import Notes; print([Notes(f'user/{who}/a', 9).list_recent(9)"
        " for who in ('ann', 'bob')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=command.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "[[('q', 'only once')], []]\n"
