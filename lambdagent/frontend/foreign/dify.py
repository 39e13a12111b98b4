"""Dify: the DSL that an app is exported as.

Chat and completion apps are one model call, agents a ReAct loop. Of workflows and chatflows see
`dify_graph`.

Source: https://docs.dify.ai/en/guides/management/app-management and the exports themselves
"""

from __future__ import annotations

import re
from typing import Final

from lambdagent.frontend.foreign.blocks import Block, no_file, read_blocks
from lambdagent.frontend.foreign.dify_graph import Graph
from lambdagent.frontend.foreign.dify_models import model_of
from lambdagent.frontend.foreign.draft import Agent, Draft, Imported
from lambdagent.messages import phrase
from lambdagent.source import Source

DIFY: Final = "Dify"
_VARIABLE: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
# What belongs to the page on which people chat, or to the service.
_PAGE: Final = (
    "more_like_this", "retriever_resource", "speech_to_text", "suggested_questions",
    "suggested_questions_after_answer", "text_to_speech",
)  # fmt: skip
_SILENT: Final = ("dependencies", "kind", "version")


def import_app(source: Source) -> Imported:
    """Return the agent file that an exported app makes.

    Raises:
        ConfigError: It cannot be read, or is no app.
    """
    draft = Draft()
    root = read_blocks(source, draft, DIFY)
    app = root.block("app")
    if app is None:
        raise no_file(source, DIFY, phrase("it has no `app`"), root.span())
    name, mode = app.text("name") or "app", app.text("mode") or ""
    about = app.text("description")
    root.ignore(_SILENT)
    body, workflow = root.block("model_config"), root.block("workflow")
    root.finish()
    if workflow is not None and mode in {"advanced-chat", "workflow", ""}:
        agent = _workflow(workflow, draft, name)
    elif body is not None:
        agent = _chat(body, draft, name, mode)
    else:
        raise no_file(
            source,
            DIFY,
            phrase("an app of mode `{mode}` has nothing to run", mode=mode),
            app.span("mode"),
        )
    return draft.imported(_named(agent, name, about), DIFY, [source])


def _named(agent: Agent, name: str, about: str | None) -> Agent:
    """Return `agent` as the whole app."""
    first = {"type": agent["type"], "name": name}
    if about:
        first["description"] = about
    return {**first, **{key: value for key, value in agent.items() if key not in first}}


def _workflow(workflow: Block, draft: Draft, name: str) -> Agent:
    graph = workflow.block("graph")
    if graph is None:
        raise no_file(
            workflow.source, DIFY, phrase("its `workflow` has no `graph`"), workflow.span()
        )
    features = workflow.block("features")
    if features is not None:
        _features(features)
        features.finish()
    for key in ("conversation_variables", "environment_variables"):
        for variable in workflow.blocks(key):
            variable.lost("name", phrase("prompts are constants"))
    workflow.ignore(["rag_pipeline_variables"])
    workflow.finish()
    return Graph(graph, draft).agent(name)


def _chat(body: Block, draft: Draft, name: str, mode: str) -> Agent:
    prompt = body.text("pre_prompt") or ""
    for variable in dict.fromkeys(_VARIABLE.findall(prompt)):
        where = body.span("pre_prompt")
        draft.lose(
            "I003", body.source, where, name=f"{{{{{variable}}}}}", field=body.path("pre_prompt")
        )
    model = model_of(body, "model")
    body.ignore(("user_input_form", "system_parameters"))
    _features(body)
    if body.text("prompt_type") == "advanced":
        body.lost("prompt_type", phrase("of prompts only `pre_prompt` is read"))
    else:
        body.ignore(("chat_prompt_config", "completion_prompt_config"))
    _knowledge(body)
    tools, steps = _tools(body, draft, mode)
    body.finish()
    return draft.agent(name, prompt, model, tools, steps)


def _features(block: Block) -> None:
    block.ignore(_PAGE)
    if block.text("opening_statement"):
        block.lost("opening_statement", phrase("an agent does not speak first"))


def _knowledge(body: Block) -> None:
    configs = body.block("dataset_configs")
    inner = None if configs is None else configs.block("datasets")
    for dataset in [] if inner is None else inner.blocks("datasets"):
        dataset.lost("dataset", phrase("agents have no knowledge base yet"))
    if body.text("dataset_query_variable"):
        body.lost("dataset_query_variable", phrase("agents have no knowledge base yet"))


def _tools(body: Block, draft: Draft, mode: str) -> tuple[list[str], int | None]:
    """Return the names of the tools of an agent, and its most rounds."""
    agent = body.block("agent_mode")
    if agent is None or mode != "agent-chat":
        return [], None
    names = []
    for tool in agent.blocks("tools"):
        name = tool.text("tool_name")
        if name is None:
            for key in tool.keys:
                tool.lost(key, phrase("it is no tool with a name"))
        elif "enabled" not in tool.keys or tool.flag("enabled"):
            draft.lose("I002", tool.source, tool.span("tool_name"), name=name)
            names.append(name)
    steps = agent.whole("max_iteration", 10_000)
    agent.ignore(("enabled", "strategy", "prompt"))
    agent.finish()
    return names, steps
