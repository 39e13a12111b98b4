"""Requests → answers: failures of the world never leave as exceptions."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lambdagent import EffectError, Lam, Memory, Model, Par, Tool, compile_term
from lambdagent.effects.handlers import Handler, Handlers, Request
from lambdagent.effects.protocol import Reply
from lambdagent.errors import finding
from lambdagent.ir.data import Record
from lambdagent.ir.exchange import Failure
from lambdagent.ir.registry import register
from lambdagent.ir.surface import Term
from lambdagent.machine.values import pair

SCRIPT = Model(provider="scripted", script=Record(replies=("hi",)))


def made(term: Term, **options: Any) -> Iterator[tuple[str, Handler, Any]]:
    """Yield the handlers of `term` with their sites."""
    program = compile_term(term)
    handlers = Handlers(program.sites, {}, **options)
    for site in program.sites.values():
        if site.site_class == "oracle":
            yield site.kind, handlers.of(site), site


def answer(term: Term, argument: Any = "x", kind: str = "", **options: Any) -> Any:
    """Return what the only handler of `kind` answers, after both faces said the same."""
    found = [row for row in made(term, **options) if not kind or row[0] == kind]
    ((_, handler, site),) = found
    return handler.answer(Request((0,), site, argument))


def test_a_model_answers_with_its_reply_as_data():
    assert answer(Lam("a", "p", SCRIPT)) == Record(text="hi")


def test_a_model_that_fails_answers_with_its_diagnostic():
    empty = Model(provider="scripted", script=Record(replies=()))
    failure = answer(Lam("a", "p", empty))
    assert isinstance(failure, Failure)
    assert failure.kind == "ProviderError"
    assert failure.data is not None
    assert failure.data["code"] == "E004"  # type: ignore[index]


def test_both_faces_of_a_model_fail_alike():
    class Broken:
        instant = False

        def chat(self, call: object) -> Reply:
            raise EffectError(finding("E002", provider="p", message="m", site="s", hint="h"))

        async def achat(self, call: object) -> Reply:
            return self.chat(call)

    model = Model(provider="p", name="m", binding=register(Broken()))
    ((_, handler, site),) = made(Lam("a", "p", model))
    request = Request((0,), site, "x")
    assert handler.answer(request) == asyncio.run(handler.aanswer(request))
    assert handler.instant is False


def test_a_scripted_model_is_instant_and_a_tool_is_not():
    kinds = {
        kind: handler.instant
        for kind, handler, _ in made(Par(Lam("a", "p", SCRIPT), Tool("t", len)))
    }
    assert kinds == {"llm": True, "tool": False}


def test_a_tool_gets_the_value_and_its_failure_is_a_text():
    seen: list[object] = []

    def fail(value: Any) -> None:
        seen.append(value)
        what = "no"
        raise ValueError(what)

    ((_, handler, site),) = made(Tool("t", fail))
    request = Request((0,), site, Record(a=(1, 2)))
    expected = Failure("ToolError", "[TOOL_ERROR: t] ValueError: no")
    assert handler.answer(request) == expected
    assert asyncio.run(handler.aanswer(request)) == expected
    assert seen == [{"a": [1, 2]}] * 2


def test_a_shell_tool_runs_its_command_in_both_faces():
    ((_, handler, site),) = made(Tool("t", command="printf '<%s>' {}"))
    request = Request((0,), site, "a b")
    assert handler.answer(request) == asyncio.run(handler.aanswer(request)) == "<a b>"


def test_the_time_comes_from_the_clock():
    assert answer(Memory(Lam("a", "p", SCRIPT)), kind="now", clock=lambda: 12.5) == 12.5


class Store:
    """A store as specification 7.1 has it."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, Any]] = [("when", object), ("n", 1)]
        self.ttl = -1

    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        return self.entries[-n:]

    def put(self, key: str, value: Any, ttl: int = 0) -> None:
        self.entries.append((key, value))
        self.ttl = ttl


def test_a_store_is_read_and_written_in_short_texts():
    store = Store()
    memory = Memory(Lam("a", "p", SCRIPT), size=1, ttl_s=30, binding=register(store))
    assert answer(memory, kind="recall") == (Record(key="n", value=1),)
    asked = pair("question " * 20, "answer " * 50)
    assert answer(memory, asked, kind="remember") is None
    key, value = store.entries[-1]
    assert (len(key), len(value), store.ttl) == (74, 200, 30)
    assert key.startswith("question question")
    assert value.endswith("…")


@pytest.mark.parametrize("kind", ["recall", "remember"])
def test_a_store_that_would_end_the_process_has_failed(kind: str):
    class Leaving(Store):
        def list_recent(self, n: int) -> list[tuple[str, Any]]:
            raise SystemExit(3)

        def put(self, key: str, value: Any, ttl: int = 0) -> None:
            raise SystemExit(3)

    memory = Memory(Lam("a", "p", SCRIPT), binding=register(Leaving()))
    with pytest.raises(EffectError, match=r"E009.*`memory` failed: SystemExit: 3"):
        answer(memory, pair("q", "a"), kind=kind)


def test_values_of_a_store_that_are_no_data_become_text():
    memory = Memory(Lam("a", "p", SCRIPT), binding=register(Store()))
    rows = answer(memory, kind="recall")
    assert rows[0] == Record(key="when", value="<class 'object'>")


def test_whatever_a_store_raises_ends_the_run_and_names_it():
    class Broken(Store):
        def list_recent(self, n: int) -> list[tuple[str, Any]]:
            raise ZeroDivisionError

    memory = Memory(Lam("a", "p", SCRIPT), "notes", binding=register(Broken()))
    with pytest.raises(EffectError, match="memory store `notes` failed: ZeroDivisionError"):
        answer(memory, kind="recall")


@pytest.mark.parametrize(
    ("term", "code"),
    [
        (Tool("nowhere"), "S202"),
        (Tool("t", command="mkfs /dev/sda"), "E006"),
        (Lam("a"), "E010"),
        (Lam("a", "p", "claude-x"), "E001"),
        (Lam("a", "p", Model(provider="claude-code")), "E005"),
    ],
)
def test_a_site_that_nobody_can_answer_is_told_when_handlers_are_made(term: Term, code: str):
    with pytest.raises(EffectError) as caught:
        list(made(term))
    assert [each.code for each in caught.value.diagnostics] == [code]


def test_closing_closes_the_providers(tmp_path: Path):
    handlers = Handlers(compile_term(Lam("a", "p", SCRIPT)).sites, {}, base_dir=tmp_path)
    handlers.close()
    handlers.close()
