"""Phrases about servers of tools."""

PHRASES: dict[str, str] = {
    "the MCP server `{name}`": "MCP 服务器 `{name}`",
    "a tool of the server `{name}`": "服务器 `{name}` 的工具",
    "the tool that ends the loop": "结束循环的工具",
    "a tool of the file or of the caller": "文件或调用者的工具",
    "describe it in `mcpServers`, or in `app.mcp.custom.nodes`": (
        "在 `mcpServers` 或 `app.mcp.custom.nodes` 中描述它"
    ),
    "the package `mcp` is not installed": "没有安装 `mcp` 包",
    "pip install 'lambdagent[mcp]'": "pip install 'lambdagent[mcp]'",
    "it does not answer within {limit} s": "它在 {limit} 秒内没有应答",
    "raise `timeout` of the server": "增大该服务器的 `timeout`",
    "check `url` and `headers` of the server": "检查该服务器的 `url` 和 `headers`",
    "check `command`, `args` and `env` of the server; LAMBDAGENT_LOG=debug shows what it writes": (
        "检查该服务器的 `command`、`args` 和 `env`；LAMBDAGENT_LOG=debug 会显示它写了什么"
    ),
    "it ended": "它已经结束",
    "the answer is too long": "回答太长",
    "it lists `{tool}` twice": "它把 `{tool}` 列了两次",
    "its list of tools has no end": "它的工具列表没有尽头",
    "it answers: {reason}": "它回答：{reason}",
    "what it says is not in the form of the protocol": "它的回答不符合协议的格式",
    "check `url` of the server, and whether it runs": "检查该服务器的 `url`，以及它是否在运行",
    "check that this is an MCP server, and its own log": "检查这是否是 MCP 服务器，并查看它的日志",
    "ask the MCP servers of the file which tools they have": "询问文件中的 MCP 服务器有哪些工具",
    "list the tools of an agent, call one, ask a server for its own": (
        "列出 Agent 的工具，调用其中一个，或询问服务器有哪些工具"
    ),
    "call a tool once: TEXT is its only argument, or JSON of all of them": (
        "调用一次工具：TEXT 是它唯一的参数，或含全部参数的 JSON"
    ),
    "print all tools that an MCP server has": "打印 MCP 服务器的全部工具",
    "Tools of {name}:": "{name} 的工具：",
    "Servers:": "服务器：",
    "a process": "进程",
    "base case": "基本情形",
    "one tool ({took})": "1 个工具（{took}）",
    "{count} tools ({took})": "{count} 个工具（{took}）",
    "name one of them": "写出其中一个",
    "tool": "工具",
    "MCP server": "MCP 服务器",
    "remove it, or have an agent of type `react` call its tools": (
        "去掉它，或让 `react` 类型的 Agent 调用它的工具"
    ),
}
