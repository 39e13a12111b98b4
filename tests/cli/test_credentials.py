"""Credentials in base URLs reach no output of ``lambda`` and ``compile``."""

import itertools

import pytest

from lambdagent.api.compiling import compile_file

URLS = {
    "https://bob:hunter2@h.test/v1": "https://h.test/v1",
    "https://hunter1@h.test/v1": "https://h.test/v1",
    "https://h.test/v1?api_key=hunter3": "https://h.test/v1",
    "https://bob:hun/ter4@h.test/v1": "…",
}
FORMATS = {
    "human": ("lambda",),
    "formal": ("lambda", "--format", "formal"),
    "tables": ("lambda", "--format", "json"),
    "ascii": ("lambda", "--ascii"),
    "de-bruijn": ("lambda", "--de-bruijn"),
    "pure": ("lambda", "--desugar"),
    "json": ("compile", "--format", "json"),
    "python": ("compile", "--format", "python"),
}
SILENT = {
    "brief": ("lambda", "--brief"),
    "latex": ("lambda", "--latex"),
    "text": ("compile",),
    "bounds": ("compile", "--bounds"),
}


def agent(command, url):
    model = f'model: {{provider: custom, name: m, baseUrl: "{url}"}}'
    steps = [f"- {{name: {name}, prompt: do, {model}}}" for name in ("one", "two")]
    text = "type: chain\nname: a\nsystemPrompt: p\nchain:\n  steps:\n    " + "\n    ".join(steps)
    return command.write("agent.yml", text)


def is_told(done):
    return done.err.count("the credentials in the URL of `llm.one`, `llm.two` are not printed")


@pytest.mark.parametrize(("url", "form"), [*itertools.product(URLS, FORMATS)], ids=str)
def test_no_text_shows_the_credentials_of_a_url(command, url, form):
    name, *options = FORMATS[form]
    done = command(name, agent(command, url), *options)
    assert (done.code, is_told(done)) == (0, 1)
    assert "hun" not in done.out + done.err
    assert URLS[url].rstrip("…") in done.out


@pytest.mark.parametrize("form", SILENT)
def test_what_shows_no_url_says_nothing_of_it(command, form):
    name, *options = SILENT[form]
    done = command(name, agent(command, next(iter(URLS))), *options)
    assert (done.code, done.err, "hun" in done.out) == (0, "", False)


@pytest.mark.parametrize("form", ["human", "formal", "tables", "ascii", "pure"])
def test_the_text_is_the_same_program_and_has_nothing_to_hide(command, form):
    name, *options = FORMATS[form]
    done = command(name, agent(command, next(iter(URLS))), *options)
    if form != "tables":
        assert "# llm." in done.out or "# model.m: " in done.out
    file = command.write("again.json" if form == "tables" else "again.lam", done.out)
    again = command(name, file, *options)
    assert (again.code, again.err) == (0, "")
    if form != "pure":
        assert compile_file(file).program.digest() == compile_file("agent.yml").program.digest()


@pytest.mark.parametrize("form", ["human", "formal", "tables", "json"])
def test_a_core_program_hides_them_too(command, form):
    row = '{model: {provider: "custom", name: "m", base_url: "https://bob:hunter2@h.test/v1"}}'
    file = command.write("t.lam", f"λx. llm.one (llm.one x)\nwhere {{ llm.one = {row} }}")
    for options in (FORMATS[form], ("compile",)):
        done = command(options[0], file, *options[1:])
        assert (done.code, "hunter" in done.out + done.err) == (0, False)
        assert "`llm.one`" in done.err
