"""Large files end soon: places are found without reading the text again, output is bounded."""

import json

import pytest

from lambdagent.errors import ConfigError
from lambdagent.frontend.foreign.autogen import import_team
from lambdagent.frontend.foreign.crewai import import_crew
from lambdagent.frontend.foreign.dify import import_app
from lambdagent.frontend.foreign.openai_agents import import_source
from lambdagent.source import Source
from tests.frontend.foreign import test_autogen, test_dify
from tests.frontend.foreign.imported import told

MANY = 2_000


def test_many_losses_are_told():
    keys = "\n".join(f"  k{i}: v" for i in range(MANY))
    done = import_crew(Source("agents.yaml", f"a:\n  role: r\n{keys}\n"), None, None)
    assert told(done)[-1] == ("I001", f"agents.yaml:{MANY + 2}")
    assert f"and {MANY - 40} more" in done.text


def test_many_tools_are_told():
    tools = ", ".join(f"t{i}" for i in range(MANY))
    done = import_source(Source("a.py", f"a = Agent(name='a', tools=[\n{tools}\n])"))
    assert len(done.losses) == MANY


def test_many_edges_are_read():
    edges = [f"start e{i}" for i in range(MANY)]
    nodes = [test_dify.START, test_dify.llm("a")]
    nodes += [test_dify.node(f"e{i}", "end") for i in range(MANY)]
    text = json.dumps(test_dify.flow(nodes, "start a", *edges))
    with pytest.raises(ConfigError) as caught:
        import_app(Source("a.json", text))
    assert caught.value.diagnostic.code == "I011"


def test_a_long_prompt_is_not_written_out_for_each_turn():
    long = test_autogen.assistant("a", system_message="x" * 100_000)
    text = json.dumps(test_autogen.team("RoundRobinGroupChat", long, max_turns=90))
    with pytest.raises(ConfigError) as caught:
        import_team(Source("t.json", text))
    assert caught.value.diagnostic.code == "I015"


def test_places_count_characters_behind_a_byte_order_mark():
    text = "\ufeffa: {role: r, 钥匙: x}\n"
    done = import_crew(Source("agents.yaml", text), None, None)
    assert done.losses[0][1].where == (1, 15, 1, 17)
