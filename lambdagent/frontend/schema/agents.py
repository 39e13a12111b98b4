"""The agent: every block it may have, and which of them are only checked yet."""

from __future__ import annotations

from typing import Final

import attrs

from lambdagent.frontend.kinds import Block, Choice, Field, ListOf, Model, Text
from lambdagent.frontend.schema.around import (
    BUDGET,
    CHECKPOINT,
    GUARD,
    MEMORY,
    RAG,
    RUNTIME,
    SHARED_MEMORY,
)
from lambdagent.frontend.schema.bodies import CHAIN, PARALLEL, REACT, ROUTER
from lambdagent.frontend.schema.services import A2A, CLI
from lambdagent.frontend.schema.shared import OUTPUT_SCHEMA, TEXTS
from lambdagent.frontend.schema.together import CHANNEL, GROUPCHAT, HANDOFF, SKILL
from lambdagent.frontend.schema.tools import APP, LEAF, MCP, MCP_SERVER, SANDBOX, TOOL
from lambdagent.ir.data import Data

TYPES: Final = ("simple", "react", "chain", "router", "parallel", "groupchat")

# Of these types an agent inside another one must have a prompt of its own.
PROMPTED: Final = ("simple", "react")

AGENT: Final = Block(
    "agent",
    "An agent.",
    "一个 Agent。",
    Field(
        "agentId",
        Text(),
        "The agent's identifier.",
        "Agent 唯一标识符。",
        to="`Lam.name`",
    ),
    Field(
        "name",
        Text(),
        "The agent's name, as people and traces call it.",
        "Agent 可读名称，用于显示和追踪。",
        to="`Lam.name`",
    ),
    Field(
        "description",
        Text(),
        "What the agent is for; `compile` shows it, and no run changes by it.",
        "Agent 的用途说明；由 `compile` 显示，不影响运行。",
        to="—",
    ),
    Field(
        "type",
        Choice(TYPES),
        "What kind of agent it is; inside another agent, `simple` if left out.",
        "Agent 的类型；内层 Agent 省略时为 `simple`。",
        to="`Lam`, `Loop`, `Compose`, `Route`, `Par`",
    ),
    Field(
        "systemPrompt",
        Text(blank="L001"),
        "What the model is told. In a chain it stands before the prompt of every step, in a"
        " parallel agent before the prompts of its agents and of the merge, in a router before"
        " the prompt of the classifier. An agent inside another one may leave it out, unless its"
        " type is `simple` or `react`.",
        "系统提示词（λ 抽象的函数体）。在 chain 中置于每一步的提示词之前，"
        "在 parallel 中置于各 Agent 和合并的提示词之前，在 router 中置于分类提示词之前。"
        "内层 Agent 可以省略，除非其类型为 `simple` 或 `react`。",
        to="`Lam.prompt`",
    ),
    Field("model", Model(), "The model that answers.", "作答的模型。", to="`Lam.model`"),
    attrs.evolve(OUTPUT_SCHEMA, types=("simple", "react")),
    Field(
        "react",
        REACT,
        "The loop of an agent of type `react`.",
        "`react` 类型的 Agent 的循环。",
        types=("react",),
    ),
    Field(
        "chain",
        CHAIN,
        "The steps of an agent of type `chain`.",
        "`chain` 类型的 Agent 的步骤。",
        types=("chain",),
    ),
    Field(
        "router",
        ROUTER,
        "The routes of an agent of type `router`.",
        "`router` 类型的 Agent 的路由。",
        types=("router",),
    ),
    Field(
        "parallel",
        PARALLEL,
        "The agents of an agent of type `parallel`.",
        "`parallel` 类型的 Agent 的各 Agent。",
        types=("parallel",),
    ),
    Field(
        "groupchat",
        GROUPCHAT,
        "The group of an agent of type `groupchat`.",
        "`groupchat` 类型的 Agent 的群组。",
        types=("groupchat",),
    ),
    Field(
        "mcp",
        MCP,
        "The tools of an agent of type `react`.",
        "`react` 类型的 Agent 的工具。",
        types=("react",),
    ),
    Field(
        "tools",
        ListOf(TOOL),
        "Tools of the file's own, beside those of `mcp`.",
        "文件自带的工具，与 `mcp` 的工具并列。",
        types=("react",),
        to="`ReActStep.tools`",
    ),
    Field(
        "confirm",
        TEXTS,
        "Tools that are called only after a person has approved the call: see docs/cli.md.",
        "须经人批准才调用的工具：见 docs/cli.md。",
        types=("react",),
        to="`Tool.confirm`",
    ),
    Field(
        "leaf",
        LEAF,
        "A tool by which the agent hands a task to a throw-away copy of itself.",
        "委派工具：将任务交给用完即丢的自身副本。",
        types=("react",),
    ),
    Field("guard", GUARD, "What the answer must satisfy.", "输出必须满足的条件。"),
    Field("memory", MEMORY, "What the agent remembers.", "Agent 记住的内容。"),
    Field("rag", RAG, "Knowledge in which the agent looks things up.", "供 Agent 检索的知识库。"),
    Field(
        "handoff",
        HANDOFF,
        "Agents to which the question may be handed over.",
        "可将问题动态委派给的 Agent。",
    ),
    Field(
        "skills",
        ListOf(SKILL),
        "Agents with a name and a description, by which others find them.",
        "可复用的技能。",
    ),
    Field(
        "sharedMemory",
        SHARED_MEMORY,
        "Data that several agents read and write.",
        "多个 Agent 共享读写的数据。",
    ),
    Field(
        "channels",
        ListOf(CHANNEL),
        "Channels by which agents hand each other data.",
        "Agent 之间的通信通道。",
    ),
    Field("app", APP, "Services outside.", "外部服务。"),
    Field(
        "mcpServers",
        ListOf(MCP_SERVER),
        "MCP servers whose tools the agent may call, and agents inside it: see docs/mcp.md.",
        "其工具可供 Agent 及其内层 Agent 调用的 MCP 服务器：见 docs/mcp.md。",
    ),
    Field(
        "cli",
        CLI,
        "Agents that talk by standard input and output.",
        "经标准输入输出通信的 Agent。",
    ),
    Field("a2a", A2A, "Agents that talk by the A2A protocol.", "经 A2A 协议通信的 Agent。"),
    Field("sandbox", SANDBOX, "Limits within which tools run.", "工具运行的限制。"),
    Field("budget", BUDGET, "What a run may spend.", "一次运行的预算。", top_only=True),
    Field("runtime", RUNTIME, "How the program runs.", "程序如何运行。", top_only=True),
    Field("checkpoint", CHECKPOINT, "Runs on disk.", "保存在磁盘上的运行。", top_only=True),
    to="`Term`",
)

# The block that says what an agent of a type does.
BODIES: Final = {
    "react": REACT,
    "chain": CHAIN,
    "router": ROUTER,
    "parallel": PARALLEL,
    "groupchat": GROUPCHAT,
}

# Fields that belong to some agents only.
NOT_EVERYWHERE: Final = frozenset(
    field.name for field in AGENT.fields.values() if field.types or field.top_only
)

# What is checked here and not compiled yet, and the value that is served already; None if there is
# none. The compiler refuses all else, so that nothing is ignored. A feature removes its line.
NOT_YET: Final[dict[str, Data]] = {
    "a2a": None,
    "channels": None,
    "cli": None,
    "groupchat": None,
    "handoff": None,
    "leaf": None,
    "rag": None,
    "sandbox": None,
    "sharedMemory": None,
    "skills": None,
}
