"""Sessions: made once however many threads ask, recorded, and told as JSON."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from lambdagent import Compose, Pair, Session, Term, Tool, build_agent
from lambdagent.api import running
from tests.effects.agents import MODEL, PATIENCE_S, Face, face, speaker

__all__ = ["face"]


class Crowded:
    """A lock that says when `count` threads have come to it."""

    def __init__(self, count: int) -> None:
        self.lock = threading.RLock()
        self.left = list(range(count))
        self.full = threading.Event()

    def __enter__(self) -> None:
        self.left.pop()
        if not self.left:
            self.full.set()
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


def test_calls_from_several_threads_share_one_session(monkeypatch: pytest.MonkeyPatch):
    """The session is made while all the others wait for it."""
    crowd, made, found = Crowded(5), [], []

    class Slow(Session):
        def __init__(self, agent: Term) -> None:
            made.append(self)
            assert crowd.full.wait(PATIENCE_S)
            super().__init__(agent)

    monkeypatch.setattr(running, "Session", Slow)
    monkeypatch.setattr(running, "_making", crowd)
    agent = Compose()
    threads = [
        threading.Thread(target=lambda: found.append(running.session_of(agent))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert (len(found), len(made), set(found)) == (5, 1, set(made))


def test_the_making_of_a_session_may_call_another_agent(monkeypatch: pytest.MonkeyPatch):
    inner, outer, plain = Compose(), Compose(), Session

    def making(agent: Term) -> Session:
        if agent is outer:
            running.session_of(inner)
        return plain(agent)

    monkeypatch.setattr(running, "Session", making)
    assert running.session_of(outer) is not running.session_of(inner)


@pytest.mark.parametrize("name", ["nan", "inf", "-inf"])
def test_a_number_that_json_does_not_have_is_a_text_in_json(face: Face, name: str):
    def tool(_: object) -> object:
        return {"n": [float(name), 1.5]}

    result = face.ask(Pair(Tool("t", tool), Compose()), "x")
    assert repr(result.value) == f"({{'n': [{name}, 1.5]}}, 'x')"
    spelled = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[name]
    document = json.loads(json.dumps(running.to_json(result), allow_nan=False))
    assert document["result"] == [{"n": [spelled, 1.5]}, "x"]


def test_a_run_can_be_recorded_and_played_back(face: Face, tmp_path: Path):
    def agent(model: dict[str, object], **more: Any) -> Term:
        return build_agent(
            {"type": "simple", "name": "a", "systemPrompt": "p", "model": model}, **more
        )

    with Session(agent(MODEL, providers={"openai": speaker("said")})) as session:
        session.record(tmp_path / "empty.jsonl")
        face.run(session, "x")
        session.record(tmp_path / "r.jsonl")
    assert (tmp_path / "empty.jsonl").read_text() == '{"lambdagent-recording":1}\n'
    script = {"recording": str(tmp_path / "r.jsonl")}
    again = agent({"provider": "scripted", "script": script})
    assert face.ask(again, "x").value == "said"
