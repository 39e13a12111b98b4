"""Laws of lint: fixes are idempotent and keep comments and meaning; no text breaks it."""

import re
from collections import Counter

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.api.compiling import parse_config
from lambdagent.api.linting import fixed, lint_source
from lambdagent.frontend.build import build_term
from lambdagent.ir.agent_text import print_agent
from lambdagent.source import Source
from tests.laws.agents import AgentMaker

words = st.sampled_from(["search", "look", "terminate", "Terminate", "a b", "saerch"])
notes = st.sampled_from(
    [
        *("", "", "", "  # a note", "  # lint: ignore L014", " # lint: ignore L011 L004"),
        "  # lint: ignore L007 as it is",
    ]
)
# Lines that may stand in any agent: right ones, slips, and what rules have something to say of.
lines_anywhere = st.sampled_from(
    [
        *("name: a", "'name': \"a b\"", "Name: a", "agentld: a", "x-note: {a: b}"),
        *("guard: {validator: x, retry: 9}", "guard: {validat_or: 'False', fallback: Last}"),
        *("memory: {enabled: 'true', size: 0}", "memory: {ttl: 0, strategy: locl}"),
        "checkpoint: {enabled: false, autoSaveSteps: '3'}",
    ]
)
lines_of_react = st.sampled_from(
    [
        *("confirm: [search]", "confirm: [Search, look]", "confirm: [saerch]", "maxSteps: 3"),
        "react: {earlyStop: 'True', observationEnabled: 'no', verbos: true}",
    ]
)
slips = st.sampled_from(["systemPrompt", "sytemPrompt", "system_prompt", "SystemPrompt"])
models = st.sampled_from(
    [
        *("{provider: openai, name: gpt-4o}", "{provider: opneai, name: gpt-4o, top_k: 4}"),
        *(
            "{name: gpt-4, temperature: 1.9}",
            "{name: gpt-4o-mni, temperature: '0'}",
            "*m",
            "&m {}",
        ),
        "{provider: scripted, script: {rules: [{reply: a}, {reply: b}]}, maxToken: 9}",
    ]
)


@st.composite
def agents(draw: st.DrawFn) -> list[str]:
    """The lines of a react agent as people write them: with comments, slips, both layouts."""
    tools = draw(st.lists(words, max_size=4))
    if draw(st.booleans()):  # one without faults, but for a slip that is found when it is built
        mcp = (
            f"mcp: {{localTools: [{', '.join(['search', 'terminate', *tools[:1]])}]}}{draw(notes)}"
        )
        confirm = draw(st.sampled_from(["confirm: [Search]", "confirm: [saerch]", "name: b"]))
        return ["type: react", "systemPrompt: Work.", mcp, confirm + draw(notes)]
    lines = [f"type: react{draw(notes)}", f"{draw(slips)}: Work.{draw(notes)}"]
    if draw(st.booleans()):
        lines.append(f"model: {draw(models)}{draw(notes)}")
    if draw(st.booleans()):
        steps = draw(st.sampled_from(["3", "'3'", "100", "0"]))
        lines += ["react:" + draw(notes), "    # how long", f"    maxSteps: {steps}{draw(notes)}"]
    lines += [
        each + draw(notes) for each in draw(st.lists(lines_anywhere, min_size=1, max_size=4))
    ]
    lines += [
        each + draw(notes) for each in draw(st.lists(lines_of_react, min_size=1, max_size=1))
    ]
    layout = draw(st.integers(0, 3))
    if layout == 1:
        lines.append(f"mcp: {{localTools: [{', '.join(tools)}]}}{draw(notes)}")
    elif layout == 2:
        lines += ["mcp:", "  localTools:" + draw(notes), *(f"  - {t}{draw(notes)}" for t in tools)]
    elif layout == 3:
        lines += [f"mcp:{draw(notes)}", "  policy: {mode: autp}", "  # end"]
    lines += ["# the end"] * draw(st.integers(0, 1))
    return draw(st.permutations(lines)) if layout < 2 and len(lines) < 4 else lines


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Agent files: one agent, or several inside another one, of either line break."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(agents())
    if draw(st.integers(0, 2)) == 0:
        inside = [lines, draw(agents())][: draw(st.integers(1, 2))]
        lines = ["type: chain", "systemPrompt: Do.", "chain:", "  steps:"]
        for first, *others in inside:
            lines += [f"    - {first}", *(f"      {each}" for each in others)]
    return draw(st.sampled_from(["", "\ufeff"])) + newline.join([*lines, ""])


def comments(text: str) -> list[str]:
    """The comments of `text` but those for lint without a word of somebody's, in order."""
    found = re.findall(r"#[^\r\n]*", text)
    return [each for each in found if "lint:" not in each or "as it is" in each]


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
    if not told & CHANGING and not any(code.startswith("S") for code in told):
        assert data(after.text) == data(text)
        if now.structure:
            assert term(after.text) == term(text)


# The rule whose fix changes what an agent means; all else that is mended does not compile.
CHANGING = {"L004"}
# All that can be mended at all, and some of what cannot.
MENDED = {"L004", "L032", "S102", "S104", "S201", "S204"}
LEFT = {
    *("L003", "L007", "L008", "L009", "L010", "L011", "L012", "L014", "L017", "L019", "L022"),
    *("L023", "L024", "L025", "L027", "L028"),
}


@pytest.mark.slow
def test_the_files_have_findings_of_each_kind_and_each_fix_is_made():
    found: set[str] = set()
    mended: set[str] = set()

    @settings(max_examples=600, database=None, derandomize=True)
    @given(texts())
    def collect(text: str) -> None:
        source = Source("agent.yml", text)
        before, after = lint_source(source), lint_source(fixed(source))
        had, has = (Counter(f.diagnostic.code for f in r.findings) for r in (before, after))
        found.update(had, has)  # some show once others are mended
        mended.update(f.diagnostic.code for f in before.findings if f.edits)
        for code in {f.diagnostic.code for f in before.findings if f.edits} - {"S104"}:
            assert has[code] < had[code] or "S003" in had | has or not after.readable, code

    collect()
    assert mended == MENDED
    assert found >= LEFT


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
