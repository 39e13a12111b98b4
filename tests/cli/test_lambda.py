"""``.lam`` and ``.json`` files wherever agent files are; the formats of ``lambdagent lambda``."""

import re
from pathlib import Path

import pytest

import lambdagent
from lambdagent.ir.program_text import BRIEF
from tests.cli.command import Command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(filter(Path.is_file, EXAMPLES.iterdir()))
ECHO = """\
λx. llm.echo x
where {llm.echo = {prompt: "Echo.", model: {provider: "scripted", script: {
  rules: [{match: "(?i)hello", reply: "Hi there"}, {reply: "ok"}]}}}}
"""
FORMATS = [
    ((), "p.lam"),
    (("--format", "formal"), "p.lam"),
    (("--ascii",), "p.lam"),
    (("--de-bruijn",), "p.lam"),
    (("--ascii", "--de-bruijn"), "p.lam"),
    (("--format", "json"), "p.json"),
]


def events(text: str) -> list[str]:
    """The lines of a trace, without times."""
    lines = [line for line in text.splitlines() if line.startswith("β[")]
    return [line.partition("(")[0] + line.partition("s)")[2] for line in lines]


@pytest.mark.parametrize(("options", "name"), FORMATS, ids=str)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_example_that_is_printed_runs_the_same(command: Command, path, options, name):
    printed = command("lambda", str(path), *options)
    assert (printed.code, printed.err) == (0, "")
    command.write(name, printed.out)
    before, after = (command("run", file, "1+1", "--trace") for file in (str(path), name))
    assert (after.code, after.out) == (before.code, before.out)
    assert events(after.err) == events(before.err)
    assert command("lambda", name, *options).out == printed.out


def test_a_lambda_file_runs(command: Command):
    command.write("echo.lam", ECHO)
    done = command("run", "echo.lam", "hello", "-q")
    assert (done.code, done.out) == (0, "Hi there\n")


def test_human_text_of_a_program_reads_back(command: Command):
    command.write("echo.lam", ECHO)
    text = command("lambda", "echo.lam").out
    command.write("again.lam", text)
    assert command("lambda", "again.lam").out == text
    assert command("run", "again.lam", "hello", "-q").out == "Hi there\n"


def test_a_brief_text_says_that_it_is_not_all(command: Command):
    text = command("lambda", "simple.yml", "--brief").out
    assert text == f'{BRIEF}λx. LLM_{{scripted, "Echo.", echo}}(history ⊕ x)\n'
    command.write("echo.lam", ECHO)
    assert command("lambda", "echo.lam", "--brief").out == f"{BRIEF}λx. llm.echo x\n"


@pytest.mark.parametrize("option", ["--ascii", "--latex", "--de-bruijn", "--format formal"])
def test_only_the_text_for_people_can_be_brief(command: Command, option: str):
    done = command("lambda", "simple.yml", "--brief", *option.split())
    assert (done.code, done.out) == (2, "")
    assert f"`--brief` and `{option}` exclude each other" in done.err


def test_a_text_for_people_is_an_agent_for_every_command(command: Command):
    command.write("agent.lam", command("lambda", "react.yml").out)
    described = command("compile", "react.yml").out.split(" =", 1)[1]
    assert command("compile", "agent.lam").out == f"agent ={described}"
    term = lambdagent.from_config("agent.lam")
    assert term == lambdagent.from_config("react.yml")
    assert "Loop(" in command("compile", "agent.lam", "--format", "python").out


def test_what_the_caller_decides_reaches_the_sites_of_an_agent_text(command: Command):
    command.write("agent.lam", command("lambda", "simple.yml").out)
    program = lambdagent.load_program("agent.lam", model="gpt-9")
    assert program.sites["llm:echo"].static["model"]["name"] == "gpt-9"
    with pytest.raises(lambdagent.CompileError, match="load_program"):
        lambdagent.from_config("agent.lam", model="gpt-9")


def test_latex(command: Command):
    done = command("lambda", "react.yml", "--latex")
    assert done.out.startswith("\\lambda x.\\,\\mathbf{Y}_{4}")
    assert "\\#0" in command("lambda", "react.yml", "--latex", "--de-bruijn").out


@pytest.mark.parametrize("file", ["react.yml", "simple.yml"])
@pytest.mark.parametrize("form", ["", "--ascii", "--de-bruijn", "--latex", "--latex --de-bruijn"])
def test_pure_terms_have_nothing_but_variables_abstractions_applications(
    command: Command, file: str, form: str
):
    done = command("lambda", file, "--desugar", *form.split())
    term = done.out.split("where {", 1)[0]
    assert done.code == 0
    assert "llm." in term
    assert not re.search(r'\b(let|in|if|case|fst|snd)\b|Y\[|mathbf|::|⟨|"', term)


def test_compile_shows_the_core_and_the_sites(command: Command):
    command.write("echo.lam", ECHO)
    done = command("compile", "echo.lam")
    assert done.out.startswith("echo =\n  λx. llm.echo x\n\nConstructs used: none\nSites:\n")
    assert '"digest"' in command("compile", "echo.lam", "--format", "json").out


