"""``compile --format python`` rebuilds an equal term: each example, and generated agents."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.api.compiling import Compiled, build_agent, compile_file, compile_term
from tests.cli.command import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.yml"))


def executed(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(source, names)
    return names["agent"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_each_example_is_rebuilt(path: Path):
    compiled = compile_file(path)
    rebuilt = executed(compiled.to_python())
    assert rebuilt == compiled.term
    assert compile_term(rebuilt, compiled.name).digest() == compiled.program.digest()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
MODEL = st.fixed_dictionaries(
    {"provider": st.just("openai"), "name": TEXT},
    optional={
        "temperature": st.floats(0, 2),
        "maxTokens": st.integers(1, 9),
        "topP": st.floats(0, 1),
    },
)
GUARD = st.fixed_dictionaries(
    {"validator": st.sampled_from(["len(x) > 3", "x.isalpha()"]), "retry": st.integers(0, 3)}
)
BASE = {"systemPrompt": TEXT}
MORE = {"name": TEXT, "model": MODEL, "guard": GUARD}


def of_type(name: str, body: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"type": st.just(name), **BASE, **body}, optional=MORE)


def larger(agent: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    label = st.text("abc", min_size=1, max_size=3)
    return st.one_of(
        of_type(
            "chain",
            {"chain": st.fixed_dictionaries({"steps": st.lists(agent, min_size=1, max_size=3)})},
        ),
        of_type(
            "parallel",
            {
                "parallel": st.fixed_dictionaries(
                    {
                        "agents": st.lists(agent, min_size=1, max_size=3),
                        "merge": st.sampled_from(["tuple", "concat"]),
                    }
                )
            },
        ),
        of_type(
            "router",
            {
                "router": st.fixed_dictionaries(
                    {
                        "classifier": st.fixed_dictionaries({"prompt": TEXT}),
                        "routes": st.dictionaries(label, agent, min_size=1, max_size=3),
                    },
                    optional={"default": agent},
                )
            },
        ),
    )


SMALL = st.one_of(
    of_type("simple", {}),
    of_type(
        "react",
        {
            "mcp": st.just({"localTools": ["terminate", "search"]}),
            "react": st.fixed_dictionaries({"maxSteps": st.integers(1, 9)}),
        },
    ),
)
FILES = st.recursive(SMALL, larger, max_leaves=6)


@given(FILES)
def test_each_generated_agent_is_rebuilt(config: dict[str, Any]):
    term = build_agent({"model": {"provider": "openai", "name": "m"}, **config})
    compiled = Compiled("a", term, compile_term(term, "a"))
    assert executed(compiled.to_python()) == term
