"""What an agent can call: local tools, MCP servers, a throw-away delegate; and their sandbox."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import (
    Anything,
    Block,
    Choice,
    Field,
    Flag,
    Integer,
    ListOf,
    MapOf,
    Text,
)
from lambdagent.frontend.schema.shared import AT_LEAST_1, SECONDS, TEXTS

POLICY: Final = Block(
    "policy",
    "How tools are called.",
    "如何调用工具。",
    Field(
        "mode",
        Choice(("auto", "force", "intelligence", "disable")),
        "Which calls wait until a person approves them: `auto` those of the tools in `confirm`,"
        " `force` all, `intelligence` those and all of tools that are not idempotent, `disable`"
        " none. A tool whose `Tool` in Python says `confirm=True` waits whatever stands here.",
        "哪些调用须等待人批准：`auto` 为 `confirm` 中的工具，`force` 为全部，`intelligence`"
        " 为前者及所有非幂等的工具，`disable` 为无。在 Python 中写明 `confirm=True` 的 `Tool`"
        " 总是等待。",
        default="auto",
        to="`Tool.confirm`",
    ),
    Field(
        "maxConcurrent",
        AT_LEAST_1,
        "Most calls at the same time, of those that a model makes in one reply; the others follow."
        " A model that calls by text may make several in one reply if this is more than 1.",
        "最大并行工具调用数：同一回复中的调用至多同时执行这么多，其余随后执行。"
        "以文本调用的模型仅在此值大于 1 时可在一个回复中调用多次。",
        default=1,
        to="`ReActStep.max_concurrent`: pmap",
    ),
    Field(
        "retryOnFail",
        Integer(),
        "How often a failed call is tried again, after 1, 2, 4, … and at most 30 seconds;"
        " `react.toolTimeout` is for each attempt. Left out, never, or for tools of servers what"
        " LAMBDAGENT_MCP_RETRY says.",
        "工具调用失败后的重试次数，间隔为 1、2、4……至多 30 秒；`react.toolTimeout` 针对每次尝试。"
        "省略时不重试，服务器上的工具则按 LAMBDAGENT_MCP_RETRY。",
        to="`Tool.retries`",
    ),
)

MCP: Final = Block(
    "mcp",
    "The tools of an agent.",
    "Agent 的工具。",
    Field(
        "onlineTool",
        MapOf(TEXTS, "SERVER"),
        "Tools of servers, by server: the only ones of these that the agent may call. A server is"
        " one of `mcpServers`, or else of `app.mcp.custom.nodes`.",
        "服务器上的工具，按服务器分列：Agent 只能调用其中列出的工具。服务器取自 `mcpServers`，"
        "或 `app.mcp.custom.nodes`。",
        to="`Tool`",
    ),
    Field(
        "localTools",
        ListOf(Text(), unique="tools"),
        "`terminate`, which ends the loop, and tools passed as `tools=` or `--tool`. Those of"
        " `tools:` need not be listed.",
        "`terminate`（结束循环），以及以 `tools=` 或 `--tool` 传入的工具。`tools:` 中的无须列出。",
        default=(),
        to="`ReActStep.tools`",
    ),
    Field("policy", POLICY, "How the tools are called.", "如何调用这些工具。"),
    to="`ReActStep.tools`",
)

TOOL: Final = Block(
    "tool",
    "A tool that the agent may call.",
    "Agent 可调用的一个工具。",
    Field(
        "name", Text(), "What the tool is called.", "工具名称。", required=True, to="`Tool.name`"
    ),
    Field(
        "description",
        Text(),
        "What the model is told about it; left out, what the function says.",
        "向模型说明该工具的文字；省略则取自函数。",
        to="`Tool.description`",
    ),
    Field(
        "parameters",
        MapOf(Anything(), "PARAMETER"),
        "What it takes: a JSON Schema of an object, or each argument with its type, such as"
        " `integer` or `string[]`, or with a JSON Schema. An argument is required unless it has a"
        " `default` or its name ends with `?`. Left out, what the signature of the function says;"
        " of a command, one text.",
        "它的参数：一个对象的 JSON Schema，或逐个写出参数及其类型（如 `integer`、`string[]`）"
        "或其 JSON Schema。参数必填，除非有 `default` 或名称以 `?` 结尾。省略时取自函数签名；"
        "对命令则为一段文本。",
        to="`Tool.parameters`",
    ),
    Field(
        "command",
        Text(),
        "The shell command that runs it: `{}` stands for the input, which otherwise is its"
        " standard input; of several arguments that is JSON. Left out, the function that is passed"
        " under this name as `tools=`.",
        "执行它的 shell 命令：`{}` 代表输入，否则输入经标准输入传入；有多个参数时为 JSON。"
        "省略时为以 `tools=` 传入的同名函数。",
        to="`Tool.command`",
    ),
    Field(
        "timeout",
        SECONDS,
        "Longest wait for one call, in seconds; left out, `react.toolTimeout`.",
        "单次调用的超时（秒）；省略时为 `react.toolTimeout`。",
        to="`Tool.timeout_s`",
    ),
    Field(
        "idempotent",
        Flag(),
        "Whether calling it twice does no harm.",
        "重复调用是否无害。",
        default=False,
        to="`Tool.idempotent`",
    ),
    to="`Tool`",
)

NODE: Final = Block(
    "node",
    "A server that takes one POST for each call, `{tool, input}`, and answers `{output}`.",
    "一个服务器：每次调用为一次 POST `{tool, input}`，回答为 `{output}`。",
    Field("url", Text(connection=True), "Its address.", "MCP 服务端点。", required=True),
    Field("endpoint", Text(connection=True), "The path below the address.", "地址之下的路径。"),
    Field("headers", MapOf(Text(connection=True)), "Headers of each request.", "每个请求的头。"),
    Field(
        "timeout",
        SECONDS,
        "Longest wait for one answer, in seconds; left out, what LAMBDAGENT_MCP_TIMEOUT says, or"
        " `react.toolTimeout`.",
        "等待一次回答的超时（秒）；省略时为 LAMBDAGENT_MCP_TIMEOUT，或 `react.toolTimeout`。",
    ),
    to="`Tool`",
)

_CUSTOM: Final = Block(
    "custom",
    "Servers of one's own.",
    "自有的服务器。",
    Field("nodes", MapOf(NODE, "SERVER"), "The servers, by name.", "服务器，按名称。"),
    to="`Tool`",
)

APP: Final = Block(
    "app",
    "Services outside.",
    "外部服务。",
    Field(
        "mcp",
        Block(
            "mcp",
            "MCP services.",
            "MCP 服务。",
            Field("custom", _CUSTOM, "Servers of one's own.", "自有的服务器。"),
        ),
        "MCP services.",
        "MCP 服务。",
    ),
    to="`Tool`",
)

MCP_SERVER: Final = Block(
    "server",
    "An MCP server whose tools the agent may call.",
    "其工具可供 Agent 调用的 MCP 服务器。",
    Field("name", Text(), "What the server is called.", "服务器名称。", required=True),
    Field(
        "transport",
        Choice(("http", "stdio")),
        "How it is reached: by HTTP, or as a process by its standard input and output.",
        "连接方式：HTTP，或作为进程经标准输入输出连接。",
        required=True,
    ),
    Field(
        "url",
        Text(connection=True),
        "Its address.",
        "服务器的 URL。",
        required=True,
        only_with=("transport", "http"),
    ),
    Field(
        "command",
        Text(connection=True),
        "The program to start; it runs in the directory of the agent file.",
        "要启动的程序；在 Agent 文件所在目录中运行。",
        required=True,
        only_with=("transport", "stdio"),
    ),
    Field(
        "args",
        ListOf(Text(connection=True)),
        "The arguments of that program.",
        "该程序的参数。",
        only_with=("transport", "stdio"),
    ),
    Field(
        "env",
        MapOf(Text(connection=True)),
        "Environment variables of that program, beside ours; those that hold secrets stand here if"
        " it needs them.",
        "该程序的环境变量，另加本进程的变量；含密钥的变量须写在此处。",
        only_with=("transport", "stdio"),
    ),
    Field(
        "headers",
        MapOf(Text(connection=True)),
        "Headers of each request.",
        "每个请求的 HTTP 头。",
        only_with=("transport", "http"),
    ),
    Field(
        "timeout",
        SECONDS,
        "Longest wait for one answer, in seconds; left out, what LAMBDAGENT_MCP_TIMEOUT says, or"
        " `react.toolTimeout`. The server has as long to start.",
        "等待一次回答的超时（秒）；省略时为 LAMBDAGENT_MCP_TIMEOUT，或 `react.toolTimeout`。"
        "服务器的启动也以此为限。",
    ),
    Field(
        "tools",
        TEXTS,
        "The only tools of the server that the agent may call; empty for all.",
        "只暴露这些工具；空表示全部。",
        default=(),
    ),
    to="`Tool`",
)

LEAF: Final = Block(
    "leaf",
    "A tool by which the agent hands a task to a throw-away copy of itself, which answers with its"
    " result alone.",
    "一个工具：Agent 借此将任务委派给用完即丢的自身副本，后者只返回最终答案。",
    Field("enabled", Flag(), "Whether the agent has that tool.", "是否提供该工具。", default=True),
    Field("toolName", Text(), "What the tool is called.", "工具的名称。", default="spawn_leaf"),
    Field(
        "description",
        Text(),
        "What the agent is told about the tool.",
        "向 Agent 说明该工具的文字。",
    ),
    Field(
        "systemPrompt",
        Text(),
        "What the copy is told; left out, what the agent is told.",
        "给副本的系统提示词；省略则同 Agent。",
    ),
    Field(
        "maxSteps",
        Integer(zero="L003"),
        "Most rounds of the copy; left out, as many as the agent has.",
        "副本的最大轮数；省略则同 Agent。",
    ),
    Field(
        "maxConcurrent",
        AT_LEAST_1,
        "Most tool calls of the copy at the same time; left out, as for the agent.",
        "副本的最大并行工具调用数；省略则同 Agent。",
    ),
    Field(
        "timeout",
        SECONDS,
        "Longest time for one task, in seconds.",
        "一次委派的超时（秒）。",
        default=300.0,
    ),
    to="`Tool`: λ⟨task, context⟩. Yₙ",
)

SANDBOX: Final = Block(
    "sandbox",
    "Limits within which tools run. What is left out is as `policy` says.",
    "工具运行的限制。未写的字段由 `policy` 决定。",
    Field("enabled", Flag(), "Whether the limits hold.", "是否启用沙箱。", default=False),
    Field(
        "timeout",
        SECONDS,
        "Most seconds of CPU; `strict` 5, `default` 30, `permissive` 300.",
        "CPU 超时（秒）；`strict` 5、`default` 30、`permissive` 300。",
    ),
    Field(
        "memory_mb",
        AT_LEAST_1,
        "Most memory, in megabytes; `strict` 64, `default` 256, `permissive` 2048.",
        "内存上限（MB）；`strict` 64、`default` 256、`permissive` 2048。",
    ),
    Field(
        "network",
        Flag(),
        "Whether the network may be used; only with `permissive` unless written.",
        "是否允许网络访问；未写时仅 `permissive` 允许。",
    ),
    Field(
        "allow_subprocess",
        Flag(),
        "Whether processes may be started; only with `permissive` unless written.",
        "是否允许创建子进程；未写时仅 `permissive` 允许。",
    ),
    Field(
        "max_output_bytes",
        AT_LEAST_1,
        "Most bytes of output; `strict` 4096, `default` 65536, `permissive` 1048576.",
        "最大输出字节数；`strict` 4096、`default` 65536、`permissive` 1048576。",
    ),
    Field(
        "max_fds",
        AT_LEAST_1,
        "Most open files; `strict` 8, `default` 64, `permissive` 256.",
        "最大文件描述符数；`strict` 8、`default` 64、`permissive` 256。",
    ),
    Field(
        "policy",
        Choice(("strict", "default", "permissive")),
        "The limits that hold where nothing else is written.",
        "预设策略：未另写之处的限制。",
        default="default",
    ),
    to="`Tool`",
)
