"""Random programs: typed closed core terms with effects, and raw terms for syntax alone.

A `Maker` draws a term of a wanted type in an environment of types, so every term it makes
evaluates to a value or fails. Hypothesis shrinks the choices, so counterexamples get small.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from lambdagent.frontend.expression import parse_expression
from lambdagent.ir.core import UNIT, App, Label, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data, Record
from lambdagent.ir.program import Program
from lambdagent.ir.sites import Site
from lambdagent.ir.walk import shift

Type = tuple[Any, ...]

# For the laws that everything else stands on.
thrice = settings(max_examples=3 * settings.default.max_examples)

UNIT_TYPE: Type = ("unit",)
BOOL: Type = ("bool",)
NAT: Type = ("nat",)
STR: Type = ("str",)
DATA: Type = ("data",)  # anything of the world, or (): passed along, never taken apart


def pair_of(left: Type, right: Type) -> Type:
    return ("pair", left, right)


def list_of(item: Type) -> Type:
    return ("list", item)


def sum_of(**cases: Type) -> Type:
    return ("sum", tuple(cases), tuple(cases.values()))


def fun(argument: Type, result: Type) -> Type:
    return ("fun", argument, result)


# Values of the world of each kind that no term takes apart.
WORLD: tuple[Data, ...] = (None, 7, ("a", 1), Record(k="v"))

LABELS = sum_of(a=STR, b=STR, _=STR)
VERDICTS = sum_of(approved=UNIT_TYPE, denied=STR)
TURN = pair_of(STR, pair_of(STR, NAT))
WINDOW = pair_of(list_of(TURN), pair_of(NAT, NAT))
SIMPLE: tuple[Type, ...] = (STR, BOOL, NAT, UNIT_TYPE)
SMALL: tuple[Type, ...] = (
    *SIMPLE,
    pair_of(STR, BOOL),
    pair_of(NAT, pair_of(STR, STR)),
    list_of(STR),
    list_of(NAT),
    sum_of(left=NAT, right=STR),
    LABELS,
    VERDICTS,
    WINDOW,
    fun(STR, STR),
    fun(NAT, BOOL),
    DATA,
    DATA,
)

# --- the site table ------------------------------------------------------------------------------


def _conversation(name: str) -> list[Site]:
    static = Record(cell=f"conv:{name}", max_tokens=60, recent_turns=3)
    kinds = ("conv.read", "conv.append")
    return [Site(f"{kind}:{name}", kind, static) for kind in kinds]


def _memory(name: str) -> list[Site]:
    static = Record(cell=f"mem:{name}", size=2, ttl=0, initial=Record(seed="value"))
    kinds = ("mem.read", "mem.append")
    return [Site(f"{kind}:{name}", kind, static) for kind in kinds]


_SHORT = Record(names=("x",), expression=parse_expression("len(x) < 4", ["x"]), text="len(x) < 4")
_ROWS = [
    Site("tool:bool", "tool"),
    Site("tool:nat", "tool"),
    Site("tool:str", "tool"),
    Site("tool:data", "tool"),
    Site("tool:flaky", "tool"),
    Site("tool:texty", "tool", on_error="text"),
    Site("tool:exhausted", "tool"),
    Site("confirm:act", "confirm", Record(tool="act")),
    Site("llm:text", "llm", decoder="text"),
    Site("llm:number", "llm", decoder="number"),
    Site("predicate:short", "predicate", _SHORT),
    Site("label:ab", "label", Record(labels=("a", "b"))),
    Site("thought:t", "thought"),
    Site("concat:merge", "concat"),
    *_conversation("one"),
    *_conversation("two"),
    *_memory("one"),
    *_memory("two"),
    Site("fail:stop", "fail", Record(error="ValidationError", message="no good")),
]
SITES = {site.name: site for site in _ROWS}

# What a site takes and gives, for those that the maker uses; None stands for any first-order type.
SITE_TYPES: dict[str, tuple[Type | None, Type]] = {
    "tool:bool": (None, BOOL),
    "tool:nat": (None, NAT),
    "tool:str": (None, STR),
    "tool:data": (None, DATA),
    "tool:flaky": (STR, STR),
    "tool:texty": (STR, STR),
    "confirm:act": (None, VERDICTS),
    "llm:text": (None, STR),
    "llm:number": (STR, NAT),
    "predicate:short": (STR, BOOL),
    "label:ab": (STR, LABELS),
    "thought:t": (STR, STR),
    "concat:merge": (pair_of(STR, pair_of(NAT, BOOL)), STR),
    "conv.read:one": (UNIT_TYPE, WINDOW),
    "conv.read:two": (UNIT_TYPE, WINDOW),
    "conv.append:one": (pair_of(STR, STR), DATA),
    "conv.append:two": (pair_of(STR, STR), DATA),
    "mem.read:one": (NAT, DATA),
    "mem.read:two": (NAT, DATA),
    "mem.append:one": (pair_of(pair_of(STR, STR), NAT), DATA),
    "mem.append:two": (pair_of(pair_of(STR, STR), NAT), DATA),
}


class Shown(Program):
    """A program that Hypothesis prints in one line."""

    def __repr__(self) -> str:
        return show(self.term)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(repr(self))


def show(root: Term) -> str:
    """Return `root` as text for a failing test: `λ.` binds, numbers are de Bruijn indices."""
    out: list[str] = []
    stack: list[Term | str] = [root]
    while stack:
        term = stack.pop()
        match term:
            case str():
                out.append(term)
            case Var(index):
                out.append(f"#{index}")
            case Lam(body):
                stack += [")", body, "(λ."]
            case App(function, argument):
                stack += [")", argument, " ", function, "("]
            case Lit(value):
                out.append(repr(value))
            case Prim(name, params):
                out.append(f"{name}{list(params) if params else ''}")
    return "".join(out)


def program(term: Term) -> Program:
    """Return `term`, which mentions sites of the table above, as a program."""
    return Shown(term, SITES)


def site(name: str) -> Prim:
    return Prim("site", (name,))


def spine(head: Term, *operands: Term) -> Term:
    for operand in operands:
        head = App(head, operand)
    return head


def thunk(term: Term) -> Lam:
    """``λ_. term``; `term` does not see the new variable."""
    return Lam(shift(term, 1), "_")


# --- typed terms ---------------------------------------------------------------------------------

Types = tuple[Type, ...]


class Maker:
    """Draws terms of a wanted type; `types` are those of the variables, the innermost first."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], *, pure: bool = False):
        self._draw = draw
        self._pure = pure
        self._forms = {
            "let": self._let,
            "if": self._if,
            "case": self._case,
            "first": self._first,
            "second": self._second,
            "apply": self._apply,
            "par": self._par,
        }
        if not pure:
            self._forms |= {"catch": self._catch}

    def term(self, wanted: Type, types: Types = (), fuel: int = 4) -> Term:
        known = [Var(i, "v") for i, each in enumerate(types) if each == wanted]
        if fuel <= 0:
            return self._draw(st.sampled_from(known)) if known else self._plain(wanted, types, 0)
        options = ["plain", "apply", *self._forms, *self._forms]
        if known:
            options += ["var", "var"]
        sites = [] if self._pure else self._sites(wanted)
        options += ["site"] * (3 if sites else 0)
        options += [] if self._pure else ["fail"]
        if wanted[0] == "list":
            options += ["pmap", "pmap"]
        choice = self._draw(st.sampled_from(options))
        if choice == "var":
            return self._draw(st.sampled_from(known))
        if choice == "plain":
            return self._plain(wanted, types, fuel)
        if choice == "site":
            return self._site(self._draw(st.sampled_from(sites)), types, fuel)
        if choice in {"pmap", "fail"}:
            return getattr(self, f"_{choice}")(wanted, types, fuel)
        return self._forms[choice](wanted, types, fuel)

    def function(self, argument: Type, result: Type, fuel: int = 4, types: Types = ()) -> Term:
        return Lam(self.term(result, (argument, *types), fuel - 1), "x")

    def failing(self, argument: Type, fuel: int = 4) -> Term:
        """Return a closed lambda that fails whatever it gets, after some effects."""
        return Lam(self._fail(STR, (argument,), fuel), "x")

    # A value of the type, whose parts are any terms.

    def _plain(self, wanted: Type, types: Types, fuel: int) -> Term:
        match wanted:
            case ("unit",):
                return Lit(UNIT)
            case ("bool",):
                return Lit(self._draw(st.booleans()))
            case ("nat",):
                return self._nat(types, fuel)
            case ("str",):
                return Lit(self._draw(st.sampled_from(["", "a", "b", "long text"])))
            case ("data",):
                return Lit(self._draw(st.sampled_from([UNIT, *WORLD])))
            case ("pair", left, right):
                return spine(
                    Prim("pair"),
                    self.term(left, types, fuel - 1),
                    self.term(right, types, fuel - 1),
                )
            case ("fun", argument, result):
                return self._function_value(argument, result, types, fuel)
            case ("sum", labels, cases):
                which = self._draw(st.integers(0, len(labels) - 1))
                payload = self.term(cases[which], types, fuel - 1)
                return App(Prim("tag", (labels, which)), payload)
        return self._list(wanted[1], types, fuel)

    def _nat(self, types: Types, fuel: int) -> Term:
        if fuel > 0 and self._draw(st.booleans()):
            return App(Prim("succ"), self.term(NAT, types, fuel - 1))
        return Lit(self._draw(st.integers(0, 3)))

    def _list(self, item: Type, types: Types, fuel: int) -> Term:
        length = self._draw(st.integers(0, 3)) if fuel > 0 else 0
        items: Term = Prim("nil")
        for _ in range(length):
            items = spine(Prim("cons"), self.term(item, types, fuel - 2), items)
        return items

    def _function_value(self, argument: Type, result: Type, types: Types, fuel: int) -> Term:
        forms = ["lam"] if fuel <= 1 else ["lam", "fix", "fix", "guard", "guard", "partial"]
        form = self._draw(st.sampled_from(forms))
        if form == "fix":
            return self.fixpoint(argument, result, types, fuel)
        if form == "guard":
            return self.guard(argument, result, types, fuel)
        if form == "partial" and result == pair_of(STR, argument):
            return App(Prim("pair"), self.term(STR, types, fuel - 1))
        if form == "partial" and (argument, result) == (STR, STR) and not self._pure:
            return site("tool:str")
        return self.function(argument, result, fuel, types)

    def fixpoint(self, argument: Type, result: Type, types: Types, fuel: int) -> Term:
        bound = self._draw(st.integers(0, 4))
        inner = (argument, fun(argument, result), *types)
        # Most bodies call themselves; all may.
        body = self.term(result, inner, fuel - 2)
        if self._draw(st.booleans()):
            again = App(Var(1, "self"), self.term(argument, inner, fuel - 2))
            body = App(Lam(self.term(result, (result, *inner), fuel - 2), "r"), again)
        return spine(
            Prim("fix", (bound,)),
            Lam(Lam(body, "q"), "self"),
            self.function(argument, result, fuel - 1, types),
        )

    def guard(self, argument: Type, result: Type, types: Types, fuel: int) -> Term:
        return spine(
            Prim("guard", (self._draw(st.integers(0, 4)),)),
            self.term(fun(argument, result), types, fuel - 2),
            self.term(fun(result, BOOL), types, fuel - 2),
            self.term(fun(result, result), types, fuel - 2),
        )

    # A term of any type.

    def _other(self) -> Type:
        return self._draw(st.sampled_from(SMALL))

    def _let(self, wanted: Type, types: Types, fuel: int) -> Term:
        bound = self._other()
        body = self.term(wanted, (bound, *types), fuel - 1)
        return App(Lam(body, "x"), self.term(bound, types, fuel - 1))

    def _if(self, wanted: Type, types: Types, fuel: int) -> Term:
        return spine(
            Prim("if"),
            self.term(BOOL, types, fuel - 1),
            self._branch(wanted, types, fuel),
            self._branch(wanted, types, fuel),
        )

    def _branch(self, wanted: Type, types: Types, fuel: int) -> Term:
        """Return a branch, which gets ``()`` when it is entered."""
        return self.function(UNIT_TYPE, wanted, fuel, types)

    def _case(self, wanted: Type, types: Types, fuel: int) -> Term:
        subject = self._draw(st.sampled_from([each for each in SMALL if each[0] == "sum"]))
        branches = [self.function(case, wanted, fuel, types) for case in subject[2]]
        return spine(Prim("case", (subject[1],)), self.term(subject, types, fuel - 1), *branches)

    def _first(self, wanted: Type, types: Types, fuel: int) -> Term:
        other = self._draw(st.sampled_from(SIMPLE))
        return App(Prim("fst"), self.term(pair_of(wanted, other), types, fuel - 1))

    def _second(self, wanted: Type, types: Types, fuel: int) -> Term:
        other = self._draw(st.sampled_from(SIMPLE))
        return App(Prim("snd"), self.term(pair_of(other, wanted), types, fuel - 1))

    def _apply(self, wanted: Type, types: Types, fuel: int) -> Term:
        argument = self._draw(st.sampled_from(SIMPLE))
        function = self._function_value(argument, wanted, types, fuel)
        return App(function, self.term(argument, types, fuel - 1))

    def _par(self, wanted: Type, types: Types, fuel: int) -> Term:
        branches = [wanted]
        while branches[-1][0] == "pair" and len(branches) < 3:
            branches[-1:] = branches[-1][1:]
        thunks = [self._branch(each, types, fuel) for each in branches]
        return spine(Prim("par", (len(thunks),)), *thunks)

    def _pmap(self, wanted: Type, types: Types, fuel: int) -> Term:
        item = self._draw(st.sampled_from((STR, NAT)))
        function = self.term(fun(item, wanted[1]), types, fuel - 1)
        most = self._draw(st.sampled_from([(), (99,), (99, 1), (99, 2)]))
        return spine(Prim("pmap", most), function, self.term(list_of(item), types, fuel - 1))

    def _catch(self, wanted: Type, types: Types, fuel: int) -> Term:
        return spine(
            Prim("catch"),
            self._branch(wanted, types, fuel),
            self.function(DATA, wanted, fuel - 1, types),
        )

    def _fail(self, _wanted: Type, types: Types, fuel: int) -> Term:
        return App(site("fail:stop"), self.term(STR, types, fuel - 1))

    def _sites(self, wanted: Type) -> list[str]:
        return [name for name, (_, result) in SITE_TYPES.items() if result == wanted]

    def _site(self, name: str, types: Types, fuel: int) -> Term:
        argument = SITE_TYPES[name][0]
        if argument is None:
            argument = self._draw(st.sampled_from([t for t in SMALL if t[0] != "fun"]))
        return App(site(name), self.term(argument, types, fuel - 1))


