"""Laws 16 to 19 over core terms: guards, parallel branches, fixpoints, memories."""

from hypothesis import assume, given
from hypothesis import strategies as st

from lambdagent.ir.core import UNIT, App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.walk import site_names
from lambdagent.machine.values import list_items
from tests.laws.observe import Seen, content, observe
from tests.laws.terms import (
    BOOL,
    NAT,
    STR,
    fun,
    functions,
    inputs,
    pair_of,
    program,
    seeds,
    site,
    spine,
    thunk,
    typed,
)

bounds = st.integers(0, 3)
agents = functions(STR, STR, fuel=5)
predicates = functions(STR, BOOL, fuel=4)
fallbacks = functions(STR, STR, fuel=4)
bodies = functions(fun(STR, STR), fun(STR, STR), fuel=6)
exhaustions = st.just(Lam(App(site("tool:exhausted"), Var(0)), "q"))


def run(function: Term, value: str, seed: int) -> Seen:
    return observe(program(function), value, content(seed))


def guard(r: int, f: Term, p: Term, h: Term) -> Term:
    return spine(Prim("guard", (r,)), f, p, h)


def fix(n: int, g: Term, e: Term) -> Term:
    return spine(Prim("fix", (n,)), g, e)


def par(*branches: Term) -> Term:
    return spine(Prim("par", (len(branches),)), *map(thunk, branches))


def applied(*functions: Term) -> Term:
    """``λx. par (f x) …`` with closed functions."""
    return Lam(par(*(App(f, Var(0, "x")) for f in functions)), "x")


# --- law 16: guards ------------------------------------------------------------------------------


@given(bounds, agents, fallbacks, inputs, seeds)
def test_a_guard_that_is_always_content_is_its_agent(r, f, h, value, seed):
    always = Lam(Lit(True), "y")
    assert run(guard(r, f, always, h), value, seed).obs == run(f, value, seed).obs


@given(st.tuples(bounds, bounds), agents, predicates, fallbacks, inputs, seeds)
def test_retries_add_up(retries, f, p, h, value, seed):
    r, s = retries
    whole = guard(r + s + 1, f, p, h)
    rest = Lam(App(guard(s, f, p, h), Var(1, "x")), "_")
    split = Lam(App(guard(r, f, p, rest), Var(0, "x")), "x")
    assert run(whole, value, seed).obs == run(split, value, seed).obs


@given(bounds, agents, predicates, fallbacks, inputs, seeds)
def test_a_guard_is_a_fixpoint(r, f, p, h, value, seed):
    # λx. Y_{r+1}(λself. λ_. let y = f x in if (P y) y (self y), h) ()
    retry = spine(
        Prim("if"),
        App(p, Var(0, "y")),
        thunk(Var(0, "y")),
        thunk(App(Var(2, "self"), Var(0, "y"))),
    )
    round_ = Lam(Lam(App(Lam(retry, "y"), App(f, Var(2, "x"))), "_"), "self")
    loop = Lam(App(fix(r + 1, round_, h), Lit(UNIT)), "x")
    assert run(loop, value, seed).obs == run(guard(r, f, p, h), value, seed).obs


# --- law 17: parallel branches -------------------------------------------------------------------


@given(typed(STR, (STR,), 5), inputs, seeds)
def test_one_branch_alone_is_its_term(t, value, seed):
    alone, forked = run(Lam(t), value, seed), run(Lam(par(t)), value, seed)
    assert without_fork(forked) == without_fork(alone)


def without_fork(seen: Seen) -> tuple[object, ...]:
    return (seen.result, seen.obs.store, [(c.site, c.argument, c.answer) for c in seen.obs.log])


@given(agents, agents, inputs, seeds)
def test_permuting_branches_permutes_results_and_log(f, g, value, seed):
    ahead, back = run(applied(f, g), value, seed), run(applied(g, f), value, seed)
    if ahead.error is None and back.error is None:
        assert ahead.value[1:] == back.value[:0:-1]
    else:
        assert (ahead.error is None) == (back.error is None)
    logs = [[(c.key[1], c.site, c.argument, c.answer) for c in s.obs.log] for s in (ahead, back)]
    mirrored = sorted(((1 - i, *rest) for i, *rest in logs[1]), key=lambda line: line[0])
    assert mirrored == logs[0]


@given(typed(STR, (STR,), 5, pure=True), typed(NAT, (STR,), 5, pure=True), inputs)
def test_pure_branches_are_a_pair(t, u, value):
    pair = run(Lam(spine(Prim("pair"), t, u)), value, 0)
    assert run(Lam(par(t, u)), value, 0).obs == pair.obs
    assert run(Lam(App(Prim("fst"), par(t, u))), value, 0).result == run(Lam(t), value, 0).result


def test_a_branch_with_effects_cannot_be_dropped():
    t, u = Lit("t"), App(site("tool:str"), Lit("u"))
    both, one = run(Lam(App(Prim("fst"), par(t, u))), "", 0), run(Lam(t), "", 0)
    assert both.result == one.result
    assert both.obs != one.obs


