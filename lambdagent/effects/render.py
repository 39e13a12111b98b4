"""Arguments of model sites → the messages that a provider is sent.

Arguments are structured values; their text exists only here, and only when a handler asks for it.
"""

from itertools import islice

from lambdagent.effects.protocol import Message
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Data, Record
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference
from lambdagent.ir.surface import Model
from lambdagent.machine.state import CONS, Value
from lambdagent.machine.text import cut, text_of_value
from lambdagent.machine.values import list_items, parts, sketch

_TOOL_PROTOCOL = """\
You can use tools. To call one, write a single JSON object and nothing after it:
{{"tool": "NAME", "args": ARGUMENTS}}
You will get what the tool answered, and can then go on. When you know the final answer, write
{{"tool": "terminate", "args": "THE ANSWER"}}
Tools:
{tools}"""

# How many of the older turns a summary quotes, and how much of each.
_QUOTED_TURNS = 10
_QUOTED_LENGTH = 80


def messages_of(site: Site, argument: Value) -> tuple[Message, ...]:
    """Return the messages of a model call, oldest first.

    Raises:
        EffectError: The argument is not of the form that the site takes (R011).
    """
    messages = [Message("system", text) for text in _system_texts(site.static)]
    if not site.static["conversation"]:
        return (*messages, Message("user", text_of_value(argument)))
    try:
        begun, newest = _conversation(argument)
        return (*messages, *begun, Message("user", text_of_value(newest)))
    except (LookupError, TypeError) as error:
        raise misfit(site, argument, "⟨what `conv.read` answers, what is new⟩") from error


def misfit(site: Site, argument: Value, expected: str) -> EffectError:
    """Return the error that `site` cannot be asked with `argument`: no lowered program does."""
    name = site_reference(site.name)
    return EffectError(finding("R011", site=name, got=sketch(argument), expected=expected))


def _conversation(argument: Value) -> tuple[list[Message], Value]:
    """Return what was said, and the newest, of ⟨⟨turns, ⟨token limit, turn limit⟩⟩, newest⟩.

    Raises:
        LookupError: It is something else.
        TypeError: It is something else.
    """
    history, newest = parts(argument)
    turns, limits = parts(history)
    recent, older = _window(turns, *parts(limits))
    summary = summary_of(older)
    begun = [Message("system", summary)] if summary else []
    return [*begun, *recent], newest


def message_count(site: Site, argument: Value) -> int:
    """Return how many messages `messages_of` returns; 0 where it refuses."""
    fixed = len(_system_texts(site.static)) + 1
    if not site.static["conversation"]:
        return fixed
    try:
        return fixed + len(_conversation(argument)[0])
    except (LookupError, TypeError):
        return 0


def _window(turns: Value, max_tokens: int, recent_turns: int) -> tuple[list[Message], Value]:
    """Return the messages of the recent turns, oldest first, and the turns before them.

    The newest turn is always among the recent ones, however long it is.
    """
    newest_first: list[Message] = []
    left = max_tokens
    while turns[0] == CONS and len(newest_first) < 2 * recent_turns:
        asked, reply, _ = _turn(turns[1])
        older = turns[2]
        texts = text_of_value(reply), text_of_value(asked)
        left -= sum(map(estimate_tokens, texts))
        if left < 0 and newest_first:
            break
        newest_first += (Message("assistant", texts[0]), Message("user", texts[1]))
        turns = older
    return newest_first[::-1], turns


def _turn(value: Value) -> tuple[Value, Value, Value]:
    """Return input, reply and number of a turn; see `machine.store`."""
    asked, rest = parts(value)
    return asked, *parts(rest)


def estimate_tokens(text: str) -> int:
    """Return about how many model tokens `text` is: a quarter of ASCII, all of the rest."""
    wide = len(text) - len(text.encode("ascii", "ignore"))
    return wide + (len(text) - wide) // 4 + 4


def summary_of(turns: Value) -> str:
    """Return one text for turns, newest first: how many, and how the latest of them began.

    A host digest: cut text, so that it costs no model call.
    """
    if turns[0] != CONS:
        return ""
    total = text_of_value(_turn(turns[1])[2])
    quoted = []
    for turn in islice(list_items(turns), _QUOTED_TURNS):
        asked, reply, _ = _turn(turn)
        began = (cut(text_of_value(part), _QUOTED_LENGTH) for part in (asked, reply))
        quoted.append("- " + " → ".join(began))
    lines = "\n".join(reversed(quoted))
    return f"[Conversation summary: {total} earlier turns]\n{lines}"


def model_of(static: Record) -> Model | None:
    """Return the model settings of a model site, if the agent has a model."""
    row = static["model"]
    if not isinstance(row, Record):
        return None
    settings: dict[str, Data] = dict(row)
    return Model(**settings)  # type: ignore[arg-type]  # written by surface.model_row


def _system_texts(static: Record) -> list[str]:
    prompt = str(static["prompt"])
    texts = [prompt]
    tools, labels = static.get("tools", ()), static.get("labels", ())
    if tools:
        texts.append(_TOOL_PROTOCOL.format(tools="\n".join(map(_tool_line, tools))))
    if not all(label in prompt for label in labels):
        texts.append(f"Answer with one of: {', '.join(labels)}")
    return [text for text in texts if text]


def _tool_line(tool: Data) -> str:
    if not isinstance(tool, Record):
        return ""
    description = tool["description"]
    return f"- {tool['name']}: {description}" if description else f"- {tool['name']}"
