"""Agents in other processes: by the command line, and by the A2A protocol."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import Block, Choice, Field, Flag, Integer, ListOf, MapOf, Text
from lambdagent.frontend.schema.shared import PORT, SECONDS

_CLI_SERVER: Final = Block(
    "server",
    "This agent as a service that other programs call.",
    "本 Agent 作为服务，被其他程序调用。",
    Field("enabled", Flag(), "Whether it is one.", "是否启用。", default=True),
    Field(
        "mode",
        Choice(("pipe", "socket", "tcp")),
        "How it is reached: by standard input and output, a Unix socket, or TCP.",
        "连接方式：标准输入输出、Unix socket 或 TCP。",
        default="pipe",
    ),
    Field(
        "format",
        Choice(("text", "json", "jsonl")),
        "What inputs and answers are written as; `jsonl` is one JSON value a line.",
        "输入与回答的格式；`jsonl` 为每行一个 JSON 值。",
        default="text",
    ),
    Field(
        "socketPath",
        Text(),
        "The path of the Unix socket.",
        "Unix socket 的路径。",
        required=True,
        only_with=("mode", "socket"),
    ),
    Field(
        "port",
        PORT,
        "The TCP port; left out or 0, a free one.",
        "TCP 端口；省略或为 0 时取空闲端口。",
        only_with=("mode", "tcp"),
    ),
    to="—",
)

_CLI_AGENT: Final = Block(
    "agent",
    "A program that the agent calls as a tool: it reads its standard input and writes its answer.",
    "Agent 作为工具调用的程序：读标准输入，写出回答。",
    Field("command", Text(), "The command line.", "命令行。", required=True),
    Field(
        "format",
        Choice(("text", "json")),
        "What the program writes; of `json` the key `result` is the answer.",
        "程序输出的格式；`json` 时取键 `result` 为回答。",
        default="text",
    ),
    Field(
        "timeout",
        SECONDS,
        "Longest wait for one answer, in seconds.",
        "等待一次回答的超时（秒）。",
        default=60.0,
    ),
    Field(
        "retry",
        Integer(),
        "How often a failed call is tried again.",
        "失败后的重试次数。",
        default=0,
    ),
    to="`Tool`: λx. exec(command, x)",
)

_PIPELINE: Final = Block(
    "pipeline",
    "Several of those programs under one name.",
    "以一个名称组合若干上述程序。",
    Field(
        "steps",
        ListOf(Text(), empty="L006"),
        "Names of programs in `agents`, in order.",
        "`agents` 中程序的名称，按顺序。",
        required=True,
    ),
    Field(
        "parallel",
        Flag(),
        "Whether all get the same input, instead of each the answer of the one before.",
        "是否都得到同一输入；否则每个得到前一个的回答。",
        default=False,
    ),
    to="`Compose`, `Par`",
)

CLI: Final = Block(
    "cli",
    "Agents that talk by standard input and output.",
    "经标准输入输出通信的 Agent。",
    Field(
        "server",
        _CLI_SERVER,
        "This agent as a service that other programs call.",
        "本 Agent 作为服务，被其他程序调用。",
    ),
    Field(
        "agents",
        MapOf(_CLI_AGENT, "AGENT"),
        "Programs that the agent calls as tools, by name.",
        "Agent 作为工具调用的程序，按名称。",
        to="`Tool`: `cli:AGENT`",
    ),
    Field(
        "pipelines",
        MapOf(_PIPELINE, "PIPELINE"),
        "Several of those programs under one name.",
        "以一个名称组合若干上述程序。",
    ),
    to="`Tool`",
)

_A2A_SERVER: Final = Block(
    "server",
    "This agent as an A2A server.",
    "将本 Agent 发布为 A2A 服务器。",
    Field("port", PORT, "The port it listens to.", "监听端口。", default=8000),
    Field("host", Text(), "The address it listens to.", "监听地址。", default="0.0.0.0"),  # noqa: S104 - the specification's default
    to="—",
)

_A2A_CLIENT: Final = Block(
    "client",
    "An agent elsewhere, as a tool.",
    "远程 Agent，作为工具。",
    Field("name", Text(), "What it is called here.", "本地名称。", required=True),
    Field("url", Text(connection=True), "Its address.", "远程 A2A 端点。", required=True),
    Field(
        "timeout",
        SECONDS,
        "Longest wait for one answer, in seconds.",
        "等待一次回答的超时（秒）。",
        default=60.0,
    ),
    to="`Tool`",
)

A2A: Final = Block(
    "a2a",
    "Agents that talk by the A2A protocol.",
    "经 A2A 协议通信的 Agent。",
    Field("server", _A2A_SERVER, "This agent as an A2A server.", "将本 Agent 发布为 A2A 服务器。"),
    Field("clients", ListOf(_A2A_CLIENT), "Agents elsewhere.", "远程 Agent 列表。"),
    to="`Tool`",
)