def test_what_makes_no_sense_is_said(command: Command):
    command.write("echo.lam", ECHO)
    done = command("compile", "echo.lam", "--format", "python")
    assert done.code == 2
    assert "Python code is not possible with a core program" in done.err
    done = command("run", "echo.lam", "x", "--max-steps", "3")
    assert done.code == 2
    assert "`Y[5]`" in done.err
    with pytest.raises(lambdagent.CompileError, match="load_program"):
        lambdagent.from_config("echo.lam")


def test_a_syntax_error_shows_its_place(command: Command):
    command.write("bad.lam", "λx x")
    done = command("run", "bad.lam", "x")
    assert done.code == 2
    assert done.err.startswith("bad.lam:1:5: error[P007]:")


@pytest.mark.parametrize("name", ["no.lam", "no.json"])
def test_a_missing_file_has_exit_code_4(command: Command, name: str):
    assert command("run", name, "x").code == 4


def test_tools_of_the_command_line_are_those_of_the_sites(command: Command):
    command.write("wc.lam", "λx. tool.wc x")
    assert command("run", "wc.lam", "a b", "-q", "--tool", "wc=wc -w").out.strip() == "2"
    command.write("wc.lam", 'λx. tool.wc x where {tool.wc = {command: "wc -w", timeout: null}}')
    assert command("run", "wc.lam", "a b", "-q").out.strip() == "2"
    command.write("wc.lam", "λx. tool.wc x")
    assert "there is no tool `wc`" in command("run", "wc.lam", "x").err
    done = command("run", "wc.lam", "x", "--tool", "other=wc")
    assert done.code == 2
    assert "nothing in the file uses tool other" in done.err


def test_memories_of_the_command_line_are_those_of_the_sites(command: Command):
    command.write("mem.lam", "λx. mem.read.m (now.n ())")
    assert "blue" in command("run", "mem.lam", "x", "-q", "--env", "colour=blue").out
    command.write("echo.lam", ECHO)
    assert "nothing in the file uses memory" in command("run", "echo.lam", "x", "--env", "a=b").err


@pytest.mark.parametrize("engine", ["cek", "recursive"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_example_in_pure_lambda_gives_the_same_answer(command: Command, path, engine):
    command.write("pure.lam", command("lambda", str(path), "--desugar").out)
    before, after = (
        command("run", file, "1+1", "-q", "--engine", engine) for file in (str(path), "pure.lam")
    )
    assert (after.code, after.out, after.err) == (before.code, before.out, before.err)


def test_a_value_that_is_two_things_has_no_pure_lambda(command: Command):
    command.write("two.lam", "λx. let _ = tool.a ⟨x, x⟩ in tool.a true")
    done = command("lambda", "two.lam", "--desugar")
    assert (done.code, done.out) == (2, "")
    assert "error[P036]" in done.err


@pytest.mark.parametrize(
    ("text", "largest"),
    [
        ("Y[1000000000] (λself n. self n) (λn. n)", "Y[1000000000]"),
        ("guard[10000000] (λn. n) (λ_. true) (λn. n)", "guard[10000000]"),
        ("par[1000000000]", "par[1000000000]"),
        ("λ_. " + "(Y[30000] (λf n. f n) (λn. n)) (" * 4 + "1" + ")" * 4, "Y[30000]"),
        ("big = Y[60000] (λf n. f n) (λn. n); λx. big (big x)", "Y[60000]"),
        ("λ_. ⟨succ 60000, succ 60001⟩", "60001"),
    ],
)
def test_a_program_with_too_large_bounds_has_no_pure_lambda(command: Command, text, largest):
    command.write("large.lam", text)
    command.write("large.json", command("lambda", "large.lam", "--format", "json").out)
    for file in ("large.lam", "large.json"):
        done = command("lambda", file, "--desugar")
        assert (done.code, done.out) == (2, "")
        assert "error[P046]: the pure λ form is too large" in done.err
        assert f"more than 100,000, and the largest is `{largest}`" in done.err


def test_an_agent_with_too_many_steps_has_no_pure_lambda(command: Command):
    agent = (EXAMPLES / "react.yml").read_text(encoding="utf-8")
    command.write("steps.yml", re.sub("maxSteps: .*", "maxSteps: 20000000", agent))
    done = command("lambda", "steps.yml", "--desugar")
    assert (done.code, done.out) == (2, "")
    assert "the largest is `Y[20000000]`" in done.err


def test_a_desugared_program_has_every_format(command: Command):
    tables = command("lambda", "simple.yml", "--desugar", "--format", "json")
    assert tables.code == 0
    Path(command.folder, "pure.json").write_text(tables.out, encoding="utf-8")
    whole = command("run", "simple.yml", "Hello", "--quiet")
    assert command("run", "pure.json", "Hello", "--quiet").out == whole.out
    assert command("lambda", "simple.yml", "--desugar", "--latex").out.startswith("\\lambda")


@pytest.mark.parametrize("option", ["--ascii", "--latex", "--de-bruijn"])
def test_tables_have_no_spelling(command: Command, option: str):
    done = command("lambda", "simple.yml", "--format", "json", option)
    assert (done.code, done.out) == (2, "")
    assert "exclude each other" in done.err


@pytest.mark.parametrize("text", ["1", "λx. if x then 1 else 2", "λx. fst (x x)"])
def test_a_term_that_gets_stuck_is_no_fault_of_ours(command: Command, text: str):
    done = command("run", command.write("stuck.lam", text), "x")
    assert (done.code, done.out) == (1, "")
    assert "error[R010]: the term is stuck" in done.err
