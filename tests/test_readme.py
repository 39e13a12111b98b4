"""What the README and pages of docs/ show runs as shown."""

import io
import re
import shlex
from pathlib import Path

import pytest
import yaml

from lambdagent import build_agent, run
from lambdagent.api.compiling import parse_config
from lambdagent.cli.main import main
from lambdagent.cli.output import Output
from lambdagent.ir.surface import Term
from lambdagent.source import Source

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def page_of(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    """The commands that need no key: those on the examples."""
    lines = [line.partition("#")[0] for block in blocks("sh") for line in block.splitlines()]
    found = [line[line.index("lambdagent ") :] for line in lines if "lambdagent " in line]
    return [shlex.split(line)[1:] for line in found if "examples/" in line or "reduce" in line]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_readme_shows_commands_that_need_no_key():
    assert len(commands()) >= 4


@pytest.mark.parametrize("argv", commands(), ids=" ".join)
def test_a_command_of_the_readme_succeeds(argv):
    out, err = io.StringIO(), io.StringIO()
    assert main(argv, Output(out, err)) == 0, err.getvalue()
    assert out.getvalue().strip()


def test_the_agent_file_of_the_readme_compiles():
    (text,) = blocks("yaml")
    assert parse_config(Source("calculator.yml", text), {}).data["react"]["maxSteps"] == 6


def test_the_python_of_the_readme_runs(capsys):
    first = blocks("python")[0]
    exec(compile(first, "README.md", "exec"), {})
    assert "Hello" in capsys.readouterr().out


def shown(page: str) -> list[tuple[str, str]]:
    """The programs of a page of docs/, each with what it prints."""
    return re.findall(
        r"^```python\n(.*?)^```\n\nIt prints\n\n```text\n(.*?)^```",
        page_of(page),
        re.DOTALL | re.MULTILINE,
    )


PAGES = {"listeners.md": 2, "memory.md": 1}
SHOWN = [(page, *each) for page in PAGES for each in shown(page)]


def test_the_pages_show_programs_with_what_they_print():
    assert {page: len(shown(page)) for page in PAGES} == PAGES
    listeners = page_of("listeners.md")
    assert listeners.count("```python") == PAGES["listeners.md"]


@pytest.mark.parametrize(("page", "code", "printed"), SHOWN)
def test_the_python_of_a_page_prints_what_it_says(page, code, printed, capsys):
    exec(compile(code, page, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


# What the parts of agent files that pages show leave out.
REST = {
    "type": "simple",
    "name": "writer",
    "systemPrompt": "p",
    "model": {"provider": "openai", "name": "gpt-4o"},
}
FILES = [
    (page, text)
    for page in ("providers.md", "memory.md", "yaml.md")
    for text in blocks("yaml", page_of(page))
]


@pytest.mark.parametrize(("page", "text"), FILES)
def test_the_agent_files_of_a_page_compile(page: str, text: str):
    assert isinstance(build_agent({**REST, **yaml.safe_load(text)}), Term), page


def test_the_python_of_the_providers_runs_and_its_recording_is_played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = page_of("providers.md")
    for code in blocks("python", page):
        exec(compile(code, "providers.md", "exec"), {"__name__": "__main__"})
    (shown_lines,) = blocks("json", page)
    for lines in (None, shown_lines):
        if lines is not None:
            Path("run.jsonl").write_text(lines, encoding="utf-8")
        model = {"provider": "scripted", "script": {"recording": "run.jsonl"}}
        agent = build_agent({**REST, "model": model})
        assert run(agent, "x").value == "first answer"
