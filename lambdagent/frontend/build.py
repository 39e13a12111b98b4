"""Configuration → surface term.

In: a `Config`, and what the caller overrides. Out: the agent as a term, or all findings at once.
Nothing is executed and nothing is read; the same configuration always gives the same term,
whatever the order of its keys.

    ⟦simple⟧ = Lam      ⟦react⟧ = Loop(ReActStep)    ⟦chain⟧ = Compose
    ⟦router⟧ = Route    ⟦parallel⟧ = Par, then the merge
    guard wraps the agent, memory wraps both

Source: specification 3.2 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import attrs

from lambdagent.errors import Diagnostic, compile_error, finding
from lambdagent.frontend import schema
from lambdagent.frontend.check import Config
from lambdagent.frontend.models import Models, Overrides, Path, split_overrides
from lambdagent.frontend.nodes import path_text
from lambdagent.frontend.report import in_file_order, reason_of
from lambdagent.frontend.run_limits import check_run_limits
from lambdagent.frontend.servers import Servers
from lambdagent.frontend.sound import sound
from lambdagent.frontend.tool_parameters import check_schema
from lambdagent.frontend.toolbox import Toolbox, policy_of
from lambdagent.ir import surface
from lambdagent.ir.data import Record
from lambdagent.ir.fields import is_schema
from lambdagent.ir.labels import OTHER, TERMINATE
from lambdagent.ir.remote import Server
from lambdagent.ir.services import is_remote
from lambdagent.messages import phrase


@attrs.frozen
class _Spot:
    """One agent to build: its fields, where it stands, its name and its whole prompt."""

    data: Any
    path: Path
    name: str
    prompt: str


_EMPTY: Final[Record] = Record()
# Where a memory keeps its entries that the caller brings the store of.
_INJECTED: Final[Mapping[str, Any]] = {"strategy": "custom"}
SUMMARY_PROMPT: Final = (
    "You keep the notes of an agent. You are given a question and the answer to it, as a JSON"
    " list. Write what is worth remembering of them, in one to three sentences, in the language"
    " of the question, and nothing else."
)
NO_OVERRIDES: Final = Overrides()


def build_term(
    config: Config, overrides: Overrides = NO_OVERRIDES, *, asked: list[Server] | None = None
) -> surface.Term:
    """Return the agent that `config` describes.

    Args:
        config: The configuration.
        overrides: What the caller decides instead.
        asked: Takes the servers that alone can say which tools they have; these tools are then
            left out, and else a reason why it cannot be built.

    Raises:
        CompileError: It cannot be built; all reasons are in it, in file order.
    """
    term, findings = _build(config, config.data, overrides, whole=True, asked=asked)
    if findings:
        raise compile_error(in_file_order(findings), config.source)
    return term


def more_findings(config: Config, overrides: Overrides = NO_OVERRIDES) -> list[Diagnostic]:
    """Return what building says of the parts of `config` that the checker found sound.

    Args:
        config: It may hold `BAD`.
        overrides: As for `build_term`.
    """
    return _build(config, sound(config.data), overrides, whole=False)[1]


def _build(
    config: Config,
    data: Record,
    overrides: Overrides,
    *,
    whole: bool,
    asked: list[Server] | None = None,
) -> tuple[surface.Term, list[Diagnostic]]:
    """Return the agent `data`, which stands in `config`, and what is wrong with it.

    What nothing uses is known only of a file that is sound as a `whole`.
    """
    fit, findings = split_overrides(overrides)

    def report(code: str, path: Path, **values: Any) -> None:
        findings.append(finding(code, config.span(path), field=path_text(path), **values))

    builder = _Builder(fit, report)
    # Of servers that could not be read nothing is said again.
    builder.servers.asked, builder.servers.whole = asked if whole else [], whole
    term = builder.agent(data, (), "", "")
    if whole:
        served = builder.models.providers - set(fit.providers)
        remote = [name for name in served if is_remote(name)]
        check_run_limits(data, remote, builder.models.names, report)
        findings += builder.unused()
    return term, findings


class _Builder:
    """Builds the agents of one file.

    It refers to nothing that refers to it: a circle of objects would keep the whole file until the
    next run of the collector.
    """

    def __init__(self, overrides: Overrides, report: Callable[..., None]) -> None:
        """Build; `report` is called with code, path and words of each finding."""
        self.overrides = overrides
        self.report = report
        self.models = Models(overrides, report)
        self.servers = Servers(overrides, report)
        self.toolbox = Toolbox(overrides, report, self.servers)
        self.loops = 0
        self.memories = 0

    # --- agents ---

    def agent(self, data: Any, path: Path, name: str, before: str) -> surface.Term:
        """Return the agent `data`, called `name` if nameless; `before` precedes its prompt."""
        self.check_supported(data, path)
        self.models.locate(data.get("model"), path)
        name = data.get("name") or data.get("agentId") or name or data["type"]
        own = data.get("systemPrompt", "")
        if "react" in data:
            own = data["react"].get("thinkPrompt", own)
        with self.servers.of(data, path):
            term = _FORMS[data["type"]](self, _Spot(data, path, name, _joined(before, own)))
        if "guard" in data:
            term = _guarded(term, data["guard"])
        return self.remembering(term, data, path, name)

    def simple(self, at: _Spot) -> surface.Term:
        """``λx. LLM(x)``."""
        return self.call(at.name, at.prompt, at.data, at.path)

    def react(self, at: _Spot) -> surface.Term:
        """``Yₙ(think, act, observe)``."""
        self.loops += 1
        body = at.data["react"]
        step = surface.ReActStep(
            f"{at.name}.react_step",
            think=self.call(at.name, at.prompt, at.data, at.path),
            tools=self.toolbox.tools(at.data, at.path),
            observation_enabled=body["observationEnabled"],
            early_stop=body.get("earlyStop"),
            max_concurrent=policy_of(at.data)["maxConcurrent"],
        )
        max_steps = self.overrides.max_steps or body["maxSteps"]
        return surface.Loop(step, "False", max_steps, verbose=body["verbose"])

    def chain(self, at: _Spot) -> surface.Term:
        """``λx. fk(…(f1 x))``."""
        path = (*at.path, "chain", "steps")
        steps = at.data["chain"]["steps"]
        return surface.Compose(
            *(
                self.step(each, (*path, i), f"step{i + 1}", at.prompt)
                for i, each in enumerate(steps)
            )
        )

    def step(self, data: Any, path: Path, name: str, before: str) -> surface.Term:
        if "type" in data:
            return self.agent(data, path, name, before)
        prompt = _joined(before, data["prompt"])
        term: surface.Term = self.call(data.get("name") or name, prompt, data, path)
        return _guarded(term, data["guard"]) if "guard" in data else term

    def router(self, at: _Spot) -> surface.Term:
        """``case (classifier x) of {label ⇒ agent x}``; the labels in alphabetical order."""
        path = (*at.path, "router")
        body = at.data["router"]
        routes = {
            label: self.agent(body["routes"][label], (*path, "routes", label), label, "")
            for label in sorted(body["routes"])
            if self.is_label(label, (*path, "routes", label))
        }
        default = body.get("default")
        if default is not None:
            default = self.agent(default, (*path, "default"), "default", "")
        classifier = self.classifier(body["classifier"], path, at.prompt)
        others = set(body["classifier"].get("categories", ())) - set(routes) - {OTHER}
        return surface.Route(classifier, routes, default, tuple(sorted(others)))

    def is_label(self, label: str, path: Path) -> bool:
        """Whether a route may have this name; what stands for all others is reported."""
        if label == OTHER:
            expected, hint = (
                phrase("a name other than `_`"),
                phrase("`default:` answers what has no route"),
            )
            self.report("S104", path, expected=expected, actual=label, hint=hint)
        return label != OTHER

    def classifier(self, data: Any, path: Path, before: str) -> surface.Term:
        prompt = _joined(before, data["prompt"])
        return self.call("classifier", prompt, data, (*path, "classifier"))

    def parallel(self, at: _Spot) -> surface.Term:
        """``λx. merge ⟨f1 x, …, fk x⟩``."""
        path = (*at.path, "parallel")
        body = at.data["parallel"]
        par = surface.Par(
            *(
                self.agent(agent, (*path, "agents", i), f"agent{i + 1}", at.prompt)
                for i, agent in enumerate(body["agents"])
            )
        )
        if body["merge"] == "tuple":
            return par
        if body["merge"] == "concat":
            return surface.Compose(par, surface.Concat())
        prompt = _joined(at.prompt, body["mergePrompt"])
        return surface.Compose(par, self.call("merge", prompt, at.data, at.path))

    def groupchat(self, _at: _Spot) -> surface.Term:
        """Stand in for it: `check_supported` has refused its block."""
        return surface.Compose()

    # --- model calls ---

    def call(self, name: str, prompt: str, data: Any, path: Path) -> surface.Lam:
        """Return one model call, as the `model` of `data` says."""
        model, strategy, history = self.models.of(data.get("model"), path)
        parser = data.get("outputParser", "text")
        schema = self.output_schema(data, path)
        if strategy is None:
            return surface.Lam(name, prompt, model, parser, output_schema=schema)
        return surface.ConversationLam(
            name, prompt, model, parser, history, strategy=strategy, output_schema=schema
        )

    def output_schema(self, data: Any, path: Path) -> Record | None:
        """Return the schema that answers must fit, if any; what cannot be checked is reported."""
        schema: Record | None = data.get("outputSchema")
        if schema is None:
            return None

        def refuse(at: Path, expected: str, actual: object, hint: str) -> None:
            where = (*path, "outputSchema", *at)
            hint = hint or phrase("remove it, or say it in the prompt")
            self.report("S104", where, expected=expected, actual=actual, hint=hint)

        check_schema(schema, refuse)
        parser = data.get("outputParser", "text")
        if parser not in surface.SCHEMA_PARSERS:
            hint = phrase("remove `outputSchema`, or write `outputParser: json`")
            expected = phrase("`json`, since there is an `outputSchema`")
            self.report(
                "S104", (*path, "outputParser"), expected=expected, actual=parser, hint=hint
            )
            return None
        return schema if is_schema(schema) else None

    # --- memory ---

    def remembering(self, term: surface.Term, data: Any, path: Path, name: str) -> surface.Term:
        """Return `term` with the memory that `data` gives it, if any."""
        settings = data.get("memory")
        chosen = self.overrides
        if settings is None:
            if path or not chosen.memory:
                return term
            settings = Record(schema.MEMORY.defaults)
        if not settings["enabled"]:
            return term
        self.memories += 1
        store = self.store(settings, data, path) if chosen.memory_binding is None else _INJECTED
        summary = None
        if settings["summarize"] == "llm":
            model = self.models.of(data.get("model"), path)[0]
            summary = surface.Lam(f"{name}.summary", SUMMARY_PROMPT, model)
        return surface.Memory(
            term,
            settings.get("name") or name,
            summary=summary,
            size=settings["size"],
            ttl_s=settings["ttl"],
            initial=chosen.memory_initial or {},
            binding=chosen.memory_binding,
            **store,
        )

    def store(self, settings: Any, data: Any, path: Path) -> dict[str, Any]:
        """Return where a memory keeps its entries, and who shares them."""
        strategy, scope = settings["strategy"], settings["scope"]
        at, fields = (*path, "memory"), schema.MEMORY.fields
        # What all agents that nobody has named would share is nobody's.
        if scope != "session" and not any(
            (settings.get("name"), data.get("name"), data.get("agentId"))
        ):
            self.report("S101", (*at, "name"), doc=reason_of(fields["name"]), key="name")
        if strategy == "custom" and "customStore" not in settings:
            doc = reason_of(fields["customStore"])
            self.report("S101", (*at, "customStore"), doc=doc, key="customStore")
        place = settings.get("customStore")
        if "path" in settings:
            place = self.models.from_file(settings["path"])
        more = settings.get("settings", _EMPTY)
        return {"strategy": strategy, "scope": scope, "place": place, "settings": more}

    # --- what the file or the caller may not ask for ---

    def check_supported(self, data: Any, path: Path) -> None:
        """Report the fields of one agent that this version would have to ignore."""
        if _NOT_YET.keys().isdisjoint(data):
            return
        for key in data:
            for inner, served in _NOT_YET.get(key, ()):
                asked = data[key]
                if inner and asked.get("enabled") is False:
                    continue
                for name in inner:
                    asked = None if asked is None else asked.get(name)
                if asked is not None and asked != served:
                    self.report("S108", (*path, key, *inner))

    def unused(self) -> Iterator[Diagnostic]:
        """Yield findings about what the caller injected and nothing uses."""
        chosen = self.overrides
        if not self.loops:
            for what, given in (
                (phrase("the tool {names}", names=", ".join(chosen.tools)), chosen.tools),
                (phrase("the bound of rounds"), chosen.max_steps),
                (phrase("the time limit of tools"), chosen.tool_timeout_s),
            ):
                if given:
                    yield _unused(
                        what,
                        phrase("only agents of type `react` call tools"),
                        phrase("write `type: react`"),
                    )
        if TERMINATE in chosen.tools:
            yield _unused(
                phrase("the tool {names}", names=TERMINATE),
                phrase("`terminate` is the identity, whatever is injected"),
                phrase("give the tool another name"),
            )
        if chosen.memory and not self.memories:
            what = phrase("the injected memory")
            yield _unused(
                what,
                phrase("`memory.enabled` is false"),
                phrase("write `memory: {enabled: true}`"),
            )

        yield from self.servers.unused()
        for name in chosen.providers:
            if name not in self.models.providers:
                used = ", ".join(sorted(filter(None, self.models.providers))) or phrase(
                    "no provider"
                )
                why = phrase("its models are served by {used}", used=used)
                hint = phrase("pass `providers=` under the name that the file has")
                yield _unused(phrase("the provider {name}", name=name), why, hint)


def _unused(what: str, why: str, hint: str) -> Diagnostic:
    return finding("S203", None, what=what, why=why, hint=hint)


def _guarded(term: surface.Term, settings: Any) -> surface.Term:
    return surface.Guard(term, settings["validator"], settings["retry"], settings["fallback"])


def _joined(before: str, prompt: str) -> str:
    return f"{before}\n\n{prompt}" if before and prompt else before or prompt


def _not_yet() -> dict[str, list[tuple[list[str], Any]]]:
    """Return what is not compiled yet, by the field of the agent that it is in."""
    rows: dict[str, list[tuple[list[str], Any]]] = {}
    for path, served in schema.NOT_YET.items():
        key, *inner = path.split(".")
        rows.setdefault(key, []).append((inner, served))
    return rows


_NOT_YET: Final = _not_yet()
_FORMS: Final[Mapping[str, Callable[[_Builder, _Spot], surface.Term]]] = {
    "simple": _Builder.simple,
    "react": _Builder.react,
    "chain": _Builder.chain,
    "router": _Builder.router,
    "parallel": _Builder.parallel,
    "groupchat": _Builder.groupchat,
}
