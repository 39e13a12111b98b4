"""Arguments of model sites → the messages that a provider is sent.

Arguments are structured values; their text exists only here, and only when a handler asks for it.
"""

from lambdagent.effects.protocol import Message
from lambdagent.effects.tokenizers import counter_of
from lambdagent.errors import EffectError, finding
from lambdagent.ir.data import Data, Record
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference
from lambdagent.ir.strategies import (
    BUDGET,
    FULL,
    MANAGED,
    SUMMARY,
    WITHIN_HISTORY,
    Strategy,
    parse_strategy,
)
from lambdagent.ir.surface import Model
from lambdagent.ir.tokens import OF_A_REQUEST, Counter, estimate_tokens
from lambdagent.machine.state import Value
from lambdagent.machine.text import text_of_value
from lambdagent.machine.values import parts, sketch
from lambdagent.machine.window import (
    NO_LIMIT,
    Limits,
    Window,
    input_tokens,
    mark_of,
    message_tokens,
    split,
    turn_of,
)
from lambdagent.messages import phrase

_TOOL_PROTOCOL = """\
You can use tools. To call one, write a single JSON object and nothing after it:
{{"tool": "NAME", "args": ARGUMENTS}}
You will get what the tool answered, and can then go on. When you know the final answer, write
{{"tool": "terminate", "args": "THE ANSWER"}}
Tools:
{tools}"""

# How many tokens are kept free for quotes of what is left out, where the rest would fill all.
_MARK_TOKENS = 500


def messages_of(site: Site, argument: Value) -> tuple[Message, ...]:
    """Return the messages of a model call, oldest first.

    A conversation is cut as its strategy says, and such that all of it fits into what the model
    reads, less the longest answer.

    Raises:
        EffectError: The argument is not of the form that the site takes (R011), or what is to be
            sent in any case does not fit (E015).
    """
    messages = [Message("system", text) for text in _system_texts(site.static)]
    if not site.static["conversation"]:
        return (*messages, Message("user", text_of_value(argument)))
    try:
        history, newest = parts(argument)
        turns, limits = parts(history)
        asked = _Asked(site, [message.text for message in messages], newest)
        begun = asked.begun(turns, *parts(limits))
    except (LookupError, TypeError, ValueError) as error:
        raise misfit(site, argument, "⟨what `conv.read` answers, what is new⟩") from error
    return (*messages, *begun, Message("user", text_of_value(newest)))


def message_count(site: Site, argument: Value) -> int:
    """Return how many messages `messages_of` returns; 0 where it refuses."""
    if not site.static["conversation"]:
        return len(_system_texts(site.static)) + 1
    try:
        return len(messages_of(site, argument))
    except EffectError:
        return 0


def misfit(site: Site, argument: Value, expected: str) -> EffectError:
    """Return the error that `site` cannot be asked with `argument`: no lowered program does."""
    name = site_reference(site.name)
    return EffectError(finding("R011", site=name, got=sketch(argument), expected=expected))


class _Asked:
    """A request of a conversation: what is sent in any case, and how much else fits."""

    def __init__(self, site: Site, system: list[str], newest: Value) -> None:
        self.site = site
        self.newest = newest
        model = model_of(site.static)
        self.count: Counter
        if model is None:
            self.count, self.room = estimate_tokens, NO_LIMIT
        else:
            self.count = counter_of(model.provider, model.name)
            self.room = model.context_window - (model.max_tokens or 0)
        self.fixed = OF_A_REQUEST + input_tokens(newest, self.count)
        self.fixed += sum(message_tokens(text, self.count) for text in system)

    def begun(self, turns: Value, max_tokens: int, rest: int | str) -> list[Message]:
        """Return the messages between the system's and what is new; `rest` as in `conv.read`."""
        strategy = Strategy(MANAGED) if isinstance(rest, int) else parse_strategy(rest)
        most = self.room
        if strategy.name == BUDGET:
            most = min(most, strategy.limit)
        left = most - self.fixed
        if left < 0:
            raise self.too_large(self.fixed, most, strategy)
        if strategy.name in WITHIN_HISTORY:
            left = min(left, max_tokens)
        window = split(turns, self.newest, _limits(strategy, left, rest), self.count)
        if window.tokens > most - self.fixed:  # all turns, or calls that what is new answers
            raise self.too_large(self.fixed + window.tokens, most, strategy)
        mark = ""
        if strategy.name in {MANAGED, SUMMARY}:
            mark = mark_of(window.older, left - window.tokens, self.count)
        return _messages(window, mark)

    def too_large(self, size: int, most: int, strategy: Strategy) -> EffectError:
        """Return the error that a request of `size` tokens does not fit."""
        if strategy.name == BUDGET and most == strategy.limit:
            why = phrase(
                "`conversation: {strategy}` lets it have {most}",
                strategy=str(strategy),
                most=most,
            )
            hint = phrase("shorten the prompt or the input, or raise the budget")
        elif strategy.name == FULL and size > self.fixed:
            why = phrase(
                "`conversation: full` sends all that was said, and {most} fit into"
                " `model.contextWindow` less `model.maxTokens`",
                most=most,
            )
            hint = phrase("write `conversation: true`, `sliding_window(20)` or `summary(10)`")
        else:
            why = phrase(
                "{most} fit into `model.contextWindow` less `model.maxTokens`, and neither the"
                " prompt nor what is new is ever cut",
                most=max(most, 0),
            )
            hint = phrase("shorten them, or raise `model.contextWindow` if the model reads more")
        found = finding(
            "E015", site=site_reference(self.site.name), size=size, reason=why, hint=hint
        )
        return EffectError(found)


def _limits(strategy: Strategy, left: int, rest: int | str) -> Limits:
    """Return the limits of a conversation that may have `left` tokens."""
    match strategy.name:
        case "managed":
            turns = rest if isinstance(rest, int) else NO_LIMIT
            return Limits(left, turns, reserve=min(left // 4, _MARK_TOKENS))
        case "full":
            return Limits()
        case "sliding_window":
            return Limits(left, messages=strategy.limit)
        case "summary":
            return Limits(left, messages=strategy.limit, reserve=left // 4)
    return Limits(left)


def _messages(window: Window, mark: str) -> list[Message]:
    """Return what was said, oldest first, after the mark for what is left out."""
    found = [Message("system", mark)] if mark else []
    for turn in reversed(window.turns):
        asked, reply, _ = turn_of(turn)
        found.append(Message("user", text_of_value(asked)))
        found.append(Message("assistant", text_of_value(reply)))
    return found


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
