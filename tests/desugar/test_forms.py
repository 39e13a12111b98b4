"""Each construct behaves as semantics.md §8 says: calls, order and answers, form by form."""

import pytest

from lambdagent.desugar.conversation import SUMMARY_PROMPT
from lambdagent.ir import surface
from lambdagent.ir.alpha import alpha_equal
from lambdagent.ir.bounds import bounds
from lambdagent.ir.core import Lam, Var
from lambdagent.ir.exchange import Failure
from lambdagent.ir.model import Model
from lambdagent.ir.surface import (
    Compose,
    Concat,
    ConversationLam,
    Fst,
    Guard,
    If,
    Loop,
    Pair,
    Par,
    Route,
    Snd,
    Tool,
)
from lambdagent.ir.tokens import OF_A_MESSAGE, OF_A_REQUEST, estimate_tokens
from tests.desugar.calls import ask, compiled

WRITER, EDITOR, JUDGE = surface.Lam("writer"), surface.Lam("editor"), surface.Lam("judge")


# --- model calls ---------------------------------------------------------------------------------


def test_a_model_call_asks_once():
    ran = ask(surface.Lam("writer", "Write."), "a poem", ["roses"])
    assert ran.value == "roses"
    assert ran.messages == [[("system", "Write."), ("user", "a poem")]]


@pytest.mark.parametrize(
    ("parser", "reply", "value"),
    [
        ("text", "7", "7"),
        ("json", "[1]", (1,)),
        ("number", "7 pages", 7),
        ("boolean", "yes", True),
    ],
)
def test_an_output_parser_makes_a_value(parser, reply, value):
    assert ask(surface.Lam("writer", output_parser=parser), "x", [reply]).value == value


def test_an_answer_that_its_parser_refuses_is_a_validation_error():
    ran = ask(surface.Lam("writer", output_parser="number"), "x", ["no idea"])
    assert ran.error["kind"] == "ValidationError"


def test_a_conversation_reaches_the_next_call():
    agent = ConversationLam("writer", "Write.")
    first = ask(agent, "one", ["1"])
    second = ask(agent, "two", ["2"], first.store)
    third = ask(agent, "three", ["3"], second.store)
    assert third.messages == [
        [
            ("system", "Write."),
            ("user", "one"),
            ("assistant", "1"),
            ("user", "two"),
            ("assistant", "2"),
            ("user", "three"),
        ]
    ]


def test_a_model_summarises_what_is_before_the_last_messages():
    agent = ConversationLam("writer", "Write.", strategy="summary(3)")
    store = None
    for number in range(2):
        ran = ask(agent, f"q{number}", [f"a{number}"], store)
        store = ran.store
        assert ran.sites == ["llm:writer"]
    third = ask(agent, "q2", ["They counted.", "a2"], store)
    assert third.sites == ["llm:writer.summary", "llm:writer"]
    (system, notes), answer = third.messages
    assert system == ("system", SUMMARY_PROMPT.format(words=400))
    assert notes == ("user", "User:\nq0\n\nAssistant:\na0")
    assert answer == [
        ("system", "Write."),
        ("system", "[Conversation summary: 1 earlier turns]\nThey counted."),
        ("user", "q1"),
        ("assistant", "a1"),
        ("user", "q2"),
    ]
    fourth = ask(agent, "q3", ["They counted on.", "a3"], third.store)
    assert fourth.messages[0][1] == (
        "user",
        "Summary of what was said before:\nThey counted.\n\nUser:\nq1\n\nAssistant:\na1",
    )
    assert fourth.messages[1][1][1] == "[Conversation summary: 2 earlier turns]\nThey counted on."


def test_a_summary_is_a_call_that_bounds_tell():
    found = bounds(compiled(ConversationLam("writer", strategy="summary(3)")))
    assert {name: str(site.calls) for name, site in found.sites.items()} == {
        "llm:writer.summary": "[0, 1]",
        "llm:writer": "[1, 1]",
    }
    assert str(found.model_calls) == "[1, 2]"


def test_the_notes_are_to_be_short_where_little_may_be_sent():
    agent = ConversationLam("writer", max_history_tokens=160, strategy="summary(1)")
    site = compiled(agent).sites["llm:writer.summary"]
    assert site.static["prompt"].endswith("in at most 20 words.")


