"""A model that answers from a script: lists of replies, rules, or a recorded run.

In goes a script, out come the replies in its order, without any waiting or network. It is the fake
of the tests, the model of the examples, and the player of what a `Recorder` wrote.

A recording is JSON lines in UTF-8. The first line is ``{"lambdagent-recording": 1}``, its number
the version of the format; each other line is ``{"agent": NAME, "reply": REPLY}`` in the order of
the calls, where REPLY is `Reply.to_data`: ``text``, and where there are any ``finish_reason``,
``tool_calls`` and ``usage``.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.protocol import ModelCall, Reply
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Data, NotDataError, Record, freeze, thaw
from lambdagent.ir.pattern import Pattern, PatternError, compile_pattern
from lambdagent.messages import phrase

_KEYS = {"replies", "rules", "recording"}
_RULE_KEYS = {"agent", "match", "reply", "times"}
_FORMAT_KEY, _FORMAT = "lambdagent-recording", 1
_LONGEST_MATCH_US = 2_000_000  # nothing can interrupt a match
# What a script tells at a time: a word with the space before it, or one wide character.
_WIDE = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile(rf"\s*(?:[{_WIDE}]|[^\s{_WIDE}]+)|\s+")
_ANYONE = None  # the key of replies that every agent may take


@attrs.define
class _Rule:
    match: Pattern | None
    reply: Reply
    agent: str | None
    left: float

    def fits(self, call: ModelCall) -> bool:
        if self.left <= 0 or self.agent not in {None, call.agent}:
            return False
        return self.match is None or _found(self.match, call.last_text)


def _say(call: ModelCall, reply: Reply) -> None:
    """Tell a reply word by word, where somebody listens."""
    if call.speech is not None:
        for word in _WORD.findall(reply.text):
            call.speech.say(word)


def _found(pattern: Pattern, text: str) -> bool:
    """Whether `text` holds the pattern, if that can be said in time."""
    shown = f"{pattern.regex.pattern:.80}"
    try:
        cost = pattern.cost(text, searching=True)
    except PatternError as error:
        raise _misuse(
            phrase("`match: {pattern}` cannot be looked for: {error}", pattern=shown, error=error)
        ) from error
    if cost > _LONGEST_MATCH_US:
        raise _misuse(
            phrase(
                "`match: {pattern}` could take too long on {count} characters",
                pattern=shown,
                count=len(text),
            )
        )
    return pattern.regex.search(text) is not None


class Scripted:
    """Answers from ``replies``, then from the ``recording``, then by the first rule that fits.

    Safe to share between threads. Where replies are keyed by agent, what one agent gets does not
    depend on the others. No message is read unless a rule looks for something in it.

    >>> Scripted(["one", "two"]).served
    0
    """

    instant = True

    def __init__(self, script: object, *, base_dir: Path | None = None) -> None:
        """Take a list of replies, or a mapping.

        Args:
            script: The replies to all agents, in order; or a mapping of ``replies`` (such a list,
                or lists keyed by agent), ``rules`` (each a ``reply``, if needed with ``match``, a
                regular expression to find in the newest message, ``agent`` and ``times``), and
                ``recording`` (a path). A reply is a text, or a mapping as in a recording.
            base_dir: Where a relative path starts.

        Raises:
            EffectError: The script is none, or a `match` could take too long (E005), or its
                recording cannot be read (E007).
        """
        parts = _parts(script)
        self._replies = _replies(parts.get("replies", ()))
        self._rules = [_rule(item) for item in _list_of(parts.get("rules", ()), "rules")]
        self._lock = ForkSafeLock()
        self._served: dict[str, int] = {}
        recording = parts.get("recording")
        if recording is None:
            return
        if not isinstance(recording, str):
            raise _misuse(phrase("`recording` must be a path"))
        for agent, reply in read_recording((base_dir or Path()) / recording):
            self._replies.setdefault(agent, deque()).append(reply)

    @property
    def served(self) -> int:
        """How many calls were answered."""
        return sum(self._served.values())

    def chat(self, call: ModelCall) -> Reply:
        """Return the next reply to the agent that calls.

        Raises:
            EffectError: The replies are used up, and no rule fits (E004), or the text is too long
                for a rule's `match` (E005).
        """
        with self._lock:
            number = self._served.get(call.agent, 0) + 1
            reply = self._next(call)
            if reply is not None:
                self._served[call.agent] = number
                _say(call, reply)
                return reply
        what = phrase("no rule fits") if self._rules else phrase("all of them are used up")
        raise EffectError(finding("E004", site=call.site, number=number, message=what))

    async def achat(self, call: ModelCall) -> Reply:
        """Return the next reply to the agent that calls."""
        return self.chat(call)

    def recall(self, call: ModelCall, _reply: Reply | None) -> None:
        """Pass over the reply that `call` got in an earlier process."""
        with self._lock:
            if self._next(call) is not None:
                self._served[call.agent] = self._served.get(call.agent, 0) + 1

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    def _next(self, call: ModelCall) -> Reply | None:
        for key in (call.agent, _ANYONE):
            replies = self._replies.get(key)
            if replies:
                return replies.popleft()
        for rule in self._rules:
            if rule.fits(call):
                rule.left -= 1
                return rule.reply
        return None


# --- the form of a script ------------------------------------------------------------------------


def _parts(script: object) -> Record:
    try:
        data = freeze(script)
    except NotDataError as error:
        raise _misuse(str(error)) from error
    match data:
        case tuple():
            return Record(replies=data)
        case Record():
            _only(data, _KEYS, "model.script")
            return data
    raise _misuse(phrase("`model.script` must be a list of replies or a mapping"))


def _replies(data: Data) -> dict[str | None, deque[Reply]]:
    if isinstance(data, Record):
        return {
            agent: deque(_reply(item) for item in _list_of(items, f"replies.{agent}"))
            for agent, items in data.items()
        }
    return {_ANYONE: deque(_reply(item) for item in _list_of(data, "replies"))}


def _rule(data: Data) -> _Rule:
    if not isinstance(data, Record) or "reply" not in data:
        raise _misuse(phrase("a rule is a mapping with a `reply`"))
    _only(data, _RULE_KEYS, "rules")
    match, agent, times = data.get("match"), data.get("agent"), data.get("times")
    if not (isinstance(match, str | None) and isinstance(agent, str | None)):
        raise _misuse(phrase("`match` and `agent` of a rule must be texts"))
    if not (times is None or (type(times) is int and times >= 0)):
        raise _misuse(phrase("`times` of a rule must be a whole number"))
    try:
        pattern = None if match is None else compile_pattern(match)
    except PatternError as error:
        raise _misuse(
            phrase(
                "`match: {pattern}` cannot be used: {error}", pattern=f"{match!s:.80}", error=error
            )
        ) from error
    return _Rule(pattern, _reply(data["reply"]), agent, float("inf") if times is None else times)


def _reply(data: Data) -> Reply:
    if isinstance(data, bool | int | float):  # YAML reads `- 42` as a number
        data = json.dumps(data)
    if isinstance(data, Record) and "tool_calls" in data:
        data = Record({"text": "", **data, "tool_calls": _calls(data["tool_calls"])})
    try:
        return Reply.from_data(data)
    except ValueError as error:
        raise _misuse(str(error)) from error


def _calls(data: Data) -> Data:
    """Return the calls of a reply; an id and arguments may be left out."""
    if not isinstance(data, tuple):
        return data
    return tuple(
        Record({"id": "", "arguments": Record(), **call}) if isinstance(call, Record) else call
        for call in data
    )


def _list_of(data: Data, where: str) -> tuple[Data, ...]:
    if not isinstance(data, tuple):
        raise _misuse(phrase("`{where}` must be a list", where=where))
    return data


def _only(data: Record, known: set[str], where: str) -> None:
    unknown = sorted(set(data) - known)
    if unknown:
        raise _misuse(phrase("`{where}` has no key `{key}`", where=where, key=unknown[0]))


def _misuse(message: str) -> EffectError:
    hint = phrase("write `replies:`, `rules:` or `recording:` as in docs/providers.md")
    return EffectError(finding("E005", provider="scripted", message=message, hint=hint))


# --- recordings ----------------------------------------------------------------------------------


class Recorder:
    """Writes a recording, each reply on disk as soon as it is given; safe to share."""

    def __init__(self, path: Path) -> None:
        """Begin the recording `path`, replacing an older one.

        Raises:
            OSError: The file cannot be written.
        """
        self._lock = ForkSafeLock()
        self._file = path.open("w", encoding="utf-8")
        self._write({_FORMAT_KEY: _FORMAT})

    def add(self, agent: str, reply: Reply) -> None:
        """Write down what `agent` was answered."""
        self._write({"agent": agent, "reply": thaw(reply.to_data())})

    def close(self) -> None:
        """End the recording."""
        self._file.close()

    def _write(self, line: dict[str, object]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        with self._lock:
            self._file.write(text.encode("utf-8", "replace").decode() + "\n")
            self._file.flush()


def write_recording(path: Path, entries: Iterable[tuple[str, Reply]]) -> None:
    """Write the recording `path` of all `entries`: agents and what they were answered."""
    recorder = Recorder(path)
    try:
        for agent, reply in entries:
            recorder.add(agent, reply)
    finally:
        recorder.close()


def read_recording(path: Path) -> list[tuple[str, Reply]]:
    """Return agents and replies of the recording `path`, in the order of the calls.

    Raises:
        EffectError: It cannot be read, or is damaged, or of another version (E007).
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
        return list(_entries(lines))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise EffectError(finding("E007", path=str(path), reason=reason)) from error


def _entries(lines: list[str]) -> Iterator[tuple[str, Reply]]:
    for number, line in enumerate(lines, 1):
        if number == 1:
            if _parsed(line, number) != Record({_FORMAT_KEY: _FORMAT}):
                what = phrase('line 1 must be {{"{key}": {form}}}', key=_FORMAT_KEY, form=_FORMAT)
                raise ValueError(what)
        elif line:
            yield _entry(_parsed(line, number), number)


def _parsed(line: str, number: int) -> Data:
    try:
        return freeze(json.loads(line))
    except (TypeError, ValueError) as error:
        what = phrase("line {number} is no JSON", number=number)
        raise ValueError(what) from error


def _entry(data: Data, number: int) -> tuple[str, Reply]:
    match data:
        case Record() if isinstance(data.get("agent"), str) and "reply" in data:
            return str(data["agent"]), Reply.from_data(data["reply"])
    what = phrase("line {number} has no `agent` and `reply`", number=number)
    raise ValueError(what)
