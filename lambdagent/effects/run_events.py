"""What listeners are told of a run: one class an event.

Source: specification of the agent loop, AgentExecutionListener; issue 5.
"""

from __future__ import annotations

import attrs

from lambdagent.ir.finish_reasons import Finish
from lambdagent.machine.state import Path


@attrs.frozen(kw_only=True)
class RunEvent:
    """Something that happened in a run.

    Attributes:
        run: Names the run: for one that is kept, the name of its directory.
        agent: Who did it: the agent as the file names it.
        branch: Path of the thread; ``()`` outside parallel parts.
    """

    run: str
    agent: str
    branch: Path = ()


@attrs.frozen(kw_only=True)
class RunStarted(RunEvent):
    """The run is about to begin, or to go on.

    Attributes:
        input: What the agent is run on, as text.
        resumed: Whether some of it happened in an earlier process.
    """

    input: str
    resumed: bool = False


@attrs.frozen(kw_only=True)
class TurnStarted(RunEvent):
    """A model is about to be asked.

    Attributes:
        turn_number: From 1 in each ReAct loop; 1 for a model outside of one.
        message_count: How many messages it gets.
    """

    turn_number: int
    message_count: int


@attrs.frozen(kw_only=True)
class Token(RunEvent):
    """A model said something: a word or a few, as the provider hands it over.

    Attributes:
        attempt: From 1; a higher one than before says that the answer broke off and begins anew.
    """

    text: str
    turn_number: int
    attempt: int = 1


@attrs.frozen(kw_only=True)
class LlmCalled(RunEvent):
    """A model has answered, or failed.

    Attributes:
        turn_number: As in `TurnStarted`.
        model: Its name.
        prompt_tokens: Model tokens read; None if the provider did not count.
        completion_tokens: Model tokens written.
        cost_usd: What the call cost, in US dollars; None if that is not known.
        latency_ms: Milliseconds from the question to the answer.
        finish_reason: Why it stopped, in the provider's own word.
        finish: The same in one of four words: ``stop``, ``length``, ``tool_calls``,
            ``content_filter``; None where it means something else.
        success: Whether it answered.
        text: The answer, or what went wrong.
    """

    turn_number: int
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_ms: float
    finish_reason: str | None
    finish: Finish | None
    success: bool
    text: str


@attrs.frozen(kw_only=True)
class ToolDispatched(RunEvent):
    """A tool is about to be called.

    Attributes:
        turn_number: The turn that asked for it; 0 outside ReAct loops.
        tool_call_id: The model's name for the call where it gave one, else one of ours.
        arguments_json: What it is called with, as JSON.
    """

    turn_number: int
    tool_call_id: str
    tool_name: str
    arguments_json: str


@attrs.frozen(kw_only=True)
class ToolCompleted(RunEvent):
    """A tool has answered, or failed.

    Attributes:
        turn_number: As in `ToolDispatched`, and so is `tool_call_id`.
        success: Whether it answered.
        latency_ms: Milliseconds from the call to the answer.
        result_summary: How the answer begins, on one line.
    """

    turn_number: int
    tool_call_id: str
    tool_name: str
    success: bool
    latency_ms: float
    result_summary: str


@attrs.frozen(kw_only=True)
class RouteTaken(RunEvent):
    """A router has chosen.

    Attributes:
        route: The label; ``_`` for what no route fits.
    """

    route: str


@attrs.frozen(kw_only=True)
class GuardRetried(RunEvent):
    """A guard has refused an answer.

    Attributes:
        retries_left: How often the agent is asked again at most, now included; with 0 the
            fallback stands in.
    """

    retries_left: int


@attrs.frozen(kw_only=True)
class MemoryWritten(RunEvent):
    """A memory has remembered an exchange; `agent` is its name."""


@attrs.frozen(kw_only=True)
class LoopExited(RunEvent):
    """A loop has ended.

    Attributes:
        total_turns: Turns of a ReAct loop; of another one, how often its condition was tested.
        total_llm_calls: Model calls in it, those of agents that it called included.
        total_llm_tokens: Model tokens of these; None if some provider did not count.
        total_latency_ms: Milliseconds that models and tools took in it.
        exit_reason: ``stop``: the model ended it; ``exit_condition``: the exit test, or the
            condition; ``max_turns``: the bound; ``error``: a failure in it; ``interrupted``: the
            whole run ended in it.
    """

    total_turns: int
    total_llm_calls: int
    total_llm_tokens: int | None
    total_latency_ms: float
    exit_reason: str


@attrs.frozen(kw_only=True)
class RunFinished(RunEvent):
    """The run is over, for now.

    Attributes:
        outcome: ``answered failed suspended interrupted``; a suspended run waits for a person.
        text: The answer, or why there is none.
        total_llm_calls: Model calls that listeners were told of.
        total_llm_tokens: Model tokens of these; None if some provider did not count.
        elapsed_ms: Milliseconds from `RunStarted`.
    """

    outcome: str
    text: str
    total_llm_calls: int
    total_llm_tokens: int | None
    elapsed_ms: float
