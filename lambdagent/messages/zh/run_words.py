"""What is said of models, tools and their commands, in Chinese.

All of it may come from the data of a run, where it is English.
See Note [Words in the data of a run].
"""

from __future__ import annotations

PHRASES: dict[str, str] = {
    # --- what a program says when it fails ---
    "it must satisfy {rule}": "必须满足 {rule}",
    "the validator": "验证函数",
    "no answer after {count} rounds": "{count} 轮之后仍没有回答",
    "the condition was not met in {count} rounds": "{count} 轮之内没有满足条件",
    "natural number up to {largest}": "不超过 {largest} 的自然数",
    # --- answers that cannot be read ---
    "the text holds no JSON object or list": "文本中没有 JSON 对象或列表",
    "the text is no JSON string, which stands in double quotes": (
        "文本不是 JSON 字符串：它要写在双引号中"
    ),
    "the text is no JSON value of the type {types}": "文本不是类型为 {types} 的 JSON 值",
    "the text holds no number": "文本中没有数",
    "the text holds several numbers": "文本中有多个数",
    "the number is too long": "这个数太长",
    "the number is too large": "这个数太大",
    "the text is neither true nor false": "文本既不是真也不是假",
    "the text is true and false": "文本既是真又是假",
    # --- models ---
    "add `model.baseUrl: https://…/v1`, or write `provider: package.module:Class`": (
        "添加 `model.baseUrl: https://…/v1`，或写 `provider: package.module:Class`"
    ),
    "the key in `{variable}` holds characters that no key has": (
        "`{variable}` 中的密钥含有密钥不可能有的字符"
    ),
    "no URL of a web server": "不是 Web 服务器的 URL",
    "there is no such provider": "没有这个 provider",
    "use one of {known}": "使用其中之一：{known}",
    "it has no URL": "它没有 URL",
    "copy the key into `{variable}` again": "重新把密钥复制到 `{variable}`",
    "write the whole URL, such as `baseUrl: https://…/v1`": (
        "写完整的 URL，例如 `baseUrl: https://…/v1`"
    ),
    "the program `{program}` is not on the PATH": "PATH 中没有程序 `{program}`",
    "install Claude Code, or use `provider: anthropic`": "安装 Claude Code，"
    "或使用 `provider: anthropic`",
    "it cannot be started: {reason}": "无法启动：{reason}",
    "its answer is longer than {most} bytes": "它的回答超过 {most} 字节",
    "it cannot be told {names}": "无法向它设置 {names}",
    "remove them, or use `provider: anthropic`": "去掉这些设置，或使用 `provider: anthropic`",
    "exit code {status}": "退出码 {status}",
    "run `claude` by hand and see whether it is logged in and answers": "手动运行 `claude`，"
    "看它是否已登录并能回答",
    "this is no URL: `{url}`": "这不是 URL：`{url}`",
    "the answer calls a tool that has no name": "回答调用了一个没有名称的工具",
    "the answer is no message": "回答不是消息",
    "check `{path}`, and what it needs": "检查 `{path}` 及其所需的条件",
    "check the object that was passed as `providers=`": "检查通过 `providers=` 传入的对象",
    "a {name} has no method `chat`": "{name} 没有方法 `chat`",
    "the answer has no choices": "回答中没有 choices",
    "the answer has no message": "回答中没有 message",
    "check `model.baseUrl`": "检查 `model.baseUrl`",
    "check `model.baseUrl` and the settings under `model:`": (
        "检查 `model.baseUrl` 和 `model:` 下的设置"
    ),
    "change the prompt or the input": "修改提示词或输入",
    "raise `model.maxTokens`": "增大 `model.maxTokens`",
    "check the settings under `model:`": "检查 `model:` 下的设置",
    "check the key in `{variable}`": "检查 `{variable}` 中的密钥",
    "check the key in `{variable}` and what it may use": "检查 `{variable}` 中的密钥以及它的权限",
    "check `model.name` and `model.baseUrl`": "检查 `model.name` 和 `model.baseUrl`",
    "raise `model.timeout`": "增大 `model.timeout`",
    "send less text, or lower `model.maxHistoryTokens`": (
        "少发一些文本，或者减小 `model.maxHistoryTokens`"
    ),
    "wait a little, or run fewer calls at once": "稍等片刻，或者减少同时进行的调用",
    "the account has no credit: add some, or use the key of another one": (
        "账户没有余额：请充值，或者换用另一个账户的密钥"
    ),
    "what the account may use is used up: look at its plan and its balance": (
        "账户的额度已用完：请查看它的套餐和余额"
    ),
    "start the server, or write where it is: `model.baseUrl`": (
        "启动该服务，或者写明它在哪里：`model.baseUrl`"
    ),
    "check the network, or its proxy: {host} cannot be reached": (
        "请检查网络或代理：无法连接 {host}"
    ),
    "the content of the answer is no text": "回答的内容不是文本",
    "a part of the answer is no text": "回答的一部分不是文本",
    "the reason why the model stopped is no text": "模型停止的原因不是文本",
    "the answer is not in the form of its API": "回答不符合它的 API 的格式",
    "the answer has no text": "回答中没有文本",
    "the model gave no text, it stopped with `{reason}`": (
        "模型没有给出文本，停止的原因是 `{reason}`"
    ),
    "`{name}` of the answer is no number of tokens": "回答中的 `{name}` 不是 token 数",
    "instead of an answer came an error: {error}": "得到的不是回答而是错误：{error}",
    "the answer broke off: {reason}": "回答中断了：{reason}",
    "no event says that the message ends": "没有事件表示消息结束",
    "no chunk says why the model stopped": "没有片段说明模型为什么停止",
    "the call was cancelled": "调用已取消",
    "raise `--timeout`": "增大 `--timeout`",
    "try again later": "稍后再试",
    "the request is no Unicode text": "请求不是 Unicode 文本",
    "remove the half characters": "去掉半个字符",
    "no connection to {url}": "无法连接 {url}",
    "no connection to {url}: {reason}": "无法连接 {url}：{reason}",
    "name who signs its certificate in `SSL_CERT_FILE`": (
        "在 `SSL_CERT_FILE` 里指明谁签发了它的证书"
    ),
    "check {variables}": "请检查 {variables}",
    "it sends requests on to {url}": "它把请求转到 {url}",
    "the answer is longer than {most} bytes": "回答超过 {most} 字节",
    "a SOCKS proxy needs the package `socksio`, which is not installed": (
        "SOCKS 代理需要 `socksio` 包，但它没有安装"
    ),
    "the certificates cannot be read: {reason}": "无法读取证书：{reason}",
    "a proxy of the environment has no URL that can be used": "环境中的代理地址无法使用",
    "a header from the environment holds characters that no header has": (
        "环境中的一个请求头含有请求头不能有的字符"
    ),
    "a part of it is not in the form of its API": "其中一部分不符合该 API 的格式",
    "the key was refused": "密钥被拒绝",
    "the timeout": "超时设置",
    "meanwhile `{site}` failed: {error}": "同时 `{site}` 失败：{error}",
    # --- scripted models ---
    "write `replies:`, `rules:` or `recording:` as in docs/providers.md": (
        "按 docs/providers.md 写 `replies:`、`rules:` 或 `recording:`"
    ),
    "line {number} has no `agent` and `reply`": "第 {number} 行没有 `agent` 和 `reply`",
    "`model.script` must be a list of replies or a mapping": (
        "`model.script` 必须是回答的列表或映射"
    ),
    "`match: {pattern}` could take too long on {count} characters": (
        "`match: {pattern}` 在 {count} 个字符上可能耗时太久"
    ),
    "no rule fits": "没有匹配的规则",
    "all of them are used up": "所有回答都已用完",
    "a rule is a mapping with a `reply`": "规则是带有 `reply` 的映射",
    "`match` and `agent` of a rule must be texts": "规则的 `match` 和 `agent` 必须是文本",
    "`times` of a rule must be a whole number": "规则的 `times` 必须是整数",
    "`{where}` must be a list": "`{where}` 必须是列表",
    "`{where}` has no key `{key}`": "`{where}` 没有键 `{key}`",
    "line {number} is no JSON": "第 {number} 行不是 JSON",
    "`match: {pattern}` cannot be looked for: {error}": "无法查找 `match: {pattern}`：{error}",
    "`recording` must be a path": "`recording` 必须是路径",
    "`match: {pattern}` cannot be used: {error}": "不能使用 `match: {pattern}`：{error}",
    'line 1 must be {{"{key}": {form}}}': '第 1 行必须是 {{"{key}": {form}}}',
    # --- commands ---
    "write another command, or put this one into a script and call that": (
        "换一个命令，或者把它写成脚本再调用"
    ),
    "it is a fork bomb": "这是 fork 炸弹",
    "the input would be the command itself": "输入会成为命令本身",
    "the command itself is computed": "命令本身是计算出来的",
    "`{name}` is blocked": "`{name}` 被禁止",
    "`rm` with -r and -f is blocked": "带 -r 和 -f 的 `rm` 被禁止",
    "writing to a device is blocked": "禁止写入设备",
    "what another command prints is run by `{name}`": "`{name}` 会执行另一个命令的输出",
    "the input could be a program for `{name}`": "输入可能成为 `{name}` 的程序",
    "`{name}` would read the input as code": "`{name}` 会把输入当作代码",
    "it is nested deeper than {most} levels": "嵌套超过 {most} 层",
    "`{name}` could read the input as code": "`{name}` 可能把输入当作代码",
    "what `{name}` reads would be run by it": "`{name}` 会执行它读到的内容",
    "what `{name}` reads would be run by a shell": "`{name}` 读到的内容会由 shell 执行",
    "`{word}` would be the input": "`{word}` 会成为输入",
    "a quote is not closed": "引号没有闭合",
    "a parenthesis is not closed": "括号没有闭合",
    "it holds a null character": "其中含有空字符",
    "`{}` stands in a here-document": "`{}` 出现在 here-document 中",
    "a backtick is not closed": "反引号没有闭合",
    "`{}` stands between backticks": "`{}` 出现在反引号之间",
    "a variable with the input stands where it is evaluated": (
        "含有输入的变量出现在会被求值的地方"
    ),
    "`{}` stands inside an expansion": "`{}` 出现在展开式中",
    "`case` stands inside a substitution": "`case` 出现在命令替换中",
    "`{closer}` is missing": "缺少 `{closer}`",
    "`{}` names a here-document": "`{}` 被用作 here-document 的名称",
    "`runtime.rateLimits` lets the next request go out in {wait} s only": (
        "按 `runtime.rateLimits`，下一个请求要 {wait} 秒后才能发出"
    ),
    "raise that limit, or `model.timeout`": "增大该限制，或增大 `model.timeout`",
    "{count} model calls": "{count} 次模型调用",
    "{count} tokens in answers alone": "{count} 个 token（仅计回答）",
    "any number of": "任意多",
    "1 model call": "1 次模型调用",
    "{calls}, {tokens} tokens": "{calls}、{tokens} 个 token",
    "{calls}, {tokens} tokens, {cost}": "{calls}、{tokens} 个 token、{cost}",
    "{form}, NAME being one of {names}": "{form}，NAME 为 {names} 之一",
    "a provider of this file: {used}": "此文件使用的提供方：{used}",
    "a model of this file: {used}": "此文件使用的模型：{used}",
    "a provider that the file asks over the network, and it asks none": (
        "此文件通过网络调用的提供方，而它没有"
    ),
    "a model that the file names, and it names none": "此文件写明的模型，而它没有",
    "remove it, or name a model that the file uses": "去掉它，或写此文件使用的模型",
    "remove it, or name a provider that the file uses": "去掉它，或写此文件使用的提供方",
    "`confirm` must return True, False, a reason or None, got {got}": (
        "`confirm` 必须返回 True、False、原因或 None，实际是：{got}"
    ),
    # --- requests that are too large ---
    "`conversation: {strategy}` lets it have {most}": (
        "`conversation: {strategy}` 允许 {most} 个 token"
    ),
    "shorten the prompt or the input, or raise the budget": "缩短提示词或输入，或者提高预算",
    "`conversation: full` sends all that was said, and {most} fit into `model.contextWindow` less"
    " `model.maxTokens`": (
        "`conversation: full` 会发送全部历史，而 `model.contextWindow` 减去 `model.maxTokens` 后"
        "只能容纳 {most} 个 token"
    ),
    "write `conversation: true`, `sliding_window(20)` or `summary(10)`": (
        "写 `conversation: true`、`sliding_window(20)` 或 `summary(10)`"
    ),
    "{most} fit into `model.contextWindow` less `model.maxTokens`, and neither the prompt nor what"
    " is new is ever cut": (
        "`model.contextWindow` 减去 `model.maxTokens` 后只能容纳 {most} 个 token，"
        "而提示词和新的输入从不裁剪"
    ),
    "shorten them, or raise `model.contextWindow` if the model reads more": (
        "缩短它们；如果模型能读更多内容，则提高 `model.contextWindow`"
    ),
}