@given(functions(STR, NAT, fuel=5), st.lists(inputs, max_size=3), seeds)
def test_pmap_of_a_list_is_one_branch_for_each_item(f, items, seed):
    listed: Term = Prim("nil")
    for item in reversed(items):
        listed = spine(Prim("cons"), Lit(item), listed)
    mapped = run(Lam(spine(Prim("pmap"), f, listed), "_"), "", seed)
    if not items:
        assert (mapped.error, mapped.value) == (None, (2,))
        return
    forked = run(Lam(par(*(App(f, Lit(item)) for item in items)), "_"), "", seed)
    assert mapped.obs.log == forked.obs.log
    assert mapped.obs.store == forked.obs.store
    assert (mapped.error is None) == (forked.error is None)


# --- law 18: fixpoints ---------------------------------------------------------------------------


@given(bounds, bodies, agents, inputs, seeds)
def test_a_fixpoint_unfolds(n, g, e, value, seed):
    whole = Lam(App(fix(n + 1, g, e), Var(0)), "v")
    unfolded = Lam(spine(g, fix(n, g, e), Var(0)), "v")
    assert run(whole, value, seed).obs == run(unfolded, value, seed).obs


@given(bodies, agents, inputs, seeds)
def test_a_fixpoint_without_steps_is_its_exhaustion(g, e, value, seed):
    assert run(fix(0, g, e), value, seed).obs == run(e, value, seed).obs


@given(bounds, bodies, exhaustions, inputs, seeds)
def test_a_larger_bound_changes_no_run_that_did_not_reach_it(n, g, e, value, seed):
    bounded = run(fix(n, g, e), value, seed)
    assume(all(call.site != "tool:exhausted" for call in bounded.obs.log))
    for more in (n + 1, n + 5):
        wider = run(fix(more, g, e), value, seed)
        assert wider.obs == bounded.obs
        assert wider.counters == bounded.counters


def test_the_bound_is_reached_after_as_many_rounds():
    # Y_n(λself. λq. self (do tool:str q), e)
    g = Lam(Lam(App(Var(1, "self"), App(site("tool:str"), Var(0, "q"))), "q"), "self")
    e = Lam(App(site("tool:exhausted"), Var(0)), "q")
    for n in range(5):
        calls = [call.site for call in run(fix(n, g, e), "", 0).obs.log]
        assert calls == ["tool:str"] * n + ["tool:exhausted"]


# --- law 19: memories ----------------------------------------------------------------------------


def sequence(*effects: tuple[str, Term]) -> Term:
    """``λx. let _ = do s t in … do s t``: the sites in order, each with a closed argument."""
    *first, last = effects
    body: Term = App(site(last[0]), last[1])
    for name, argument in reversed(first):
        body = App(Lam(body, "_"), App(site(name), argument))
    return Lam(body, "x")


def entry(key: str, value: str) -> Term:
    return spine(Prim("pair"), spine(Prim("pair"), Lit(key), Lit(value)), Lit(0))


texts = st.sampled_from(["a", "b", "c", "d"])
appends = st.lists(st.tuples(texts, texts), max_size=5)


@given(appends)
def test_a_memory_keeps_the_newest_entries_by_key(written):
    effects = [("mem.append:one", entry(key, value)) for key, value in written]
    read = run(sequence(*effects, ("mem.read:one", Lit(0))), "", 0).value[1]
    newest: dict[str, str] = {"seed": "value"}
    for key, value in written:
        newest.pop(key, None)
        newest[key] = value
    assert [(row["key"], row["value"]) for row in read] == list(newest.items())[-2:]


turns = st.lists(st.tuples(texts, texts), max_size=5)


@given(turns)
def test_a_conversation_reads_what_was_appended(written):
    effects = [
        ("conv.append:one", spine(Prim("pair"), Lit(asked), Lit(reply)))
        for asked, reply in written
    ]
    seen = run(sequence(*effects, ("conv.read:one", Lit(UNIT))), "", 0)
    _, newest_first, _ = seen.value
    read = [(asked, reply) for _, asked, (_, reply, _) in list_items(newest_first)]
    assert read == written[::-1]


writes = st.lists(st.sampled_from(["conv.append", "mem.append"]), min_size=1, max_size=4)


@given(writes, writes, st.randoms(use_true_random=False))
def test_disjoint_cells_commute(to_one, to_two, random):
    def effect(kind: str, cell: str, number: int) -> tuple[str, Term]:
        exchange = spine(Prim("pair"), Lit(f"{cell}{number}"), Lit("reply"))
        timed = spine(Prim("pair"), exchange, Lit(0))
        return (f"{kind}:{cell}", exchange if kind == "conv.append" else timed)

    one = [effect(kind, "one", i) for i, kind in enumerate(to_one)]
    two = [effect(kind, "two", i) for i, kind in enumerate(to_two)]
    mixed, rest_one, rest_two = [], list(one), list(two)
    while rest_one or rest_two:
        source = rest_one if rest_one and (not rest_two or random.random() < 0.5) else rest_two
        mixed.append(source.pop(0))
    assert run(sequence(*one, *two), "", 0).obs == run(sequence(*mixed), "", 0).obs


@given(typed(pair_of(STR, STR), (), 4, pure=True), seeds)
def test_branches_do_not_see_what_the_others_write(exchange, seed):
    write, read = App(site("conv.append:one"), exchange), App(site("conv.read:one"), Lit(UNIT))
    alone = run(Lam(par(read)), "", seed)
    both = run(Lam(App(Prim("snd"), par(write, read))), "", seed)
    assert both.result == alone.result
    assert dict(both.obs.store) != dict(alone.obs.store)


@given(agents)
def test_generated_terms_mention_known_sites(f):
    assert site_names(f) <= set(program(f).sites)