def test_requests_for_notes_fit_into_the_window_too():
    model = Model(provider="scripted", context_window=1500, max_tokens=500)
    agent = ConversationLam("writer", "Write.", model, strategy="summary(3)")
    store, asked = None, 0
    for number in range(6):
        long = "word " * (100 * number)

        def say(site: str, text: str, long: str = long) -> str:
            return f"notes {long}" if "summary" in site else f"answer {long}"

        ran = ask(agent, f"question {long}", say, store)
        store = ran.store
        for messages in ran.messages:
            sizes = [estimate_tokens(text) + OF_A_MESSAGE for _, text in messages]
            assert sum(sizes) + OF_A_REQUEST <= 1000
        asked += len(ran.messages) - 1
    assert asked == 4


def test_the_prompt_for_notes_is_as_long_as_is_kept_free_for_it():
    assert estimate_tokens(SUMMARY_PROMPT) + 2 * OF_A_MESSAGE + OF_A_REQUEST < 200


def test_a_failing_summary_fails_the_run_and_leaves_the_conversation():
    agent = ConversationLam("writer", strategy="summary(1)")
    first = ask(agent, "q0", ["a0"])
    second = ask(agent, "q1", [Failure("ProviderError", "down")], first.store)
    assert second.error["message"] == "down"
    assert second.store == first.store


@pytest.mark.parametrize("text", ["sliding", "summary(0)", "window(3)", "", 7, None])
def test_a_strategy_that_there_is_not_is_refused(text):
    with pytest.raises(ValueError, match="strategy must be managed, full, sliding_window"):
        ConversationLam("writer", strategy=text)


def test_a_strategy_is_known_however_it_is_spaced():
    assert ConversationLam("writer", strategy=" summary( 3 ) ").strategy == "summary(3)"


def test_an_agent_that_stands_twice_has_one_conversation():
    agent = ConversationLam("writer")
    ran = ask(Compose(agent, agent), "one", ["two", "three"])
    assert ran.messages[1] == [("user", "one"), ("assistant", "two"), ("user", "two")]


def test_two_agents_of_one_name_have_two_conversations():
    ran = ask(Compose(ConversationLam("w", "A"), ConversationLam("w", "B")), "1", ["2", "3"])
    assert ran.messages[1] == [("system", "B"), ("user", "2")]
    assert ran.sites == ["llm:w", "llm:w#2"]


def test_old_turns_become_a_summary():
    agent = ConversationLam("writer", recent_turns=1)
    ran = ask(Compose(agent, agent, agent), "first question", ["second", "third", "fourth"])
    summary, *recent = ran.messages[2]
    assert summary[0] == "system"
    assert "first question" in summary[1]
    assert recent == [("user", "second"), ("assistant", "third"), ("user", "third")]


def test_a_conversation_may_have_answers_that_are_json_objects():
    agent = ConversationLam("writer", output_parser="json")
    ran = ask(Compose(agent, agent), "x", ['{"a": 1}', "[2]"])
    assert ran.value == (2,)
    assert ran.messages[1][:2] == [("user", "x"), ("assistant", '{"a": 1}')]


# --- tools ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "value", "asked"),
    [
        (True, "found", ["confirm:search", "tool:search"]),
        ("not that", "[DENIED: search] not that", ["confirm:search"]),
    ],
)
def test_a_confirmed_tool_asks_a_person_before(decision, value, asked):
    replies = {"confirm:search": decision, "tool:search": "found"}
    ran = ask(Tool("search", confirm=True), "x", lambda site, _: replies[site])
    assert ran.value == value
    assert ran.asked == [(site, "x") for site in asked]


def test_a_tool_asks_the_world():
    assert ask(Tool("search"), "x", ["found"]).asked == [("tool:search", "x")]


def test_terminate_is_the_identity_whatever_it_is_given():
    for tool in (
        Tool("terminate"),
        Tool("terminate", lambda x: 1 / 0),
        Tool("terminate", command="rm"),
    ):
        assert alpha_equal(compiled(tool).term, Lam(Var(0)))
        assert ask(tool, "x", []).value == "x"


