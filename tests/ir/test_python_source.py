import ast
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given

from lambdagent.ir import surface
from lambdagent.ir.data import freeze
from lambdagent.ir.model import Model
from lambdagent.ir.python_source import to_python
from lambdagent.ir.surface_json import surface_json
from lambdagent.ir.url import shown_url
from tests.ir.surface_terms import AGENTS, LONG, SAMPLES, deep

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "python"


def holds_credentials(term: surface.Term) -> bool:
    models = [getattr(part, "model", None) for part in surface.subterms(term)]
    urls = [model.base_url for model in models if model is not None and model.base_url]
    return any(shown_url(url) != url for url in urls)


def assert_rebuilt(term: surface.Term, source: str) -> None:
    """Assert that `source` makes `term`, but for credentials in URLs."""
    rebuilt = executed(source)
    assert surface_json(rebuilt) == surface_json(term)
    assert rebuilt == term or holds_credentials(term)


def executed(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(source, names)
    return names["agent"]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_source_of_a_sample_rebuilds_it(name: str, golden: Any):
    source = to_python(SAMPLES[name])
    assert_rebuilt(SAMPLES[name], source)
    golden(GOLDEN / f"{name}.py.txt", source)


@given(AGENTS)
def test_the_source_of_any_agent_rebuilds_it(term: surface.Term):
    assert_rebuilt(term, to_python(term))


def shape(term: surface.Term) -> list[int]:
    """Which occurrences are the same object, as numbers in order."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(id(part), len(numbers)) for part in surface.subterms(term)]


def test_an_agent_that_occurs_twice_is_one_agent_again():
    lam = surface.Lam("my writer")
    term = lam >> surface.Guard(lam, surface.Lam("my writer")) >> lam
    assert shape(executed(to_python(term))) == shape(term)


def test_a_model_that_occurs_twice_is_written_once():
    model = Model(provider="openai", name="gpt-5")
    source = to_python(surface.Lam("a", "A", model) >> surface.Lam("b", "B", model))
    assert source.count("Model(provider") == 1


@pytest.mark.parametrize("name", ["agent", "if", "Lam", "json", "Record", "模型", "1", "a-b", ""])
def test_any_name_gives_a_variable(name: str):
    lam = surface.Lam(name)
    assert executed(to_python(lam >> lam)) == lam >> lam


@pytest.mark.parametrize(
    "text", [LONG, "'", '"', "'\"", "\\", "\r\n\n", "\ud800", "a" * 300, "#\x00"]
)
def test_any_prompt_survives(text: str):
    term = surface.Lam("w", text)
    source = to_python(term)
    assert executed(source) == term
    assert max(map(len, source.splitlines())) < 120


def test_what_the_registry_holds_is_named_in_a_comment():
    tool = surface.Tool("size", len, description="How long.")
    source = to_python(surface.Memory(tool, strategy="custom", binding="store#1"))
    assert "# Tool size: its implementation, a Python function, cannot be written here\n" in source
    assert "# Memory memory: its binding, a Python object, cannot be written here\n" in source
    assert executed(source) == surface.Memory(tool, strategy="custom")


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://bob:hunter2@h.test/v1", "https://h.test/v1"),
        ("https://h.test/v1?api_key=hunter2", "https://h.test/v1"),
        ("https://bob:hunt/hunter2@h.test/v1", "…"),
    ],
)
def test_credentials_in_a_url_are_left_out_and_a_comment_says_so(url: str, written: str):
    model = Model(provider="custom", name="m", base_url=url)
    source = to_python(surface.Lam("w", "p", model))
    assert "# Model m: the credentials in its base_url are left out\n" in source
    assert "hunter" not in source
    assert executed(source).model == attrs.evolve(model, base_url=written)


def test_a_url_without_credentials_is_written_without_a_comment():
    model = Model(provider="custom", name="m", base_url="http://h.test/v1")
    term = surface.Lam("w", "p", model)
    source = to_python(term)
    assert executed(source) == term
    assert "#" not in source


def test_equal_models_of_two_providers_stay_two():
    one, two = (Model(provider="p", name="m", binding=key) for key in "ab")
    source = to_python(surface.Lam("a", "", one) >> surface.Lam("b", "", two))
    assert source.count("# Model m: its binding") == 2


def test_data_deeper_than_the_parser_reads_survives():
    nested: Any = []
    for _ in range(150):
        nested = [nested]
    script = freeze({"a": nested})
    term = surface.Lam("w", "", Model(provider="scripted", script=script))
    assert executed(to_python(term)) == term
    term = surface.Memory(surface.Fst(), initial={"a": nested})
    assert executed(to_python(term)) == term


def test_terms_in_places_of_texts_and_defaults_survive():
    compose = surface.Compose()
    for term in (
        surface.Loop(compose, compose),
        surface.Route(compose, {}, compose),
        surface.If(compose, compose, surface.Compose(compose)),
        surface.Guard(compose, compose),
        surface.Memory(compose, ttl_s=1e300, size=10**300),
        surface.Loop(compose, max_steps=10**5000),
        surface.Term(),
    ):
        assert executed(to_python(term)) == term


@pytest.mark.parametrize("number", range(8))
def test_a_deep_agent_has_source_that_python_reads(number: int):
    ast.parse(to_python(deep(number, 2_000)))
    term = deep(number, 90)
    assert executed(to_python(term)) == term


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_an_agent_100000_levels_deep_has_source(number: int):
    assert to_python(deep(number, 100_000))
