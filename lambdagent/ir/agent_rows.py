"""The ``where`` table of an agent text while it is printed: what the term refers to by name.

A row holds what differs from the usual. Things of equal settings share a row; a name that is taken
by others gets a number, ``writer#2``, and its row then says the name itself.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from lambdagent.ir import surface
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.model import Model, model_row
from lambdagent.ir.program import public_model
from lambdagent.ir.services import provider_of
from lambdagent.ir.spelling import spelled

# Ends a prompt of which the row has more.
CUT = "…"

# Floats up to here are all of their whole numbers.
_EXACT = 1 << 53
_TOOL = attrs.fields(surface.Tool)
_TOOL_SETTINGS = ("description", "command", "idempotent", "confirm", "retries", "server")
_HEARD = attrs.fields(surface.ConversationLam)


def row_reference(kind: str, key: str) -> str:
    """Return the name of a row as the ``where`` table writes it."""
    return f"{kind}.{spelled(key)}"


def step_name(think: surface.Lam) -> str:
    """Return what the step around the model call `think` is called where nothing else is said."""
    return f"{think.name}.react_step"


class RowTable:
    """The rows so far, in the order in which the term refers to them."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Record] = {}
        self._keys: dict[str, str] = {}  # by what the row says
        self._numbers: dict[tuple[str, str], int] = {}
        self.hidden: dict[str, None] = {}  # rows of models whose credentials are left out
        self._models: dict[int, str] = {}  # by identity of the model: many agents share one

    def table(self) -> list[tuple[str, Record]]:
        """Return the rows that are needed, models last."""
        needed = [(place, row) for place, row in self._rows.items() if row]
        needed.sort(key=lambda each: each[0][0] == "model")
        return [(row_reference(*place), row) for place, row in needed]

    def lam(
        self, term: surface.Lam, step: surface.ReActStep | None, shown: int
    ) -> tuple[str | None, str, str]:
        """Return what stands for a model call: its model, its prompt, its name.

        Args:
            term: The model call.
            step: The step that it thinks for, if any.
            shown: Most characters of the prompt; its row has more.
        """
        prompt = term.prompt
        row: dict[str, Data] = {}
        if len(prompt) > shown or prompt.endswith(CUT):
            row["prompt"] = tuple(prompt.split("\n")) if "\n" in prompt else prompt
            prompt = prompt if len(prompt) <= shown else _beginning(prompt, shown) + CUT
        if isinstance(term, surface.ConversationLam):
            history = ("max_history_tokens", "recent_turns", "strategy")
            row |= _unusual({name: getattr(term, name) for name in history}, _HEARD)
        if term.output_schema is not None:
            row["output_schema"] = term.output_schema
        if step is not None and step.name != step_name(term):
            row["step"] = step.name
        if step is not None and step.description:
            row["step_description"] = step.description
        if step is not None and step.max_concurrent != 1:
            row["max_concurrent"] = step.max_concurrent
        name = self._key("llm", term.name, {"agent": term.name}, row)
        return (None if term.model is None else self._model(term.model)), prompt, name

    def tool(self, term: surface.Tool) -> str:
        """Return the name that stands for a tool."""
        row = _unusual({name: getattr(term, name) for name in _TOOL_SETTINGS}, _TOOL)
        if term.timeout_s != _TOOL.timeout_s.default:
            row["timeout"] = plain_number(term.timeout_s)
        if term.parameters is not None:
            row["parameters"] = term.parameters
        return self._key("tool", term.name, {"name": term.name}, row)

    def _model(self, model: Model) -> str:
        if id(model) not in self._models:
            self._models[id(model)] = self._new_model(model)
        return self._models[id(model)]

    def _new_model(self, model: Model) -> str:
        usual = Model(provider=model.provider, name=model.name)
        whole, known = model_row(model), model_row(usual)
        assert isinstance(whole, Record)
        assert isinstance(known, Record)
        settings = public_model(whole)
        row = {key: value for key, value in settings.items() if value != known.get(key)}
        own: dict[str, Data] = {"provider": model.provider}
        if model.name:
            own["name"] = model.name
        if row or provider_of(model.name) != model.provider:
            row = {**own, **row}
        key = self._key("model", model.name or model.provider, own, row)
        if settings is not whole:
            self.hidden[row_reference("model", key)] = None
        return key

    def _key(self, kind: str, wanted: str, own: dict[str, Data], row: dict[str, Data]) -> str:
        """Return the name of a row, and enter the row.

        Args:
            kind: What the row is about.
            wanted: What that is called.
            own: What the row says where it has another name.
            row: What is unusual.
        """
        text = data_text((kind, Record(own), Record(row)))
        if text in self._keys:
            return self._keys[text]
        key, number = wanted, self._numbers.get((kind, wanted), 1)
        while (kind, key) in self._rows:
            number += 1
            key = f"{wanted}#{number}"
        self._numbers[kind, wanted] = number
        self._keys[text] = key
        told = row if key == wanted else {**own, **row}
        self._rows[kind, key] = Record(told)
        return key


def plain_number(value: float) -> float:
    """Return `value` as a whole number if it is one."""
    return int(value) if value == value // 1 and abs(value) < _EXACT else value


def _beginning(prompt: str, shown: int) -> str:
    """Return the beginning of a long prompt: of its first line, up to the end of a word."""
    line = prompt[:shown].partition("\n")[0]
    if len(line) < shown:
        return line
    blank = line.rfind(" ")
    return line[:blank] if blank > shown // 2 else line


def _unusual(settings: dict[str, Any], fields: Iterable[Any]) -> dict[str, Data]:
    defaults = {field.name: field.default for field in fields}
    return {name: value for name, value in settings.items() if value != defaults[name]}
