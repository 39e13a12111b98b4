"""Agents written in Python are read without running anything."""

from typing import Any

import pytest

from lambdagent.errors import ConfigError
from lambdagent.frontend.foreign.openai_agents import import_source
from lambdagent.source import Source
from tests.frontend.foreign.imported import compiled, told

HEAD = "from agents import Agent, ModelSettings, Runner, handoff\n"


def imported(text: str) -> Any:
    return import_source(Source("app.py", HEAD + text))


def test_an_agent_is_a_model_call_and_nothing_is_lost():
    done = imported(
        'POLITE = "Be polite."\n'
        'a = Agent(name="Clerk", instructions=POLITE + " Be brief.", model="gpt-4o-mini",\n'
        "          model_settings=ModelSettings(temperature=0.5, max_tokens=10, top_p=1))\n"
    )
    assert done.losses == ()
    assert compiled(done) == {
        "type": "simple",
        "name": "Clerk",
        "systemPrompt": "Be polite. Be brief.",
        "model": {
            "provider": "openai",
            "name": "gpt-4o-mini",
            "temperature": 0.5,
            "maxTokens": 10,
            "topP": 1.0,
        },
    }


def test_tools_make_a_loop():
    done = imported('a = Agent("Clerk", tools=[look_up, web.Search(2), lambda x: x])')
    data = compiled(done)
    assert data["mcp"]["localTools"] == ["terminate", "look_up", "Search"]
    assert [code for code, _ in told(done)] == ["I002", "I002", "I001"]


def test_the_type_of_an_answer_is_its_schema():
    done = imported(
        "class Weather(BaseModel):\n"
        "    city: str\n"
        '    degrees: float = Field(ge=-90, description="In °C.")\n'
        'a = Agent(name="Clerk", tools=[look_up], output_type=Weather)\n'
    )
    assert [code for code, _ in told(done)] == ["I002"]
    data = compiled(done)
    assert data["type"] == "react"
    assert data["outputSchema"] == {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "degrees": {"type": "number", "minimum": -90, "description": "In °C."},
        },
        "required": ["city", "degrees"],
        "additionalProperties": False,
    }


HANDOFFS = """\
refunds = Agent(name="Refunds", instructions="Pay back.", handoff_description="money")
support = Agent[Shop](name="Support", instructions="Help.", handoffs=[refunds])
desk = Agent(name="Desk", instructions="Send on.", handoffs=[refunds, handoff(support)])
async def main():
    await Runner.run(desk, input="hello")
"""


def test_handoffs_make_a_router_whose_default_is_the_agent_itself():
    done = imported(HANDOFFS)
    assert done.losses == ()
    data = compiled(done)
    assert (data["type"], data["systemPrompt"]) == ("router", "Send on.")
    assert list(data["router"]["routes"]) == ["Refunds", "Support"]
    assert "- Refunds: money" in data["router"]["classifier"]["prompt"]
    assert data["router"]["default"]["name"] == "Desk itself"
    assert data["router"]["routes"]["Support"]["type"] == "router"


@pytest.mark.parametrize(
    "line", ["a.handoffs.append(b)", "a.tools = [x]", "c = a.clone(name='C')", "a.tools += [x]"]
)
def test_what_becomes_of_agents_later_is_told(line: str):
    done = imported(f"a = Agent(name='A')\n{line}\n")
    compiled(done)
    assert told(done) == [("I001", "app.py:3")]


def test_without_a_run_the_agent_that_none_leads_to_comes_first():
    text = HANDOFFS.partition("async")[0]
    assert compiled(imported(text))["name"] == "Desk"


GUARDED = """\
check = Agent(name="Check", instructions="Is it homework?")
tutor = Agent(name="Tutor", instructions="Help.")
desk = Agent(name="Desk", instructions="Send on.", handoffs=[tutor], input_guardrails=[{guard}])
{decorator}
async def guard(ctx, agent, text):
    result = await Runner.run(check, text, context=ctx.context)
    return GuardrailFunctionOutput(output_info=result, tripwire_triggered=False)
async def main():
    result = await Runner.run(desk, "who was the first president?")
"""


@pytest.mark.parametrize(
    ("guard", "decorator"),
    [
        ("InputGuardrail(guardrail_function=guard)", ""),
        ("guard", "@input_guardrail"),
        ("guard", "@output_guardrail(name='g')"),
        ("guard", "@agents.function_tool"),
    ],
)
def test_a_program_does_not_begin_where_a_guardrail_asks_an_agent(guard: str, decorator: str):
    done = imported(GUARDED.format(guard=guard, decorator=decorator))
    data = compiled(done)
    assert (data["type"], data["name"]) == ("router", "Desk")
    assert told(done) == [("I001", "app.py:2"), ("I001", "app.py:4")]


