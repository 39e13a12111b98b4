"""Arguments of model sites → the messages that a provider is sent.

Arguments are structured values; their text exists only here, and only when a handler asks for it.
"""

from lambdagent.effects.protocol import Message
from lambdagent.ir.data import Data, Record
from lambdagent.ir.sites import Site
from lambdagent.ir.surface import Model
from lambdagent.machine.state import Value
from lambdagent.machine.store import summary_of
from lambdagent.machine.text import text_of_value
from lambdagent.machine.values import list_items

_TOOL_PROTOCOL = """\
You can use tools. To call one, write a single JSON object and nothing after it:
{{"tool": "NAME", "args": ARGUMENTS}}
You will get what the tool answered, and can then go on. When you know the final answer, write
{{"tool": "terminate", "args": "THE ANSWER"}}
Tools:
{tools}"""


def messages_of(site: Site, argument: Value) -> tuple[Message, ...]:
    """Return the messages of a model call, oldest first."""
    messages = [Message("system", text) for text in _system_texts(site.static)]
    if not site.static["conversation"]:
        return (*messages, Message("user", text_of_value(argument)))
    _, (_, older, turns), newest = argument
    if summary := summary_of(older):
        messages.append(Message("system", summary))
    for _, asked, reply in list_items(turns):
        messages.append(Message("user", text_of_value(asked)))
        messages.append(Message("assistant", text_of_value(reply)))
    return (*messages, Message("user", text_of_value(newest)))


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
