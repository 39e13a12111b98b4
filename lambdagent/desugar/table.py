"""The site table under construction."""

from collections.abc import Callable, Collection
from typing import Any

from lambdagent.ir.core import Prim
from lambdagent.ir.data import Data, Record
from lambdagent.ir.model import Model, model_row
from lambdagent.ir.sites import Site

# Parses an expression of the file over the given names to its rows.
ParseExpression = Callable[[str, Collection[str]], Data]


_NOTHING = Record()


class SiteTable:
    """Collects the sites of one program and gives each a name of its own."""

    def __init__(self, parse: ParseExpression) -> None:
        """Start empty; `parse` reads the expressions of guards, loops and conditions."""
        self.sites: dict[str, Site] = {}
        self._parse = parse
        self._numbers: dict[str, int] = {}
        self._cells: dict[str, int] = {}
        self._models: dict[int, Data] = {}

    def add(self, kind: str, wanted: str, static: Record = _NOTHING, **more: Any) -> Prim:
        """Enter a site and return the constant that stands for it.

        Args:
            kind: A key of `ir.sites.KINDS`.
            wanted: Name without kind; ``#2``, ``#3``, … is appended where it is taken.
            static: Configuration.
            **more: Further attributes of `Site`.
        """
        name = f"{kind}:{wanted}"
        if name in self.sites:
            name = self._numbered(name)
        self.sites[name] = Site(name, kind, static, **more)
        return Prim("site", (name,))

    def _numbered(self, taken: str) -> str:
        number = self._numbers.get(taken, 1)
        name = taken
        while name in self.sites:
            number += 1
            name = f"{taken}#{number}"
        self._numbers[taken] = number
        return name

    def cell(self, kind: str, wanted: str) -> str:
        """Return the name of a new cell of the store; `kind` says how branches merge it."""
        self._cells[kind] = number = self._cells.get(kind, 0) + 1
        return f"{kind}:{wanted}#{number}"

    def model(self, model: Model | None) -> Data:
        """Return the settings of `model` as data, the same data for the same model."""
        if model is None:
            return None
        row = self._models.get(id(model))
        if row is None:
            row = self._models[id(model)] = model_row(model)
        return row

    def predicate(self, wanted: str, text: str, names: tuple[str, ...]) -> Prim:
        """Enter the host predicate that `text` is, over `names`."""
        rows = self._parse(text, names)
        return self.add("predicate", wanted, Record(names=names, expression=rows, text=text))

    def stop(self, wanted: str, text: str, names: tuple[str, ...], more: Record) -> Prim:
        """Enter the exit test that `text` is, over `names`; `more` is said of it too."""
        rows = self._parse(text, names)
        return self.add("stop", wanted, Record({"expression": rows, "text": text, **more}))

    def failure(self, kind: str, message: str) -> Prim:
        """Enter a site that raises an error of `kind`."""
        return self.add("fail", kind, Record(error=kind, message=message))