def test_what_a_run_asks_for_besides_is_told():
    run = "Runner.run_sync(a, input='x', max_turns=7, context=None, session=Session())"
    done = imported(f'a = Agent("Clerk", instructions="Help.")\n{run}\n')
    assert [loss.field for _, loss in done.losses] == [
        "Runner.run_sync.max_turns",
        "Runner.run_sync.session",
    ]


def test_circles_are_cut_and_told():
    done = imported(
        'a = Agent(name="A", handoffs=[])\n'
        "def later(): pass\n"
        'b = Agent(name="B", handoffs=[c])\n'
        'c = Agent(name="C", handoffs=[b])\n'
        'Runner.run_sync(starting_agent=b, input="x")\n'
    )
    data = compiled(done)
    assert data["router"]["routes"]["C"]["type"] == "simple"
    assert told(done) == [("I001", "app.py:2"), ("I001", "app.py:5")]


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("output_type=Report", "I001"),
        ("input_guardrails=[g]", "I001"),
        ("input_guardrails=[]", None),
        ("output_type=None", None),
        ("output_type=str", None),
        ("output_type=list[int]", None),
        ("output_type=AgentOutputSchema(bool, strict_json_schema=False)", None),
        ("output_type=tuple[int, str]", "I001"),
        ("instructions=make()", "I001"),
        ('instructions=f"x {y}"', "I001"),
        ("mcp_servers=[s]", "I001"),
        ("handoffs=make()", "I001"),
        ("handoffs=[unknown]", "I001"),
        ("tools=make()", "I001"),
        ("tools=[other.as_tool(tool_name='x')]", "I001"),
        ("model=make()", "I001"),
        ('model="mistral-7b"', "I004"),
        ('model=LitellmModel(model="anthropic/claude-3", api_key=KEY)', None),
        ("model_settings=ModelSettings(tool_choice='auto')", "I001"),
        ("model_settings=ModelSettings(temperature=9)", "I001"),
        ("model_settings=make", "I001"),
        ("**options", "I001"),
    ],
)
def test_each_argument_is_read_or_told(field: str, code: str | None):
    lines = (
        'other = Agent(name="o")',
        f'a = Agent(name="A", {field})',
        'Runner.run(a, "x"); Runner.run(other)',
    )
    done = imported("\n".join(lines))
    compiled(done)
    found = [each for each in told(done) if each[1] == "app.py:3"]
    assert found == ([] if code is None else [(code, "app.py:3")])


def test_nothing_of_the_file_is_run(tmp_path):
    mark = tmp_path / "mark"
    done = imported(
        f"open({str(mark)!r}, 'w').close()\n"
        f"class Agent2(type(open({str(mark)!r}, 'w'))): pass\n"
        f'a = Agent(name=open({str(mark)!r}, "w").name, instructions=__import__("os").system("x"))'
    )
    assert compiled(done)["name"] == "a"
    assert not mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "def f(:",
        "x = '\x00'",
        "(" * 1000,
        "x = " + "-" * 100_000 + "1",
        "a" + ".b" * 100_000,
        "x = 1\n" * 200_000,
    ],
    ids=range(8),
)
def test_what_is_no_program_with_agents_is_refused(text: str):
    with pytest.raises(ConfigError) as caught:
        imported(text)
    assert caught.value.diagnostic.code in {"I011", "I013", "I014"}


def test_the_place_of_a_syntax_error_is_told():
    with pytest.raises(ConfigError) as caught:
        imported("x = (1,\ny = 2")
    assert caught.value.diagnostic.where is not None
    assert caught.value.diagnostic.where.line == 2


def test_names_that_stand_for_themselves_end():
    done = imported('p = p + "x"\nq = r\nr = q\na = Agent(name="A", instructions=p, model=q)')
    compiled(done)
    assert [code for code, _ in told(done)] == ["I001", "I001"]


def test_many_ways_to_one_agent_are_refused_before_they_are_written_out():
    lines = ['a0 = Agent(name="a0")'] + [
        f'a{i} = Agent(name="a{i}", handoffs=[a{i - 1}, handoff(a{i - 1})])' for i in range(1, 14)
    ]
    with pytest.raises(ConfigError) as caught:
        imported("\n".join(lines))
    assert caught.value.diagnostic.code == "I012"
