"""`model` blocks → surface models, with what the caller overrides.

In: the settings of one `model` block, with all that it inherits. Out: the `Model`, and how it
converses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeGuard

import attrs

from lambdagent.errors import Diagnostic, finding, plain
from lambdagent.frontend import schema
from lambdagent.frontend.report import certain, nearest, reason_of
from lambdagent.ir import surface
from lambdagent.ir.classes import class_path
from lambdagent.ir.data import Record
from lambdagent.ir.model import Model
from lambdagent.ir.services import CLAUDE_CODE, SCRIPTED, SERVICES, provider_of
from lambdagent.ir.strategies import MANAGED
from lambdagent.messages import phrase

Path: TypeAlias = "tuple[str | int, ...]"
# The model, the strategy of its conversation, if it has one, and how many tokens of it are sent.
Voice: TypeAlias = "tuple[Model | None, str | None, int]"

_HISTORY_TOKENS = 80_000


@attrs.frozen(kw_only=True)
class Overrides:
    """What the caller decides instead of the file.

    Attributes:
        model: Name of the model, for every agent.
        max_steps: Bound of every `react` loop.
        tools: Implementations by name; all `react` agents may use them.
        tool_timeout_s: Longest wait for one tool.
        memory_initial: What the agent remembers from the start.
        memory_binding: Registry key of the store that the agent remembers in.
        providers: Registry keys of provider objects, by the name of the provider.
        base_dir: Directory in which relative paths of the file start.
        declared: What MCP servers have said of their tools, by server.
        mcp_timeout_s: Longest wait for a tool of a server of which the file says none.
        mcp_retries: How often its failed calls are made again, if the file does not say.
    """

    model: str | None = None
    temperature: float | None = None
    max_steps: int | None = None
    max_tokens: int | None = None
    tools: Mapping[str, surface.Tool] = attrs.field(factory=dict)
    tool_timeout_s: float | None = None
    memory_initial: Mapping[str, object] | None = None
    memory_binding: str | None = None
    providers: Mapping[str, str] = attrs.field(factory=dict)
    base_dir: str | None = None
    declared: Mapping[str, tuple[surface.Tool, ...]] = attrs.field(factory=dict)
    mcp_timeout_s: float | None = None
    mcp_retries: int | None = None

    @property
    def memory(self) -> bool:
        """Whether the caller brings a memory."""
        return self.memory_initial is not None or self.memory_binding is not None


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> TypeGuard[int | float]:
    return _is_whole(value) or isinstance(value, float)


# What the settings among the overrides must be, as in the file.
_FORMS: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "model": (phrase("a text"), lambda value: isinstance(value, str)),
    "temperature": (
        phrase("a number from 0 to 2"),
        lambda value: _is_number(value) and 0 <= value <= 2,
    ),
    "max_tokens": (phrase("a whole number from 1"), lambda value: _is_whole(value) and value >= 1),
    "max_steps": (phrase("a whole number from 1"), lambda value: _is_whole(value) and value >= 1),
    "tool_timeout_s": (phrase("a number above 0"), lambda value: _is_number(value) and value > 0),
}


def refused(field: str, expected: str, actual: object) -> Diagnostic:
    """Return the finding that the override `field` is not what is expected."""
    found = finding("S103", None, field=field, expected=expected, actual=plain(actual))
    return found._replace(actual=actual)


def split_overrides(overrides: Overrides) -> tuple[Overrides, list[Diagnostic]]:
    """Return the settings that are what they must be, and what is to be said of the others."""
    findings = []
    unfit: dict[str, Any] = {}
    for name, (expected, fits) in _FORMS.items():
        value = getattr(overrides, name)
        if value is not None and not fits(value):
            # Without the unit: the option of the command line is called so too.
            findings.append(refused(name.removesuffix("_s"), expected, value))
            unfit[name] = None
    return attrs.evolve(overrides, **unfit) if unfit else overrides, findings


class Models:
    """Makes the models of one file; equal settings are made once."""

    def __init__(self, overrides: Overrides, report: Callable[..., None]) -> None:
        """Make models; `report` is called with code, path and words of each finding."""
        self.overrides = overrides
        self.report = report
        self.made: dict[int, Voice] = {}
        self.places: dict[int, Path] = {}
        self.providers: set[str] = set()
        self.names: set[str] = set()

    def locate(self, settings: object, path: Path) -> None:
        """Note that `settings` belong to the agent at `path`; those inside it may inherit them."""
        self.places.setdefault(id(settings), path)

    def of(self, settings: Any, path: Path) -> Voice:
        """Return what `settings` say, used at `path`."""
        known = self.made.get(id(settings))
        if known is None:
            path = self.places.get(id(settings), path)
            known = self.made[id(settings)] = self.new(settings, (*path, "model"))
        return known

    def new(self, settings: Any, path: Path) -> Voice:
        """Return the same, made for the first time; `path` is where `settings` stand."""
        chosen = self.overrides
        if settings is None:
            if chosen.model is None:
                return None, MANAGED, _HISTORY_TOKENS
            settings = Record(schema.MODEL.defaults)
        name = settings.get("name", "") if chosen.model is None else chosen.model
        provider = settings.get("provider") or provider_of(name) or ""
        self.check_provider(provider, name, settings, path)
        self.providers.add(provider)
        self.names.add(name)
        model = Model(
            provider=provider,
            name=name,
            temperature=_first(chosen.temperature, settings["temperature"]),
            max_tokens=_first(chosen.max_tokens, settings["maxTokens"]),
            top_p=settings.get("topP"),
            stop_sequences=settings.get("stopSequences", ()),
            base_url=settings.get("baseUrl"),
            timeout_s=settings["timeout"],
            context_window=settings["contextWindow"],
            script=self.script(settings.get("script")),
            tool_calling=settings["toolCalling"],
            binding=chosen.providers.get(provider),
        )
        return model, strategy_of(settings), history_tokens(settings)

    def script(self, script: Any) -> Record | None:
        """Return `script`, the path of its recording seen from where the caller is."""
        if not script or "recording" not in script:
            return script  # type: ignore[no-any-return]
        return Record(script, recording=self.from_file(script["recording"]))

    def from_file(self, path: str) -> str:
        """Return `path`, which starts at the agent file if relative, as the caller sees it."""
        base = self.overrides.base_dir
        return path if not base or path[:1] in {"/", "~"} else f"{base}/{path}"

    def check_provider(self, provider: str, name: str, settings: Any, path: Path) -> None:
        """Report what is wrong with `provider`, or with `settings` that go with it."""
        fields = schema.MODEL.fields
        if not provider:
            field = "provider"
            self.report("S101", (*path, field), doc=reason_of(fields[field]), key=field)
            return
        injected = provider in self.overrides.providers
        is_known = provider in SERVICES
        if not (is_known or injected or class_path(provider)):
            meant = nearest(provider, SERVICES)
            hint = phrase(
                "docs/yaml.md lists them; or write `package.module:Class`, or pass `providers=`"
            )
            if meant:
                hint = phrase("write `{meant}`", meant=meant)
            words = {"expected": phrase("a known provider"), "actual": provider, "hint": hint}
            instead = certain(provider, meant, SERVICES)
            self.report("S104", (*path, "provider"), **words, instead=instead)
        elif not name and not injected and is_known and SERVICES[provider].needs_name:
            self.report("S101", (*path, "name"), doc=reason_of(fields["name"]), key="name")
        if settings["toolCalling"] == "native" and provider == CLAUDE_CODE and not injected:
            expected = phrase("`auto` or `text`: `{name}` calls tools of its own", name=provider)
            words = {"expected": expected, "actual": "native"}
            self.report("S104", (*path, "toolCalling"), **words, hint=phrase("remove it"))
        if "script" in settings and provider != SCRIPTED:
            self.report("S111", (*path, "script"), needed="provider: scripted")
        if provider == SCRIPTED and "script" not in settings and not injected:
            self.report("S101", (*path, "script"), doc=reason_of(fields["script"]), key="script")


def strategy_of(settings: Any) -> str | None:
    """Return what of a conversation is sent; None if there is none."""
    written = settings["conversation"]
    if isinstance(written, bool):
        return MANAGED if written else None
    return str(written)


def history_tokens(settings: Any) -> int:
    """Return how much of a conversation is sent, in tokens."""
    half = max(settings["contextWindow"] // 2, 1)
    return int(settings.get("maxHistoryTokens") or min(half, _HISTORY_TOKENS))


def _first(chosen: Any, written: Any) -> Any:
    return written if chosen is None else chosen
