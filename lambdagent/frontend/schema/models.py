"""The model that answers, and what a scripted one says."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import (
    Block,
    Choice,
    Field,
    ListOf,
    ListOrMap,
    MapOf,
    Number,
    Pattern,
    Remembered,
    Reply,
    Script,
    Text,
)
from lambdagent.frontend.schema.shared import AT_LEAST_1, SECONDS, TEXTS
from lambdagent.ir.services import SERVICES

_REPLIES: Final = ListOf(Reply())

RULE: Final = Block(
    "rule",
    "A pattern and the reply to inputs in which it is found.",
    "一个模式，以及对匹配到它的输入的回复。",
    Field(
        "match",
        Pattern(),
        "What must be found in the last message, as by `re.search`; left out, the rule fits.",
        "最后一条消息中须能找到的内容（同 `re.search`）；省略则总是匹配。",
    ),
    Field("reply", Reply(), "What is answered.", "回复的内容。", required=True),
    Field(
        "agent",
        Text(),
        "The name of the only agent that the rule is for.",
        "此规则只适用于这个名称的 Agent。",
    ),
    Field(
        "times",
        AT_LEAST_1,
        "How often the rule may be used; left out, always.",
        "此规则可使用的次数；省略则不限。",
    ),
    to="`Model.script`",
)

SCRIPT: Final = Block(
    "script",
    "What the provider `scripted` answers: what the agent has of its own in replies and in a"
    " recording, then replies for all, then rules.",
    "提供方 `scripted` 的回答：先用 Agent 自己的 replies 和录制文件，再用共用的 replies，"
    "最后用 rules。",
    Field(
        "replies",
        ListOrMap(_REPLIES, MapOf(_REPLIES, "AGENT")),
        "Answers in order, for all calls, or for each agent by its name. Each is a text, or a"
        " mapping with `text`, `tool_calls` (each with a `name`, `arguments` and an `id`) and"
        " `finish_reason`.",
        "按顺序的回答：供所有调用使用，或按 Agent 名称分列。每个回答是文本，或含 `text`、"
        "`tool_calls`（各有 `name`、`arguments` 和 `id`）与 `finish_reason` 的映射。",
    ),
    Field(
        "rules",
        ListOf(RULE),
        "Answers by pattern; the first rule whose pattern is found answers.",
        "按模式回答；第一条匹配的规则作答。",
    ),
    Field(
        "recording",
        Text(),
        "A file that `run --record` wrote; it is played back.",
        "由 `run --record` 写出的文件；将被回放。",
    ),
    to="`Model.script`",
)

MODEL: Final = Block(
    "model",
    "The model that answers. An agent inside another one inherits what it does not write.",
    "作答的模型。内层 Agent 未写的设置继承自外层。",
    Field(
        "provider",
        Text(known=tuple(SERVICES)),
        "Who serves the model: one of the providers above, a class of yours as in"
        " `package.module:Class`, the name of one that an installed package brings, or a name"
        " passed as `providers=`; left out, the provider whose models are named like `name`.",
        "由谁提供模型：上面的提供方之一、`package.module:Class` 形式的自有类、"
        "已安装的包所提供的名称，或以 `providers=` 传入的名称；省略时由 `name` 推断。",
        to="`Model.provider`",
    ),
    Field(
        "name",
        Text(),
        "The model, by the provider's name for it.",
        "模型名称，按提供方的叫法。",
        to="`Model.name`",
    ),
    Field(
        "temperature",
        Number(0, 2),
        "How freely the model answers.",
        "采样温度：模型回答的随机程度。",
        default=0.3,
        to="`Model.temperature`",
    ),
    Field(
        "maxTokens",
        AT_LEAST_1,
        "The longest answer, in tokens.",
        "最大输出 token 数。",
        default=4096,
        to="`Model.max_tokens`",
    ),
    Field(
        "topP",
        Number(0, 1),
        "The share of likely tokens to choose from.",
        "核采样：从累计概率为此值的 token 中选取。",
        to="`Model.top_p`",
    ),
    Field(
        "stopSequences",
        TEXTS,
        "Texts at which the answer ends.",
        "停止序列：遇到这些文本时回答结束。",
        to="`Model.stop_sequences`",
    ),
    Field(
        "baseUrl",
        Text(connection=True),
        "Another address of the provider's interface.",
        "自定义 API 端点。",
        to="`Model.base_url`",
    ),
    Field(
        "conversation",
        Remembered(),
        "Whether the agent remembers its conversation, and what of it is sent: `true` the last 20"
        " turns within `maxHistoryTokens` and quotes of those before; `full` all of it;"
        " `sliding_window(n)` the last n messages; `token_budget(n)` what fits into requests of n"
        " tokens; `summary(n)` the last n messages and a summary of the others, which the model"
        " writes in calls of its own. The prompt and what is new are always sent.",
        "是否保留对话历史，以及发送其中的哪些内容：`true` 为 `maxHistoryTokens` 之内的最近 20 轮，"
        "以及更早各轮的摘录；`full` 为全部；`sliding_window(n)` 为最近 n 条消息；"
        "`token_budget(n)` 为 n 个 token 的请求所能容纳的内容；`summary(n)` 为最近 n 条消息，"
        "以及由模型另行调用写成的更早内容的摘要。系统提示词和新的输入总会发送。",
        default=True,
        to="`ConversationLam`, `Lam`",
    ),
    Field(
        "maxHistoryTokens",
        AT_LEAST_1,
        "How much of the conversation is sent, in tokens, its summary included; left out, half of"
        " `contextWindow`, at most 80000. `full` and `token_budget(n)` do not keep to it.",
        "发送的对话历史最大 token 数，含摘要；省略时为 `contextWindow` 的一半，至多 80000。"
        "对 `full` 和 `token_budget(n)` 无效。",
        to="`ConversationLam.max_history_tokens`",
    ),
    Field(
        "contextWindow",
        AT_LEAST_1,
        "How much the model can read, in tokens.",
        "模型上下文窗口大小（token 数）。",
        default=200_000,
        to="`Model.context_window`",
    ),
    Field(
        "timeout",
        SECONDS,
        "Longest wait for one answer, in seconds.",
        "单次模型调用的超时（秒）。",
        default=600.0,
        to="`Model.timeout_s`",
    ),
    Field(
        "toolCalling",
        Choice(("auto", "native", "text")),
        "How the model calls tools: `native` as its provider has it, `text` as the prompt tells"
        " it, `auto` natively where the provider is known for it. Ollama, a server of one's own"
        " (`custom`), a script and what is passed as `providers=` are asked for native calls only"
        " with `native`.",
        "模型如何调用工具：`native` 用提供方自己的方式，`text` 按提示词用文本，`auto` 在已知"
        "提供方支持时用前者。Ollama、自有服务器（`custom`）、脚本以及以 `providers=` 传入的"
        "对象仅在写明 `native` 时使用原生调用。",
        default="auto",
        to="`Model.tool_calling`",
    ),
    Field(
        "script",
        Script(),
        "What the provider `scripted` answers.",
        "提供方 `scripted` 的回答。",
        to="`Model.script`",
    ),
    to="`Model`",
)
