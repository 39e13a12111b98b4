"""Memories: what is injected, remembered, forgotten."""

from lambdagent.ir import surface
from lambdagent.ir.bounds import bounds
from lambdagent.ir.surface import ConversationLam, Guard, Memory
from tests.desugar.calls import ask, compiled

WRITER = surface.Lam("writer")


def test_the_model_sees_what_was_remembered_and_then_its_input():
    agent = Memory(WRITER, initial={"name": "Ada", "tags": ["a", 1]})
    text = '[Memory Context]\n- name: Ada\n- tags: ["a", 1]\n\n[Current Input]\nWho am I?'
    assert ask(agent, "Who am I?", ["Ada"]).asked == [("llm:writer", text)]


def test_an_exchange_is_remembered():
    agent = Memory(WRITER)
    first = ask(agent, "one", ["1"], now=100)
    second = ask(agent, "two", ["2"], first.store, now=100 + 7200)
    assert second.asked[0][1] == "[Memory Context]\n- one: 1 (2h ago)\n\n[Current Input]\ntwo"


def test_the_newest_entries_are_kept():
    agent = Memory(WRITER, size=2)
    store = {}
    for i in range(4):
        store = ask(agent, f"q{i}", [f"a{i}"], store).store
    shown = ask(agent, "q", ["a"], store).asked[0][1]
    assert "q1" not in shown
    assert shown.index("q2: a2") < shown.index("q3: a3")


def test_an_entry_is_gone_after_its_time():
    agent = Memory(WRITER, ttl_s=10)
    store = ask(agent, "old", ["a"], now=0).store
    assert "old" in ask(agent, "q", ["a"], store, now=10).asked[0][1]
    assert "old" not in ask(agent, "q", ["a"], store, now=11).asked[0][1]


def test_a_memory_of_size_0_remembers_nothing():
    agent = Memory(WRITER, size=0)
    first = ask(agent, "one", ["1"])
    assert "one" not in ask(agent, "two", ["2"], first.store).asked[0][1]


def test_a_memory_around_a_guard_remembers_the_answer_that_passed():
    agent = Memory(Guard(WRITER, "x == 'good'", 3))
    first = ask(agent, "q", ["bad", "good"])
    assert "- q: good" in ask(agent, "again", ["good"], first.store).asked[0][1]


def test_two_memories_have_two_cells():
    twice = Memory(WRITER, "m") >> Memory(surface.Lam("other"), "m")
    assert len(ask(twice, "x", ["a", "b"]).store) == 2


def test_a_conversation_with_a_memory_has_both():
    agent = Memory(ConversationLam("writer"))
    first = ask(agent, "one", ["1"])
    second = ask(agent, "two", ["2"], first.store)
    roles = [role for role, _ in second.messages[0]]
    assert roles == ["user", "assistant", "user"]
    assert "- one: 1" in second.messages[0][2][1]


def test_a_store_of_the_user_is_asked_and_told():
    agent = Memory(WRITER, strategy="custom", binding="key")
    kinds = {site.kind: site.site_class for site in compiled(agent).sites.values()}
    assert kinds == {"recall": "oracle", "remember": "oracle", "llm": "oracle"}
    ran = ask(agent, "q", [[{"key": "k", "value": "v"}], "answer", None])
    assert ran.sites == ["recall:memory", "llm:writer", "remember:memory"]
    assert "- k: v" in ran.asked[1][1]
    assert ran.asked[2][1] == '["q", "answer"]'


def test_what_outlives_a_session_is_asked_of_a_store_and_put_there_once():
    agent = Memory(WRITER, "notes", strategy="sqlite", scope="user", place="m.db", size=7)
    program = compiled(agent)
    store = program.sites["recall:notes"].static["store"]
    assert store == {"strategy": "sqlite", "scope": "user", "place": "m.db", "settings": {}}
    assert program.sites["remember:notes"].idempotent
    ran = ask(agent, "q", [[{"key": "k", "value": "v", "age": 60}], "answer", None])
    assert ran.sites == ["recall:notes", "llm:writer", "remember:notes"]
    assert ran.asked[1][1] == "[Memory Context]\n- k: v (1min ago)\n\n[Current Input]\nq"


def test_a_local_memory_that_others_share_is_no_part_of_the_machine():
    kinds = {site.kind for site in compiled(Memory(WRITER, scope="global")).sites.values()}
    assert kinds == {"recall", "remember", "llm"}


def test_a_summary_is_what_is_remembered_of_an_answer():
    agent = Memory(WRITER, summary=surface.Lam("sum"))
    first = ask(agent, "one", ["a long answer", "short"])
    assert first.value == "a long answer"
    assert first.sites == ["llm:writer", "llm:sum"]
    assert first.asked[1][1] == '["one", "a long answer"]'
    second = ask(agent, "two", ["b", "c"], first.store)
    assert "- one: short (0s ago)" in second.asked[0][1]


def test_a_summary_is_put_into_a_store():
    agent = Memory(WRITER, summary=surface.Lam("sum"), strategy="redis")
    ran = ask(agent, "q", [(), "a long answer", "short", None])
    assert ran.sites == ["recall:memory", "llm:writer", "llm:sum", "remember:memory"]
    assert ran.asked[3][1] == '["q", "short"]'


def test_a_summary_may_be_longer_than_the_start_of_an_answer():
    words = "word " * 500
    plain, summed = Memory(WRITER), Memory(WRITER, summary=surface.Lam("sum"))
    for agent, replies, length in ((plain, [words], 200), (summed, ["a", words], 1000)):
        store = ask(agent, "q", replies).store
        (cell,) = store.values()
        assert len(cell[1][0]["value"]) == length


def test_bounds_count_the_calls_that_summaries_are():
    plain = bounds(compiled(Memory(WRITER))).model_calls
    summed = bounds(compiled(Memory(WRITER, summary=surface.Lam("sum")))).model_calls
    assert (str(plain.most), str(summed.most)) == ("1", "2")
