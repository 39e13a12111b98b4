"""Laws of graphs: what is shared is printed in linear space, and reads back equal."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.api.compiling import Compiled
from lambdagent.ir import shared_agents as sharing_of_agents
from lambdagent.ir import sharing, surface
from lambdagent.ir.alpha import alpha_equal, digest
from lambdagent.ir.codec import decode_term, encode_term
from lambdagent.ir.latex import latex
from lambdagent.ir.printer import print_shared, print_term
from lambdagent.ir.sharing import TooLargeTextError
from lambdagent.ir.walk import size
from tests.laws.agents import compiled
from tests.laws.shared import graphs, open_graphs, shared_agents
from tests.laws.test_text import STYLES, check_agent, term_of

# Characters for each distinct node, and for what is written as a tree.
_PER_NODE, _TREE = 60, 20_000


@pytest.fixture(scope="module", autouse=True)
def small_limits() -> Iterator[None]:
    """Make small terms large, so that a few steps do what millions would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "READABLE", 40)
        patch.setattr(sharing, "LARGEST", 1_000)
        patch.setattr(sharing_of_agents, "READABLE", 20)
        yield


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(graphs())
def test_closed_graphs_read_back(style, term):
    text = print_shared(term, **style)
    assert len(text) < _TREE + _PER_NODE * size(term)
    again = term_of(text)
    assert alpha_equal(again, term), text
    assert print_shared(again, **style) == text


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@given(open_graphs())
def test_graphs_under_binders_read_back_or_are_too_large(style, term):
    try:
        text = print_shared(term, **style)
    except TooLargeTextError:
        return
    assert len(text) < _TREE + _PER_NODE * size(term)
    assert alpha_equal(term_of(text), term), text


@given(graphs() | open_graphs())
def test_a_tree_is_printed_or_too_large(term):
    for printed in (print_term, latex):
        try:
            assert len(printed(term)) < _TREE + _PER_NODE * size(term)
        except TooLargeTextError:
            continue


@given(graphs() | open_graphs())
def test_rows_and_digests_of_graphs_are_linear(term):
    rows = encode_term(term)
    assert len(rows) <= size(term)
    again = decode_term(rows)
    assert alpha_equal(again, term)
    assert digest(again) == digest(term)


@given(shared_agents())
def test_shared_agents_read_back(agent):
    check_agent(agent)


@given(shared_agents(), st.integers(0, 60))
def test_agents_that_double_are_printed_in_every_format(agent, levels):
    for _ in range(levels):
        agent = surface.Par(agent, agent)
    check_agent(agent)
    made = Compiled("agent", agent, compiled(agent))
    linear = _TREE + 2_000 * sum(1 for _ in surface.subterms(agent))
    for text in (made.describe(), made.human(), made.brief(), made.formal(), made.to_python()):
        assert len(text) < linear
    assert len(json.dumps(made.to_json())) < linear
    assert len(made.tables()) < linear
