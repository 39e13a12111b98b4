import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.ir.core import App, Lam, Prim, Var
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.program import Program
from lambdagent.ir.sites import KINDS, Site
from lambdagent.ir.url import shown_url

SITE = Site("llm:w", "llm", Record(prompt="p"), decoder="text", timeout_s=3, binding="key#1")
TERM = Lam(App(Prim("site", ("llm:w",)), Var(0, "x")), "x")


def program(site: Site = SITE, term: Lam = TERM, **more) -> Program:
    return Program(term, {site.name: site}, **more)


def test_names_and_bindings_are_no_part_of_the_digest():
    first = program().digest()
    assert program(name="other", shows_steps=True).digest() == first
    assert program(attrs.evolve(SITE, binding=None)).digest() == first
    assert program(term=Lam(App(Prim("site", ("llm:w",)), Var(0)))).digest() == first


def of_model(url: str | None) -> str:
    model = Record(provider="custom", name="m", base_url=url)
    return program(attrs.evolve(SITE, static=Record(prompt="p", model=model))).digest()


def test_credentials_in_the_url_of_a_model_are_no_part_of_the_digest():
    plain = of_model("https://h.test/v1")
    for url in (
        "https://bob:pw@h.test/v1",
        "https://h.test/v1?api_key=k",
        "https://k@h.test/v1#k",
    ):
        assert of_model(url) == plain
    assert (
        len({plain, of_model("https://h.test/v2"), of_model("http://h.test"), of_model(None)}) == 4
    )


def test_a_url_in_a_prompt_is_part_of_the_digest():
    one, two = (attrs.evolve(SITE, static=Record(prompt=f"http://h?q={n}")) for n in "12")
    assert program(one).digest() != program(two).digest()


WORDS = st.text("abc-._~%!$&'()*+,;=", min_size=1, max_size=6)
SECRETS = st.text("XYZ:/?#@[]", max_size=6)


@given(st.sampled_from(["http://", "https://", "", "//"]), WORDS, SECRETS, SECRETS)
def test_a_url_is_shown_without_what_could_be_a_secret(
    scheme: str, host: str, password: str, query: str
):
    url = f"{scheme}u:X{password}@{host}:80/v1?X{query}"
    assert "X" not in shown_url(url)
    assert shown_url(f"{scheme}{host}:80/v1") == f"{scheme}{host}:80/v1"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://bob:pw@[::1]:8/v1?a=b#c", "http://[::1]:8/v1"),
        ("http://a@b@h/", "http://h/"),
        ("http://h?a=b", "http://h"),
        ("http://b:1/2@h", "…"),
        ("http://h/v1?to=a@b", "…"),
        ("", ""),
    ],
)
def test_urls_as_they_are_shown(url: str, shown: str):
    assert shown_url(url) == shown


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


def test_no_credentials_are_shown_by_a_model_or_a_site():
    url = "https://bob:hunter2@example.com/v1?key=hush"
    shown = repr(Model(provider="custom", base_url=url))
    shown += repr(Site("llm:a", "llm", Record(model=Record(base_url=url))))
    assert "example.com" in shown
    assert "hunter2" not in shown
    assert "hush" not in shown
