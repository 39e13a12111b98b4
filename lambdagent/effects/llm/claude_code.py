"""Model calls over Claude Code: the program ``claude`` of this machine, in its print mode.

In go messages, out comes a `Reply` with what the program says that it cost. The program is only
asked to speak: it gets no tools of its own, no settings of the project it stands in, and one turn.

Source: https://code.claude.com/docs/en/cli-reference; specification 5.6.
"""

# Note [Sessions are prefixes]
#
# The program keeps the conversations that it had, and goes on with one by its id. So what is sent
# is the newest message alone, if all before it is known: the id is kept under a digest of the
# system prompt, the messages and the reply. A call whose past is not known, because a conversation
# was cut or summarised, or was had elsewhere, sends its past as text and begins a new session.
# Each call forks the session that it goes on with: the past stays as it was, for a guard that asks
# again and for runs that go on from there twice.

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.messages import is_default_temperature
from lambdagent.effects.process import Launch, Outcome, run_group, without_secrets
from lambdagent.effects.protocol import Cancellation, Message, ModelCall, Reply, Usage
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.replies import OutOfFormError, count, has_counts, reply_of
from lambdagent.effects.tools import in_thread
from lambdagent.effects.transport_log import TransportLog
from lambdagent.errors import EffectError, finding
from lambdagent.ir.limits import usd_of
from lambdagent.ir.model import Model
from lambdagent.ir.services import CLAUDE_CODE
from lambdagent.messages import phrase

_PROGRAM = "claude"
_OWN_VARIABLES = ("ANTHROPIC_", "CLAUDE_")  # what the program is told by, keys included
_MOST_SESSIONS = 10_000
_LONGEST_LINE_BYTES = 64_000_000
# What is kept of its output beside, to find out why it failed.
_KEPT_BYTES = 64_000
# Systems refuse long arguments: Linux one of 128 KiB, others so much in all of them.
_LONGEST_ARGUMENT_BYTES = 64_000
# What a session is that the program does not know any more.
_UNKNOWN_SESSION = "No conversation found"
_CANNOT = {
    "top_p": "topP",
    "stop_sequences": "stopSequences",
}


def find_program(environment: Mapping[str, str]) -> str:
    """Return the path of the program.

    Raises:
        EffectError: It is not where `environment` says that programs are (E005).
    """
    found = shutil.which(_PROGRAM, path=environment.get("PATH", ""))
    if found is None:
        what = phrase("the program `{program}` is not on the PATH", program=_PROGRAM)
        hint = phrase("install Claude Code, or use `provider: anthropic`")
        raise EffectError(finding("E005", provider=CLAUDE_CODE, message=what, hint=hint))
    return found


