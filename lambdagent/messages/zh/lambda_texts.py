"""What is wrong with a λ text or a table of terms, in Chinese."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "P001": Text("{got} 不能出现在这里：应为：{expected}", fix="{hint}"),
    "P002": Text("字符 {got} 在这里没有意义", fix="{hint}"),
    "P003": Text("文本结束得太早：应为：{expected}", fix="{hint}"),
    "P004": Text("`{open}` 没有闭合", fix="在它结束的地方写上 `{close}`"),
    "P005": Text("`{close}` 没有可以闭合的括号", fix="删除它，或者在前面补上左括号"),
    "P006": Text(
        "`{close}` 不能闭合第 {line} 行的 `{open}`",
        fix="写 `{wanted}`，或者在它之后打开与 `{close}` 配对的括号",
    ),
    "P007": Text(
        "参数后面缺少 `.`",
        why="一个抽象由 `λ`、参数、`.` 和函数体组成",
        fix="写成 `λx y. x y` 这样",
    ),
    "P008": Text(
        "{what}没有闭合",
        why="它必须在开始的那一行结束",
        fix="在末尾写上 {close}；其中的换行写作 `\\n`",
    ),
    "P012": Text(
        "{got} 含有不存在的转义",
        why="文本的写法与 JSON 相同",
        fix="反斜杠写作 `\\\\`",
    ),
    "P013": Text(
        "这个数超过 {limit} 位",
        fix="{hint}",
    ),
    "P014": Text(
        "标签 `{label}` 有两个分支",
        why="case 的每个标签恰好对应一个分支",
        fix="删除其中一个",
    ),
    "P015": Text("`{name}` 不接受这个下标", fix="写 {form}"),
    "P016": Text(
        "`church` 需要一个 0 到 {limit} 的整数",
        fix="写成 `church[3]` 这样；单独的数是原生数",
    ),
    "P017": Text("键 `{key}` 出现了两次", fix="删除其中一个"),
    "P018": Text(
        "`{name}` 是语言的保留字，不能被绑定",
        fix="换一个名称，或者写在反引号里：`` `{name}` ``",
    ),
    "P019": Text("`{name}` 是语言的保留字，不代表任何项", fix="{fix}"),
    "P020": Text(
        "`{name}` 被定义了两次",
        why="第一个定义在第 {first} 行",
        fix="给其中一个改名",
    ),
    "P021": Text(
        "`{name}` 在它自己的定义中被使用",
        why="定义会被展开，这个定义将永远展开不完",
        fix="使用限定轮数的 Y[n]：`{name} = Y[20] (λself x. … self …) (λx. x);`",
    ),
    "P022": Text(
        "`{name}` 在下面第 {line} 行才有定义",
        why="定义只能看到它上面的定义；递归用 Y[n] 来写",
        fix="把它的定义移到上面",
    ),
    "P023": Text("`{name}` 没有定义", fix="{hint}"),
    "P024": Text(
        "`{label}` 没有标记任何应用",
        why="一个事件就是一次应用，而一次应用最多有一个标记",
        fix="给应用加上括号，例如 `@llm.think (f x)`",
    ),
    "P025": Text("调用点 `{name}` 有两行", fix="删除其中一行"),
    "P026": Text(
        "没有说明调用点 `{name}` 是什么",
        fix="在项的后面添加 `where {{ {site} = {{…}} }}`",
    ),
    "P027": Text(
        "调用点 `{name}` 的 `{field}` 必须是{expected}，实际是：{actual}", fix="改为{expected}"
    ),
    "P028": Text("调用点 `{name}` 缺少 `{field}`", why="它是{expected}", fix="{hint}"),
    "P029": Text("调用点 `{name}` 没有 `{key}`", why="它有 {known}", fix="{hint}"),
    "P030": Text(
        "没有可以运行的项",
        why="文件里只有定义",
        fix="在最后一个 `;` 之后写上项",
    ),
    "P031": Text(
        "有一个变量没有在任何地方绑定",
        why="程序是封闭的项；`^0` 是最内层绑定的变量",
        fix="数一数它外面有几层绑定",
    ),
    "P032": Text("文件不是 JSON 形式的程序：{reason}", fix="{hint}"),
    "P033": Text("核心程序不支持 {what}", why="{why}", fix="{hint}"),
    "P036": Text(
        "程序没有可以运行的纯 λ 形式：{reason}",
        why="在纯 λ 中 true、0 和空列表是同一个项，而大的数是大的项",
        fix="把两种用途分给两个 Agent，或者用更小的数计数",
    ),
    "P035": Text(
        "调用点 `{name}` 的 `{field}` 不是合法的表达式：{reason}",
        fix="docs/language.md 列出了可以使用的内容",
    ),
    "P037": Text(
        "`{what}` 不能用于 `reduce`：它涉及副作用",
        why="规约只展示项本身：λ、字面量、序对、列表、`if`、`case`、`Y[n]`",
        fix="用 `lambdagent run` 运行，或者换成没有副作用的项",
    ),
    "P038": Text(
        "{what}不是 Agent",
        why="含有 `PAR(…)`、`Guard(…)` 等形式的文本只能由 Agent 组成",
        fix="{hint}",
    ),
    "P039": Text(
        "`{form}` 需要{expected}，实际是：{actual}", fix="docs/language.md 说明了它的写法"
    ),
    "P040": Text("表达式不合法：{reason}", fix="docs/language.md 列出了可以使用的内容"),
    "P041": Text(
        "`{name}` 的提示词被截断了，而且没有哪一行有完整的内容",
        fix="写在 `where` 表的 `{site}` 行里，或者在这里写全",
    ),
    "P042": Text(
        "`{name}` 的提示词和它那一行里的不一样",
        why="行里是完整的提示词，项里显示它的开头和 `…`",
        fix="两处一起改，或者从行里删除 `prompt`",
    ),
    "P043": Text("没有任何地方引用 `{name}` 这一行", fix="{hint}"),
    "P044": Text(
        "`{text}` 不是项",
        fix="定义写作 `name = term;`，局部定义写作 `let name = term in term`",
    ),
    "P045": Text(
        "循环的这个位置不应是这样",
        why="循环写作 `Yₙ(λself. λx. let r = f x in IF c ⟨r, step⟩ THEN r ELSE self r)` 或 "
        "`Yₙ(λself. λstate. let t = (f) state in CASE (classify t) […] >> λobs. "
        "IF (obs = t) THEN t ELSE self(state ⊕ format(t, obs)))`",
        fix="写成其中一种；只有它们绑定的名称可以不同",
    ),
    "P046": Text(
        "纯 λ 形式太大：其中的数和上界加起来超过 {limit}，最大的是 `{largest}`",
        why="在纯 λ 中，数 n 是把函数应用 n 次的项",
        fix="降低 `maxSteps` 之类的上界，或者运行时不用 `--desugar`",
    ),
    "P050": Text(
        "文本太大：它会有超过 {limit} 个节点",
        why="{why}",
        fix="{hint}",
    ),
    "P034": Text(
        "调用点 `{name}` 的种类 `{kind}` 不存在",
        why="种类有 {known}",
        fix="写其中的一个",
    ),
}
