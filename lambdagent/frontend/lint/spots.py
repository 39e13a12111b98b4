"""The places of a configuration where an agent, a step or a classifier stands.

In: a `Config`, which may hold `BAD` values. Out: its `Spot`s, outer before inner, in file order.
What aliases repeat is looked at once, under its first path; names are collected for all paths.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

import attrs

from lambdagent.frontend.check import Config
from lambdagent.frontend.nodes import ListNode, MapNode, Node
from lambdagent.frontend.report import BAD, nearest
from lambdagent.ir.data import Record
from lambdagent.ir.strategies import SUMMARY, parse_strategy, summariser

Path: TypeAlias = "tuple[str | int, ...]"

# Of a slip among more words nothing is guessed: each finding would compare it with all.
_MOST_COMPARED = 50

# Those that ask a model themselves.
CALLERS = ("simple", "react", "step", "classifier")


@attrs.define(eq=False, repr=False)
class Spot:
    """An agent, a step or a classifier.

    Attributes:
        kind: The type of an agent, or ``step``, or ``classifier``.
        data: Its fields; what a finding of the checker is about is `BAD`.
        node: The same as written.
        name: What it is called in traces.
    """

    kind: str
    data: Record
    node: Node
    path: Path
    name: str

    def at(self, *keys: str) -> Any:
        """Return what stands at `keys`, defaults included; None if nothing legible does."""
        value: Any = self.data
        for key in keys:
            if value.__class__ is not Record:
                return None
            value = value.get(key)
        return None if value is BAD else value

    def lacks(self, *keys: str) -> bool:
        """Whether nothing stands at `keys`, not even what is illegible."""
        value: Any = self.data
        for key in keys:
            if value.__class__ is not Record:
                return False
            if key not in value:
                return True
            value = value[key]
        return False

    def illegible(self, *keys: str) -> bool:
        """Whether what stands at `keys`, or where they begin, could not be read."""
        value: Any = self.data
        for key in keys:
            if value.__class__ is not Record:
                break
            value = value.get(key)
        return value is BAD

    def written(self, *keys: str) -> Node | None:
        """Return what the file has at `keys`; None for what is inherited or a default."""
        node: Node | None = self.node
        for key in keys:
            node = below(node, key)
        return node

    def texts(self, *keys: str) -> tuple[str, ...]:
        """Return the legible texts of the list at `keys`."""
        value = self.at(*keys)
        return tuple([each for each in value if isinstance(each, str)]) if value else ()


def below(node: Node | None, key: str | int) -> Node | None:
    """Return what stands at `key` in `node`, if anything does."""
    if isinstance(key, str):
        entry = node.entries.get(key) if isinstance(node, MapNode) else None
        return None if entry is None else entry[1]
    return node.items[key] if isinstance(node, ListNode) else None


def near(word: str, known: Collection[str]) -> str | None:
    """Return the word of `known` that `word` was meant to be; None if there are many."""
    return nearest(word, known) if len(known) <= _MOST_COMPARED else None


@attrs.define(eq=False, repr=False)
class Spots:
    """All spots of a configuration.

    Attributes:
        names: Path and name of all that asks a model, those that aliases repeat too.
    """

    found: list[Spot] = attrs.field(factory=list)
    names: list[tuple[Path, str]] = attrs.field(factory=list)
    _seen: set[int] = attrs.field(factory=set)

    def agent(self, data: Any, node: Node | None, path: Path, place: str) -> None:
        """Add the agent at `path`, called `place` if nameless, and all that is inside."""
        if data.__class__ is not Record or node is None:
            return
        spot = self._add(_kind(data), data, node, path, place)
        if spot is None:
            return
        for key, add in _BODIES.items():
            if key in data and data[key] is not BAD:
                add(self, spot, data[key])

    def _add(self, kind: str, data: Record, node: Node, path: Path, place: str) -> Spot | None:
        name = _name(data, kind, place)
        if kind in CALLERS:
            self._asks(path, name, data)
        if id(node) in self._seen:
            return None
        self._seen.add(id(node))
        spot = Spot(kind, data, node, path, name)
        self.found.append(spot)
        return spot

    def _asks(self, path: Path, name: str, data: Record) -> None:
        """Note who asks a model there: an agent, and who summarises its conversation."""
        self.names.append((path, name))
        model = data.get("model")
        written = model.get("conversation") if model.__class__ is Record else None
        if isinstance(written, str) and parse_strategy(written).name == SUMMARY:
            self.names.append((path, summariser(name)))

    def _chain(self, spot: Spot, body: Any) -> None:
        nodes = below(spot.written("chain"), "steps")
        for i, step in enumerate(_items(body, "steps")):
            path, node, place = (*spot.path, "chain", "steps", i), below(nodes, i), f"step{i + 1}"
            if step.__class__ is Record and "type" not in step:
                if node is not None:
                    self._add("step", step, node, path, place)
            else:
                self.agent(step, node, path, place)

    def _router(self, spot: Spot, body: Any) -> None:
        written, path = spot.written("router"), (*spot.path, "router")
        classifier, node = body.get("classifier"), below(written, "classifier")
        if classifier.__class__ is Record and node is not None:
            self._add("classifier", classifier, node, (*path, "classifier"), "classifier")
        routes = body.get("routes")
        if routes.__class__ is Record:
            nodes = below(written, "routes")
            for label, route in routes.items():
                self.agent(route, below(nodes, label), (*path, "routes", label), label)
        self.agent(body.get("default"), below(written, "default"), (*path, "default"), "default")

    def _parallel(self, spot: Spot, body: Any) -> None:
        self._side_by_side(spot, body, "parallel")
        if body.get("merge") == "custom":
            self._asks((*spot.path, "parallel"), "merge", spot.data)

    def _groupchat(self, spot: Spot, body: Any) -> None:
        self._side_by_side(spot, body, "groupchat")

    def _side_by_side(self, spot: Spot, body: Any, key: str) -> None:
        nodes = below(spot.written(key), "agents")
        for i, agent in enumerate(_items(body, "agents")):
            path = (*spot.path, key, "agents", i)
            self.agent(agent, below(nodes, i), path, f"agent{i + 1}")


_BODIES = {
    "chain": Spots._chain,  # noqa: SLF001 - the methods of the class above
    "router": Spots._router,  # noqa: SLF001
    "parallel": Spots._parallel,  # noqa: SLF001
    "groupchat": Spots._groupchat,  # noqa: SLF001
}


def spots_of(config: Config) -> Spots:
    """Return all spots of `config`."""
    spots = Spots()
    spots.agent(config.data, config.root, (), "")
    return spots


def _kind(data: Record) -> str:
    type_ = data.get("type")
    return type_ if isinstance(type_, str) else "unknown"


def _name(data: Record, kind: str, place: str) -> str:
    """Return what it is called: as when it is built."""
    if kind == "classifier":
        return place
    keys = ("name",) if kind == "step" else ("name", "agentId")
    named = (data.get(key) for key in keys)
    return next((name for name in named if name and isinstance(name, str)), place or kind)


def _items(body: Any, key: str) -> Any:
    value = body.get(key)
    return value if isinstance(value, tuple) else ()