class ClaudeCode:
    """Asks the program; one process for each call."""

    instant = False

    def __init__(
        self, model: Model, environment: Mapping[str, str], directory: Path | None = None
    ) -> None:
        """Find the program; nothing runs yet.

        Args:
            model: Its `base_url` counts.
            environment: Where the program is looked for, and what it gets.
            directory: Where it runs; the working directory by default.

        Raises:
            EffectError: There is no such program (E005).
        """
        self._program = find_program(environment)
        self._directory = directory
        own = {k: v for k, v in environment.items() if k.startswith(_OWN_VARIABLES)}
        self._environment = {**without_secrets(environment), **own}
        if model.base_url is not None:
            self._environment["ANTHROPIC_BASE_URL"] = model.base_url
        self._log = TransportLog(_PROGRAM, Redaction(environment).text)
        self._lock = ForkSafeLock()
        self._sessions: dict[str, str] = {}

    def chat(self, call: ModelCall) -> Reply:
        """Return the model's reply; see `Provider`."""
        return self._answer(call, call.cancel)

    async def achat(self, call: ModelCall) -> Reply:
        """Return the model's reply; cancelling the task kills the program."""
        stop = Cancellation()
        forget = call.cancel.on_cancel(stop.cancel)
        try:
            return await in_thread(lambda: self._answer(call, stop))
        except asyncio.CancelledError:
            stop.cancel()
            raise
        finally:
            forget()

    def recall(self, call: ModelCall, reply: Reply | None) -> None:
        """Remember the session in which `call` got `reply` in an earlier process."""
        if reply is not None:
            self._remember(call.messages, reply)

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""

    # --- one call --------------------------------------------------------------------------------

    def _answer(self, call: ModelCall, stop: Cancellation) -> Reply:
        messages = call.messages
        with self._lock:
            session = self._sessions.get(_digest(messages[:-1]))
        with self._log.telling(call, stop) as tell:
            try:
                reply = self._ask(call, stop, messages, session)
            except _ForgottenError:
                reply = self._ask(call, stop, messages, None, number=2)
            tell(reply)
        self._remember(messages, reply)
        return reply

    def _remember(self, messages: Sequence[Message], reply: Reply) -> None:
        if reply.session is None:
            return
        past = _digest([*messages, Message("assistant", reply.text)])
        with self._lock:
            self._sessions[past] = reply.session
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))

    def _ask(
        self,
        call: ModelCall,
        stop: Cancellation,
        messages: Sequence[Message],
        session: str | None,
        number: int = 1,
    ) -> Reply:
        dictation = _Lines(call)
        given = messages[-1].text if session else _transcript(messages)
        launch = Launch(
            directory=self._directory,
            environment=self._environed(call.model),
            keep_bytes=_KEPT_BYTES,
            hear=dictation.hear,
        )
        try:
            with _system_prompt(messages) as prompt:
                arguments = _arguments(call.model, prompt, session)
                self._log.sends(call, {"arguments": arguments, "input": given}, number)
                outcome = run_group(
                    [self._program, *arguments],
                    given.encode("utf-8", "replace"),
                    call.timeout_s,
                    stop,
                    launch,
                )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise _failed(call, phrase("it cannot be started: {reason}", reason=reason)) from error
        return _reply(call, outcome, dictation, session)

    def _environed(self, model: Model) -> dict[str, str]:
        if model.max_tokens is None:
            return self._environment
        return {**self._environment, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(model.max_tokens)}


class _ForgottenError(Exception):
    """The program does not know the session any more."""


class _Lines:
    """Takes down the lines of JSON that the program prints, and tells what they say.

    Attributes:
        result: The last line that is a result.
        is_cut: Whether there was a line that is too long to be taken down.
    """

    def __init__(self, call: ModelCall) -> None:
        self.result: dict[str, Any] | None = None
        self._speech = call.speech
        self._rest = bytearray()
        self._is_too_long = False
        self.is_cut = False

    def hear(self, chunk: bytes) -> None:
        """Take down a piece of what is printed."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end)
            self.end()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._is_too_long |= len(self._rest) + len(piece) > _LONGEST_LINE_BYTES
        if not self._is_too_long:
            self._rest += piece

    def end(self) -> None:
        """Take down what stands behind the last end of a line."""
        if self._is_too_long:
            self.is_cut = True
        else:
            self._line(bytes(self._rest))
        self._rest.clear()
        self._is_too_long = False

    def _line(self, line: bytes) -> None:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return  # other lines than those of JSON are for people
        if not isinstance(row, dict):
            return
        if row.get("type") == "result":
            self.result = row
        elif row.get("type") == "stream_event" and self._speech is not None:
            event = row.get("event")
            delta = event.get("delta") if isinstance(event, dict) else None
            text = delta.get("text") if isinstance(delta, dict) else None
            if isinstance(text, str):
                self._speech.say(text)


def check_settings(model: Model) -> None:
    """Check that the program can be told all that `model` says.

    Raises:
        EffectError: It cannot (E005).
    """
    wrong = [name for field, name in _CANNOT.items() if getattr(model, field)]
    if model.temperature is not None and not is_default_temperature(model):
        wrong.append("temperature")
    if wrong:
        names = ", ".join(f"`{name}`" for name in wrong)
        what = phrase("it cannot be told {names}", names=names)
        hint = phrase("remove them, or use `provider: anthropic`")
        raise EffectError(finding("E005", provider=CLAUDE_CODE, message=what, hint=hint))


@contextmanager
def _system_prompt(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the argument that tells the system prompt: by a file where it is too long for one."""
    system = "\n\n".join(each.text for each in messages if each.role == "system")
    raw = system.encode("utf-8", "replace")
    if len(raw) <= _LONGEST_ARGUMENT_BYTES:
        yield f"--system-prompt={system}"
        return
    with NamedTemporaryFile(prefix="lambdagent-", suffix=".md") as file:  # for this user only
        file.write(raw)
        file.flush()
        yield f"--system-prompt-file={file.name}"


