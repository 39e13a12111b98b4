import threading

import pytest

from lambdagent import Lam, Model, compile_term
from lambdagent.effects.protocol import Cancellation, Message, Reply, ToolCall, Usage, as_data
from lambdagent.ir.data import Record, freeze
from tests.effects.calls import model_call

FULL = Reply(
    "text",
    "stop",
    (ToolCall("c1", "search", freeze({"query": ["amber"]})),),
    Usage(9, 1),
    reasoning="Amber floats.",
)


@pytest.mark.parametrize("reply", [Reply(""), Reply("a", "length"), FULL])
def test_a_reply_survives_as_data(reply: Reply):
    assert Reply.from_data(reply.to_data()) == reply


def test_a_plain_reply_is_small_as_data():
    assert Reply("a").to_data() == Record(text="a")


def test_a_text_is_a_reply():
    assert Reply.from_data("a") == Reply("a")
    bare = Record(text="", tool_calls=(Record(name="look"),))
    assert Reply.from_data(bare) == Reply("", tool_calls=(ToolCall("", "look", None),))
    assert Reply.from_data(Record(text="a", reasoning=Record(steps=3))) == Reply("a")


@pytest.mark.parametrize(
    "data",
    [
        None,
        3,
        ("a",),
        Record(),
        Record(text=1),
        Record(text="a", finish_reason=1),
        Record(text="a", tool_calls="x"),
        Record(text="a", tool_calls=(Record(id="1"),)),
        Record(text="a", tool_calls=("look",)),
        Record(text="a", usage=Record(input="1", output=2)),
    ],
)
def test_other_data_is_no_reply(data):
    with pytest.raises(ValueError, match="no reply of a model"):
        Reply.from_data(data)


def test_messages_are_rendered_only_when_somebody_reads_them():
    rendered = []

    def render() -> tuple[Message, ...]:
        rendered.append(1)
        return (Message("user", "a"),)

    call = model_call()
    lazy = type(call)(
        site="s", agent="a", model=call.model, render=render, render_last=lambda: "a", timeout_s=1
    )
    assert (lazy.last_text, rendered) == ("a", [])
    assert lazy.messages == (Message("user", "a"),)
    assert "Hello" not in repr(call)


def test_no_repr_tells_a_prompt():
    secret = "Tell nobody of the merger."
    agent = Lam("a", secret, Model(provider="openai", name="m"))
    thought = Message("assistant", "", reasoning=secret), Reply("", reasoning=secret)
    for holder in (agent, Message("system", secret), compile_term(agent), *thought):
        assert secret not in repr(holder)
    assert "prompt=<26 characters>" in repr(agent)


def test_cancelling_runs_each_callback_once():
    cancel, heard = Cancellation(), []
    cancel.on_cancel(lambda: heard.append(1))
    forget = cancel.on_cancel(lambda: heard.append(2))
    forget()
    assert not cancel.cancelled
    cancel.cancel()
    cancel.cancel()
    assert (cancel.cancelled, heard) == (True, [1])


def test_a_callback_that_comes_too_late_runs_at_once():
    cancel, heard = Cancellation(), []
    cancel.cancel()
    cancel.on_cancel(lambda: heard.append(1))()
    assert heard == [1]


def test_a_callback_may_cancel_again_and_add_others():
    cancel, heard = Cancellation(), []
    cancel.on_cancel(lambda: (heard.append(1), cancel.cancel(), cancel.on_cancel(heard.clear)))
    cancel.on_cancel(lambda: heard.append(2))
    cancel.cancel()
    assert heard == []


def test_a_callback_runs_once_whoever_is_faster():
    for _ in range(200):
        assert calls_of_a_race(Cancellation()) == 1


def calls_of_a_race(cancel: Cancellation) -> int:
    heard, barrier = [], threading.Barrier(2, timeout=20)
    canceller = threading.Thread(target=lambda: (barrier.wait(), cancel.cancel()))
    canceller.start()
    barrier.wait()
    cancel.on_cancel(lambda: heard.append(1))
    canceller.join()
    return len(heard)


def test_what_is_no_json_becomes_text():
    assert as_data({"a": [1, None]}) == Record(a=(1, None))
    assert as_data(Cancellation) == str(Cancellation)
    assert as_data({1: 2}) == "{1: 2}"
