"""What is said of expressions, of λ texts and of tables, in Chinese."""

from __future__ import annotations

PHRASES: dict[str, str] = {
    # --- expressions ---
    "an assignment (`:=`)": "赋值 (`:=`)",
    "`*` before a value": "值前面的 `*`",
    "an attribute that is not called": "没有被调用的属性",
    "a generator outside `any all sum min max sorted` and `join`": (
        "`any all sum min max sorted` 和 `join` 之外的生成器"
    ),
    "{what} cannot be used; {allowed}": "不能使用{what}；{allowed}",
    "a literal of type {kind} cannot be used; {allowed}": (
        "不能使用类型为 {kind} 的字面量；{allowed}"
    ),
    "allowed are literals, comparisons, `and or not`, arithmetic, `a if c else b`, indexing, "
    "comprehensions, the functions {functions} and methods of texts and dicts that change "
    "nothing": (
        "可以使用字面量、比较、`and or not`、算术、`a if c else b`、下标、推导式、"
        "函数 {functions}，以及不改变内容的文本和字典方法"
    ),
    "{message} (column {column})": "{message}（第 {column} 列）",
    "an expression has at most {most} characters, got {count}": (
        "表达式最多 {most} 个字符，实际有 {count} 个"
    ),
    "the expression is empty": "表达式为空",
    "this is no expression: {reason}": "这不是表达式：{reason}",
    "`{name}` starts with an underscore; such names cannot be used": (
        "`{name}` 以下划线开头；不能使用这样的名称"
    ),
    "an f-string may hold only plain `{value}` parts, without `!` and `:`": (
        "f-string 里只能有普通的 `{value}`，不能有 `!` 和 `:`"
    ),
    "flags are written re.I or re.I | re.M; known are {known}": (
        "标志写作 re.I 或 re.I | re.M；已知的有 {known}"
    ),
    "an expression nests at most {most} deep": "表达式最多嵌套 {most} 层",
    "operators on bits cannot be used; use + - * / // % **": (
        "不能使用位运算符；可以使用 + - * / // % **"
    ),
    "`is` works with None, True and False only; use `==`": (
        "`is` 只能用于 None、True 和 False；请使用 `==`"
    ),
    "after `for` stands one name, or several with commas between": (
        "`for` 后面是一个名称，或者用逗号隔开的几个名称"
    ),
    "only functions and methods can be called, by their name; {allowed}": (
        "只能按名称调用函数和方法；{allowed}"
    ),
    "`{name}` takes no {given}": "`{name}` 不接受 {given}",
    "`{name}` takes no {given}; it has {known}": "`{name}` 不接受 {given}；它有 {known}",
    "name": "名称",
    "function": "函数",
    "method": "方法",
    "`{name}` is no known {kind}; known are {known}": (
        "`{name}` 不是已知的{kind}；已知的有 {known}"
    ),
    "`{name}` is no known {kind}; did you mean `{near}`? known are {known}": (
        "`{name}` 不是已知的{kind}；是指 `{near}` 吗？已知的有 {known}"
    ),
    "`**` in a dict": "字典中的 `**`",
    "a pattern with repeats sees at most {most} characters": "带重复的模式最多处理 {most} 个字符",
    "back references and conditions cannot be used": "不能使用反向引用和条件",
    "a pattern has at most {most} characters and {groups} groups": (
        "模式最多 {most} 个字符、{groups} 个分组"
    ),
    "only the flags re.I, re.M, re.S, re.A and re.X can be used": (
        "只能使用标志 re.I、re.M、re.S、re.A 和 re.X"
    ),
    "the pattern could take too long: it nests repeats, or has too many that overlap": (
        "模式可能耗时太久：重复互相嵌套，或者有太多重叠的重复"
    ),
    "a pattern has at most {most} classes beyond Latin letters": (
        "模式最多有 {most} 个拉丁字母以外的字符类"
    ),
    "the patterns of an expression have too many wide classes together": (
        "一个表达式的各模式合起来有太多宽字符类"
    ),
    "the pattern is malformed: {error}": "模式的格式不正确：{error}",
    # --- what may stand at a place ---
    "a term": "项",
    "a value": "值",
    "a name": "名称",
    "a site": "调用点",
    "the end": "结尾",
    "less": "更少",
    "{words} or {last}": "{words} 或 {last}",
    "{words}, {last}": "{words}、{last}",
    "quoted name": "带引号的名称",
    # --- hints about λ texts ---
    "there is no `letrec`: use Y[n], as in `Y[20] (λself x. …) (λx. x)`": (
        "没有 `letrec`：使用 Y[n]，例如 `Y[20] (λself x. …) (λx. x)`"
    ),
    "a name of other characters is written in back-quotes": "含有其他字符的名称写在反引号里",
    "there is no infix minus; a negative number is one word, as in `-3`": (
        "没有中缀减号；负数连写成一个词，例如 `-3`"
    ),
    "a variable without a name is `^0`, `^1`, …, counted from the innermost binder": (
        "没有名称的变量写作 `^0`、`^1`、…，从最内层的绑定数起"
    ),
    "a mark is `@llm.think (f x)`": "标记写作 `@llm.think (f x)`",
    "there is no infix `{found}`; functions stand before their arguments: `f x y`": (
        "没有中缀 `{found}`；函数写在参数前面：`f x y`"
    ),
    "a text stands in double quotes": "文本写在双引号里",
    'a text stands in plain double quotes: "…"': '文本写在英文双引号里："…"',
    "a number is written as in JSON, or in hexadecimal as `0xff`": (
        "数的写法与 JSON 相同，或者用十六进制，例如 `0xff`"
    ),
    "an abstraction is written `lambda x. x`, with a dot": "抽象写作 `lambda x. x`，用点号",
    "the kinds of sites are {known}": "调用点的种类有 {known}",
    "an abstraction is written `λx. …` or `\\x. …`": "抽象写作 `λx. …` 或 `\\x. …`",
    "an abstraction begins with `λ`, `\\` or `lambda`": "抽象以 `λ`、`\\` 或 `lambda` 开头",
    'a model call is `LLM_{model, "prompt", name}(x)`': (
        '模型调用写作 `LLM_{model, "prompt", name}(x)`'
    ),
    "a function is written `name = λx. …;`": "函数写作 `name = λx. …;`",
    "a definition is `name = term;`, a local one `let name = term in term`": (
        "定义写作 `name = term;`，局部定义写作 `let name = term in term`"
    ),
    "`let x = t` goes on with `in`": "`let x = t` 后面要接 `in`",
    "an `if` has both branches: `if c then a else b`": (
        "`if` 必须有两个分支：`if c then a else b`"
    ),
    'write `case t of {"label" ⇒ λx. …}`': '写成 `case t of {"label" ⇒ λx. …}`',
    'an arm is `"label" ⇒ λx. …`': '分支写作 `"label" ⇒ λx. …`',
    "a variable of this name is written in back-quotes: `` `{name}` ``": (
        "这个名称的变量写在反引号里：`` `{name}` ``"
    ),
    "bind it, as in {bind}, or define it, as in {define}": (
        "绑定它，例如 {bind}，或者定义它，例如 {define}"
    ),
    "there is no unbounded recursion: write `Y[20]`": "没有无界递归：写 `Y[20]`",
    "write it with its index, as in `{name}[3]`": "带上下标，例如 `{name}[3]`",
    'write `fail{error: "ToolError", message: "…"}`': (
        '写成 `fail{error: "ToolError", message: "…"}`'
    ),
    "a site is `{name}.NAME`, or `{name}{{…}}`; a variable of this name is in back-quotes": (
        "调用点写作 `{name}.NAME` 或 `{name}{{…}}`；这个名称的变量写在反引号里"
    ),
    "`_` is for what is not used: give the variable a name": (
        "`_` 用于不使用的变量：给这个变量起一个名称"
    ),
    "write {meant}": "写成 {meant}",
    "define it, as in `{name} = …;`": "定义它，例如 `{name} = …;`",
    "count the binders around it: `^0` is the variable of the innermost one": (
        "数一数它外面的绑定：`^0` 是最内层的变量"
    ),
    "write the bound in brackets and in hexadecimal, as in `Y[0xff]`": (
        "把上界写在方括号里并用十六进制，例如 `Y[0xff]`"
    ),
    "write it in hexadecimal, as in `0xff`": "用十六进制书写，例如 `0xff`",
    # --- agents as texts ---
    'write `λx. LLM_{model, "prompt", name}(x)`': '写成 `λx. LLM_{model, "prompt", name}(x)`',
    'write `("name", λx. Tool("name", x))`': '写成 `("name", λx. Tool("name", x))`',
    "write `{x | …}`, or `Truth(f)` for what an agent `f` answers": (
        "写成 `{x | …}`；如果由 Agent `f` 来判断，写成 `Truth(f)`"
    ),
    'write `[("label", f), (_, g)]`': '写成 `[("label", f), (_, g)]`',
    "agents are `λx. LLM_{…}(x)`, `f >> g`, `Guard(f, …)` and the like": (
        "Agent 写作 `λx. LLM_{…}(x)`、`f >> g`、`Guard(f, …)` 等"
    ),
    'write `λx. Tool("name", x)`': '写成 `λx. Tool("name", x)`',
    'write `λx. CASE (f x) [("label", g), (_, h)] x`': (
        '写成 `λx. CASE (f x) [("label", g), (_, h)] x`'
    ),
    "a predicate stands in `Guard(f, {x | …})`, or `IF {x | …} x THEN …`": (
        "谓词写在 `Guard(f, {x | …})` 或 `IF {x | …} x THEN …` 里"
    ),
    "error, empty, last or a text": "error、empty、last 或文本",
    "an agent, a condition `{x | …}` or `Truth(g)`, `retry=…` and `fallback=…`": (
        "一个 Agent，一个条件 `{x | …}` 或 `Truth(g)`，以及 `retry=…` 和 `fallback=…`"
    ),
    "an agent and a store, as in `Memory(f, Γ ∪ local{size=20, ttl=0})`": (
        "一个 Agent 和一个存储，例如 `Memory(f, Γ ∪ local{size=20, ttl=0})`"
    ),
    "a store that is {known}": "存储：{known}",
    "one agent": "一个 Agent",
    "{least} agents": "{least} 个 Agent",
    "an agent first": "先写一个 Agent",
    "agents only": "只能是 Agent",
    "{known}, each once": "{known}，每个一次",
    "as `{name}` {expected}": "`{name}` 为{expected}",
    "{count} terms": "{count} 个项",
    "{count} operands": "{count} 个操作数",
    "`{name}` is no name here; known are {known}": "`{name}` 在这里不是名称；已知的有 {known}",
    "the tool `{label}` under this label": "这个标签下的工具 `{label}`",
    "one of {known} around the call": "调用外面是以下之一：{known}",
    "this": "这",
    "this condition": "这个条件",
    "what thinks in a loop": "循环中负责思考的部分",
    "what `CASE` chooses from": "`CASE` 的分支列表",
    "a branch without a name": "没有名称的分支",
    "the branch `{label}`": "分支 `{label}`",
    "this branch": "这个分支",
    "Y[20], its number of rounds from 0": "Y[20]，即从 0 起的轮数",
    "guard[2], its number of retries from 0": "guard[2]，即从 0 起的重试次数",
    "par[3], its number of branches from 1": "par[3]，即从 1 起的分支数",
    "pmap[32], the most items, or pmap[32, 4], of which 4 ask at once": (
        "pmap[32]（最多的项数），或 pmap[32, 4]（其中 4 项可同时询问外界）"
    ),
    'case["a", "b"], each label once': 'case["a", "b"]，每个标签一次',
    'tag["a", "b", 0], each label once, and which of them it puts on, counted from 0': (
        'tag["a", "b", 0]，每个标签一次，以及它加上的是第几个（从 0 数起）'
    ),
    # --- tables ---
    "rename it to `{name}`": "改名为 `{name}`",
    "add `{key}: …`": "添加 `{key}: …`",
    "write one, as in `{example}`": "写一个，例如 `{example}`",
    'write `model: {provider: "…", name: "…"}`': '写 `model: {provider: "…", name: "…"}`',
    # --- JSON ---
    "a value or `]`": "值或 `]`",
    "a key in double quotes": "双引号里的键",
    "a key in double quotes or `}`": "双引号里的键或 `}`",
    "`,` or `{close}`": "`,` 或 `{close}`",
    "`{found}` stands where {expected} is expected": "应为：{expected} 的地方是 `{found}`",
    "the text ends where {expected} is expected": "应为：{expected} 的地方文本就结束了",
    "a number of more than {longest} digits is written {instead}": (
        "超过 {longest} 位的数写作 {instead}"
    ),
    "the key {key} appears twice in one object": "键 {key} 在同一个对象里出现了两次",
    "a text holds an escape that does not exist": "文本里有不存在的转义",
    '"{key}" takes "0x…", "NaN", "Infinity" or "-Infinity"': (
        '"{key}" 的值是 "0x…"、"NaN"、"Infinity" 或 "-Infinity"'
    ),
    "write one with `lambdagent lambda FILE --format json`": (
        "用 `lambdagent lambda FILE --format json` 写出一个"
    ),
    '"{key}": {form} is missing': '缺少 "{key}": {form}',
    "`name`, `core` or `sites` is missing": "缺少 `name`、`core` 或 `sites`",
    "no row describes the site `{site}`": "没有哪一行描述调用点 `{site}`",
    "its digest is that of another program": "它的摘要属于另一个程序",
    "a site has no name, or the name of another one": "有一个调用点没有名称，或者与另一个重名",
    "no rows": "没有行",
    "row {row} is no node": "第 {row} 行不是节点",
    "row {row} names row {other}, which does not stand before it": (
        "第 {row} 行引用第 {other} 行，而后者不在它前面"
    ),
    "no primitive `{name}{params}`": "没有原语 `{name}{params}`",
}
