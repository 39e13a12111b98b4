import attrs
import pytest

from lambdagent.ir import surface
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.surface import (
    Compose,
    Guard,
    If,
    Lam,
    Loop,
    Memory,
    Par,
    Route,
    Tool,
    parts,
    subterms,
)

A, B, C = Lam("a"), Lam("b"), Lam("c")


def test_composition_is_flat_in_either_grouping():
    assert (A >> B) >> C == A >> (B >> C) == Compose(A, B, C)
    assert A >> Compose() == Compose(A)


def test_branches_are_flat():
    assert Par(A, B, C) == A | B | C
    assert Par(Compose(A, B), C) == (A >> B) | C


def test_terms_are_frozen_values():
    assert Lam("a", "p") == Lam("a", "p")
    assert hash(Route(A, {"x": B})) == hash(Route(A, {"x": B}))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        A.name = "z"


def test_a_model_may_be_given_by_name():
    assert Lam("a", model="gpt-4o").model == Model(provider="openai", name="gpt-4o")
    with pytest.raises(ValueError, match="no provider"):
        Lam("a", model="unheard-of")


def test_terminate_is_the_identity_whatever_it_is_given():
    assert Tool("terminate", lambda x: x + 1).fn("x") == "x"
    assert Tool("double", lambda x: 2 * x).fn(2) == 4
    with pytest.raises(LookupError):
        Tool("shell", command="ls").fn  # noqa: B018 - the property raises


@pytest.mark.parametrize(
    "build",
    [
        Par,
        lambda: Guard(A, "True", -1),
        lambda: Loop(A, on_exhausted="sometimes"),
        lambda: Route(A, {"_": B}),
    ],
)
def test_terms_without_meaning_are_refused(build):
    with pytest.raises(ValueError):  # noqa: PT011 - whatever the message
        build()


def test_parts_come_in_the_order_in_which_they_run():
    assert parts(Compose(A, B)) == [A, B]
    assert parts(Loop(A, B)) == [A, B]
    assert parts(Loop(A, "x")) == [A]
    assert parts(Route(A, {"x": B}, C)) == [A, B, C]
    assert parts(Guard(A, B)) == [A, B]
    assert parts(If(A, B, C)) == [A, B, C]
    assert parts(Memory(A)) == [A]
    assert parts(A) == []


def test_subterms_go_10_000_deep():
    term: surface.Term = A
    for _ in range(10_000):
        term = If("True", term, B)
    assert sum(1 for _ in subterms(term)) == 10_002


def test_no_label_of_a_route_stands_for_all_others():
    with pytest.raises(ValueError, match="no label can be"):
        Route(A, {"q": B}, None, ("_",))


def test_the_arguments_of_a_tool_are_an_object_of_json():
    tool = Tool("look", parameters={"properties": {"q": {}}})
    assert tool.parameters == Record(type="object", properties=Record(q=Record()))
    for wrong in ({"type": "string"}, {"default": float("inf")}):
        with pytest.raises(ValueError, match="parameters must be the JSON Schema of an object"):
            Tool("look", parameters=wrong)