# --- composition ---------------------------------------------------------------------------------


def test_stages_run_in_order():
    ran = ask(WRITER >> EDITOR, "x", ["draft", "text"])
    assert ran.asked == [("llm:writer", "x"), ("llm:editor", "draft")]
    assert ran.value == "text"


def test_a_pair_runs_left_before_right_on_the_same_input():
    ran = ask(Pair(WRITER, EDITOR), "x", ["l", "r"])
    assert ran.asked == [("llm:writer", "x"), ("llm:editor", "x")]
    assert ran.value == ("l", "r")
    assert ask(Pair(WRITER, EDITOR) >> Fst(), "x", ["l", "r"]).value == "l"
    assert ask(Pair(WRITER, EDITOR) >> Snd(), "x", ["l", "r"]).value == "r"


def test_branches_run_on_the_same_input():
    ran = ask(Par(WRITER, EDITOR, JUDGE), "x", lambda site, _: site)
    assert ran.value == ("llm:writer", "llm:editor", "llm:judge")
    assert {text for _, text in ran.asked} == {"x"}
    assert ask(WRITER | EDITOR, "x", ["a", "b"]).value == ("a", "b")
    assert ask(Par(WRITER), "x", ["a"]).value == "a"


def test_concat_joins_answers_with_blank_lines():
    assert ask(Par(WRITER, EDITOR) >> Concat(), "x", ["a", "b"]).value == "a\n\nb"


# --- conditions ----------------------------------------------------------------------------------


def test_a_condition_is_an_expression_or_an_agent():
    assert ask(If("len(x) > 2", WRITER, EDITOR), "long", ["w"]).sites == ["llm:writer"]
    assert ask(If("len(x) > 2", WRITER, EDITOR), "x", ["e"]).sites == ["llm:editor"]
    judge = surface.Lam("judge", output_parser="boolean")
    assert ask(If(judge, WRITER, EDITOR), "x", ["no", "e"]).sites == ["llm:judge", "llm:editor"]
    assert ask(If("x == 'b'", WRITER), "a", []).value == "a"


def test_a_condition_that_cannot_be_evaluated_is_false():
    assert ask(If("x['missing'] > 1", WRITER, EDITOR), "x", ["e"]).sites == ["llm:editor"]


# --- loops ---------------------------------------------------------------------------------------


def test_a_loop_ends_when_its_condition_holds():
    ran = ask(Loop(WRITER, "x == 'good'", 5), "x", ["bad", "good"])
    assert ran.value == "good"
    assert ran.asked == [("llm:writer", "x"), ("llm:writer", "bad")]


def test_a_loop_answers_with_its_last_result_after_its_bound():
    ran = ask(Loop(WRITER, "False", 3), "x", ["1", "2", "3"])
    assert (ran.value, len(ran.asked)) == ("3", 3)


def test_a_loop_may_fail_after_its_bound():
    ran = ask(Loop(WRITER, "False", 2, on_exhausted="error"), "x", ["1", "2"])
    assert (ran.error["kind"], ran.error["data"]) == ("MaxTurns", "2")
    assert ask(Loop(WRITER, "step == 1", 2, on_exhausted="error"), "x", ["1", "2"]).value == "2"


def test_a_loop_counts_its_steps_from_0():
    assert len(ask(Loop(WRITER, "step == 0", 5), "x", ["1"]).asked) == 1
    assert len(ask(Loop(WRITER, "step >= 2", 5), "x", ["1", "2", "3"]).asked) == 3


def test_an_agent_can_be_the_condition_of_a_loop():
    judge = surface.Lam("judge", output_parser="boolean")
    ran = ask(Loop(WRITER, judge, 3), "x", ["draft", "no", "text", "yes"])
    assert ran.value == "text"
    assert [text for site, text in ran.asked if site == "llm:judge"] == [
        '["draft", 0]',
        '["text", 1]',
    ]


# --- routes --------------------------------------------------------------------------------------

ROUTES = {"poem": WRITER, "essay": EDITOR}


