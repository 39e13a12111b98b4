"""Rules about `model` blocks: how models are asked, which they are, what scripts say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from lambdagent.frontend.lint.rules import File, Found
from lambdagent.frontend.lint.spots import Spot, near
from lambdagent.frontend.models import history_tokens, strategy_of
from lambdagent.frontend.report import BAD, nearest
from lambdagent.ir.data import Record
from lambdagent.ir.known_models import MODELS
from lambdagent.ir.services import SERVICES, provider_of
from lambdagent.ir.strategies import BUDGET, FULL, parse_strategy
from lambdagent.messages import phrase

_HOT = 1.5
_MOST_NAMES = 5
_DIGITS = re.compile(r"\d+")


def hot(spot: Spot, _file: File) -> Iterator[Found]:
    """L007."""
    if spot.written("model", "temperature"):
        value = spot.at("model", "temperature")
        if value is not None and value > _HOT:
            yield Found(("model", "temperature"), {"value": f"{value:g}"})


def cold(spot: Spot, _file: File) -> Iterator[Found]:
    """L014."""
    if spot.written("model", "temperature") and spot.at("model", "temperature") == 0:
        yield Found(("model", "temperature"))


def doubtful_name(spot: Spot, _file: File) -> Iterator[Found]:
    """L027."""
    if not spot.written("model", "name") and not spot.written("model", "provider"):
        return
    name, provider = spot.at("model", "name"), spot.at("model", "provider")
    if not name or provider in {"custom", "scripted"}:
        return
    owner = provider_of(name)
    keys = ("model", "name")
    service = SERVICES.get(provider)
    is_own = service is not None and service.own_models_only and spot.lacks("model", "baseUrl")
    if is_own and owner not in {None, provider}:
        reason = phrase(
            "it is a model of {owner}, and `provider` is {provider}",
            owner=owner,
            provider=provider,
        )
        yield Found(
            keys,
            {
                "name": name,
                "reason": reason,
                "hint": phrase("write `provider: {owner}`", owner=owner),
            },
        )
        return
    meant = None if name in MODELS else nearest(name, MODELS)
    if meant is not None and _DIGITS.findall(meant) == _DIGITS.findall(name):
        reason, hint = (
            phrase("it is almost `{meant}`", meant=meant),
            phrase("write `{meant}` if you mean that", meant=meant),
        )
        yield Found(keys, {"name": name, "reason": reason, "hint": hint})


def narrow_window(spot: Spot, _file: File) -> Iterator[Found]:
    """L028."""
    settings, written = spot.at("model"), spot.written("model")
    if settings is None or written is None or BAD in settings.values():
        return
    name, window = settings.get("name", ""), settings["contextWindow"]
    known = MODELS.get(name)
    readable = window if known is None else known.window
    if spot.written("model", "contextWindow") and window > readable:
        what, setting = (
            phrase("the {window} tokens of `contextWindow`", window=window),
            "contextWindow",
        )
    elif (limited := _history(settings)) is not None:
        (history, setting), answer = limited, settings["maxTokens"]
        if history + answer <= min(window, readable):
            return
        what = phrase(
            "{history} tokens of conversation and {answer} of answer",
            history=history,
            answer=answer,
        )
    elif settings["maxTokens"] > min(window, readable):
        what, setting = (
            phrase("{count} tokens of answer", count=settings["maxTokens"]),
            "maxTokens",
        )
    else:
        return
    words = {"what": what, "window": min(window, readable), "setting": f"`{setting}`"}
    yield Found(("model", setting), {**words, "name": name or phrase("the model")})


def _history(settings: Record) -> tuple[int, str] | None:
    """Return how many tokens of a conversation are sent, and which setting says so."""
    written = strategy_of(settings)
    strategy = None if written is None else parse_strategy(written)
    if strategy is None or strategy.name == FULL:
        return None
    if strategy.name == BUDGET:
        return strategy.limit, "conversation"
    return history_tokens(settings), "maxHistoryTokens"


# --- scripts -------------------------------------------------------------------------------------


def unused_replies(spot: Spot, file: File) -> Iterator[Found]:
    """L025."""
    script = spot.at("model", "script") if spot.written("model", "script") else None
    if script is None:
        return
    depth = len(spot.path)
    names = {name for path, name in file.spots.names if path[:depth] == spot.path}
    replies = script.get("replies")
    for name in replies if replies.__class__ is Record else ():
        if name not in names:
            yield _nobody(("model", "script", "replies", name), name, names)
    yield from _unused_rules(script, names)


def _unused_rules(script: Record, names: Collection[str]) -> Iterator[Found]:
    rules: Any = script.get("rules")
    answered: set[str | None] = set()
    for i, rule in enumerate(rules if isinstance(rules, tuple) else ()):
        if rule.__class__ is not Record or BAD in rule.values():
            continue
        agent = rule.get("agent")
        keys = ("model", "script", "rules", i)
        if agent is not None and agent not in names:
            yield _nobody((*keys, "agent"), agent, names)
        elif answered & {None, agent}:
            reason = phrase("a rule above it answers everything")
            yield Found(
                keys, {"reason": reason, "hint": phrase("move it up, or give that one a `match`")}
            )
        if not rule.get("match") and "times" not in rule:
            answered.add(agent)
    if None in answered and "recording" in script:
        reason = phrase("a rule answers everything before the recording is asked")
        hint = phrase("give that rule a `match`, or remove the recording")
        yield Found(("model", "script", "recording"), {"reason": reason, "hint": hint})


def _nobody(keys: tuple[str | int, ...], name: str, names: Collection[str]) -> Found:
    meant = near(name, names)
    some = ", ".join(f"`{each}`" for each in sorted(names)[:_MOST_NAMES])
    hint = (
        phrase("write `{meant}`", meant=meant)
        if meant
        else phrase("use the name of an agent, such as {some}", some=some)
    )
    return Found(
        keys, {"reason": phrase("no agent here is called `{name}`", name=name), "hint": hint}
    )
