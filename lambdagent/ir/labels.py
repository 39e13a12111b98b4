"""Labels of sums that lowering writes and the machine reads."""

from typing import Final

from lambdagent.ir.data import Data

# Ends a ReAct loop: the tool that is the identity.
TERMINATE: Final = "terminate"
# What no route fits.
OTHER: Final = "_"
# Values that only their layout makes sense of: injected memory, the transcript of a loop, a reply.
MEMORY: Final = ("memory",)
TRANSCRIPT: Final = ("transcript",)
REPLY: Final = ("reply",)
# What tools answered to the calls of one reply, and all such rounds of a loop without a history.
RESULTS: Final = ("results",)
ROUNDS: Final = ("rounds",)
# Stands in a conversation for turns that a model has summarised.
SUMMARY: Final = ("summary",)
# What a person says about a call: go on, or why not.
VERDICT: Final = ("approved", "denied")
# What a look at an answer says that must fit a schema: its value, or what is wrong with it.
FITTING: Final = ("fits", "misfit")
# Why a loop ends that no model ends.
EXIT_CONDITION: Final = "exit_condition"
MAX_TURNS: Final = "max_turns"
# Marks of other loops, for listeners: the kind of the labels, and their names.
LOOP: Final = "loop"
LOOP_ENTERED: Final = "entered"
LOOP_TESTED: Final = "tested"
LOOP_EXHAUSTED: Final = "exhausted"
# Kinds of events that only listeners are told.
UNSHOWN: Final = frozenset({"exit", "memory", LOOP})
# What the exit test of a ReAct loop may use.
EARLY_STOP_NAMES: Final = (
    *("x", "content", "turn", "finish_reason", "tool_calls", "tool_results", "observation"),
    "finish",
)

_CALL: Final = "call "
_ENDS: Final = ("invalid", "terminate", "answer")
# What a reply can mean whose calls the provider itself has found.
ROUND_LABELS: Final = ("calls", *_ENDS[1:])
# Calls of one reply that are made; the model is told of the others that they were not.
MOST_CALLS: Final = 32
# What stands for the name of a tool where no tool was called.
NO_TOOL: Final = "tool call"


def action_labels(tools: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels of what a reply can mean: a call of each tool, or one of three ends."""
    return (*(f"{_CALL}{tool}" for tool in tools), *_ENDS)


def call_labels(tools: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels of one of several calls: of each tool, or one that cannot be made."""
    return (*(f"{_CALL}{tool}" for tool in tools), _ENDS[0])


def ends_loop(labels: tuple[str, ...], index: int) -> bool:
    """Whether the label at `index` says that a ReAct loop is over."""
    return labels[-2:] == _ENDS[1:] and labels[index] in _ENDS[1:]


def action_name(labels: tuple[str, ...], index: int) -> str:
    """Return what a trace calls the label at `index`: the tool, or the end."""
    return labels[index].removeprefix(_CALL) if index < len(labels) - len(_ENDS) else labels[index]


def choice_name(labels: tuple[Data, ...], index: int) -> str:
    """Return what a trace calls the branch at `index`, of a router or of a ReAct loop.

    >>> choice_name(("yes", OTHER), 1), choice_name(action_labels(("search",)), 0)
    ('(other)', 'search')
    """
    names = tuple(map(str, labels))
    if names[-len(_ENDS) :] == _ENDS:
        return action_name(names, index)
    return "(other)" if names[index] == OTHER else names[index]
