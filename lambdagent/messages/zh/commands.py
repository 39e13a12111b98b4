"""What is wrong with a command line, in Chinese."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "U001": Text("`{option}` 和 `{other}` 不能同时使用", fix="去掉其中一个"),
    "U002": Text("无法写入 `{path}`：{reason}", fix="换一个位置"),
    "U003": Text(
        "运行需要且只需要一个输入",
        fix='写在文件之后，例如 `lambdagent run agent.yml "hello"`，'
        "也可以用 - 表示标准输入，或者使用 `--input FILE`",
    ),
    "U004": Text("无法读取 `{path}`：{reason}", fix="检查路径及其权限"),
    "U005": Text("{path} 不是 UTF-8 文本：{reason}", fix="转换为 UTF-8"),
    "U006": Text(
        "`{first}` 和 `{second}` 指向同一个文件 `{path}`",
        why="其中一份内容会丢失",
        fix="让它们各用一个文件",
    ),
    "U007": Text(
        "`{path}` 是 Agent 文件，而 `reduce` 接受的是 λ 项或 `.lam` 文件",
        fix="写一个项，例如 `lambdagent reduce '(λx. x) 1'`",
    ),
    "U008": Text(
        "继续已有的运行时不能指定 {options}",
        why="这些在运行开始时就已经确定",
        fix="去掉它们，或者开始一次新的运行",
    ),
    "U009": Text("运行需要一个文件", fix="`lambdagent run agent.yml INPUT`，或者 `--resume RUN`"),
    "U010": Text(
        "`{text}` 不是这次运行的任何一步",
        why="它的步骤是 {steps}；调用也可以用键来指定，例如 `@3`",
        fix="`lambdagent checkpoints DIR --show RUN` 会列出它们",
    ),
    "U011": Text("`{option}` 只能和 `--resume` 一起使用", fix="指明要继续的运行"),
    "U017": Text(
        "`{option}` 对 {place} 给出了两种说法",
        why="只可能有一种是想要的",
        fix="去掉其中一个",
    ),
    "U018": Text(
        "`{option}` 需要{what}", why="否则它什么也不会改变", fix="补上它，或者不用 `{option}`"
    ),
    "U013": Text(
        "第 {place} 步没有疑问",
        why="运行继续时，已经得到的回答不会改变",
        fix="用 `--at {place}` 从那里开始一次新的运行",
    ),
    "U014": Text(
        "没有等待确认的调用{place}",
        why="{known}",
        fix="`lambdagent run --resume RUN` 会继续运行，并说明届时在等待什么",
    ),
    "U015": Text("这次运行没有第 {step} 步", fix="它在这一层的步骤：{known}"),
    "U016": Text(
        "{sites} 的 URL 中的凭据没有打印出来",
        fix="在运行的地方给出完整的 URL：在 Agent 文件里写 `baseUrl: ${{LLM_URL}}`，"
        "或者在不公开的 λ 文本或表格里写 `base_url`",
    ),
    "U021": Text(
        "终端无法显示 SVG",
        fix="指定一个文件，例如 `lambdagent trace {run} --flamegraph run.svg`，或者使用管道",
    ),
    "U026": Text("没有规则 `{rule}`", fix="{hint}"),
    "U027": Text(
        "{rule} 发现的问题不能忽略",
        why="编译器会拒绝它，Agent 无法运行",
        fix="修复文件",
    ),
    "U028": Text(
        "`lint` 需要一个文件、一个目录，或者用 - 表示标准输入",
        fix="指定一个，例如 `lambdagent lint agent.yml`；单独使用 `--rules` 会列出规则",
    ),
    "U030": Text("哪种类型的 Agent？", why="类型有 {types}", fix="例如 `lambdagent new simple`"),
    "U031": Text("不知道模型 `{model}` 由谁提供", fix="用 `--provider` 指明"),
    "U032": Text(
        "`{option}` 必须是一行，最多 {limit}，实际是：{actual}",
        fix="缩短它，或者以后写入文件",
    ),
    "U033": Text(
        "`{path}` 已经存在",
        why="其中的内容会丢失",
        fix="用 `--output` 指定另一个文件，或者用 `--force` 覆盖",
    ),
    "U034": Text(
        "没有写入任何内容：问题还没有全部回答，输入就结束了",
        fix="回答所有问题，或者用选项给出答案",
    ),
    "U012": Text(
        "`{path}` 不是可以编辑的内容",
        why="分叉可以改变它的 `input`，或者某一步的回答，例如 `3` 或 `3:text`",
        fix="写 `input=TEXT`，或者步骤的编号，例如 `3=TEXT`",
    ),
    "U039": Text("{thing} `{name}` 不存在", why="现有：{known}", fix="{hint}"),
    "U040": Text(
        "不能这样调用 `{tool}`：{reason}",
        fix="写出含全部参数的 JSON；只有一个参数时直接写出",
    ),
    "U035": Text(
        "没有修复 `{path}`：{reason}",
        why="别人写在其中的内容保持不变",
        fix="使它可写，然后重新运行 lint；或者用 `--diff` 查看要改什么",
    ),
}
