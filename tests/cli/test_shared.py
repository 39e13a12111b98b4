"""Texts of 60 levels, each of which uses the one below twice: no tree of them fits any disk."""

import json

import pytest

from tests.cli.command import Command

LEVELS = 60
MODEL = 'λx. LLM_{scripted, "", w}(x)'
ROW = 'where {model.scripted = {provider: "scripted", script: {rules: [{reply: "ok"}]}}}'
# By name: the first definition, how each uses the one below, the term, what follows it.
TEXTS = {
    "pairs": ("true", "⟨{0}, {0}⟩", "λx. let p = {0} in x", ""),
    "lists": ("[]", "[{0}, {0}]", "λx. let p = λy. {0} in x", ""),
    "functions": ("λx. x", "λx. fst ⟨{0}, {0}⟩ x", "{0}", ""),
    "branches": ("λx. x", "λx. if true then {0} x else {0} x", "{0}", ""),
    "applied": ("λx. x", "λx. if true then x else {0} ({0} x)", "{0}", ""),
    "conditions": (MODEL, "λx. IF {{x | True}} x THEN {0} x ELSE {0} x", "{0}", ROW),
}
FORMATS = {
    "human": (),
    "brief": ("--brief",),
    "formal": ("--format", "formal"),
    "json": ("--format", "json"),
    "ascii": ("--ascii",),
    "de-bruijn": ("--de-bruijn",),
    "pure": ("--desugar",),
    "pure-json": ("--desugar", "--format", "json"),
}


def text_of(name: str) -> str:
    first, step, term, rows = TEXTS[name]
    lines = [f"a0 = {first};"]
    lines += [f"a{n + 1} = {step.format(f'a{n}')};" for n in range(LEVELS)]
    return "\n".join([*lines, term.format(f"a{LEVELS}"), rows, ""])


@pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("name", TEXTS)
def test_it_is_printed_with_definitions_and_reads_back(command: Command, name, options):
    command.write("shared.lam", text_of(name))
    done = command("lambda", "shared.lam", *options)
    assert (done.code, done.err) == (0, "")
    assert len(done.out) < 60_000
    if "--brief" in options:
        return
    again = "again.json" if "json" in options else "again.lam"
    command.write(again, done.out)
    assert command("lambda", again, *options).out == done.out


@pytest.mark.parametrize("name", TEXTS)
def test_latex_says_that_it_is_too_large(command: Command, name):
    command.write("shared.lam", text_of(name))
    done = command("lambda", "shared.lam", "--latex")
    assert (done.code, done.out) == (2, "")
    assert "error[P050]: the text is too large" in done.err
    assert "`--format formal`" in done.err


@pytest.mark.parametrize("options", [(), ("--format", "json"), ("--bounds",)], ids=str)
@pytest.mark.parametrize("name", TEXTS)
def test_it_compiles(command: Command, name, options):
    command.write("shared.lam", text_of(name))
    done = command("compile", "shared.lam", *options)
    assert (done.code, done.err) == (0, "")
    assert len(done.out) < 150_000


@pytest.mark.parametrize("name", TEXTS)
def test_it_runs(command: Command, name):
    command.write("shared.lam", text_of(name))
    done = command("run", "shared.lam", "hello", "-q")
    assert done.code == 0
    assert done.out == ("ok\n" if name == "conditions" else "hello\n")


def test_reduce_says_that_it_is_too_large(command: Command):
    command.write("shared.lam", text_of("functions"))
    done = command("reduce", "shared.lam")
    assert done.code == 1
    assert "the term has grown past 1,000,000 nodes" in done.out


def test_what_uses_a_variable_has_no_definition(command: Command):
    rows = [["v", 0, "x"], ["p", "pair", []]]
    for _ in range(LEVELS):
        rows += [["a", 1, len(rows) - 1 if len(rows) > 2 else 0], ["a", len(rows), 0]]
        rows[-1][2] = rows[-2][2]
    rows.append(["l", len(rows) - 1, "x"])
    text = json.dumps({"lambdagent-program": 1, "name": "p", "core": rows, "sites": []})
    command.write("open.json", text)
    done = command("lambda", "open.json")
    assert (done.code, done.out) == (2, "")
    assert "error[P050]" in done.err
    assert "`--format json`" in done.err
    assert command("lambda", "open.json", "--format", "json").code == 0
    compiled = command("compile", "open.json")
    assert compiled.code == 0
    assert "…" in compiled.out


@pytest.mark.parametrize("engine", ["recursive", "cek"])
@pytest.mark.parametrize("last", ["λx. x", MODEL, "PAR(λx. x, λx. x) >> concat"])
def test_an_answer_that_doubles_at_each_stage_is_too_large(command: Command, engine, last):
    stages = " >> ".join(["d"] * LEVELS)
    command.write(
        "double.lam", f"d = PAR(λx. x, λx. x); {stages} >> {last} {ROW * (last == MODEL)}"
    )
    done = command("run", "double.lam", "hello", "-q", "--engine", engine)
    assert (done.code, done.out) == (1, "")
    assert "error[R012]: a value that leaves the machine" in done.err