def test_a_route_gives_the_input_to_the_agent_of_its_label():
    ran = ask(Route(JUDGE, ROUTES), "x", ["Essay.", "text"])
    assert ran.asked == [("llm:judge", "x"), ("llm:editor", "x")]


def test_a_route_takes_its_default_for_every_other_label():
    ran = ask(Route(JUDGE, ROUTES, surface.Lam("other")), "x", ["novel", "text"])
    assert ran.asked == [("llm:judge", "x"), ("llm:other", "x")]


def test_a_route_without_default_fails_with_the_label():
    ran = ask(Route(JUDGE, ROUTES), "x", ["novel"])
    assert (ran.error["kind"], ran.error["data"]) == ("RouteError", "novel")


def test_a_classifier_is_told_its_labels():
    ran = ask(Route(JUDGE, ROUTES), "x", ["poem", "text"])
    assert "poem, essay" in ran.messages[0][0][1]


def test_a_classifier_may_be_any_agent():
    ran = ask(Route(Tool("classify"), ROUTES), "x", ["poem", "text"])
    assert ran.asked == [("tool:classify", "x"), ("llm:writer", "x")]


# --- guards --------------------------------------------------------------------------------------


def test_a_guard_tries_again_until_its_check_holds():
    ran = ask(Guard(WRITER, "x == 'good'", 3), "x", ["bad", "bad", "good"])
    assert ran.value == "good"
    assert {text for _, text in ran.asked} == {"x"}


@pytest.mark.parametrize(
    ("fallback", "value"), [("last", "bad2"), ("empty", ""), ("sorry", "sorry")]
)
def test_a_guard_uses_its_fallback_after_the_last_retry(fallback, value):
    ran = ask(Guard(WRITER, "x == 'good'", 1, fallback), "x", ["bad1", "bad2"])
    assert ran.value == value


def test_a_guard_without_fallback_fails():
    ran = ask(Guard(WRITER, "x == 'good'", 1), "x", ["bad1", "bad2"])
    assert (ran.error["kind"], ran.error["data"]) == ("ValidationError", "bad2")
    assert "x == 'good'" in ran.error["message"]


def test_a_guard_may_ask_an_agent():
    judge = surface.Lam("judge", output_parser="boolean")
    ran = ask(Guard(WRITER, judge, 1), "x", ["bad", "no", "good", "yes"])
    assert ran.value == "good"


def test_a_guard_whose_check_cannot_be_evaluated_fails():
    ran = ask(Guard(WRITER, "x > 3", 0), "x", ["text"])
    assert ran.error["kind"] == "ValidationError"


# --- whole programs ------------------------------------------------------------------------------


def test_equal_terms_give_programs_of_equal_digest():
    def build() -> surface.Term:
        judge = surface.Lam("judge", output_parser="boolean")
        return Guard(Route(ConversationLam("c"), {"a": Par(WRITER, EDITOR)}), judge, 2, "last")

    assert compiled(build()).digest() == compiled(build()).digest()


def test_a_changed_prompt_or_bound_changes_the_digest():
    first = compiled(Loop(surface.Lam("w", "p"), "False", 3)).digest()
    assert compiled(Loop(surface.Lam("w", "q"), "False", 3)).digest() != first
    assert compiled(Loop(surface.Lam("w", "p"), "False", 4)).digest() != first
    assert compiled(Loop(surface.Lam("w", "p"), "True", 3)).digest() != first


def test_a_function_is_no_part_of_the_digest():
    assert (
        compiled(Tool("t", lambda x: x)).digest() == compiled(Tool("t", lambda x: x + 1)).digest()
    )


@pytest.mark.slow
def test_an_agent_may_be_nested_10_000_deep():
    agent: surface.Term = Tool("t")
    for _ in range(10_000):
        agent = If("True", agent)
    assert ask(agent, "x", ["answer"]).value == "answer"


@pytest.mark.parametrize(
    ("answer", "passes"), [("Yes.", True), ("No.", False), ("perhaps", False)]
)
def test_the_answer_of_an_agent_that_checks_is_read_as_a_truth(answer, passes):
    checker = surface.Lam("checker")
    ran = ask(Guard(surface.Lam("w"), checker, fallback="refused"), "x", ["text", answer])
    assert ran.value == ("text" if passes else "refused")
