"""Rules about the structure of agents: prompts, loops, tools, routes, memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lambdagent.frontend.lint.insertion import add_terminate
from lambdagent.frontend.lint.rules import File, Found
from lambdagent.frontend.lint.spots import CALLERS, Spot, near
from lambdagent.frontend.nodes import path_text
from lambdagent.frontend.report import certain
from lambdagent.ir.data import Record
from lambdagent.ir.labels import OTHER, TERMINATE
from lambdagent.ir.strategies import WITHIN_HISTORY, parse_strategy
from lambdagent.messages import phrase

_MANY_ROUNDS, _MANY_RETRIES = 50, 5


# --- prompts and models --------------------------------------------------------------------------


def empty_prompt(spot: Spot, _file: File) -> Iterator[Found]:
    """L001."""
    keys: tuple[str, ...] = ("systemPrompt",)
    if spot.kind in ("step", "classifier"):
        keys = ("prompt",)
    elif spot.path and spot.kind not in CALLERS:
        keys = ()
    if keys and _is_blank(spot.at(*keys)) and not spot.at("react", "thinkPrompt"):
        yield Found(keys, {"key": keys[-1]})
    if _is_blank(spot.at("parallel", "mergePrompt")):
        yield Found(("parallel", "mergePrompt"), {"key": "mergePrompt"})


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def no_model(file: File) -> Iterator[Found]:
    """L002: told once for the file if nothing in it has a model."""
    callers = [spot for spot in file.spots.found if _asks(spot)]
    missing = [spot for spot in callers if spot.lacks("model")]
    if missing and len(missing) == len(callers):
        yield Found(("model",))
    else:
        for spot in missing:
            yield Found((*spot.path, "model"))


def _asks(spot: Spot) -> bool:
    return spot.kind in CALLERS or spot.at("parallel", "merge") == "custom"


def same_names(file: File) -> Iterator[Found]:
    """L022."""
    first: dict[str, str] = {}
    for spot in file.spots.found:
        key = "name" if spot.kind == "step" or spot.written("name") else "agentId"
        if spot.kind not in CALLERS or spot.kind == "classifier" or spot.at(key) != spot.name:
            continue
        if spot.name in first:
            yield Found((*spot.path, key), {"name": spot.name, "first": first[spot.name]})
        first.setdefault(spot.name, path_text((*spot.path, key)))


# --- loops and tools -----------------------------------------------------------------------------


def no_terminate(spot: Spot, file: File) -> Iterator[Found]:
    """L004."""
    tools = spot.texts("mcp", "localTools")
    if TERMINATE in tools or spot.illegible("mcp", "localTools"):
        return
    meant = near(TERMINATE, tools)
    hint = (
        phrase("write `{terminate}` for `{meant}`", terminate=TERMINATE, meant=meant)
        if meant
        else phrase("add it to `mcp.localTools`")
    )
    edits = add_terminate(spot, file, meant) if certain(TERMINATE, meant, tools) == meant else ()
    yield Found(("mcp", "localTools"), {"hint": hint}, edits)


def many_rounds(spot: Spot, _file: File) -> Iterator[Found]:
    """L010."""
    rounds = spot.at("react", "maxSteps")
    if rounds is not None and rounds > _MANY_ROUNDS:
        yield Found(("react", "maxSteps"), {"value": rounds})


def no_tools(spot: Spot, file: File) -> Iterator[Found]:
    """L011."""
    if _tools(spot) or spot.illegible("mcp", "localTools"):
        return
    if any(each.data.get("mcpServers") for each in file.spots.found):  # of agents around it, too
        return
    if not (spot.at("mcp", "onlineTool") or spot.illegible("mcp", "onlineTool")):
        yield Found(("mcp", "localTools"))


def _tools(spot: Spot) -> list[str]:
    listed = [name for name in spot.texts("mcp", "localTools") if name != TERMINATE]
    own = spot.at("tools") or ()
    return [*listed, *(str(each.get("name")) for each in own if isinstance(each, Record))]


def unseen_tools(spot: Spot, _file: File) -> Iterator[Found]:
    """L023."""
    if not _tools(spot):
        return
    if spot.at("react", "observationEnabled") is False:
        reason, hint = (
            phrase("`observationEnabled` is false"),
            phrase("write `observationEnabled: true`"),
        )
        yield Found(("react", "observationEnabled"), {"reason": reason, "hint": hint})
    elif spot.at("react", "maxSteps") == 1:
        reason, hint = phrase("there is only one round"), phrase("write `maxSteps: 2` or more")
        yield Found(("react", "maxSteps"), {"reason": reason, "hint": hint})


# --- routes --------------------------------------------------------------------------------------


def no_default(spot: Spot, _file: File) -> Iterator[Found]:
    """L013."""
    if spot.lacks("router", "default"):
        yield Found(("router",))


def category_without_route(spot: Spot, _file: File) -> Iterator[Found]:
    """L020."""
    routes = spot.at("router", "routes")
    if routes is None or not spot.lacks("router", "default"):
        return
    known = {_fold(label) for label in routes}
    for i, name in enumerate(spot.at("router", "classifier", "categories") or ()):
        if isinstance(name, str) and _fold(name) not in known and name != OTHER:
            meant = near(name, tuple(routes))
            hint = (
                phrase("write `{meant}`, or add a route `{name}`", meant=meant, name=name)
                if meant
                else phrase("add a route for it")
            )
            keys = ("router", "classifier", "categories", i)
            yield Found(keys, {"name": name, "hint": hint})


def unreachable_route(spot: Spot, _file: File) -> Iterator[Found]:
    """L021."""
    routes = spot.at("router", "routes") or ()
    categories = spot.texts("router", "classifier", "categories")
    offered = {_fold(each) for each in categories}
    first: dict[str, str] = {}
    for label in routes:
        folded = _fold(label)
        reason = hint = ""
        if folded in first:
            reason = phrase(
                "answers are compared without case, and `{first}` comes first", first=first[folded]
            )
            hint = phrase("give it another name")
        elif categories and folded not in offered:
            meant = near(label, categories)
            reason = phrase("it is none of the `categories` that the classifier chooses from")
            hint = (
                phrase("call it `{meant}`", meant=meant)
                if meant
                else phrase("add `{label}` to `categories`", label=label)
            )
        first.setdefault(folded, label)
        if reason:
            keys = ("router", "routes", label)
            yield Found(keys, {"name": label, "reason": reason, "hint": hint})


def _fold(label: str) -> str:
    """Return `label` as answers are compared: see `machine.decoders`."""
    return label.strip().casefold()


# --- memory and knowledge ------------------------------------------------------------------------


def _memory(spot: Spot) -> Any:
    memory = spot.at("memory")
    return memory if memory is not None and spot.at("memory", "enabled") else None


def endless_memory(spot: Spot, _file: File) -> Iterator[Found]:
    """L008."""
    if _memory(spot) is not None and spot.at("memory", "ttl") == 0:
        yield Found(("memory", "ttl"))


def empty_memory(spot: Spot, _file: File) -> Iterator[Found]:
    """L009."""
    if _memory(spot) is not None and spot.at("memory", "size") == 0:
        yield Found(("memory", "size"))


def remembers(spot: Spot, _file: File) -> Iterator[Found]:
    """L015."""
    if _memory(spot) is not None:
        ttl = spot.at("memory", "ttl")
        settings = f"strategy={spot.at('memory', 'strategy')}, size={spot.at('memory', 'size')}"
        scope = spot.at("memory", "scope")
        shared = f", scope={scope}" if scope in {"global", "user"} else ""
        yield Found(("memory",), {"settings": f"{settings}, ttl={ttl or 0:.15g}s{shared}"})


def passing_memory(spot: Spot, _file: File) -> Iterator[Found]:
    """L033."""
    strategy = spot.at("memory", "strategy")
    lasts = _memory(spot) is not None and strategy in {"sqlite", "redis"}
    if lasts and not spot.written("memory", "scope"):
        yield Found(("memory", "strategy"), {"strategy": strategy})


def reads_knowledge(spot: Spot, _file: File) -> Iterator[Found]:
    """L016."""
    if spot.at("rag") is not None and spot.at("rag", "enabled"):
        yield Found(("rag",))


# --- what has no effect --------------------------------------------------------------------------


def no_effect(spot: Spot, _file: File) -> Iterator[Found]:
    """L024."""
    for block in ("memory", "checkpoint"):
        if spot.at(block, "enabled") is False and _settings(spot, block):
            reason = phrase("`enabled` is not true")
            hint = phrase("write `{block}: {{enabled: true, …}}`, or remove it", block=block)
            yield Found((block,), {"reason": reason, "hint": hint})
    mode = spot.at("mcp", "policy", "mode")
    if spot.texts("confirm") and mode in _WITHOUT_NAMES:
        reason = phrase("with `mode: {mode}` {effect}", mode=mode, effect=_WITHOUT_NAMES[mode])
        yield Found(
            ("confirm",), {"reason": reason, "hint": phrase("remove it, or write `mode: auto`")}
        )
    yield from _unlimited(spot)


def _unlimited(spot: Spot) -> Iterator[Found]:
    """Find a limit of the history that nothing keeps to."""
    written = spot.at("model", "conversation")
    if not spot.written("model", "maxHistoryTokens"):
        return
    if written is False:
        reason = phrase("without `conversation` there is no history")
    elif isinstance(written, str) and parse_strategy(written).name not in WITHIN_HISTORY:
        reason = phrase("`conversation: {strategy}` does not keep to it", strategy=written)
    else:
        return
    hint = phrase("remove it, or write `conversation: true`")
    yield Found(("model", "maxHistoryTokens"), {"reason": reason, "hint": hint})


_WITHOUT_NAMES = {
    "force": phrase("every tool waits for a person"),
    "disable": phrase("no tool of the file waits"),
}


def _settings(spot: Spot, block: str) -> set[str]:
    written = spot.written(block)
    return set(getattr(written, "entries", ())) - {"enabled"}


def many_retries(spot: Spot, _file: File) -> Iterator[Found]:
    """L012."""
    retry = spot.at("guard", "retry")
    if retry is not None and retry > _MANY_RETRIES:
        yield Found(("guard", "retry"), {"value": retry, "calls": retry + 1})
