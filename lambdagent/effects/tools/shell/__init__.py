"""Shell commands as tools: `--tool NAME=COMMAND`.

In goes a text, out comes what the command printed, without blanks around it. ``{}`` in the command
is the text, as one argument whatever it holds; without ``{}`` the text is the standard input. A
failure is a `ToolFailure` that the program sees as ``[ERROR] …`` or ``[TIMEOUT after 30s]``.

Source: specification 15.4 and 16.3; design.md §2.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from lambdagent.effects.process import Launch, Outcome, run_group
from lambdagent.effects.protocol import (
    Cancellation,
    ToolFailure,
    ToolInvocation,
    timeout_text,
)
from lambdagent.effects.tools import in_thread
from lambdagent.effects.tools.shell.belt import check_command
from lambdagent.effects.tools.shell.words import VARIABLE, RefusedError
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Record
from lambdagent.machine.text import text_of_data
from lambdagent.messages import phrase

_HINT = phrase("write another command, or put this one into a script and call that")


class ShellTool:
    """A command of the user's, run by ``sh`` in a process group of its own."""

    def __init__(
        self,
        name: str,
        command: str,
        timeout_s: float = 30.0,
        directory: Path | None = None,
        *,
        parameter: str | None = None,
    ) -> None:
        """Check `command`; nothing runs yet.

        Args:
            name: The tool's name in the program.
            command: A shell script, with ``{}`` where the input goes.
            timeout_s: Longest time it may take, where an invocation does not allow less.
            directory: Where it runs; the working directory by default.
            parameter: Its only argument by name; an object that holds no more is that value.

        Raises:
            EffectError: The command is refused (E006).
        """
        try:
            script = check_command(command)
        except RefusedError as error:
            raise EffectError(
                finding("E006", name=name, reason=error.args[0], hint=_HINT)
            ) from error
        self.name = name
        self.command = command
        self.timeout_s = timeout_s
        self._directory = directory
        self._parameter = parameter
        self._takes_input = not script.has_holes
        # With `shift`, so that `$1` and `$@` of the user's are not the input.
        stored = "" if self._takes_input else f"{VARIABLE}=$1; shift; "
        self._script = stored + script.safe

    def call(self, invocation: ToolInvocation) -> str:
        """Return what the command printed.

        Raises:
            ToolFailure: It failed, took too long, or was cancelled.
        """
        return self._run(invocation, invocation.cancel)

    async def acall(self, invocation: ToolInvocation) -> str:
        """Return what the command printed; cancelling the task kills it.

        Raises:
            ToolFailure: It failed, took too long, or was cancelled.
        """
        stop = Cancellation()
        forget = invocation.cancel.on_cancel(stop.cancel)
        try:
            return await in_thread(lambda: self._run(invocation, stop))
        except asyncio.CancelledError:
            stop.cancel()
            raise
        finally:
            forget()

    def _run(self, invocation: ToolInvocation, stop: Cancellation) -> str:
        text = self._text(invocation).encode("utf-8", "replace")
        limit_s = min(self.timeout_s, invocation.timeout_s)
        arguments: list[str | bytes] = ["sh", "-c", self._script, "sh"]
        try:
            if self._takes_input:
                given: bytes | None = text
            else:
                given, arguments = None, [*arguments, text]
            outcome = run_group(arguments, given, limit_s, stop, Launch(directory=self._directory))
        except ValueError as error:
            raise ToolFailure("[ERROR] the input holds a null character") from error
        except OSError as error:
            raise ToolFailure(f"[ERROR] {error.strerror}") from error
        return _answer(outcome, limit_s)

    def _text(self, invocation: ToolInvocation) -> str:
        argument = invocation.argument
        if isinstance(argument, Record) and argument.keys() == {self._parameter}:
            return text_of_data(argument[str(self._parameter)])
        return invocation.text


def _answer(outcome: Outcome, limit_s: float) -> str:
    if outcome.timed_out:
        raise ToolFailure(timeout_text(limit_s))
    if outcome.status is None:
        raise ToolFailure("[ERROR] cancelled")
    if outcome.status == 0:
        return outcome.output
    if outcome.errors:
        raise ToolFailure(f"[ERROR] {outcome.errors}")
    raise ToolFailure(f"[ERROR] {_ending(outcome.status)}\n{outcome.output}".rstrip())


def _ending(status: int) -> str:
    return f"killed by signal {-status}" if status < 0 else f"exit code {status}"
