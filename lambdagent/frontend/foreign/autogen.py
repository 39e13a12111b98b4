r"""AutoGen: the component JSON of agents and teams of AgentChat.

``RoundRobinGroupChat`` is a chain, as often around as its turns say; teams that choose who speaks
(``SelectorGroupChat``, ``Swarm``, ``MagenticOneGroupChat``) are routers, which choose once.

Source: https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/
serialize-components.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from lambdagent.errors import ConfigError, finding
from lambdagent.frontend.foreign.blocks import Block, no_file, read_blocks
from lambdagent.frontend.foreign.draft import Agent, Draft, Imported
from lambdagent.frontend.foreign.models import base_url, model_named, secret, settings, usual_model
from lambdagent.messages import phrase
from lambdagent.source import Source

AUTOGEN: Final = "AutoGen"
_MAX_TURNS = 100
_CHOOSING: Final = ("SelectorGroupChat", "Swarm", "MagenticOneGroupChat")
_CHOSEN_ONCE = phrase("a router chooses once, and whom it chooses answers")
# What says which program reads the file.
_ENVELOPE: Final = ("component_type", "component_version", "description", "label", "version")
# What changes nothing that a run answers, or only its looks.
_SILENT: Final = ("emit_team_events", "metadata", "model_client_stream", "name", "system_message")
_CLIENTS: Final = {
    "AnthropicChatCompletionClient": "anthropic",
    "OllamaChatCompletionClient": "ollama",
    "OpenAIChatCompletionClient": "openai",
}
# What is sent of a conversation, and where its limit stands.
_CONTEXTS: Final = {
    "BufferedChatCompletionContext": ("sliding_window", "buffer_size"),
    "TokenLimitedChatCompletionContext": ("token_budget", "token_limit"),
}
_CLIENT_SILENT: Final = (
    "include_name_in_message", "max_retries", "model_capabilities", "model_info",
    "add_name_prefixes", "parallel_tool_calls",
)  # fmt: skip
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})+)")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def import_team(source: Source) -> Imported:
    """Return the agent file that a component makes.

    Raises:
        ConfigError: It cannot be read, or is no agent or team.
    """
    draft = Draft()
    whole = Source(source.name, _SURROGATES.sub(_characters, source.text))
    root = read_blocks(whole, draft, AUTOGEN)
    agent = _component(root, draft)
    if agent is None:
        raise no_file(
            source, AUTOGEN, phrase("it is neither an agent nor a team"), root.span("provider")
        )
    return draft.imported(agent, AUTOGEN, [source])


def _characters(found: re.Match[str]) -> str:
    """Return the characters that JSON writes as halves, which YAML does not read."""
    halves = b"".join(int(each, 16).to_bytes(2, "big") for each in _ESCAPE.findall(found[2]))
    return found[1] + halves.decode("utf-16-be", "replace")


def _component(block: Block, draft: Draft) -> Agent | None:
    """Return the agent that a component is; None if it takes no part."""
    kind = (block.text("provider") or "").rpartition(".")[2]
    config = block.block("config")
    if config is None:
        return None
    block.ignore(_ENVELOPE)
    block.finish()
    if kind == "AssistantAgent":
        return _assistant(config, draft)
    if kind == "RoundRobinGroupChat":
        return _round_robin(config, draft)
    if kind in _CHOOSING:
        return _choosing(config, draft, kind)
    block.lost("provider", phrase("`{kind}` has no counterpart", kind=kind))
    return None


def _assistant(config: Block, draft: Draft) -> Agent:
    name = config.text("name") or "assistant"
    tools = list(_tools(config, draft))
    client = config.block("model_client")
    model = None if client is None else _model(client)
    if model is None:
        model = usual_model(config, "model_client")
    prompt = config.text("system_message") or ""
    max_steps = config.whole("max_tool_iterations", 10_000)
    for each, where in config.texts("handoffs"):
        reason = phrase("nobody can hand over to `{name}` while they work", name=each)
        config.lost("handoffs", reason, where)
    config.ignore(("description", *_SILENT))
    if not tools:
        config.ignore(("reflect_on_tool_use", "tool_call_summary_format"))
    remembered = _remembered(config)
    if remembered is not None:
        model = {**model, "conversation": remembered}
    config.finish()
    # A tool's answer that is not reflected upon is the agent's; a loop sees it in a second round.
    return draft.agent(name, prompt, model, tools, max_steps and max_steps + 1)


def _remembered(config: Block) -> str | None:
    """Return the strategy of a conversation, if the agent has one that is not usual."""
    context = config.block("model_context")
    if context is None:
        return None
    kind = (context.text("provider") or "").rpartition(".")[2]
    name, key = _CONTEXTS.get(kind, (None, None))
    inner = context.block("config")
    limit = None if key is None or inner is None else inner.whole(key)
    if limit is not None:
        return f"{name}({limit})"
    if kind != "UnboundedChatCompletionContext":
        config.lost(
            "model_context", phrase("a conversation is cut by its messages or its tokens only")
        )
    return None


def _tools(config: Block, draft: Draft) -> Iterator[str]:
    for key in ("tools", "workbench"):
        one = None if config.is_list(key) else config.block(key)
        for tool in config.blocks(key) if one is None else [one]:
            yield from _tool(tool, draft)


def _tool(tool: Block, draft: Draft) -> Iterator[str]:
    config = tool.block("config")
    if config is None:
        return
    if "tools" in config.keys:  # a workbench that holds tools
        for inner in config.blocks("tools"):
            yield from _tool(inner, draft)
        return
    name = config.text("name")
    if not name:
        kind = (tool.text("provider") or "").rpartition(".")[2]
        tool.lost("provider", phrase("`{kind}` has no counterpart", kind=kind))
        return
    draft.lose("I002", config.source, config.span("name"), name=name)
    yield name


def _model(client: Block) -> dict[str, Any] | None:
    kind = (client.text("provider") or "").rpartition(".")[2]
    config = client.block("config")
    client.ignore(_ENVELOPE)
    client.finish()
    if config is None:
        return None
    more = settings(config)
    if kind == "OllamaChatCompletionClient":
        host = base_url(config, "host")
        if host:
            more["baseUrl"] = f"{host.rstrip('/')}/v1"
        more |= _ollama(config)
    for key in ("azure_ad_token", "organization"):
        secret(config, key)
    name = config.text("model") or ""
    config.ignore(_CLIENT_SILENT)
    config.finish()
    if not name:
        return None
    return model_named(config, "model", _CLIENTS.get(kind, kind), name, more)


def _ollama(config: Block) -> dict[str, Any]:
    options = config.block("options")
    if options is None:
        return {}
    found = {
        "temperature": options.number("temperature", 0, 2),
        "topP": options.number("top_p", 0, 1),
        "maxTokens": options.whole("num_predict"),
    }
    options.finish()
    return {key: value for key, value in found.items() if value is not None}


# --- teams ---


def _members(config: Block, draft: Draft) -> list[tuple[str, str, Agent]]:
    """Return the name, the description and the agent of each participant."""
    found = []
    for block in config.blocks("participants"):
        inner = block.block("config")
        about = (inner.text("description") if inner else None) or block.text("description") or ""
        agent = _component(block, draft)
        if agent is not None:
            found.append((str(agent["name"]), about, agent))
    if not found:
        hint = phrase("`participants` lists them")
        error = finding(
            "I011", config.span(), what=phrase("agent"), path=phrase("the team"), hint=hint
        )
        raise ConfigError(error, config.source)
    return found


def _round_robin(config: Block, draft: Draft) -> Agent:
    members = _members(config, draft)
    turns = _turns(config)
    config.ignore(("description", *_SILENT))
    config.finish()
    if len(members) > 1:
        reason = phrase(
            "each sees the answer before its own; in AutoGen all see the whole conversation"
        )
        config.lost("participants", reason)
    count = len(members) if turns is None else turns
    steps = [_again(members[i % len(members)][2], i // len(members), draft) for i in range(count)]
    return draft.chain("team", steps)


def _again(agent: Agent, time: int, draft: Draft) -> Agent:
    """Return `agent` for its turn number `time`, under a name of its own."""
    if time == 0:
        return agent
    draft.count(len(str(agent)))
    return {**agent, "name": f"{agent['name']} {time + 1}"}


def _turns(config: Block) -> int | None:
    """Return how many turns a team takes; None if that depends on what is said."""
    turns = config.whole("max_turns", _MAX_TURNS)
    stop = config.block("termination_condition")
    if stop is None:
        return turns
    kind = (stop.text("provider") or "").rpartition(".")[2]
    inner = stop.block("config")
    if kind == "MaxMessageTermination" and inner is not None and turns is None:
        messages = inner.whole("max_messages", _MAX_TURNS + 1)
        inner.ignore(["include_agent_event"])
        inner.finish()
        if messages is not None:  # the task is one of them
            return max(messages - 1, 1)
    config.lost("termination_condition", phrase("the team goes round a fixed number of times"))
    return turns


def _choosing(config: Block, draft: Draft, kind: str) -> Agent:
    members = _members(config, draft)
    client = config.block("model_client")
    model = None if client is None else _model(client)
    prompt = config.text("selector_prompt") or ""
    if "{" in prompt:
        config.lost(
            "selector_prompt", phrase("its `{…}` are not filled in; a prompt of ours stands there")
        )
        prompt = ""
    for key in ("termination_condition", "max_turns", "allow_repeated_speaker", "max_stalls"):
        if key in config.keys:
            config.lost(key, _CHOSEN_ONCE)
    config.ignore(("description", "max_selector_attempts", *_SILENT))
    config.finish()
    config.lost(
        "participants",
        phrase("`{kind}` lets several speak in turn; {more}", kind=kind, more=_CHOSEN_ONCE),
    )
    return draft.choice("team", prompt, members, model)
