"""Answers that must fit a schema: which calls are made, what they are sent, what comes of it."""

import pytest

from lambdagent.ir.bounds import bounds
from lambdagent.ir.costs import Interval
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.surface import Compose, ConversationLam, Lam, Loop, ReActStep, Tool
from lambdagent.ir.tokens import estimate_tokens
from tests.desugar.calls import ask, compiled

PERSON = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 0}},
    "required": ["age"],
}
TOLD = "Answer with nothing but JSON that fits this JSON Schema:\n"
READER = Lam("reader", "Read.", output_schema=PERSON)
SYSTEM = ("system", "Read.")
SCHEMA = (
    "system",
    (
        f'{TOLD}{{"type": "object", "properties": {{"age": {{"type": "integer", "minimum": 0}}}},'
        ' "required": ["age"]}'
    ),
)


def repair(why: str) -> tuple[str, str]:
    text = f"That answer cannot be used: {why}.\nAnswer again, with nothing but JSON that fits."
    return ("user", text)


def test_an_answer_that_fits_is_asked_for_once():
    ran = ask(READER, "a letter", ['Here: {"age": 3}'])
    assert ran.value == Record(age=3)
    assert ran.messages == [[SYSTEM, SCHEMA, ("user", "a letter")]]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("three", "the text holds no JSON object or list"),
        ('{"age": -1}', "`age` must be at least 0, not -1"),
        ("{}", "`age` is missing"),
        ("[3]", "it must be an object, not [3]"),
    ],
)
def test_an_answer_that_does_not_fit_goes_back_once_with_the_reason(reply, why):
    ran = ask(READER, "a letter", [reply, '{"age": 3}'])
    assert ran.value == Record(age=3)
    assert ran.sites == ["llm:reader", "llm:reader.repair"]
    asked = [SYSTEM, SCHEMA, ("user", "a letter")]
    assert ran.messages == [asked, [*asked, ("assistant", reply), repair(why)]]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "string"}, "the text is no JSON string, which stands in double quotes"),
        ({"enum": ["a", "b"]}, "the text is no JSON string, which stands in double quotes"),
        ({"type": "integer"}, "the text is no JSON value of the type `integer`"),
        ({"type": ["null", "boolean"]}, "the text is no JSON value of the type `boolean`, `null`"),
        ({"const": 3}, "the text is no JSON value of the type `number`"),
        ({"type": ["string", "object"]}, "the text holds no JSON object or list"),
        ({}, "the text holds no JSON object or list"),
    ],
)
def test_what_is_wanted_is_told_where_there_is_no_json(schema, why):
    ran = ask(Lam("reader", "Read.", output_schema=schema), "x", ["no idea", "still none"])
    assert ran.messages[1][-1] == repair(why)
    assert ran.error["data"] == why


def test_an_answer_of_nothing_is_not_sent_back():
    ran = ask(READER, "a letter", [" ", '{"age": 3}'])
    assert [role for role, _ in ran.messages[1]] == ["system", "system", "user", "user"]


def test_an_answer_that_was_cut_off_says_so():
    ran = ask(READER, "x", [Record(text='{"age": 1', finish_reason="length"), '{"age": 3}'])
    assert ran.messages[1][-1] == repair("the text holds no JSON object or list; it was cut off")


def test_after_the_repair_it_is_an_error():
    ran = ask(READER, "x", ["{}", "still not"])
    assert ran.error["kind"] == "OutputError"
    assert ran.error["data"] == "the text holds no JSON object or list"
    assert len(ran.asked) == 2


def test_a_conversation_remembers_the_answer_that_fits():
    agent = ConversationLam("reader", "Read.", output_schema=PERSON)
    first = ask(agent, "one", ['{"age": 1}'])
    second = ask(agent, "two", ["no", '{"age": 2}'], first.store)
    third = ask(agent, "three", ['{"age": 3}'], second.store)
    turn = [("user", "one"), ("assistant", '{"age": 1}')]
    asked = [SYSTEM, SCHEMA, *turn, ("user", "two")]
    mended = [*asked, ("assistant", "no"), repair("the text holds no JSON object or list")]
    assert second.messages == [asked, mended]
    assert third.messages[0][2:] == [
        *turn,
        ("user", "two"),
        ("assistant", '{"age": 2}'),
        ("user", "three"),
    ]


def test_the_answer_of_a_react_loop_fits():
    think = Lam("reader", "Read.", output_schema=PERSON)
    loop = Loop(ReActStep("step", think=think, tools=[Tool("look")]), max_steps=3)
    ran = ask(loop, "a letter", ['{"tool": "look", "args": "x"}', "an eye", "3", '{"age": 3}'])
    assert ran.value == Record(age=3)
    assert ran.sites == ["llm:reader", "tool:look", "llm:reader", "llm:reader.repair"]
    assert SCHEMA in ran.messages[0]
    assert ran.messages[-1] == [
        SYSTEM,
        SCHEMA,
        ("user", "a letter"),
        ("assistant", "3"),
        repair("it must be an object, not 3"),
    ]


def test_a_conversation_with_a_repair_fits_into_the_window():
    model = Model(provider="openai", name="m", context_window=400, max_tokens=100)
    agent = ConversationLam("reader", "Read.", model, output_schema=PERSON)
    store = None
    for _ in range(9):
        store = ask(agent, "word " * 9, ['{"age": 1}'], store).store
    ran = ask(agent, "last", ["word " * 60, '{"age": 1}'], store)
    first, second = (sum(estimate_tokens(text) for _, text in each) for each in ran.messages)
    assert max(first, second) <= 300
    assert len(ran.messages[1]) < len(ran.messages[0]) + 2


def test_both_calls_are_in_the_bounds():
    found = bounds(compiled(Compose(READER, Lam("next"))))
    assert found.model_calls == Interval(2, 3)
    assert found.sites["llm:reader.repair"].calls == Interval(0, 1)


def test_the_two_calls_have_one_conversation_and_one_model():
    model = Model(provider="openai", name="gpt-5", timeout_s=5)
    sites = compiled(ConversationLam("w", "p", model, output_schema=PERSON)).sites
    asked, mended = sites["llm:w"], sites["llm:w.repair"]
    assert mended.static == Record(asked.static, repair=True)
    assert mended.timeout_s == asked.timeout_s == 5


@pytest.mark.parametrize("parser", ["number", "boolean", "raw", "reply"])
def test_what_must_fit_is_read_as_json(parser):
    assert Lam("w", output_schema=PERSON).output_parser == "json"
    assert Lam("w", output_schema=PERSON) == Lam("w", output_parser="json", output_schema=PERSON)
    with pytest.raises(ValueError, match=f"read as json, not as {parser}"):
        Lam("w", output_parser=parser, output_schema=PERSON)


@pytest.mark.parametrize("schema", [{"typ": "object"}, {"type": "text"}, "object", [], True])
def test_a_schema_that_cannot_be_checked_is_refused(schema):
    with pytest.raises(ValueError, match="output_schema must be a JSON Schema"):
        Lam("w", output_schema=schema)
