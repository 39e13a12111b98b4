"""What happens in one run → what listeners are told of it.

In go requests, answers and macro events, as `execution` has them; out come `RunEvent`s, in the
same order for each thread of the run on every engine.
"""

# Note [What is new to a listener]
#
# A run that goes on is told from where it was left. What the journal answers happened in an
# earlier process, and so did all that followed from it until the thread asked something that
# nobody has answered. Each thread is looked at for itself: `_new_from` has the clock from which on
# what it does is new. A fork hands that down to its branches, a join takes it over from any of
# them.

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

import attrs

from lambdagent.effects.handlers import Request, tool_argument
from lambdagent.effects.protocol import Usage, reply_of
from lambdagent.effects.render import message_count
from lambdagent.effects.run_events import (
    GuardRetried,
    LlmCalled,
    LoopExited,
    MemoryWritten,
    RouteTaken,
    RunEvent,
    RunFinished,
    RunStarted,
    Token,
    ToolCompleted,
    ToolDispatched,
    TurnStarted,
)
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.exchange import Failure, key_text
from lambdagent.ir.finish_reasons import finish_of_reason
from lambdagent.ir.labels import (
    EXIT_CONDITION,
    LOOP_ENTERED,
    LOOP_EXHAUSTED,
    LOOP_TESTED,
    MAX_TURNS,
    ends_loop,
)
from lambdagent.ir.sites import Site
from lambdagent.machine.state import TAGGED, Event, Path
from lambdagent.machine.text import cut, text_of_data

_SUMMARY = 200


@attrs.define
class _Count:
    """Model calls and their tokens; `tokens` is None if some provider did not count."""

    calls: int = 0
    tokens: int | None = 0

    def add(self, usage: Usage | None) -> None:
        self.calls += 1
        if usage is None or self.tokens is None:
            self.tokens = None
        else:
            self.tokens += usage.input + usage.output


@attrs.define
class _Loop:
    """A loop under way.

    Attributes:
        site: The site of the model of a ReAct loop; None for other loops.
        calls: Tools that the newest reply asks for in the provider's own form: id and name.
        stopped: Whether its exit test has ended it.
    """

    site: str | None
    agent: str
    turns: int = 0
    count: _Count = attrs.field(factory=_Count)
    latency_s: float = 0.0
    calls: tuple[tuple[str, str], ...] = ()
    stopped: bool = False


