"""What an answer is read as, on each engine: the shared cases, as whole runs."""

from typing import Any

import pytest

from lambdagent.api.compiling import compile_term
from lambdagent.api.running import Session
from lambdagent.errors import GuardError
from lambdagent.ir import surface
from lambdagent.ir.data import freeze
from lambdagent.ir.model import Model
from lambdagent.machine.engines import ENGINES, EngineName
from tests.cases import load_cases


def says(name: str, reply: str, **more: Any) -> surface.Lam:
    script = freeze({"rules": [{"match": "", "reply": reply}]})
    return surface.Lam(name, "p", Model(provider="scripted", script=script), **more)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", load_cases("router"), ids=lambda case: case["id"])
def test_a_router_goes_where_its_case_says(case: dict[str, Any], engine: EngineName):
    routes = {label: says(f"to{i}", label) for i, label in enumerate(case["categories"])}
    agent = surface.Route(says("classifier", case["reply"]), routes, says("other", "default"))
    assert Session(compile_term(agent), engine=engine).run("x").text == case["expect"]["route"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", load_cases("outputparser"), ids=lambda case: case["id"])
def test_an_answer_is_read_as_its_case_says(case: dict[str, Any], engine: EngineName):
    agent = says("writer", case["text"], output_parser=case["kind"])
    found = Session(compile_term(agent), engine=engine).run("x").value
    assert found == case["expect"]["value"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", load_cases("outputparser"), ids=lambda case: case["id"])
def test_a_schema_of_the_value_takes_json_alike(case: dict[str, Any], engine: EngineName):
    if case["kind"] != "json":
        return
    value = case["expect"]["value"]
    agent = says("writer", case["text"], output_schema={"const": value})
    assert Session(compile_term(agent), engine=engine).run("x").value == value


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("parser", "why"),
    [
        ("number", "the text holds no number"),
        ("boolean", "the text is neither true nor false"),
        ("json", "the text holds no JSON object or list"),
    ],
)
def test_an_answer_that_cannot_be_read_is_no_matter_of_a_guard(
    parser: str, why: str, engine: EngineName
):
    agent = surface.Guard(says("w", "no idea", output_parser=parser), "True", 3, "text")
    with pytest.raises(GuardError) as caught:
        Session(compile_term(agent), engine=engine).run("x")
    found = caught.value.diagnostic
    assert (found.code, caught.value.exit_code) == ("R018", 1)
    assert found.what == f"the answer of `llm:w` cannot be read: {why}; it was no idea"
    assert "`outputSchema`, such as `{type: number}`" in str(found.fix)
