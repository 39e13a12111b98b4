"""Where a memory is, who shares it, and what of an answer it keeps."""

from lambdagent.frontend.build import SUMMARY_PROMPT
from lambdagent.ir.data import Record
from lambdagent.ir.surface import Lam
from tests.frontend.test_build import SIMPLE, build, told


def test_a_memory_says_where_it_is_and_who_shares_it():
    named = f"name: ann\n{SIMPLE}"
    in_file = build(
        f"{named}memory: {{strategy: sqlite, scope: user, path: a/b.db}}", base_dir="d"
    )
    assert (in_file.name, in_file.strategy, in_file.scope) == ("ann", "sqlite", "user")
    assert in_file.place == "d/a/b.db"
    for path in ("/a.db", "~/a.db"):
        assert (
            build(f"{SIMPLE}memory: {{strategy: sqlite, path: {path}}}", base_dir="d").place
            == path
        )
    own = build(f"{SIMPLE}memory: {{strategy: custom, customStore: a:B, settings: {{k: [1]}}}}")
    assert (own.place, own.settings) == ("a:B", Record(k=(1,)))


def test_a_memory_that_others_share_has_a_name():
    for scope in ("global", "user"):
        shared = f"memory: {{strategy: redis, scope: {scope}"
        assert told(f"{SIMPLE}{shared}}}\n") == [("S101", "memory.name")]
        assert build(f"agentId: a1\n{SIMPLE}{shared}}}\n").name == "a1"
        assert build(f"{SIMPLE}{shared}, name: notes}}\n").name == "notes"
    assert build(f"{SIMPLE}memory: {{strategy: redis}}\n").scope == "session"


def test_a_memory_of_a_class_of_ones_own_names_it():
    text = f"{SIMPLE}memory: {{strategy: custom}}\n"
    assert told(text) == [("S101", "memory.customStore")]
    assert build(text, memory_binding="key").binding == "key"


def test_a_memory_may_be_summarized_by_the_model_of_its_agent():
    memory = build(f"{SIMPLE}memory: {{summarize: llm}}\n")
    assert memory.summary == Lam("simple.summary", SUMMARY_PROMPT, memory.agent.model)