def _arguments(model: Model, prompt: str, session: str | None) -> list[str]:
    """Return the arguments of a call; `session` with `=`, so that it is never another option."""
    return [
        "--print",
        "--output-format=stream-json",
        "--include-partial-messages",
        "--verbose",
        "--tools=",
        "--strict-mcp-config",
        "--setting-sources=user",
        "--max-turns=1",
        prompt,
        *([f"--model={model.name}"] if model.name else []),
        *([f"--resume={session}", "--fork-session"] if session else []),
    ]


def _transcript(messages: Sequence[Message]) -> str:
    """Return all that is no system prompt as one message."""
    *past, newest = [each for each in messages if each.role != "system"]
    if not past:
        return newest.text
    lines = [f"{each.role}: {each.text}" for each in past]
    return "\n\n".join(["[Conversation so far]", *lines, "[Current message]", newest.text])


def _digest(messages: Sequence[Message]) -> str:
    rows = [(each.role, each.text) for each in messages]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _reply(call: ModelCall, outcome: Outcome, lines: _Lines, session: str | None) -> Reply:
    """Return what the program answered.

    Raises:
        EffectError: It failed (E002), or took too long (E003).
        _ForgottenError: It does not know `session`.
    """
    lines.end()
    if outcome.timed_out:
        limit = f"{call.timeout_s:g}"
        raise EffectError(finding("E003", site=call.site, limit=limit, setting="model.timeout"))
    if outcome.status is None:
        raise _failed(call, phrase("the call was cancelled"), phrase("raise `--timeout`"))
    row = lines.result
    if row is None or row.get("is_error") or row.get("subtype") != "success":
        said = str(row.get("result") or row.get("subtype")) if row else ""
        if session and _UNKNOWN_SESSION in f"{said} {outcome.errors} {outcome.output[:1000]}":
            raise _ForgottenError
        last = outcome.errors.rsplit("\n", 1)[-1]
        if lines.is_cut and row is None:
            last = phrase("its answer is longer than {most} bytes", most=_LONGEST_LINE_BYTES)
        told = said or last or phrase("exit code {status}", status=outcome.status)
        raise _failed(call, told[:500])
    try:
        key = row.get("session_id")
        return reply_of(
            row.get("result"),
            row.get("stop_reason") or "end_turn",
            (),
            _usage(row),
            session=key if isinstance(key, str) else None,
        )
    except OutOfFormError as error:
        raise _failed(call, error.args[0]) from error


def _usage(row: Mapping[str, Any]) -> Usage | None:
    usage = row.get("usage")
    if not (isinstance(usage, dict) and has_counts(usage, "input_tokens", "output_tokens")):
        return None
    cached = count(usage, "cache_read_input_tokens")
    read = count(usage, "input_tokens", "cache_creation_input_tokens") + cached
    return Usage(read, count(usage, "output_tokens"), cached, usd_of(row.get("total_cost_usd")))


def _failed(call: ModelCall, what: str, hint: str | None = None) -> EffectError:
    hint = hint or phrase("run `claude` by hand and see whether it is logged in and answers")
    return EffectError(
        finding("E002", provider=CLAUDE_CODE, message=what, site=call.site, hint=hint)
    )
