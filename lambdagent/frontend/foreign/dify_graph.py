"""The graph of a Dify workflow → agents.

Nodes along a line are the steps of a chain; a question classifier is a router, whose routes are
the rest of the graph from there; several edges from one node are branches of a parallel agent, and
what comes where they meet goes on behind them. Of conditions one way is kept. All other nodes are
left out, and the answer goes past them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from lambdagent.errors import ConfigError, finding
from lambdagent.frontend.foreign.blocks import Block
from lambdagent.frontend.foreign.dify_models import model_of
from lambdagent.frontend.foreign.draft import MAX_LEVELS, Agent, Draft, category
from lambdagent.frontend.foreign.models import USUAL
from lambdagent.ir.schema_faults import can_be_checked
from lambdagent.messages import Phrase, phrase

_REFERENCE: Final = re.compile(r"\{\{#([^#{}]*)#\}\}")
_ALONE: Final = re.compile(r"\s*\{\{#[^#{}]*#\}\}\s*")
_LOOKS: Final = ("desc", "height", "position", "selected", "title", "type", "width")
_ENDS: Final = ("answer", "end", "start", "variable-aggregator", "variable-assigner")
_BRANCHES: Final = ("if-else", "question-classifier")
_MAX_STEPS, _MAX_BRANCHES = 300, 50
_LEFT_OUT: Final = {
    "knowledge-retrieval": phrase("agents have no knowledge base yet"),
    "code": phrase("an agent file holds no program code"),
    "template-transform": phrase("an agent file holds no templates"),
    "iteration": phrase("an agent file has no loop over a list"),
    "loop": phrase("an agent file has no loop over nodes"),
    "http-request": phrase("an agent file asks models and tools only"),
    "tool": phrase("outside of an agent no tool is called"),
}


class Graph:
    """Nodes and edges."""

    def __init__(self, graph: Block, draft: Draft) -> None:
        """Read `graph`."""
        self.draft = draft
        self.source = graph.source
        self.nodes: dict[str, Block] = {}
        self.titles: dict[str, str] = {}
        for node in graph.blocks("nodes"):
            name, data = node.text("id"), node.block("data")
            is_inner = node.text("parentId") is not None
            is_note = data is None or not data.text("type")
            if name is not None and data is not None and not is_inner and not is_note:
                self.nodes[name] = data
        self.edges: dict[str, dict[tuple[str, str], None]] = {}
        for edge in graph.blocks("edges"):
            start, end = edge.text("source"), edge.text("target")
            if start in self.nodes and end in self.nodes and end is not None and start is not None:
                handle = edge.text("sourceHandle") or "source"
                self.edges.setdefault(start, {})[handle, end] = None
        self.steps_made = 0
        self.told: set[str] = set()

    def agent(self, name: str) -> Agent:
        """Return the agent that the graph makes.

        Raises:
            ConfigError: No model is asked in it, or it makes too many agents.
        """
        led_to = {end for after in self.edges.values() for _, end in after}
        starts = [each for each in self.nodes if self.kind(each) == "start"]
        starts = starts or [each for each in self.nodes if each not in led_to]
        for each in starts[:1]:
            for variable in self.nodes[each].blocks("variables"):
                if variable.text("variable") and len(self.nodes[each].blocks("variables")) > 1:
                    variable.lost("variable", phrase("a run has one input, which is a text"))
        steps = [] if not starts else self.steps(starts[0], None, ())
        if not steps:
            found = finding("I011", what=phrase("model call"), path=self.source.name, hint=_HINT)
            raise ConfigError(found, self.source)
        for each, data in self.nodes.items():
            if each not in self.told:
                self.lose(data, "type", phrase("nothing that is carried over leads to it"))
        return self.draft.chain(name, steps)

    def kind(self, name: str) -> str:
        """Return the type of a node."""
        return self.nodes[name].text("type") or ""

    def title(self, name: str) -> str:
        """Return what people call a node; no two nodes are called the same."""
        if name not in self.titles:
            wanted = self.nodes[name].text("title") or self.kind(name) or name
            self.titles[name] = category(wanted, self.titles.values())
        return self.titles[name]

    def lose(self, data: Block, key: str, reason: Phrase) -> None:
        """Note that a node is left out."""
        self.draft.lose(
            "I001",
            self.source,
            data.span(key),
            field=data.text("title") or data.place,
            reason=reason,
        )

    # --- along the edges ---

    def steps(self, start: str, stop: str | None, above: tuple[str, ...]) -> list[Agent]:
        """Return the agents from `start` up to, not including, `stop`.

        Args:
            start: A node.
            stop: Where several ways meet; None for the end.
            above: The nodes that lead here, against circles.
        """
        found: list[Agent] = []
        at: str | None = start
        while at is not None and at != stop:
            self.steps_made += 1
            if at in above:
                self.lose(
                    self.nodes[at], "type", phrase("it is reached again; agents do not go back")
                )
                break
            if self.steps_made > _MAX_STEPS or len(above) > _MAX_STEPS:
                raise ConfigError(finding("I012", limit=_MAX_STEPS), self.source)
            above = (*above, at)
            found += self.own(at)
            at = self.following(at, stop, above, found)
        return found

    def following(
        self, at: str, stop: str | None, above: tuple[str, ...], found: list[Agent]
    ) -> str | None:
        """Return the node after `at`; what lies on branches between them is added to `found`."""
        after = list(self.edges.get(at, {}))
        kind = self.kind(at)
        if kind == "question-classifier":
            if above.count("") < MAX_LEVELS:
                found.append(self.classified(at, stop, above))
            else:
                self.lose(self.nodes[at], "type", phrase("it nests too deeply"))
            return None
        if kind == "if-else":
            after = self.one_way(at, after)
        ends = list(dict.fromkeys(end for _, end in after))
        if len(ends) < 2:
            return ends[0] if ends else None
        if above.count("") >= MAX_LEVELS or len(ends) > _MAX_BRANCHES:
            self.lose(self.nodes[at], "type", phrase("what comes after it branches too often"))
            return None
        meeting = self.meeting(ends)
        ways = [self.steps(end, meeting or stop, (*above, "")) for end in ends]
        made = [
            self.draft.chain(self.title(end), way)
            for end, way in zip(ends, ways, strict=True)
            if way
        ]
        if made:
            found.append(self.draft.parallel(f"after {self.title(at)}", made))
        return meeting

    def meeting(self, ends: Sequence[str]) -> str | None:
        """Return the first node that all ways from `ends` lead through, if there is one."""
        reached = [self.reached(end) for end in ends]
        return next((each for each in reached[0] if all(each in r for r in reached[1:])), None)

    def reached(self, start: str) -> dict[str, None]:
        """Return the nodes that `start` leads to, itself first, nearer ones before others."""
        seen: dict[str, None] = {start: None}
        queue = [start]
        for at in queue:
            for _, end in self.edges.get(at, {}):
                if end not in seen:
                    seen[end] = None
                    queue.append(end)
        return seen

    def one_way(self, at: str, after: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the first way of a condition; the others are told."""
        ways = list(after)
        self.lose(self.nodes[at], "type", phrase("conditions are left out; its first way is kept"))
        return ways[:1]

    def classified(self, at: str, stop: str | None, above: tuple[str, ...]) -> Agent:
        """Return the router that a question classifier is."""
        data = self.nodes[at]
        by_handle: dict[str, list[str]] = {}
        for handle, end in self.edges.get(at, {}):
            by_handle.setdefault(handle, []).append(end)
        members = []
        model = model_of(data, "model")
        for each in data.blocks("classes"):
            name, key = each.text("name") or "", each.text("id") or ""
            ends = by_handle.get(key, [])
            if len(ends) > 1:
                each.lost("id", phrase("several ways lead on; the first is kept"))
            way = self.steps(ends[0], stop, (*above, "")) if ends else []
            if way:
                members.append(
                    (name or key, "", self.draft.chain(f"{self.title(at)} {name}", way))
                )
            else:
                each.lost("name", phrase("no model is asked on its way"))
        if not members:
            found = finding(
                "I011",
                data.span("classes"),
                what=phrase("model call"),
                path=phrase("it"),
                hint=_HINT,
            )
            raise ConfigError(found, self.source)
        instruction = data.text("instruction") or ""
        references = _REFERENCE.findall(instruction)
        self.references(data, "instruction", references)
        data.ignore(("query_variable_selector", "topics", "vision", "instructions", *_LOOKS))
        data.finish()
        return self.draft.choice(self.title(at), instruction, members, model)

    # --- one node ---

    def own(self, at: str) -> list[Agent]:
        """Return the agent that a node is, if it is one."""
        data, kind = self.nodes[at], self.kind(at)
        first = at not in self.told
        self.told.add(at)
        if kind in _BRANCHES:
            return []
        if kind == "llm":
            return [self.asking(at, data)]
        if kind == "agent":
            return [self.acting(at, data)]
        if kind == "answer":
            self.answered(data)
        elif kind not in _ENDS and first:
            self.lose(
                data, "type", _LEFT_OUT.get(kind, phrase("`{kind}` has no counterpart", kind=kind))
            )
        return []

    def asking(self, at: str, data: Block) -> Agent:
        """Return the model call of a node."""
        parts = []
        messages = data.blocks("prompt_template") if not data.is_map("prompt_template") else []
        single = data.block("prompt_template") if data.is_map("prompt_template") else None
        for message in messages if single is None else [single]:
            text, role = message.text("text") or "", message.text("role") or "system"
            if role != "system" and _ALONE.fullmatch(text):
                continue  # the question itself
            if role == "assistant":
                message.lost("text", phrase("examples of answers are left out"))
                continue
            self.references(message, "text", _REFERENCE.findall(text))
            parts.append(text)
        model = model_of(data, "model")
        for key in ("context", "vision"):
            inner = data.block(key)
            if inner is not None and inner.flag("enabled"):
                data.lost(key, phrase("a model sees its prompt and the answer before"))
        form = self.form(data)
        data.ignore(("memory", "prompt_config", "variables", *_LOOKS))
        data.finish()
        prompt = "\n\n".join(filter(None, parts))
        return {**self.draft.agent(self.title(at), prompt, model), **form}

    def form(self, data: Block) -> Agent:
        """Return what the answers of a node must be."""
        is_wanted = data.flag("structured_output_enabled")
        written = data.block("structured_output")
        if not is_wanted or written is None:
            return {}
        schema = written.data("schema")
        if not isinstance(schema, dict) or not can_be_checked(schema):
            written.lost("schema", phrase("it is no JSON Schema that can be checked"))
            return {}
        self.draft.count(len(str(schema)))
        return {"outputSchema": schema}

    def acting(self, at: str, data: Block) -> Agent:
        """Return the agent of a node of type `agent`, whose parameters a plugin defines."""
        data.lost("agent_parameters", phrase("what a plugin defines is left out"))
        data.ignore(("agent_strategy_label", "agent_strategy_name", "plugin_unique_identifier"))
        data.ignore(
            ("agent_strategy_provider_name", "output_schema", "tool_node_version", *_LOOKS)
        )
        data.finish()
        return self.draft.agent(self.title(at), "", USUAL)

    def answered(self, data: Block) -> None:
        """Note that an answer is more than what the step before it said."""
        text = data.text("answer") or ""
        if text and not _ALONE.fullmatch(text):
            data.lost("answer", phrase("the answer is what the last model says, as it is"))

    def references(self, block: Block, key: str, names: Iterable[str]) -> None:
        """Note the variables that a prompt names."""
        for name in dict.fromkeys(names):
            where = block.span(key)
            self.draft.lose(
                "I003", self.source, where, name=f"{{{{#{name}#}}}}", field=block.path(key)
            )


_HINT: Final = phrase("an agent is read from nodes of type `llm`, behind the node `start`")
