import pytest

from lambdagent.ir.core import MalformedPrimError, Prim, arity

LABELS = ("a", "b")


@pytest.mark.parametrize(
    ("prim", "expected"),
    [
        (Prim("pair"), 2),
        (Prim("fst"), 1),
        (Prim("nil"), 0),
        (Prim("if"), 3),
        (Prim("case", (LABELS,)), 3),
        (Prim("tag", (LABELS, 1)), 1),
        (Prim("fix", (0,)), 2),
        (Prim("guard", (4,)), 3),
        (Prim("par", (3,)), 3),
        (Prim("pmap"), 2),
        (Prim("site", ("llm:w",)), 1),
        (Prim("catch"), 2),
    ],
)
def test_a_constant_fires_at_its_arity(prim, expected):
    assert arity(prim) == expected


@pytest.mark.parametrize(
    "prim",
    [
        Prim("sing"),
        Prim("pair", (1,)),
        Prim("fix"),
        Prim("fix", (-1,)),
        Prim("fix", ("3",)),
        Prim("guard", (1, 2)),
        Prim("par", (0,)),
        Prim("site"),
        Prim("site", (1,)),
        Prim("case"),
        Prim("case", ((),)),
        Prim("case", (("a", "a"),)),
        Prim("case", ((1,),)),
        Prim("tag", (LABELS, 2)),
        Prim("tag", (LABELS, -1)),
        Prim("tag", (LABELS,)),
    ],
)
def test_a_constant_outside_the_calculus_is_refused(prim):
    with pytest.raises(MalformedPrimError):
        arity(prim)


@pytest.mark.parametrize("prim", [Prim("fix", (True,)), Prim("par", (True,))])
def test_a_truth_value_is_no_bound(prim):
    with pytest.raises(MalformedPrimError):
        arity(prim)
