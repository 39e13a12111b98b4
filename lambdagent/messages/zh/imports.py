"""What is left out, or wrong, when files of other frameworks are read, in Chinese."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "I001": Text(
        "`{field}` 没有转换：{reason}",
        fix="Agent 需要的部分，请手工写入 Agent 文件",
    ),
    "I002": Text(
        "工具 `{name}` 的功能没有转换",
        why="它写在程序代码里，而 Agent 文件里没有代码",
        fix="使用 `--tool {name}=COMMAND`，或者在 Python 中传入 `tools={{…}}`",
    ),
    "I003": Text(
        "`{field}` 中的 `{name}` 没有填充",
        why="这里的提示词是常量；每次运行变化的是输入",
        fix="在提示词中说明输入里有它，并在输入中给出",
    ),
    "I004": Text(
        "这里不认识模型 `{name}` 的 provider",
        why="如果它支持 Chat Completions，就可以使用",
        fix="给模型添加 `baseUrl: https://…/v1`，密钥放在 CUSTOM_API_KEY",
    ),
    "I005": Text(
        "`{field}` 中的秘密没有转换",
        why="Agent 文件里不应有秘密",
        fix="设置 provider 的环境变量：docs/providers.md 列出了它们",
    ),
    "I010": Text("这不是 {framework} 的文件：{reason}", fix="docs/import.md 说明能读取什么"),
    "I011": Text("`{path}` 中没有{what}", fix="{hint}"),
    "I012": Text("会有超过 {limit} 个 Agent", fix="只导入一部分"),
    "I013": Text(
        "这不是可以读取的 Python：{reason}",
        why="文件只会被解析，从不运行",
        fix="修正它，或者导入较小的文件",
    ),
    "I015": Text("Agent 文件会超过 {limit}", fix="只导入一部分"),
    "I014": Text("文件超过 {limit}", fix="只导入一部分"),
}
