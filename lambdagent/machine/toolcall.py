"""Model text → a tool call, an answer, or a call that cannot run.

In: the text of one reply and the names of the tools. Out: `Call`, `Answer` or `Invalid`, never an
exception. Shapes of a call are tried in this order: JSON, XML tags, `Action:` lines, a line
`name(args)`, and `terminate` alone on a line. A text that only mentions a tool is an answer.
"""

# Note [One pass before the shapes]
#
# Reasoning blocks hide drafts of calls, and a string inside a call may hold `<think>`, fences and
# braces. So one pass goes over the text and skips, at each place, whichever starts first: a block
# or a whole object. It also stops at an `Observation:` that follows an action, since a model that
# writes one invents the rest. What remains is the visible text; the other shapes are tried there.

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import attrs

from lambdagent.ir.data import Data, NotDataError, Record, freeze, is_json, thaw
from lambdagent.ir.labels import TERMINATE
from lambdagent.ir.loose_json import STRICT, Budget, Found, read_value
from lambdagent.machine.called import Answer, Call, Extracted, Invalid, Reason, is_cut, refusal
from lambdagent.machine.python_args import read_arguments

_MARK = re.compile(
    r"<(?P<think>/?)think(?:ing)?>"
    r"|^[ \t*]*+(?P<line>Action|Observation)[ \t*]*+:"
    r"|\{\s*+(?:\"[^\"\\\n]{1,64}\"|'[^'\\\n]{1,64}')\s*+:",
    re.IGNORECASE | re.MULTILINE,
)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_NO_CALL_BEFORE = re.compile(
    r"(?:Action[ _]?Input[ \t*]*:|<args>|\[CDATA\[)\s*(?:```\w*\s*)?\Z", re.IGNORECASE
)
_XML_TOOL = re.compile(r"<tool>([^<>]{1,200})</tool>", re.IGNORECASE)
_XML_ARGS = re.compile(r"\s*+<args>(?P<raw>\s*+<!\[CDATA\[)?", re.IGNORECASE)
_XML_END = re.compile(r"</args>", re.IGNORECASE)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
_ACTION = re.compile(r"^[ \t*]*+Action[ \t*]*+:([^\n]*)", re.IGNORECASE | re.MULTILINE)
_INPUT = re.compile(r"^[ \t*]*+Action[ \t_]*+Input[ \t*]*+:[ \t*]*+", re.IGNORECASE | re.MULTILINE)
_NEXT_LINE = re.compile(
    r"^[ \t*]*+(?:Observation|Thought|Action(?:[ \t_]*+Input)?|Final Answer)[ \t*]*+:",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKETED = re.compile(r"([^\W\d][\w.-]*+)[ \t]*+[(\[]([^\n]*)[)\]]")
_LINE_CALL = re.compile(r"^[ \t`]*+([^\W\d][\w.-]*+)\(([^\n]*)\)[ \t`;.]*+$", re.MULTILINE)
_LINE_END = re.compile(r"^[ \t*`_]*+terminate[ \t*`_.!]*+$", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"```\w*\s*+")
# A text that is meant to be an object.
_OBJECT = re.compile(r"\s*+\{\s*+(?:[\"']|\}\s*+\Z)")
_CUT_CALL = re.compile(
    r"(?:\{\s*(?:[\"'][^\"'\n]{0,64}[\"']?\s*)?|```(?:json)?\s*"
    r"|<tool>[^<>]{0,200}(?:<[^<>\n]{0,20})?|</?[a-z]{0,10})\Z"
)
_TOOL_LIKE = re.compile(r"[^\W\d][\w.:/-]{0,99}")
_NO_ACTION = {"none", "n/a", "finish", "no action", "nothing"}

_NAME_KEYS = ("tool", "tool_name", "action", "function", "name")
_ARGS_KEYS = (
    *("args", "arguments", "parameters", "params", "input"),
    *("action_input", "tool_input", "tool_args", "kwargs"),
)
_ANSWER_KEYS = ("answer", "final_answer", "output", "result", "response", "text", "content")
_ASIDE_KEYS = {"thought", "thoughts", "reasoning", "reason", "explanation", "id", "type"}
_BROKEN = {"truncated", "malformed"}
_MISSING = object()


def extract_call(text: str, tools: Sequence[str], finish_reason: str | None = None) -> Extracted:
    """Return what the reply `text` asks for. See Note [One pass before the shapes].

    Args:
        text: The whole reply of the model.
        tools: The names that may be called. They match exactly, else without regard to case and
            to the difference between `-`, `_` and space.
        finish_reason: What the provider said; see `is_cut`.
    """
    caller = _caller(tuple(tools), cut=is_cut(finish_reason))
    return caller.whole(text) or caller.search(text)


def extract_calls(
    text: str, tools: Sequence[str], finish_reason: str | None = None
) -> list[Extracted]:
    """Return all calls that the reply `text` asks for as JSON, else what `extract_call` says.

    Args:
        text: As for `extract_call`.
        tools: As for `extract_call`.
        finish_reason: As for `extract_call`.
    """
    caller = _caller(tuple(tools), cut=is_cut(finish_reason))
    whole = caller.whole(text)
    if whole is not None:
        return [whole]
    seen = caller.scan(text)
    calls: list[Extracted] = [call for call in seen.calls if not isinstance(call, Answer)]
    if calls and not isinstance(seen.calls[0], Answer):
        return calls
    return [caller.shaped(seen)]


def read_call(
    name: str, arguments: Data, tools: Sequence[str], how: str, *, by_text: bool = False
) -> Extracted:
    """Return the call that a provider has found in a reply, its arguments as data.

    Args:
        name: The tool, as the model wrote it.
        arguments: Data, or the text that should have been JSON.
        tools: The names that may be called.
        how: What the model is told to do instead.
        by_text: Whether a text that is meant to be no object may be the one argument.
    """
    caller = _caller(tuple(tools), cut=False)
    tool = caller.tool(name)
    if tool is None:
        return refusal("unknown_tool", f"there is no tool `{name[:80]}`", tools, how)
    what = f"the arguments of `{tool}` are no JSON object"
    if not isinstance(arguments, str):
        if not is_json(arguments):
            return refusal("malformed", what, tools, how)
        return caller.call(tool, thaw(arguments))
    written = arguments.strip()
    if not written or ((by_text or tool == TERMINATE) and not _OBJECT.match(written)):
        return caller.call(tool, written or None)
    found = read_value(written, 0, Budget(written))
    if found.status != "whole" or found.end != len(written):
        return refusal("malformed", what, tools, how)
    return caller.call(tool, found.value)


@attrs.frozen(eq=False, repr=False)
class _Seen:
    """What the first pass found: the visible text, and its JSON calls, a broken one last."""

    text: str
    calls: list[Extracted]
    thinking: bool


@attrs.frozen(eq=False, repr=False)
class _Caller:
    """What may be called, and how that is said. `cut` says that the reply ends too early."""

    tools: Sequence[str]
    cut: bool
    folded: Mapping[str, str | None]

    # --- results ---

    def tool(self, name: str) -> str | None:
        """Return the tool that `name` means."""
        return name if name in self.tools else self.folded.get(_fold(name))

    def invalid(self, reason: Reason, what: str) -> Invalid:
        return refusal(reason, what, self.tools)

    def unknown(self, name: str) -> Invalid:
        return self.invalid("unknown_tool", f"there is no tool `{name[:80]}`")

    def truncated(self) -> Invalid:
        return self.invalid("truncated", "the reply ends in the middle of a tool call")

    def malformed(self, what: str) -> Invalid:
        return self.invalid("malformed", what)

    def call(self, tool: str, args: Any) -> Extracted:
        """Return the call, with `args` brought into the form that tools expect."""
        if tool == TERMINATE:
            return Call(tool, _answer_text(args), _given(args))
        if args is None:
            return Call(tool, Record())
        try:
            if isinstance(args, str) and _OBJECT.match(args):
                inner = args.strip()
                found = read_value(inner, 0, Budget(inner))
                if found.status != "whole" or found.end != len(inner):
                    return self.malformed(f"the arguments of `{tool}` are no JSON object")
                return Call(tool, freeze(found.value))
            return Call(tool, freeze(args))
        except NotDataError as error:
            return self.malformed(f"the arguments of `{tool}` cannot be used: {error}")

    def otherwise(self, seen: _Seen) -> Extracted:
        """Return the result when no shape of a call was found."""
        answer = seen.text.strip()
        if seen.thinking and (self.cut or not answer):
            reason: Reason = "truncated" if self.cut else "malformed"
            return self.invalid(reason, "the reply has only unfinished reasoning")
        if self.cut and _CUT_CALL.search(answer[-200:]):
            return self.truncated()
        return Answer(answer)

    # --- the whole text ---

    def search(self, text: str) -> Extracted:
        """Return what `text` asks for, in whatever shape and wherever in the text."""
        return self.shaped(self.scan(text))

    def shaped(self, seen: _Seen) -> Extracted:
        """Return the first call of what was seen, in whatever shape, or what it is else."""
        if seen.calls:
            return seen.calls[0]
        for shape in (self.xml, self.action, self.line_call, self.line_end):
            found = shape(seen.text)
            if found is not None:
                return found
        return self.otherwise(seen)

    def whole(self, text: str) -> Extracted | None:
        """Return the call that the whole text is in the form we ask for; None if it may not be.

        `search` would find the same, since nothing stands around the call, in 7 µs instead of 2.
        """
        text = text.strip()
        if not (text.startswith('{"tool":') and text.endswith("}")):
            return None
        if "\\ud" in text or "\\uD" in text:  # half a character is repaired by the loose reader
            return None
        try:
            obj, end = STRICT.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        if end != len(text):
            return None
        name = obj["tool"]
        if len(obj) == 2 and "args" in obj and isinstance(name, str):
            tool = self.tool(name.strip())
            if tool is not None:
                return self.call(tool, obj["args"])
        return self.read_object(obj)

    # --- JSON ---

    def scan(self, text: str) -> _Seen:
        """Find the JSON calls outside of reasoning, and the visible text."""
        budget = Budget(text)
        visible: list[str] = []
        place = start = 0
        end = len(text)
        acted = thinking = broken = False
        calls: list[Extracted] = []
        while mark := _MARK.search(text, place):
            place = mark.end()
            if mark["think"] == "":
                visible.append(text[start : mark.start()])
                close = _THOUGHT_END.search(text, place)
                thinking = close is None
                place = start = end if close is None else close.end()
            elif mark["think"]:
                # The provider has put the opening tag into the prompt: all before was reasoning.
                visible, start, acted, broken, calls = [], place, False, False, []
            elif mark["line"]:
                observing = mark["line"].casefold() == "observation"
                if acted and observing:
                    end = mark.start()
                    break
                acted = acted or not observing
            elif not budget.spent():
                found, place = self.scan_object(text, mark, budget)
                # Nothing after a broken call is trusted: it may be a part of it.
                calls += [] if broken else found
                broken = broken or any(
                    isinstance(call, Invalid) and call.reason in _BROKEN for call in found
                )
        visible.append(text[start:end])
        return _Seen("".join(visible), calls, thinking)

    def scan_object(
        self, text: str, mark: "re.Match[str]", budget: Budget
    ) -> tuple[list[Extracted], int]:
        """Return the calls that the object at `mark` is, if it is any, and where to go on."""
        found = read_value(text, mark.start(), budget)
        hidden = _NO_CALL_BEFORE.search(text[max(0, mark.start() - 60) : mark.start()])
        if found.status == "whole":
            calls = [] if hidden else map(self.read_object, _several_in(found.value))
            return [call for call in calls if call is not None], found.end
        broken = None if hidden else self.broken_object(found)
        return ([broken], found.end) if broken else ([], mark.end())

    def broken_object(self, found: Found) -> Invalid | None:
        """Return what to say of an object that ends too early or has a fault."""
        obj = _folded_keys(found.value)
        likely = "tool" in obj or "tool_name" in obj or "tool_calls" in obj
        named = isinstance(obj.get("name"), str | dict) or isinstance(obj.get("function"), dict)
        acting = isinstance(obj.get("action"), str) and self.tool(obj["action"]) is not None
        if found.status == "cut" and (self.cut or likely or named or acting):
            return self.truncated()
        if likely or acting or (named and any(key in obj for key in _ARGS_KEYS)):
            return self.malformed("the tool call is no valid JSON")
        return None

    def read_object(self, obj: dict[str, Any]) -> Extracted | None:
        """Return the call that `obj` is, or None if it is no call."""
        obj = _unwrapped(_folded_keys(obj))
        key = next((key for key in _NAME_KEYS if isinstance(obj.get(key), str)), None)
        if key is None:
            return None
        name = obj[key].strip()
        tool = self.tool(name)
        args = next((obj[key] for key in _ARGS_KEYS if key in obj), _MISSING)
        if args is _MISSING:
            return None if tool is None or key == "name" else self.without_args(tool, obj, key)
        if tool is not None:
            return self.call(tool, args)
        if key == "action" and _fold(name) == "final_answer":
            return Answer(_answer_text(args))
        return self.unknown(name) if _TOOL_LIKE.fullmatch(name) else None

    def without_args(self, tool: str, obj: dict[str, Any], key: str) -> Extracted:
        rest = {k: v for k, v in obj.items() if k != key and k not in _ASIDE_KEYS}
        if rest and tool != TERMINATE:
            return self.malformed(f"the arguments of `{tool}` belong under `args`")
        return self.call(tool, rest or None)

    # --- XML ---

    def xml(self, text: str) -> Extracted | None:
        for mark in _XML_TOOL.finditer(text):
            name = mark[1].strip()
            tool = self.tool(name)
            start = _XML_ARGS.match(text, mark.end())
            if start is None:
                if tool is not None:
                    at_end = self.cut and not text[mark.end() :].strip()
                    return self.truncated() if at_end else self.call(tool, None)
                continue
            return self.unknown(name) if tool is None else self.xml_call(tool, text, start)
        return None

    def xml_call(self, tool: str, text: str, start: "re.Match[str]") -> Extracted:
        place = start.end()
        if start["raw"]:
            stop = text.find("]]>", place)
            return self.truncated() if stop < 0 else self.call(tool, text[place:stop])
        end = _XML_END.search(text, place)
        if end is None:
            return self.truncated()
        body = text[place : end.start()].strip()
        if "<" not in body:
            body = _ENTITY.sub(lambda found: _ENTITIES[found[0]], body)
        return self.call(tool, body)

    # --- lines ---

    def action(self, text: str) -> Extracted | None:
        mark = _ACTION.search(text)
        if mark is None:
            return None
        name = mark[1].strip(" \t\r*`\"'[]")
        given = _INPUT.search(text, mark.end())
        following = _ACTION.search(text, mark.end())
        if given and following and following.start() < given.start():
            given = None
        tool = self.tool(name)
        if tool is None:
            return self.other_action(name, mark, text[given.end() :] if given else None)
        if given is not None:
            return self.action_input(tool, text, given.end())
        if self.cut and not text[mark.end() :].strip():
            return self.truncated()
        return self.call(tool, _without(text, mark) if tool == TERMINATE else None)

    def other_action(
        self, name: str, mark: "re.Match[str]", given: str | None
    ) -> Extracted | None:
        """Return what an action that names no tool is: `name(args)`, an answer, a mistake."""
        inline = _BRACKETED.fullmatch(mark[1].strip(" \t\r*`"))
        tool = self.tool(inline[1]) if inline else None
        if inline and tool is not None:
            return self.call(tool, read_arguments(inline[2]))
        if given is not None:
            if _fold(name) == "final_answer":
                return Answer(given.strip())
            return self.unknown(name)
        plain = _TOOL_LIKE.fullmatch(name) and name.casefold() not in _NO_ACTION
        return self.unknown(name) if plain else None

    def action_input(self, tool: str, text: str, place: int) -> Extracted:
        following = _NEXT_LINE.search(text, place)
        body = text[place : following.start() if following else None].strip()
        fence = _FENCE.match(body)
        if fence:
            body = body[fence.end() :].partition("```")[0].rstrip()
        if not _OBJECT.match(body):
            if self.cut and following is None:
                return self.truncated()
            return self.call(tool, _unquoted(body))
        # Read from the text, not the body: a string may hold lines that look like the next step.
        found = read_value(text, text.index("{", place), Budget(text))
        if found.status == "whole":
            return self.call(tool, found.value)
        if found.status == "cut":
            return self.truncated()
        return self.malformed(f"the input of `{tool}` is no valid JSON")

    def line_call(self, text: str) -> Extracted | None:
        for mark in _LINE_CALL.finditer(text):
            tool = self.tool(mark[1])
            if tool is not None:
                return self.call(tool, read_arguments(mark[2]))
        return None

    def line_end(self, text: str) -> Extracted | None:
        mark = _LINE_END.search(text)
        if mark is None or TERMINATE not in self.tools:
            return None
        return self.call(TERMINATE, _without(text, mark))


@lru_cache(maxsize=64)
def _caller(tools: tuple[str, ...], *, cut: bool) -> _Caller:
    folded: dict[str, str | None] = {}
    for tool in tools:
        name = _fold(tool)
        # Two tools that differ in nothing else must be named exactly.
        folded[name] = None if name in folded else tool
    return _Caller(tools, cut, folded)


def _without(text: str, mark: "re.Match[str]") -> str:
    """Return `text` but the line of `mark`."""
    return f"{text[: mark.start()].strip()}\n{text[mark.end() :].strip()}".strip()


def _fold(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _folded_keys(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    return {name.casefold(): part for name, part in value.items()}


def _several_in(obj: Mapping[str, Any]) -> list[Any]:
    """Return the calls inside `tool_calls: [...]`, else `obj` alone."""
    several = _folded_keys(obj).get("tool_calls")
    return several if isinstance(several, list) else [several or obj]


def _unwrapped(obj: dict[str, Any]) -> dict[str, Any]:
    """Return the call inside `tool_call: {...}` and `function: {...}`."""
    for key in ("tool_call", "function"):
        inner = obj.get(key)
        if isinstance(inner, dict):
            obj = _folded_keys(inner)
    return obj


def _answer_text(args: Any) -> str:
    """Return the final answer that the arguments of `terminate` hold."""
    if isinstance(args, dict):
        folded = _folded_keys(args)
        named = [folded[key] for key in _ANSWER_KEYS if key in folded]
        if named or len(args) == 1:
            args = named[0] if named else next(iter(args.values()))
    if args is None or (isinstance(args, dict | list) and not args):
        return ""
    if isinstance(args, str):
        return args
    try:
        return json.dumps(args, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(args)[:1000]


def _given(args: Any) -> Data:
    try:
        return freeze(args)
    except NotDataError:
        return None


def _unquoted(text: str) -> str:
    """Return what a whole text in double quotes says, else the text."""
    if len(text) < 2 or not (text[0] == text[-1] == '"'):
        return text
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        return text
    return value if isinstance(value, str) else text
