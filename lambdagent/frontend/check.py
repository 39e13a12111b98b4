"""Tree → configuration, or all that is wrong with it.

In: the tree of a file, and the tables of `schema`. Out: a `Config` in which every value has the
type that its field wants, defaults are filled in, variables are expanded, and the `model` of every
agent, step and classifier holds what it inherits. Recursion follows the nesting of the file, which
the tree bounds.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from lambdagent.errors import Diagnostic, compile_error, finding
from lambdagent.frontend import schema
from lambdagent.frontend.kinds import (
    Agent,
    Anything,
    Block,
    Field,
    ListOf,
    ListOrMap,
    MapOf,
    Model,
    Reply,
    Script,
    Step,
    Text,
)
from lambdagent.frontend.nodes import (
    MAX_FINDINGS,
    Entries,
    ListNode,
    MapNode,
    Node,
    Scalar,
    Tree,
    is_null,
    is_refused,
    kind_of,
    span_of,
)
from lambdagent.frontend.report import BAD, Path, Reporter, in_file_order, reason_of
from lambdagent.frontend.values import READERS, any_scalar, read_text
from lambdagent.ir.data import Data, Record
from lambdagent.ir.services import provider_of
from lambdagent.messages import phrase
from lambdagent.source import Source, Span

_AGENT = Agent()
_REPLY_TEXT = Text()
_REPLY_KEYS = {"text", "finish_reason", "tool_calls", "usage"}
_CALL_KEYS = {"id", "name", "arguments"}
_OF_PROVIDER = ("name", "baseUrl", "script")
_KEYS = re.compile(r"[\w-]+|\[(\d+)\]")


@attrs.frozen(eq=False)
class Config:
    """A checked configuration.

    Attributes:
        data: The fields, named as in the file, with their defaults.
        source: The file it was read from.
        root: What is written in the file.
    """

    data: Record = attrs.field(repr=False)
    source: Source
    root: Node = attrs.field(repr=False)

    def span(self, path: str | tuple[str | int, ...]) -> Span | None:
        """Return where `path`, such as ``chain.steps[0].prompt``, stands in the file.

        A value that is left out stands where the block around it begins. None without a file.
        """
        if isinstance(path, str):
            path = tuple(int(m[1]) if m[1] else m[0] for m in _KEYS.finditer(path))
        node: Node = self.root
        place: Node = self.root
        for key in path:
            if isinstance(node, MapNode) and key in node.entries:
                name, node = node.entries[str(key)]
                place = node if isinstance(node, Scalar) and not is_null(node) else name
            elif isinstance(node, ListNode) and isinstance(key, int) and key < len(node.items):
                place = node = node.items[key]
            else:
                break
        return span_of(_first_key(place), self.source)


def check_config(tree: Tree, source: Source, environment: Mapping[str, str]) -> Config:
    """Return the configuration that `tree` holds.

    `environment` holds what ``${NAME}`` in connections stands for.

    Raises:
        CompileError: It is no agent; all findings of the file are in it, in file order.
    """
    config, findings = read_config(tree, source, environment)
    if config is None or findings:
        raise compile_error(findings, source)
    return config


def read_config(
    tree: Tree, source: Source, environment: Mapping[str, str]
) -> tuple[Config | None, list[Diagnostic]]:
    """Return what `tree` holds, and all findings, in file order.

    Where there are findings, `BAD` stands in the place of each value that they are about. None is
    what is no mapping at all.
    """
    checker = _Checker(source, environment)
    config = None
    if isinstance(tree.root, MapNode):
        config = Config(checker.agent(_AGENT, tree.root, ()), source, tree.root)
    elif tree.root is not None and not is_refused(tree.root):
        where = span_of(tree.root, source)
        actual = phrase("a text") if isinstance(tree.root, Scalar) else kind_of(tree.root)
        actual = phrase("nothing") if is_null(tree.root) else actual
        checker.findings.append(finding("S105", where, actual=actual))
    findings = [*tree.findings, *checker.findings]
    if max(len(tree.findings), len(checker.findings)) >= MAX_FINDINGS:
        findings.append(finding("S016", limit=MAX_FINDINGS))
    return config, in_file_order(findings)


def _first_key(node: Node) -> Node:
    """Return what to point at for `node`: its first key if it is a mapping."""
    if isinstance(node, MapNode):
        return next((key for key, _ in node.entries.values()), node)
    return node


def _key(node: Node, name: str) -> Node:
    """Return the key `name` of `node` as it is written, to point at it."""
    return node.entries[name][0] if isinstance(node, MapNode) and name in node.entries else node


class _Checker(Reporter):
    """Reads nodes by kind. Each reader returns a datum, or `BAD` after it reported a finding."""

    def __init__(self, source: Source, environment: Mapping[str, str]) -> None:
        super().__init__(source, environment)
        self.settings: dict[str, Data] = {}  # what the model blocks around the current value say
        self.model: Record | None = None  # the same with defaults; None if there is no such block

    def value(self, kind: Any, node: Node, path: Path) -> Any:
        """Return what `node` holds, read as `kind`."""
        read = READERS.get(type(kind))
        if read is not None:
            return read(self, kind, node, path)
        return _STRUCTURES[type(kind)](self, kind, node, path)

    def entries(self, node: Node, path: Path, expected: str) -> Entries | None:
        """Return the entries of `node`; nothing at all is an empty mapping."""
        if isinstance(node, MapNode):
            return node.entries
        if is_null(node):
            return {}
        if not is_refused(node):
            self.wrong(node, path, expected)
        return None

    def items(self, node: Node, path: Path) -> list[Node] | None:
        """Return the items of `node`; nothing at all is an empty list."""
        if isinstance(node, ListNode):
            return node.items
        if is_null(node):
            return []
        if not is_refused(node):
            hint = phrase("write it in brackets, as in `[…]`") if isinstance(node, Scalar) else ""
            self.wrong(node, path, phrase("a list"), hint)
        return None

    # --- lists and mappings ---

    def list_of(self, kind: ListOf, node: Node, path: Path) -> Any:
        items = self.items(node, path)
        if items is None:
            return BAD
        if not items and kind.empty:
            return self.report(kind.empty, node, path)
        item = kind.item
        read = [self.value(item, child, (path, i)) for i, child in enumerate(items)]
        if kind.unique:
            self.check_twice(kind, read, items, path)
        return tuple(read)

    def check_twice(self, kind: ListOf, read: list[Any], items: list[Node], path: Path) -> None:
        """Report what stands in a list for the second time."""
        seen: set[Any] = {BAD}
        for i, (value, node) in enumerate(zip(read, items, strict=True)):
            if value not in seen:
                seen.add(value)
            elif value is not BAD:
                self.report("S201", node, (path, i), name=value, things=kind.unique)

    def map_of(self, kind: MapOf, node: Node, path: Path) -> Any:
        entries = self.entries(node, path, phrase("a mapping"))
        if entries is None:
            return BAD
        if not entries and kind.empty:
            return self.report(kind.empty, node, path)
        return Record(
            {key: self.value(kind.value, v, (path, key)) for key, (_, v) in entries.items()}
        )

    def list_or_map(self, kind: ListOrMap, node: Node, path: Path) -> Any:
        if isinstance(node, MapNode):
            return self.map_of(kind.maps, node, path)
        return self.list_of(kind.items, node, path)

    def anything(self, kind: Anything, node: Node, path: Path) -> Any:
        """Return the data that `node` holds, whatever it is."""
        if isinstance(node, MapNode):
            read = {
                key: self.anything(kind, value, (path, key))
                for key, (_, value) in node.entries.items()
            }
            return BAD if BAD in read.values() else Record(read)
        if isinstance(node, ListNode):
            items = [self.anything(kind, item, (path, i)) for i, item in enumerate(node.items)]
            return BAD if BAD in items else tuple(items)
        return any_scalar(self, node, path)

    # --- blocks ---

    def block(self, kind: Block, node: Node, path: Path) -> Any:
        entries = self.entries(node, path, phrase("a mapping"))
        if entries is None:
            return BAD
        found = self.fields(kind, entries, path)
        self.missing(kind, found, node, path)
        for field in kind.conditional:
            self.check_condition(kind, field, found, node, path)
        if self.model is not None and "model" in kind.fields:
            found.setdefault("model", self.model)
        return Record({**kind.defaults, **found})

    def fields(self, block: Block, entries: Entries, path: Path) -> dict[str, Any]:
        """Return the fields of `block` that are written; what is wrong is `BAD`."""
        found: dict[str, Any] = {}
        known = block.fields
        present = ChainMap[str, Any](entries, found)
        for key, (name, node) in entries.items():
            field = known.get(key)
            if field is not None:
                found[key] = self.value(field.kind, node, (path, key))
            elif not key.startswith("x-"):
                meant = self.unknown(name, path, block, present)
                if meant is not None:
                    found.setdefault(meant, BAD)
        return found

    def missing(self, block: Block, found: dict[str, Any], node: Node, path: Path) -> None:
        for name in block.required:
            if name not in found:
                self.absent(block, name, node, path)

    def check_condition(
        self, block: Block, field: Field, found: dict[str, Any], node: Node, path: Path
    ) -> None:
        """Report `field` if it has no effect beside what was found, or is needed and lacks."""
        assert field.only_with is not None
        key, value = field.only_with
        chosen = found.get(key, block.defaults.get(key, BAD))
        if chosen is BAD:
            return
        if field.name in found and chosen != value:
            needed = f"{key}: {value}"
            self.report("S111", _key(node, field.name), (path, field.name), needed=needed)
        elif field.required and field.name not in found and chosen == value:
            self.absent(block, field.name, node, path)

    def absent(self, block: Block, name: str, node: Node, path: Path) -> None:
        """Report that `block`, at `node`, lacks the field `name`."""
        field = block.fields[name]
        code = getattr(field.kind, "empty", None) or "S101"
        self.report(code, _first_key(node), (path, name), doc=reason_of(field), key=name)

    # --- models ---

    def model_block(self, _kind: Model, node: Node, path: Path) -> Any:
        """Return the settings of a `model` block with all that it inherits."""
        own = self.own_settings(node, path)
        if own is BAD:
            return BAD
        return Record({**schema.MODEL.defaults, **self.inherited(own)})

    def own_settings(self, node: Node, path: Path) -> Any:
        entries = self.entries(node, path, phrase("a mapping, as in `model: {name: …}`"))
        if entries is None:
            return BAD
        return self.fields(schema.MODEL, entries, path)

    def inherited(self, own: dict[str, Any]) -> dict[str, Any]:
        """Return the settings `own` over those around them.

        Another provider inherits nothing that only means something to the first one.
        """
        around = self.settings
        provider = around.get("provider") or provider_of(str(around.get("name", "")))
        if own.get("provider", provider) != provider:
            around = {key: value for key, value in around.items() if key not in _OF_PROVIDER}
        return {**around, **own}

    def script(self, _kind: Script, node: Node, path: Path) -> Any:
        """Return the script of a `scripted` model; it has an answer somewhere."""
        found = self.block(schema.SCRIPT, node, path)
        if found is not BAD and not found:
            self.absent(schema.SCRIPT, "replies", node, path)
        return found

    def reply(self, _kind: Reply, node: Node, path: Path) -> Any:
        """Return a reply of a `scripted` model."""
        if not isinstance(node, MapNode):
            return read_text(self, _REPLY_TEXT, node, path)
        found = self.anything(Anything(), node, path)
        calls = found.get("tool_calls", ()) if isinstance(found, Record) else ()
        named = isinstance(calls, tuple) and all(
            isinstance(call, Record)
            and isinstance(call.get("name"), str)
            and call.keys() <= _CALL_KEYS
            for call in calls
        )
        text = found.get("text", "") if isinstance(found, Record) else ""
        if found is BAD or (found.keys() <= _REPLY_KEYS and isinstance(text, str) and named):
            return found
        return self.wrong(node, path, phrase("a text, or `{text: …, tool_calls: [{name: …}]}`"))

    # --- agents ---

    def step(self, _kind: Step, node: Node, path: Path) -> Any:
        """Return a step of a chain."""
        if isinstance(node, MapNode) and "type" in node.entries:
            return self.agent(_AGENT, node, path)
        return self.block(schema.STEP, node, path)

    def agent(self, _kind: object, node: Node, path: Path) -> Any:
        """Return a whole agent."""
        entries = self.entries(
            node, path, phrase("an agent, as in `{type: simple, systemPrompt: …}`")
        )
        if entries is None:
            return BAD
        around = self.settings, self.model
        entry = entries.get("model")
        if entry is not None:
            own = self.own_settings(entry[1], (path, "model"))
            # Of what is inherited nothing is known if the block cannot be read.
            self.settings = {"provider": BAD} if own is BAD else self.inherited(own)
            self.model = Record({**schema.MODEL.defaults, **self.settings})
            entries = {key: entry for key, entry in entries.items() if key != "model"}
        found = self.fields(schema.AGENT, entries, path)
        if self.model is not None:
            found["model"] = self.model
        self.settings, self.model = around
        self.check_agent(found, node, path)
        return Record(found)

    def check_agent(self, found: dict[str, Any], node: Node, path: Path) -> None:
        """Report what `found` lacks, and what does not belong there."""
        if path:
            found.setdefault("type", "simple")
        type_ = found.get("type")
        if type_ is None:
            self.absent(schema.AGENT, "type", node, path)
        if "systemPrompt" not in found and (not path or type_ in schema.PROMPTED):
            self.report("L001", _first_key(node), (path, "systemPrompt"), key="systemPrompt")
        if type_ is None or type_ is BAD:
            return
        for name in schema.NOT_EVERYWHERE & found.keys():
            self.check_place(name, type_, node, path)
        body = schema.BODIES.get(type_)
        if body is not None and type_ not in found:
            self.missing(body, {}, node, (path, type_))
            found[type_] = Record(body.defaults)

    def check_place(self, name: str, type_: str, node: Node, path: Path) -> None:
        """Report the field `name` if it does not belong to this agent."""
        field = schema.AGENT.fields[name]
        key = _key(node, name)
        if field.top_only and path:
            self.report("S110", key, (path, name))
        elif field.types and type_ not in field.types:
            hint = phrase("remove it, or write `type: {type}`", type=field.types[0])
            self.report("S109", key, (path, name), type=type_, hint=hint)


_STRUCTURES: Mapping[type, Callable[..., Any]] = {
    Agent: _Checker.agent,
    Anything: _Checker.anything,
    Block: _Checker.block,
    ListOf: _Checker.list_of,
    ListOrMap: _Checker.list_or_map,
    MapOf: _Checker.map_of,
    Model: _Checker.model_block,
    Reply: _Checker.reply,
    Script: _Checker.script,
    Step: _Checker.step,
}
