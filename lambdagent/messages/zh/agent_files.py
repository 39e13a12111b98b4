"""What is wrong with an agent file, in Chinese."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "S001": Text("YAML 语法错误：{reason}", fix="{hint}"),
    "S002": Text("缩进使用了制表符", "YAML 只用空格缩进", "改用空格"),
    "S003": Text(
        "键 `{key}` 出现了两次",
        why="两个值只能有一个生效；第一个在第 {first} 行",
        fix="删除其中一个",
    ),
    "S004": Text(
        "这里开始了第二个文档",
        why="一个 Agent 文件只描述一个 Agent",
        fix="把第二个 Agent 放到单独的文件里",
    ),
    "S005": Text(
        "不允许使用标签 `{tag}`",
        why="Agent 文件是数据，不能指定类型，也不能调用代码",
        fix="删除该标签",
    ),
    "S006": Text(
        "这个文件的别名展开后超过 {limit} 个值",
        why="这样的文件会耗尽读取者的内存",
        fix="直接写出这些值，或者少用别名",
    ),
    "S007": Text("嵌套超过 {limit} 层", fix="减少嵌套"),
    "S008": Text("文件不是 UTF-8 文本：{reason}", fix="另存为 UTF-8"),
    "S009": Text("别名 `*{name}` 位于它自己的锚点之内", fix="删除该别名"),
    "S010": Text(
        "合并键 `<<` 需要一个映射或由映射组成的列表，实际是：{actual}",
        fix="写成 `<<: *defaults` 这样，或者给这个键加引号",
    ),
    "S011": Text("无法读取文件：{reason}", fix="检查路径及其权限"),
    "S012": Text("配置文件不存在：`{path}`", fix="检查文件路径"),
    "S013": Text(
        "键必须是文本，实际是：{actual}",
        fix="给这个键加引号，或者给整段文本加引号",
    ),
    "S014": Text("配置包含了它自己", fix="构造配置时去掉循环引用"),
    "S015": Text(
        "配置里有一个 {actual}",
        why="配置是数据：文本、数字、布尔值、列表，以及以文本为键的字典",
        fix="Python 对象请通过 `tools=`、`providers=` 或 `memory_store=` 传入",
    ),
    "S016": Text(
        "可能还有更多问题；这里只列出前 {limit} 个",
        fix="先修复这些问题",
    ),
    "S017": Text(
        "文件超过 {limit} 个部分：后面的内容没有读取",
        why="Agent 文件由人编写；这么多数据应当放在别处",
        fix="作为输入交给 Agent，或者由工具读取",
    ),
    "S101": Text(
        "缺少必填字段 `{field}`",
        why="{doc}",
        fix="添加 `{key}:`",
    ),
    "S102": Text("未知的键 `{key}`", why="{known}", fix="{hint}"),
    "S103": Text("`{field}` 必须是{expected}，实际是：{actual}", fix="改为{expected}"),
    "S104": Text("`{field}` 必须是{expected}，实际是：{actual}", fix="{hint}"),
    "S105": Text(
        "文件里没有 Agent，内容是 {actual}",
        why="Agent 文件是一个含有 `type:` 和 `systemPrompt:` 的映射",
        fix="以 `type: simple` 开头",
    ),
    "S106": Text(
        "`{field}` 需要环境变量 `{variable}`，但它没有设置或者为空",
        fix="设置该变量，或者写上默认值，例如 `${{{variable}:-https://…}}`",
    ),
    "S107": Text("`{field}` 不是合法的表达式：{reason}", fix="{hint}"),
    "S108": Text(
        "尚不支持：`{field}`",
        why="当前版本只能忽略它",
        fix="删除该字段",
    ),
    "S109": Text("`{field}` 不属于类型为 `{type}` 的 Agent", fix="{hint}"),
    "S110": Text(
        "`{field}` 属于整个文件，不属于文件内部的 Agent",
        fix="把它移到最外层",
    ),
    "S111": Text(
        "只有写了 `{needed}`，`{field}` 才有作用",
        fix="删除该字段，或者写上 `{needed}`",
    ),
    "S201": Text(
        "名称 `{name}` 给了两个{things}",
        why="第二个无法与第一个区分",
        fix="给其中一个改名",
    ),
    "S202": Text(
        "没有工具 `{name}`",
        why="本地工具可以是 `terminate`、Python 函数，或者 `--tool` 指定的命令",
        fix='传入 `tools={{"{name}": …}}`，或者使用 `--tool {name}=COMMAND`',
    ),
    "S203": Text(
        "文件中没有任何地方用到{what}",
        why="{why}",
        fix="{hint}",
    ),
    "S205": Text("MCP 服务器 `{server}` 没有工具 `{name}`", why="它有：{known}", fix="{hint}"),
    "S206": Text(
        "此处不知道 MCP 服务器 `{name}` 有哪些工具",
        why="只有服务器自己知道，而未经要求不会询问任何服务器",
        fix="写出工具名（`tools: [...]`），或让它被询问：`--discover` 或 `discover=True`",
    ),
    "S207": Text("没有服务器 `{name}`", why="文件描述的有：{known}", fix="{hint}"),
    "S208": Text(
        "服务器 `{server}` 的工具 `{tool}` 与{other}重名",
        why="调用时无法区分两者",
        fix="写出 Agent 需要的工具：服务器的 `tools: [...]`",
    ),
    "S209": Text(
        "此处不知道服务器 `{server}` 的这些工具需要什么参数：{names}",
        why="只有服务器自己知道；编译时视为接受任意对象",
        fix="让它被询问：`--discover`；运行开始前会询问",
    ),
    "S204": Text(
        "没有可供确认的工具 `{name}`",
        why="Agent 可以调用：{known}",
        fix="{hint}",
    ),
}