class Narrator:
    """Tells what happens in one run; see Note [What is new to a listener]."""

    def __init__(
        self,
        tell: Callable[[RunEvent], object],
        *,
        run: str,
        agent: str,
        wants_tokens: bool,
        resumed: bool = False,
    ) -> None:
        """Tell about `run`.

        Args:
            tell: Gets the events; returns at once and raises nothing.
            run: The name of the run.
            agent: The name of its program.
            wants_tokens: Whether somebody wants to hear models while they speak.
            resumed: Whether some of the run happened in an earlier process.
        """
        self._tell = tell
        self._run = run
        self._agent = agent
        self._wants_tokens = wants_tokens
        self._resumed = resumed
        self._new_from: dict[Path, int] = {}
        self._loops: dict[Path, list[_Loop]] = {}
        self._told = _Count()
        self._answer: str | None = None
        self._began_s = time.monotonic()
        # Models speak on threads of their own; once they are answered for, they are not heard.
        self._lock = threading.Lock()
        self._speaking: set[Path] = set()

    # --- the run ---------------------------------------------------------------------------------

    def began(self, value: Data) -> None:
        """Tell that the run begins, or goes on."""
        told = text_of_data(value)
        self._tell(RunStarted(run=self._run, agent=self._agent, input=told, resumed=self._resumed))

    def answer(self, text: str) -> None:
        """Hear what the run comes to."""
        self._answer = text

    def ended(self, outcome: str, why: str = "") -> None:
        """Tell that the run is over, and all its loops are."""
        if outcome != "suspended":
            # What is left of a run that answered was ended by a failure that the program caught.
            reason = "interrupted" if outcome == "interrupted" else "error"
            for path in sorted(self._loops):
                while self._loops.get(path):
                    self._exit(path, reason)
        with self._lock:
            self._speaking.clear()
        self._tell(
            RunFinished(
                run=self._run,
                agent=self._agent,
                outcome=outcome,
                text=why if self._answer is None else self._answer,
                total_llm_calls=self._told.calls,
                total_llm_tokens=self._told.tokens,
                elapsed_ms=(time.monotonic() - self._began_s) * 1000,
            )
        )

    # --- requests --------------------------------------------------------------------------------

    def asked(self, request: Request) -> None:
        """Tell that `request` is about to go out."""
        self._mark(request.key)
        site, branch = request.site, request.key[:-1]
        if site.kind == "llm":
            turn = self._next_turn(request)
            agent = str(site.static["agent"])
            count = message_count(site, request.argument)
            self._tell(
                TurnStarted(
                    run=self._run,
                    agent=agent,
                    branch=branch,
                    turn_number=turn,
                    message_count=count,
                )
            )
            if self._wants_tokens:
                self._speaking.add(request.key)
                request.tell = partial(self._token, request.key, agent, turn)
        elif site.kind == "tool":
            turn, name = self._turn_of(branch), str(site.static["name"])
            self._tell(
                ToolDispatched(
                    run=self._run,
                    agent=self._agent_of(branch),
                    branch=branch,
                    turn_number=turn,
                    tool_call_id=self._call_id(request),
                    tool_name=name,
                    arguments_json=data_text(tool_argument(request.argument)),
                )
            )

    def recalled(self, request: Request, answer: Data | Failure, took_s: float) -> None:
        """Hear of a request that an earlier process has told."""
        if request.site.kind == "llm":
            self._next_turn(request)
        self._count(request, answer, took_s)

    def answered(self, request: Request, answer: Data | Failure, took_s: float) -> None:
        """Tell what came of `request`."""
        site = request.site
        if site.kind == "llm":
            with self._lock:
                self._speaking.discard(request.key)
            self._count(request, answer, took_s)
            self._tell(self._called(request, answer, took_s))
        elif site.kind == "tool":
            self._count(request, answer, took_s)
            self._tell(self._completed(request, answer, took_s))
        elif site.kind == "remember" and not isinstance(answer, Failure):
            self._written(request.key[:-1], site.name)

    def _called(self, request: Request, answer: Data | Failure, took_s: float) -> LlmCalled:
        site, branch = request.site, request.key[:-1]
        reply = reply_of(answer)
        usage = None if reply is None else reply.usage
        reason = None if reply is None else reply.finish_reason
        self._told.add(usage)
        model = site.static["model"]
        return LlmCalled(
            run=self._run,
            agent=str(site.static["agent"]),
            branch=branch,
            turn_number=self._turn_of(branch) if _thinks(site) else 1,
            model=str(model["name"] or model["provider"]) if isinstance(model, Record) else "",
            prompt_tokens=None if usage is None else usage.input,
            completion_tokens=None if usage is None else usage.output,
            cost_usd=None if usage is None else usage.usd,
            latency_ms=took_s * 1000,
            finish_reason=reason,
            finish=finish_of_reason(reason),
            success=reply is not None,
            text=_text(answer) if reply is None else reply.text,
        )

    def _completed(self, request: Request, answer: Data | Failure, took_s: float) -> ToolCompleted:
        branch = request.key[:-1]
        return ToolCompleted(
            run=self._run,
            agent=self._agent_of(branch),
            branch=branch,
            turn_number=self._turn_of(branch),
            tool_call_id=self._call_id(request),
            tool_name=str(request.site.static["name"]),
            success=not isinstance(answer, Failure),
            latency_ms=took_s * 1000,
            result_summary=cut(_text(answer), _SUMMARY),
        )

    def _token(self, key: Path, agent: str, turn: int, text: str, attempt: int) -> None:
        """Tell a token; called on any thread."""
        with self._lock:
            if key in self._speaking:
                self._tell(
                    Token(
                        run=self._run,
                        agent=agent,
                        branch=key[:-1],
                        text=text,
                        turn_number=turn,
                        attempt=attempt,
                    )
                )

    # --- macro events ----------------------------------------------------------------------------

    def happened(self, event: Event) -> None:
        """Tell of a macro event, if it is one for listeners."""
        branch = event.key[:-1]
        match event.kind:
            case "action" if _ends(event) and self._reacting(event):
                self._exit(branch, "stop", event.key)
            case "exit":
                self._leave(event)
            case "loop":
                self._go_round(event)
            case "memory":
                if self._is_new(event.key):
                    self._written(branch, event.name)
            case "guard":
                if self._is_new(event.key):
                    agent, left = self._agent_of(branch), event.started
                    self._tell(
                        GuardRetried(run=self._run, agent=agent, branch=branch, retries_left=left)
                    )
            case "route":
                if _is_tagged(event) and self._is_new(event.key):
                    route = str(event.value[1][event.value[2]])
                    self._tell(
                        RouteTaken(run=self._run, agent=event.name, branch=branch, route=route)
                    )

    def _leave(self, event: Event) -> None:
        """Hear why a loop ends: its exit test says so first, then both ends give the last text."""
        loop = self._reacting(event)
        if loop is None:
            return
        if event.value == EXIT_CONDITION:
            loop.stopped = True
        else:
            reason = EXIT_CONDITION if loop.stopped else str(event.value)
            self._exit(event.key[:-1], reason, event.key)

    def _go_round(self, event: Event) -> None:
        """Hear what a loop does that is none of ReAct."""
        branch = event.key[:-1]
        if event.name == LOOP_ENTERED:
            loop = _Loop(None, self._agent_of(branch))
            self._loops.setdefault(branch, []).append(loop)
            return
        found = self._going_on(event.key, None)
        if found is None:
            return
        if event.name == LOOP_EXHAUSTED:
            self._exit(branch, MAX_TURNS, event.key)
        elif event.name == LOOP_TESTED:
            found.turns += 1
            if event.value is True:
                self._exit(branch, EXIT_CONDITION, event.key)

    def _written(self, branch: Path, site: str) -> None:
        name = site.partition(":")[2].partition("#")[0]
        self._tell(MemoryWritten(run=self._run, agent=name, branch=branch))

    # --- what is new -----------------------------------------------------------------------------

    def _mark(self, key: Path) -> None:
        """Remember that from `key` on its thread does new things, and who waits for it then."""
        path, clock = key[:-1], key[-1]
        while self._resumed and path not in self._new_from:
            self._new_from[path] = clock
            if path:
                path, clock = path[:-2], path[-2] + 1

    def _is_new(self, key: Path) -> bool:
        if not self._resumed:
            return True
        path, clock = key[:-1], key[-1]
        while not self._new_from.get(path, clock + 1) <= clock:
            if not path:
                return False
            path, clock = path[:-2], path[-2]
        return True

    # --- loops -----------------------------------------------------------------------------------

    def _reacting(self, event: Event) -> _Loop | None:
        """Return the innermost loop of a thread, if it is a ReAct loop."""
        loops = self._loops.get(event.key[:-1])
        return loops[-1] if loops and loops[-1].site else None

    def _around(self, path: Path) -> list[_Loop]:
        """Return the loops around what a thread does, the innermost first."""
        found: list[_Loop] = []
        while True:
            found += reversed(self._loops.get(path, ()))
            if not path:
                return found
            path = path[:-2]

    def _going_on(self, key: Path, site: str | None) -> _Loop | None:
        """Return the loop of `site` that goes on at `key`, if there is one.

        Those within it are over: a failure ended them that the program caught.
        """
        loops = self._loops.get(key[:-1], [])
        if all(loop.site != site for loop in loops):
            return None
        while loops[-1].site != site:
            self._exit(key[:-1], "error", key)
        return loops[-1]

    def _turn_of(self, path: Path) -> int:
        return next((loop.turns for loop in self._around(path) if loop.site), 0)

    def _agent_of(self, path: Path) -> str:
        return next((loop.agent for loop in self._around(path)), self._agent)

    def _call_id(self, request: Request) -> str:
        """Return the id of the call that `request` is, by its place in the reply or its name."""
        name, path = str(request.site.static["name"]), request.key[:-1]
        while path and not any(loop.site for loop in self._loops.get(path, ())):
            path = path[:-2]
        loops = [loop for loop in self._loops.get(path, ()) if loop.site]
        calls = loops[-1].calls if loops else ()
        place = request.key[len(path) + 1 : len(path) + 2]
        own = [key for key, called in calls[place[0] :][:1] if called == name] if place else []
        named = [key for key, called in calls if called == name]
        return next(filter(None, (*own, *named[:1])), key_text(request.key))

    def _next_turn(self, request: Request) -> int:
        site = request.site
        if not _thinks(site):
            return 1
        loop = self._going_on(request.key, site.name)
        if loop is None:
            loop = _Loop(site.name, str(site.static["agent"]))
            self._loops.setdefault(request.key[:-1], []).append(loop)
        loop.turns += 1
        return loop.turns

    def _count(self, request: Request, answer: Data | Failure, took_s: float) -> None:
        """Count an answer for all loops around it."""
        loops = self._around(request.key[:-1])
        for loop in loops:
            loop.latency_s += took_s
        if request.site.kind != "llm":
            return
        reply = reply_of(answer)
        for loop in loops:
            loop.count.add(None if reply is None else reply.usage)
        if loops and _thinks(request.site):
            calls = () if reply is None else reply.tool_calls
            loops[0].calls = tuple((call.id, call.name) for call in calls)

    def _exit(self, path: Path, reason: str, key: Path | None = None) -> None:
        """Let the innermost loop of a thread be over; tell so, unless that was before `key`."""
        loops = self._loops.get(path)
        if not loops:
            return
        loop = loops.pop()
        if not loops:
            del self._loops[path]
        if key is None or self._is_new(key):
            self._tell(
                LoopExited(
                    run=self._run,
                    agent=loop.agent,
                    branch=path,
                    total_turns=loop.turns,
                    total_llm_calls=loop.count.calls,
                    total_llm_tokens=loop.count.tokens,
                    total_latency_ms=loop.latency_s * 1000,
                    exit_reason=reason,
                )
            )


def _thinks(site: Site) -> bool:
    """Whether a model is that of a ReAct loop."""
    return "tools" in site.static


def _is_tagged(event: Event) -> bool:
    return type(event.value) is tuple and event.value[0] == TAGGED


def _ends(event: Event) -> bool:
    """Whether a reply means the end of its loop."""
    return _is_tagged(event) and ends_loop(event.value[1], event.value[2])


def _text(answer: Data | Failure) -> str:
    return answer.message if isinstance(answer, Failure) else text_of_data(answer)