@st.composite
def typed(draw: Any, wanted: Type, types: Types = (), fuel: int = 4, pure: bool = False) -> Term:
    """Terms of type `wanted` over variables of `types`."""
    return Maker(draw, pure=pure).term(wanted, types, fuel)


@st.composite
def functions(draw: Any, argument: Type, result: Type, fuel: int = 4, pure: bool = False) -> Term:
    """Closed lambdas from `argument` to `result`."""
    return Maker(draw, pure=pure).function(argument, result, fuel)


@st.composite
def programs(draw: Any, fuel: int = 6, pure: bool = False, given: Type = STR) -> Program:
    """Programs that take a value of the type `given`."""
    result = draw(st.sampled_from([t for t in SMALL if t[0] != "fun"]))
    return program(Maker(draw, pure=pure).function(given, result, fuel))


inputs = st.sampled_from(["", "a", "some input"])
seeds = st.integers(0, 1 << 16)

# --- raw terms -----------------------------------------------------------------------------------

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from([0, 0.0, -0.0, 1, 1.0, True])
)


def _collections(inner: st.SearchStrategy[Data]) -> st.SearchStrategy[Data]:
    return st.lists(inner, max_size=3).map(tuple) | st.dictionaries(
        st.text(max_size=3), inner, max_size=3
    ).map(Record)


data = st.recursive(scalars, _collections, max_leaves=5)
names = st.sampled_from(["", "x", "y", "self", "λ"])
labels = st.none() | st.builds(Label, st.sampled_from(["llm", "tool"]), st.text(max_size=3))
prims = st.sampled_from(
    [
        Prim("pair"),
        Prim("fst"),
        Prim("nil"),
        Prim("cons"),
        Prim("tag", (("a", "b"), 1)),
        Prim("case", (("a", "b"),)),
        Prim("if"),
        Prim("fix", (3,)),
        Prim("guard", (0,)),
        Prim("par", (2,)),
        Prim("pmap"),
        Prim("pmap", (3, 2)),
        Prim("site", ("llm:x",)),
        Prim("catch"),
        Prim("succ"),
    ]
)


def _larger(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.builds(App, inner, inner, labels) | st.builds(Lam, inner, names)


raw_terms: st.SearchStrategy[Term] = st.recursive(
    st.builds(Var, st.integers(0, 3), names) | st.builds(Lit, data) | st.just(Lit(UNIT)) | prims,
    _larger,
    max_leaves=25,
)
