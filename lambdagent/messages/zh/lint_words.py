"""What is filled into the findings of `lint`, in Chinese."""

from __future__ import annotations

PHRASES: dict[str, str] = {
    "{count} files: {counts}": "{count} 个文件：{counts}",
    ", line {line}": "，第 {line} 行",
    "summary: λ structure of the agent": "summary: Agent 的 Lambda 结构",
    "summary: λ structure of agent '{name}'": "summary: Agent '{name}' 的 Lambda 结构",
    "fixed {name}": "已修复 {name}",
    "every tool waits for a person": "每个工具都等待人工确认",
    "no tool of the file waits": "文件中的工具都不等待",
    "with `mode: {mode}` {effect}": "写了 `mode: {mode}`，{effect}",
    "write `{terminate}` for `{meant}`": "把 `{meant}` 写成 `{terminate}`",
    "add it to `mcp.localTools`": "把它加到 `mcp.localTools`",
    "without `conversation` there is no history": "没有 `conversation` 就没有历史",
    "`conversation: {strategy}` does not keep to it": "`conversation: {strategy}` 不受它限制",
    "remove it, or write `conversation: true`": "删除它，或者写 `conversation: true`",
    "`observationEnabled` is false": "`observationEnabled` 为 false",
    "write `observationEnabled: true`": "写 `observationEnabled: true`",
    "answers are compared without case, and `{first}` comes first": (
        "比较回答时不区分大小写，`{first}` 在前面"
    ),
    "give it another name": "给它换一个名称",
    "there is only one round": "只有一轮",
    "write `maxSteps: 2` or more": "写 `maxSteps: 2` 或更大",
    "write `{meant}`, or add a route `{name}`": "写成 `{meant}`，或者添加路由 `{name}`",
    "add a route for it": "为它添加一条路由",
    "it is none of the `categories` that the classifier chooses from": (
        "它不在分类器可选的 `categories` 中"
    ),
    "`enabled` is not true": "`enabled` 不为 true",
    "write `{block}: {{enabled: true, …}}`, or remove it": (
        "写 `{block}: {{enabled: true, …}}`，或者删除它"
    ),
    "call it `{meant}`": "改名为 `{meant}`",
    "add `{label}` to `categories`": "把 `{label}` 加到 `categories`",
    "remove it, or write `mode: auto`": "删除它，或者写 `mode: auto`",
    "no rule has this code": "没有哪条规则是这个编号",
    "there is no such finding here": "这里没有这样的问题",
    "what the compiler refuses cannot be ignored": "编译器拒绝的问题不能忽略",
    "the loop ends after one round of tools": "循环在一轮工具调用之后就结束",
    "it changes nothing": "它什么也不改变",
    "it is a model of {owner}, and `provider` is {provider}": (
        "它是 {owner} 的模型，而 `provider` 是 {provider}"
    ),
    "a rule answers everything before the recording is asked": (
        "在询问录制之前，已有一条规则回答所有输入"
    ),
    "give that rule a `match`, or remove the recording": "给那条规则加上 `match`，或者删除录制",
    "use the name of an agent, such as {some}": "使用某个 Agent 的名称，例如 {some}",
    "it is almost `{meant}`": "它与 `{meant}` 只差一点",
    "write `{meant}` if you mean that": "如果是指它，写成 `{meant}`",
    "the {window} tokens of `contextWindow`": "`contextWindow` 的 {window} 个 token",
    "{history} tokens of conversation and {answer} of answer": (
        "{history} 个 token 的对话和 {answer} 个 token 的回答"
    ),
    "no agent here is called `{name}`": "这里没有名为 `{name}` 的 Agent",
    "a rule above it answers everything": "它上面的一条规则回答所有输入",
    "write `provider: {owner}`": "写 `provider: {owner}`",
    "{count} tokens of answer": "{count} 个 token 的回答",
    "the model": "该模型",
    "move it up, or give that one a `match`": "把它移到上面，或者给那条规则加上 `match`",
    "the key of a model": "模型的密钥",
    "a key of AWS": "AWS 密钥",
    "a token of GitHub": "GitHub 令牌",
    "a token of GitLab": "GitLab 令牌",
    "a token of Slack": "Slack 令牌",
    "a key of Google": "Google 密钥",
    "a token of Hugging Face": "Hugging Face 令牌",
    "a signed token": "签名令牌",
    "a private key": "私钥",
    "`lambdagent lint --rules` lists them": "`lambdagent lint --rules` 列出所有规则",
    "a function applies itself": "一个函数应用了自身",
    "the program is too complex to be analysed": "程序过于复杂，无法分析",
    "a function is called that is not known before the run": "调用了运行之前未知的函数",
    "`pmap` runs a function once for each item of a list": "`pmap` 对列表的每一项运行一次函数",
    "a password": "密码",
    "a secret": "密钥",
    "a key": "密钥",
    "a token": "令牌",
    "a bearer token": "bearer 令牌",
    "the password of an address": "地址中的密码",
    "the key of an address": "地址中的密钥",
}
