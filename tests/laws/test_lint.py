"""Laws of lint: fixes are idempotent and keep comments and meaning; no text breaks it."""

import re

import yaml
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.api.compiling import parse_config
from lambdagent.api.linting import fixed, lint_source
from lambdagent.frontend.build import build_term
from lambdagent.ir.agent_text import print_agent
from lambdagent.source import Source
from tests.laws.agents import AgentMaker

words = st.sampled_from(["search", "look", "terminate", "Terminate", "a b"])
notes = st.sampled_from(["", "  # a note", "  # lint: ignore L014", " # lint: ignore L011 L004"])
slips = st.sampled_from(["systemPrompt", "sytemPrompt", "system_prompt", "SystemPrompt"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Agent files as people write them: with comments, slips, both layouts."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    tools = draw(st.lists(words, max_size=4))
    lines = [f"type: react{draw(notes)}", f"{draw(slips)}: Work.{draw(notes)}"]
    if draw(st.booleans()):
        lines.append(
            f"model: {{provider: {draw(st.sampled_from(['openai', 'opneai']))}, name: gpt-4o}}"
        )
    if draw(st.booleans()):
        steps = draw(st.sampled_from(["3", "'3'", "100", "0"]))
        lines += ["react:" + draw(notes), "    # how long", f"    maxSteps: {steps}{draw(notes)}"]
    layout = draw(st.integers(0, 3))
    if layout == 1:
        lines.append(f"mcp: {{localTools: [{', '.join(tools)}]}}{draw(notes)}")
    elif layout == 2:
        lines += ["mcp:", "  localTools:" + draw(notes), *(f"  - {t}{draw(notes)}" for t in tools)]
    elif layout == 3:
        lines += [f"mcp:{draw(notes)}", "  policy: {mode: auto}", "  # end"]
    lines += ["# the end"] * draw(st.integers(0, 1))
    return newline.join(draw(st.permutations(lines)) if layout < 2 and len(lines) < 4 else lines)


def comments(text: str) -> list[str]:
    """The comments of `text` but those for lint, in order."""
    found = re.findall(r"#[^\r\n]*", text)
    return [each for each in found if "lint:" not in each]


def data(text: str) -> object:
    return yaml.safe_load(text)


@given(texts())
def test_a_fix_is_idempotent_and_keeps_comments_and_meaning(text: str):
    source = Source("agent.yml", text)
    after = fixed(source)
    assert fixed(after) == after
    assert comments(after.text) == comments(text)
    before, now = lint_source(source), lint_source(after)
    assert now.readable >= before.readable
    left = [each for each in now.findings if each.edits]
    assert (
        left == [] or not now.readable or "S003" in {each.diagnostic.code for each in now.findings}
    )
    told = {each.diagnostic.code for each in before.findings}
    if "L004" not in told and not any(code.startswith("S") for code in told):
        assert data(after.text) == data(text)
        if now.structure:
            assert term(after.text) == term(text)


@given(st.data())
def test_no_agent_of_a_text_breaks_lint(data: st.DataObject):
    text = print_agent(AgentMaker(data.draw).agent())
    report = lint_source(Source("agent.lam", text))
    assert report.readable
    assert all(each.level != "error" or each.diagnostic.code in _DRAWN for each in report.findings)


# No model is drawn, some loops have no `terminate`, and some guards are `False`.
_DRAWN = {"L002", "L004", "L017"}


def term(text: str) -> object:
    return build_term(parse_config(Source("agent.yml", text), {}))


@given(st.text(alphabet="{}[]:,-#'\"|>&*! \n\tabtype0sy.", max_size=80))
def test_no_text_breaks_lint(text: str):
    source = Source("agent.yml", text)
    lint_source(source)
    after = fixed(source)
    assert fixed(after) == after
