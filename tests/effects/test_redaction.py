"""Secrets of the environment are taken out at the border."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent import CheckpointError, EffectError, Lam, Model, Run, Session, compile_term
from lambdagent.effects.protocol import ModelCall
from lambdagent.effects.redaction import Redaction
from lambdagent.errors import finding
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.services import SERVICES
from tests.effects.agents import Speaker, call, react, speaker

KEYS = sorted({each.key_variable for each in SERVICES.values() if each.key_variable})
SECRET = "sk-4f9a1c-no-real-key"


@pytest.mark.parametrize("variable", [*KEYS, "GITHUB_TOKEN", "DB_PASSWORD"])
def test_a_secret_reaches_nothing_that_a_run_leaves(variable: str, tmp_path: Path):
    model = speaker(call("leak", SECRET), f"it is {SECRET}")
    agent = react(model, {"leak": lambda _: f"<{SECRET}>"})
    environment = {variable: SECRET, "OPENAI_API_KEY": SECRET}
    with Run.begin(agent, f"tell {SECRET}", tmp_path, environment=environment, autosave=1) as run:
        result = run.resume()
        assert SECRET not in result.text
        assert all(SECRET not in str(record.to_json()) for record in result.trace)
        run.record(tmp_path / "recording")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 5
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert all(SECRET not in message.text for each in model.calls for message in each.messages)


def test_a_secret_in_an_error_is_not_told():
    def fail(_: ModelCall) -> str:
        told = f"wrong key {SECRET}"
        raise EffectError(finding("E002", provider="m", message=told, site="llm:a", hint=told))

    session = Session(react(Speaker(fail)), environment={"OPENAI_API_KEY": SECRET})
    with session, pytest.raises(EffectError) as caught:
        session.run("x")
    assert SECRET not in str(caught.value)


def test_a_password_in_an_address_is_not_kept(tmp_path: Path):
    model = Model(provider="custom", name="m", base_url=f"https://me:{SECRET}@example.org/v1")
    agent = compile_term(Lam("a", "p", model))
    with Run.begin(agent, "x", tmp_path, environment={}) as run:
        pass
    assert not [path for path in run.path.iterdir() if SECRET.encode() in path.read_bytes()]
    with pytest.raises(CheckpointError, match="K013"):
        Run.load(run.path)
    with Run.load(run.path, program=agent, environment={}) as again:
        assert again.program is not None


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner).map(Record),
    max_leaves=8,
)


@given(plain)
def test_data_without_secrets_stays_as_it_is(data: Any):
    assert Redaction({"A_KEY": SECRET, "HOME": "/root", "B_TOKEN": "short"}).data(data) == data


def test_longer_secrets_go_first_and_short_ones_stay():
    redaction = Redaction({"A_KEY": "abcdefgh", "B_KEY": "abcdefghij", "C_KEY": "abc"})
    assert redaction.text("abcdefghij abcdefgh abc") == "[B_KEY] [A_KEY] abc"
    failed = redaction.answer(Failure("Kind", "abcdefgh", Record(abcdefgh=("abcdefgh",))))
    assert failed == Failure("Kind", "[A_KEY]", Record({"[A_KEY]": ("[A_KEY]",)}))


@given(
    st.lists(st.sampled_from(["a", "one", "two", "[A_KEY]", "[A_KEY] 2", "x one"]), unique=True)
)
def test_keys_that_are_the_same_without_secrets_stay_apart(keys: list[str]):
    """Two secrets of one variable, as it is and as JSON has it, get the same name."""
    words = {"one": 'sk-"quoted"-secret', "two": 'sk-\\"quoted\\"-secret'}
    said = [" ".join(words.get(part, part) for part in key.split()) for key in keys]
    redaction = Redaction({"A_KEY": words["one"]})
    found = redaction.data(Record({key: number for number, key in enumerate(said)}))
    assert isinstance(found, Record)
    assert list(found.values()) == list(range(len(keys)))
    assert not any("quoted" in key for key in found)
    assert redaction.data(found) == found
