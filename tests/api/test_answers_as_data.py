"""Whatever a tool returns, a run goes on with it and its trace can be read."""

import pytest

from lambdagent import build_agent, run
from tests.api.kept_world import World, react_config


def say(text: str) -> str:
    if "Observation" in text:
        return '{"tool": "terminate", "args": "done"}'
    return '{"tool": "search", "args": "x"}'


ANSWERS = [
    ([], "[]"),
    ([None], "[null]"),
    ([1, "a"], '[1, "a"]'),
    # Looks like the inside of a function, of a pair, of a tagged value.
    ([4, 1, 2], "[4, 1, 2]"),
    ([0, "a", "b"], '[0, "a", "b"]'),
    ([3, ["a"], 0, "x"], '[3, ["a"], 0, "x"]'),
    ({"k": [1]}, '{"k": [1]}'),
    (None, ""),
    (True, "true"),
    ("text", "text"),
]


@pytest.mark.parametrize("engine", ["cek", "recursive"])
@pytest.mark.parametrize(("answer", "shown"), ANSWERS, ids=map(str, range(len(ANSWERS))))
def test_the_trace_shows_what_a_tool_returned(engine, answer, shown):
    def search(q):
        return answer

    agent = build_agent(react_config(2), tools={"search": search}, **World(say).bound)
    seen = []
    result = run(agent, "in", engine=engine, watch=seen.append)
    assert result.value == "done"
    for records in (result.trace, seen):
        assert [each.output for each in records if each.kind == "tool"] == [shown]
