import attrs
import pytest

from lambdagent.ir.core import App, Lam, Prim, Var
from lambdagent.ir.data import Record
from lambdagent.ir.program import Program
from lambdagent.ir.sites import KINDS, Site

SITE = Site("llm:w", "llm", Record(prompt="p"), decoder="text", timeout_s=3, binding="key#1")
TERM = Lam(App(Prim("site", ("llm:w",)), Var(0, "x")), "x")


def program(site: Site = SITE, term: Lam = TERM, **more) -> Program:
    return Program(term, {site.name: site}, **more)


def test_names_and_bindings_are_no_part_of_the_digest():
    first = program().digest()
    assert program(name="other", shows_steps=True).digest() == first
    assert program(attrs.evolve(SITE, binding=None)).digest() == first
    assert program(term=Lam(App(Prim("site", ("llm:w",)), Var(0)))).digest() == first


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "tool"},
        {"static": Record(prompt="q")},
        {"decoder": "json"},
        {"on_error": "text"},
        {"idempotent": False},
        {"timeout_s": 4},
    ],
)
def test_everything_else_of_a_site_is(change):
    assert program(attrs.evolve(SITE, **change)).digest() != program().digest()


def test_the_order_of_the_table_does_not_count():
    other = Site("tool:t", "tool")
    left = Program(TERM, {"llm:w": SITE, "tool:t": other})
    right = Program(TERM, {"tool:t": other, "llm:w": SITE})
    assert left.digest() == right.digest()


def test_each_kind_has_a_class():
    for kind, site_class in KINDS.items():
        assert Site("s", kind).site_class == site_class
