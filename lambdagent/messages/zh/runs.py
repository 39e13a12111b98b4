"""What goes wrong in runs, in Chinese."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "R001": Text("{message}", why="调用点 `{site}`", fix="用 `--trace` 查看之前发生了什么"),
    "R002": Text(
        "没有回答通过 guard：{message}；最后一个是 {got}",
        fix="增大 `guard.retry`，或者设置 `guard.fallback`",
    ),
    "R003": Text(
        "没有匹配的路由：{message}",
        why="CASE 没有对应的分支，也没有默认分支",
        fix="添加 `router.default`",
    ),
    "R004": Text("{message}", why="Yₙ 的上界已经用完", fix="增大 `maxSteps`"),
    "R005": Text(
        "机器经过 {limit} 次转移后仍未停止",
        fix="提高转移次数的上限",
    ),
    "R012": Text(
        "离开机器的一个值会有超过 {limit} 个部分",
        why="它共享各个部分，就像 `let y = ⟨x, x⟩ in ⟨y, y⟩`；到了外面，每一处都是单独的一份",
        fix="只把它较小的一部分交给模型、工具或作为回答，例如 `fst`",
    ),
    "R006": Text("运行时间超过 {limit} 秒", fix="增大 `--timeout`"),
    "R013": Text(
        "运行的预算已用完：`budget.{name}` 为 {limit}",
        why="目前已用：{spent}；不再发起模型调用",
        fix="在文件中增大它，或用 `--budget {name}=…`；"
        "保存了的运行（`--checkpoint-dir DIR`，Python 中用 `Run`）从这里继续",
    ),
    "R014": Text(
        "运行可能超出预算：至多需要 {most}，而 `budget.{name}` 为 {limit}",
        why="`compile --bounds` 给出每个模型至多被调用多少次",
        fix="增大 `budget.{name}`，或降低上界，如 `maxSteps`",
    ),
    "R015": Text(
        "`{model}` 的价格未知，无法遵守 `budget.usd`",
        why="docs/providers.md 按主机列出已知的价格",
        fix="在 `runtime.prices` 中写明，或改用 `budget.tokens` 限制",
    ),
    "R016": Text(
        "无法遵守 `budget.{name}`：`{model}` 的一次回答没有说明它的用量",
        why="这个数从不猜测，也不再发起模型调用",
        fix="改为限制 `budget.calls`；"
        "保存了的运行（`--checkpoint-dir DIR`，Python 中用 `Run`）从这里继续",
    ),
    "R007": Text(
        "{whence}不是{wanted}：{got}",
        why="这个纯 λ 程序要把它拆开，而只有编码才有组成部分",
        fix="给它一个{wanted}，或者运行时不用 `--desugar`",
    ),
    "R008": Text(
        "运行在等待有人确认 `{tool}` 在 {key} 的调用，参数是：{call}",
        why="无论等多久，之前的步骤都不会重新运行",
        fix="`lambdagent run --resume {path} {approve}` 执行该调用，"
        '`--deny "{deny}"` 告诉 Agent 为什么不执行',
    ),
    "R009": Text(
        "运行需要有人确认 `{tool}` 的调用，参数是：{call}",
        why="没有人可以询问，而且运行没有保存，所以会丢失",
        fix="在终端里运行，或者用 `--checkpoint-dir DIR` 保存；"
        "在 Python 中使用 `Run`，或者传入 `confirm=`",
    ),
    "R010": Text(
        "项卡住了：没有规则适用于 {message}",
        why="它不是值，所以运行无法继续",
        fix="`lambdagent reduce` 会展示一个纯项是怎样走到这一步的",
    ),
    "R017": Text(
        "回答不符合其 schema，修正后仍不符合：{got}",
        fix="在提示词中说明回答的格式，或者放宽 `outputSchema`",
    ),
    "R018": Text(
        "无法读取 `{site}` 的回答：{message}；回答是 {got}",
        why="输出解析器只读取这一个回答，guard 看到的是读出的值",
        fix="在提示词中说明用什么回答，或者写 `outputSchema`，例如 `{{type: number}}`："
        "这样不符合的回答会再问一次",
    ),
    "R011": Text(
        "不能用 {got} 询问 `{site}`",
        why="它接受的是 {expected}",
        fix="给它那样的值，或者打印 Agent 文件编译成什么：`lambdagent lambda FILE`",
    ),
    "E001": Text(
        "`{provider}` 需要密钥：没有设置环境变量 `{variable}`",
        fix="export {variable}=…，或者使用 `provider: scripted`",
    ),
    "E002": Text("`{provider}` 失败：{message}", why="调用点 `{site}`", fix="{hint}"),
    "E003": Text("`{site}` 在 {limit} 秒内没有回答", fix="增大 `{setting}`"),
    "E004": Text(
        "`{site}` 的脚本没有第 {number} 个回答：{message}",
        fix="在 `model.script` 中添加一个回答或一条规则",
    ),
    "E005": Text(
        "`{provider}` 在这里不能使用：{message}",
        fix="{hint}",
    ),
    "E006": Text("工具 `{name}` 的命令被拒绝：{reason}", fix="{hint}"),
    "E007": Text(
        "无法读取录制文件 `{path}`：{reason}",
        fix="指定正确的文件，或者用 `--record` 重新录制",
    ),
    "E009": Text("记忆存储 `{name}` 失败：{message}", fix="{hint}"),
    "E010": Text(
        "Agent `{agent}` 没有配置模型",
        why="没有 LLM 计算单元，无法执行 β-规约",
        fix="添加 `model: {{provider: …, name: …}}`",
    ),
    "E012": Text(
        "记忆 `{name}` 没有存储",
        why="调用点 `{site}` 要使用存储，但没有指明是哪一个",
        fix="在文件中指明（`memory.strategy`、`memory.customStore`），"
        "或者在 Python 中传入 `memory_store=`",
    ),
    "E021": Text(
        "记忆 `{name}` 按用户保存，但没有指明用户",
        why="没有名称，所有用户都会读到彼此说过的话",
        fix="传入 `--user NAME`，设置 LAMBDAGENT_USER，或在 Python 中传入 `owner=Owner(user=…)`",
    ),
    "E022": Text(
        "这次会话的记忆 `{name}` 没有被清除：{message}",
        why="它属于一个再也无人能回到的会话",
        fix="{hint}",
    ),
    "E024": Text("无法使用 MCP 服务器 `{name}`：{message}", fix="{hint}"),
    "E023": Text(
        "不知道工具 `{name}` 的服务器 `{server}` 在哪里",
        why="程序只写服务器的名称；如何连接写在 Agent 文件中",
        fix="给出 Agent 文件：`lambdagent run FILE …`，或在 Python 中传入 `tools=`",
    ),
    "E011": Text(
        "无法启动等待回答的线程：{reason}",
        fix="提高进程数上限 (`ulimit -u`)，或者结束其他程序",
    ),
    "E015": Text("要向 `{site}` 发送的内容约有 {size} 个 token", why="{reason}", fix="{hint}"),
    "K001": Text(
        "`{path}` 在第 {offset} 字节处损坏：{reason}",
        why="它的内容不可信，而猜测可能导致重复调用",
        fix="恢复该文件的副本",
    ),
    "K002": Text("`{path}` 中没有运行", fix="`lambdagent checkpoints DIR` 会列出所有运行"),
    "K003": Text(
        "运行 `{run}` 正在另一个进程中进行",
        why="两个进程同时继续它，会把一切都调用两遍",
        fix="等它结束，或者终止它",
    ),
    "K004": Text(
        "`{path}` 的格式是 {found}，当前版本读取的是 {known}",
        fix="使用写出它的那个版本",
    ),
    "K005": Text(
        "程序不是这次运行开始时的那个：{difference}",
        why="已有的回答属于别的问题",
        fix="按原样继续，或者开始一次新的运行；"
        "如果有改动的地方还没有被调用过，`--force` 会接受这些改动",
    ),
    "K006": Text(
        "运行在 {key} 向 `{site}` 提出的请求与日志不同",
        why="相同的程序、输入和回答总是提出相同的请求",
        fix="开始一次新的运行，并请报告这个问题",
    ),
    "K007": Text(
        "不知道 `{site}` 在 {key} 的调用是否已经执行",
        why="请求已经发出，但没有收到回答，重复调用可能造成损害",
        fix="`--in-doubt retry` 会再次调用；`--answer {key}=TEXT` 说明它的结果",
    ),
    "K008": Text("无法写入 `{path}`：{reason}", fix="没有丢失任何内容；解决后继续，或者重新开始"),
    "K009": Text("无法读取 `{path}`：{reason}", fix="检查路径及其权限"),
    "K010": Text(
        "`{path}` 中有 {count} 个可以继续的运行：{runs}",
        fix="指明其中一个",
    ),
    "K011": Text(
        "运行在 {key} 没有调用",
        why="它的调用有：{known}",
        fix="指明其中一个；`lambdagent checkpoints DIR --show RUN` 会列出它们",
    ),
    "K012": Text(
        "不能强制接受改动，因为有改动的地方已经被调用过：{called}",
        why="它的回答属于改动之前的内容：{difference}",
        fix="按原样继续运行，或者用 `--at` 回到该调用之前的一步",
    ),
    "K013": Text(
        "{sites} 的模型地址中含有密码，密码不会保存到磁盘",
        fix="再次给出 Agent 文件：`lambdagent run FILE --resume RUN`",
    ),
    "K014": Text(
        "程序中含有 {variable} 的值，会随程序一起保存到磁盘",
        fix="把它从提示词、工具或 `--env` 中去掉；工具可以读取存放它的文件",
    ),
    "K015": Text(
        "除改动之外与这次运行相同的运行到不了 {key}",
        why="有了这些改动，它在此之前会提出别的请求：{reason}",
        fix="从第一个被改动的步骤开始",
    ),
    "K016": Text("运行 `{run}` 在此期间换成了另一个程序", fix="重新加载它，再看一看"),
    "K017": Text(
        "没有使用该运行的状态：{finding}",
        why="继续运行只需要日志；之后的状态会取代它们",
        fix="什么也不必做",
    ),
    "K019": Text(
        "运行是在 `{path}` 中开始的，而该目录不存在",
        why="它的命令改在当前工作目录中运行，相对路径也从那里开始",
        fix="在它的文件所在的地方继续运行",
    ),
    "K018": Text(
        "`{path}` 中的状态是该程序不可能到达的",
        why="它与校验和相符，所以不是由该程序的运行写出的",
        fix="删除它：有日志就足以继续运行",
    ),
    "M001": Text(
        "没有规则适用于 {message}",
        why="降低后的程序不会走到这里：这是 lambdagent 的错误",
        fix="请连同文件一起报告",
    ),
    "T001": Text(
        "`{path}` 不是录制的运行：{reason}",
        fix="`lambdagent run FILE INPUT --trace-file run.json` 会录制一次运行",
    ),
    "T002": Text(
        "`{path}` 是格式为 {found} 的录制，当前版本读取的是 {known}",
        fix="使用写出它的那个版本",
    ),
}
