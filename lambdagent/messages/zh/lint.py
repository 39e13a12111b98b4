"""What may be wrong with an agent that is well-formed, in Chinese."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "L001": Text(
        "`{field}` 缺失或为空：Agent 无行为定义",
        why="λx.⊥：函数体未定义",
        fix="在 `{key}:` 中写明模型要做什么",
    ),
    "L002": Text(
        "`model` 未配置：无 LLM 计算单元",
        why="没有模型，无法执行 β-规约",
        fix="添加 `model: {{provider: …, name: …}}`，或者使用 `--model`",
    ),
    "L003": Text(
        "`{field}` 为 0：Agent 不会执行",
        why="Y₀(g) = ⊥，循环体一次也不会被调用",
        fix="写一个不小于 1 的数，例如 `maxSteps: 10`",
    ),
    "L004": Text(
        "没有 `terminate` 工具：可能无限循环",
        why="Y 组合子无 base case（λx.x）：只有上界或者不含调用的回答才能结束循环",
        fix="{hint}",
    ),
    "L005": Text(
        "`{field}` 为空：路由无目标",
        why="CASE 无分支，没有值",
        fix="至少添加一条路由",
    ),
    "L006": Text(
        "`{field}` 为空：Pipeline 无步骤",
        why="空组合链是恒等函数，不是 Agent",
        fix="至少添加一项",
    ),
    "L007": Text(
        "temperature 为 {value}，偏高：输出可能不稳定",
        why="高熵 ⊕ₚ：同一个应用会规约到许多不同的值",
        fix="最多写 1.5",
    ),
    "L008": Text(
        "记忆永不过期：内存可能无限增长",
        why="Γ′ 的绑定永不回收，只有被更新的绑定挤出时才会丢弃",
        fix="在 `ttl:` 中写一个大于 0 的秒数",
    ),
    "L009": Text(
        "记忆容量为 0：Memory 无效果",
        why="Γ′ = Γ ∪ ∅ = Γ",
        fix="写一个不小于 1 的容量，或者去掉 `memory`",
    ),
    "L010": Text(
        "最多 {value} 轮：长运行高成本",
        why="Y 最多展开 {value} 次，每一轮都要调用模型",
        fix="最多写 50；如果就是要这样，保持不变",
    ),
    "L011": Text(
        "文件中除 `terminate` 外没有工具：Agent 只能思考",
        why="纯推理循环：CASE 没有工具分支，任何一轮都得不到外部信息",
        fix="在 `mcp.localTools` 中列出工具，或者用 `type: simple`；`--tool` 的工具另外加上",
    ),
    "L012": Text(
        "重试 {value} 次：有原因的失败会再失败 {value} 次",
        why="guard[{value}] 最多调用它的 Agent {calls} 次",
        fix="最多写 5，并在提示词中说明要求",
    ),
    "L013": Text(
        "router 没有 `default`：未分类输入将报错",
        why="CASE 不完全",
        fix="添加 `default:`，由一个 Agent 回答其余的输入",
    ),
    "L014": Text(
        "temperature 为 0：确定性模式",
        why="确定性 Lambda：每个应用只有一个可能的值，重试很少改变它",
        fix="如果本意如此，保持不变；否则写一个更高的值",
    ),
    "L015": Text(
        "记忆已启用，这是有状态 Agent：{settings}",
        why="Γ′ = Γ ∪ store：它的回答取决于以前的问题",
        fix="如果本意如此，保持不变；否则删除 `memory`",
    ),
    "L016": Text(
        "RAG 已启用：可访问知识库",
        why="外部知识 Oracle：它的回答取决于那里存放的内容",
        fix="如果本意如此，保持不变；否则删除 `rag`",
    ),
    "L017": Text(
        "没有回答能通过 guard `{expression}`",
        why="满足 P(x) 的回答 x 的类型为空，所有尝试都是徒劳",
        fix="写一个好的回答能满足的条件，例如 `len(x) > 0`",
    ),
    "L018": Text(
        "所有回答都能通过 guard `{expression}`",
        why="guard[r] f (λx. TRUE) h = f：永远不会重试",
        fix="写一个关于 `x` 的条件，或者去掉 guard",
    ),
    "L019": Text(
        "`{expression}` 总是 {value}：{effect}",
        why="循环的退出条件与轮次无关",
        fix="写一个关于 `observation`、`content` 或 `turn` 的条件，或者去掉它",
    ),
    "L020": Text(
        "类别 `{name}` 没有路由，也没有 `default`",
        why="对于分类器可能给出的一个标签，CASE 没有分支：运行会失败",
        fix="{hint}",
    ),
    "L021": Text(
        "路由 `{name}` 很难到达：{reason}",
        why="CASE 选择分类器给出的标签所对应的分支",
        fix="{hint}",
    ),
    "L022": Text(
        "名称 `{name}` 用了两次；`{first}` 也是这个名称",
        why="追踪、脚本和录制都用名称来区分 Agent",
        fix="各起一个名称",
    ),
    "L023": Text(
        "模型永远看不到工具返回的内容：{reason}",
        why="观察结果没有拼接到状态（state ⊕ obs）",
        fix="{hint}",
    ),
    "L024": Text(
        "`{field}` 没有作用：{reason}",
        why="没有它，Agent 也编译成同一个项",
        fix="{hint}",
    ),
    "L025": Text(
        "没有谁会用到这个回答：{reason}",
        why="脚本按 Agent 的名称来询问，由第一条匹配的规则回答",
        fix="{hint}",
    ),
    "L026": Text(
        "文件中写有{what}",
        why="能读到文件或其历史的人都能得到它；项会被打印，也会保存到磁盘",
        fix="去掉并换成新的；连接字段会读取 `${{NAME}}`，模型的密钥从环境变量读取",
    ),
    "L027": Text(
        "这里不认识模型 `{name}`：{reason}",
        why="名称会原样发给 provider，没有这个模型就会被拒绝",
        fix="{hint}",
    ),
    "L028": Text(
        "{what} 超出 `{name}` 能读取的 {window} 个 token",
        why="超过窗口的请求会被拒绝，或者开头被截掉",
        fix="减小 {setting}",
    ),
    "L029": Text(
        "循环中有一条路径继续两次，Y[{bound}] 最多可能展开 2^{bound}-1 次",
        why="一条路径上两次调用了 `self`",
        fix="每条路径只调用一次 `self`，或者降低上界",
    ),
    "L030": Text(
        "{site} 的调用次数没有上界：{reason}",
        why="它的调用次数区间是 [{least}, ∞]",
        fix="用 Y[n] 限制循环，并给 `pmap` 一个长度已知的列表",
    ),
    "L031": Text(
        "循环 Y[{bound}] 在达到上界之前不会结束",
        why="循环体的每条路径都调用 `self`：没有 base case",
        fix="在一条路径上不经 `self` 直接返回",
    ),
    "L032": Text(
        "这一行没有被 `{rule}` 忽略的内容",
        why="{reason}",
        fix="删除这条注释",
    ),
    "L033": Text(
        "记忆保存在 `{strategy}` 中，却随会话结束而消失",
        why="没有写 `scope`，而没有名称的会话在结束时会被忘记",
        fix="写 `scope: global` 或 `scope: user`；或者写 `scope: session`，并用 `--session NAME`"
        " 为会话命名",
    ),
}
