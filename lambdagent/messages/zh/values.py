"""What a value must be and what it is, in Chinese."""

from __future__ import annotations

PHRASES: dict[str, str] = {
    # --- what is expected ---
    "text": "文本",
    "a text": "文本",
    "a list": "列表",
    "a mapping": "映射",
    "an object": "对象",
    "the JSON Schema of an object": "对象的 JSON Schema",
    "a model": "模型",
    "a model name": "模型名",
    "a number": "数",
    "a whole number from {least}": "不小于 {least} 的整数",
    "a whole number from {least} to {most}": "{least} 到 {most} 的整数",
    "a number from {least} to {most}": "{least} 到 {most} 的数",
    "a number above {least}": "大于 {least} 的数",
    "a number from {least}": "不小于 {least} 的数",
    "a number from 0": "不小于 0 的数",
    "a number from 0 to 2": "0 到 2 的数",
    "a number above 0": "大于 0 的数",
    "a whole number from 0": "不小于 0 的整数",
    "a whole number from 1": "不小于 1 的整数",
    "a number that is not infinite": "有限的数",
    "true or false": "true 或 false",
    "one of {words}": "以下之一：{words}",
    "a regular expression": "正则表达式",
    "an expression": "表达式",
    "a mapping, as in `model: {name: …}`": "映射，例如 `model: {name: …}`",
    "an agent, as in `{type: simple, systemPrompt: …}`": (
        "Agent，例如 `{type: simple, systemPrompt: …}`"
    ),
    "a text in which `${` begins `${NAME}` or `${NAME:-default}`": (
        "文本，其中的 `${` 只能是 `${NAME}` 或 `${NAME:-default}` 的开头"
    ),
    "a name other than `_`": "`_` 以外的名称",
    "a known provider": "已知的 provider",
    "a dict of functions by name": "以名称为键的函数字典",
    "a dict of objects by the name of the provider": "以 provider 名称为键的对象字典",
    "a dict with texts as keys": "以文本为键的字典",
    "a dict, or an object with `list_recent` and `put`": (
        "字典，或者带有 `list_recent` 和 `put` 的对象"
    ),
    "a function or a `Tool`": "函数或 `Tool`",
    "`recursive`, `cek` or `adaptive`": "`recursive`、`cek` 或 `adaptive`",
    "a command or null": "命令或 null",
    "a whole number, or null": "整数或 null",
    "a number of seconds": "秒数",
    "a number of seconds, or null": "秒数或 null",
    "a list of texts": "文本列表",
    "a list of different texts, at least one": "至少有一项、互不相同的文本列表",
    "what its `text` is read as": "由它的 `text` 读出的内容",
    "a list of {name, description, parameters}": "由 {name, description, parameters} 组成的列表",
    "auto, native or text": "auto、native 或 text",
    # --- tools of a file ---
    "`chat` of {name} takes no `tools`": "{name} 的 `chat` 不接受 `tools`",
    "remove `model.toolCalling: native`, or let `chat` take `tools`": (
        "去掉 `model.toolCalling: native`，或让 `chat` 接受 `tools`"
    ),
    "it calls tools of its own": "它调用自己的工具",
    "write `toolCalling: auto`": "写 `toolCalling: auto`",
    "a JSON Schema": "JSON Schema",
    "a list of JSON Schemas": "由 JSON Schema 组成的列表",
    "a list of names": "由名称组成的列表",
    "a value of JSON": "JSON 的值",
    "a keyword of JSON Schema that is checked": "会被检查的 JSON Schema 关键字",
    "a type of JSON": "JSON 的类型",
    "a pattern that matches quickly": "能快速匹配的模式",
    "a reference into the schema, as in `#/$defs/name`": (
        "指向本 schema 内部的引用，例如 `#/$defs/name`"
    ),
    "see docs/yaml.md": "见 docs/yaml.md",
    "a name other than `{name}`": "`{name}` 以外的名称",
    "`auto` or `text`: `{name}` calls tools of its own": (
        "`auto` 或 `text`：`{name}` 调用自己的工具"
    ),
    "write `model.toolCalling: text`: this model may have no tool calls": (
        "写 `model.toolCalling: text`：此模型可能不支持工具调用"
    ),
    "a text, or `{text: …, tool_calls: [{name: …}]}`": (
        "文本，或 `{text: …, tool_calls: [{name: …}]}`"
    ),
    "a type of pure λ": "纯 λ 的类型",
    "a JSON Schema of which all can be checked": "能完全检查的 JSON Schema",
    "an answer that is read as json": "按 json 解析的回答",
    "`json`, since there is an `outputSchema`": "`json`，因为有 `outputSchema`",
    "remove it, or say it in the prompt": "删除它，或写在提示词中",
    "remove `outputSchema`, or write `outputParser: json`": (
        "删除 `outputSchema`，或写 `outputParser: json`"
    ),
    "a strategy of conversations": "对话策略",
    "a text like summary(10)": "形如 summary(10) 的文本",
    "true, false, full, sliding_window(n), token_budget(n) or summary(n)": (
        "true、false、full、sliding_window(n)、token_budget(n) 或 summary(n)"
    ),
    "write a number from 1 in parentheses, as in `sliding_window(20)`": (
        "在括号中写一个从 1 开始的数，例如 `sliding_window(20)`"
    ),
    'a text that begins with "{prefix}:"': '以 "{prefix}:" 开头的文本',
    "raw, reply, text, json, number or boolean": "raw、reply、text、json、number 或 boolean",
    "raise or text": "raise 或 text",
    "a number from 0, or null": "不小于 0 的数或 null",
    "an object or null": "对象或 null",
    "a text or null": "文本或 null",
    "a text, or a list of its lines": "文本，或者由它的各行组成的列表",
    "no keys": "没有键",
    "the provider, since the name of the model does not tell it": (
        "所用的 provider，因为从模型的名称看不出来"
    ),
    # --- what is there ---
    "nothing": "空值",
    "the text {text}": "文本 {text}",
    "another `${`": "别的 `${`",
    "none": "无",
    # --- why a file cannot be read ---
    "it is larger than {size} MB": "它大于 {size} MB",
    "byte {start} is {byte}": "第 {start} 字节是 {byte}",
    "it is written as UTF-16": "它是以 UTF-16 保存的",
    "a `:` stands where no key can be": "`:` 出现在不能有键的地方",
    "put quotes around a text that holds `: `": "给含有 `: ` 的文本加上引号",
    "a `:` is missing after the key": "键的后面缺少 `:`",
    "write `key: value`, or put quotes around a text of several lines": (
        "写成 `key: value`，或者给多行文本加上引号"
    ),
    "a key was expected": "这里应当是键",
    "indent all keys of a mapping alike": "同一个映射的键要对齐",
    "a `- ` was expected": "这里应当是 `- `",
    "indent all entries of a list alike": "同一个列表的各项要对齐",
    "a `,` or `]` is missing": "缺少 `,` 或 `]`",
    "a `,` or `}` is missing": "缺少 `,` 或 `}`",
    "write it where the bracket ends": "在括号结束的地方补上",
    "the quote that opens here is never closed": "这里打开的引号没有闭合",
    "write the same quote where the text ends": "在文本结束的地方写上同样的引号",
    "the backslash in the double quotes starts no known escape": (
        "双引号里的反斜杠不是已知的转义"
    ),
    "write it twice, or use single quotes": "写两个反斜杠，或者改用单引号",
    "docs/language.md shows how each form is written": "docs/language.md 说明了每种写法",
    "a value was expected": "此处应有一个值",
    "write it, or close the bracket that is open": "写上它，或者闭合打开的括号",
    "a `- ` stands where no list can begin": "`- ` 所在的位置不能开始列表",
    "begin the list on the line below its key, or put quotes around the text": (
        "在键的下一行开始列表，或者给文本加上引号"
    ),
    "the agent ends above, and more follows": "Agent 在上面已经结束，后面还有内容",
    "look for an indent, a bracket or a quote that is wrong here or just above": (
        "检查此处或上面一行的缩进、括号和引号"
    ),
    "no text can start with this character": "文本不能以这个字符开头",
    'remove it, or write it as an escape in double quotes, such as `"\\x07"`': (
        '删除它，或者在双引号里写成转义，例如 `"\\x07"`'
    ),
    "put quotes around it to mean the text": "如果是指这个文本，请加上引号",
    "no reason is known": "原因不明",
    "{reason}; the bracket opens in line {line}": "{reason}；括号在第 {line} 行打开",
    "the character {name} is not allowed": "不允许使用字符 {name}",
    "the file holds a character that is not allowed": "文件里有不允许使用的字符",
    "it holds half a character": "其中有半个字符",
    "there is no anchor `&{name}`": "没有锚点 `&{name}`",
    # --- hints ---
    "write `{meant}`": "写成 `{meant}`",
    "remove it": "删除它",
    "remove it, or write `type: {type}`": "删除它，或者写 `type: {type}`",
    "write it in brackets, as in `[…]`": "写在方括号里，例如 `[…]`",
    "remove the quotes": "去掉引号",
    "put quotes around it to mean the word": "如果是指这个词，请加上引号",
    "put quotes around the text": "给文本加上引号",
    "write `$${` for `${`": "`${` 要写成 `$${`",
    "repair it: {error}": "修正它：{error}",
    "docs/language.md lists what may be used": "docs/language.md 列出了可以使用的内容",
    "`{name}` has the keys {known}": "`{name}` 的键有 {known}",
    "remove it: keys of models are read from the environment": "删除它：模型的密钥从环境变量读取",
    "write it in `{block}:`": "写在 `{block}:` 中",
    "remove it, or begin its name with `x-` if it is a note of your own": (
        "删除它；如果是自己的备注，名称以 `x-` 开头"
    ),
    "docs/yaml.md lists them; or write `package.module:Class`, or pass `providers=`": (
        "docs/yaml.md 列出了所有提供方；或写 `package.module:Class`，或传入 `providers=`"
    ),
    "`default:` answers what has no route": "没有对应路由的输入由 `default:` 回答",
    "leave it out": "去掉它",
    "leave it out, or add it to `mcp.localTools`": "去掉它，或者把它加到 `mcp.localTools`",
    "leave it out: `terminate` ends the loop and calls nothing": (
        "去掉它：`terminate` 结束循环，不调用任何东西"
    ),
    # --- what nothing uses ---
    "tools": "工具",
    "memories": "记忆",
    "the tool {names}": "工具 {names}",
    "tool {name}": "工具 {name}",
    "the bound of rounds": "轮数上界",
    "the time limit of tools": "工具的时间限制",
    "only agents of type `react` call tools": "只有类型为 `react` 的 Agent 会调用工具",
    "write `type: react`": "写 `type: react`",
    "`terminate` is the identity, whatever is injected": (
        "无论注入什么，`terminate` 都是恒等函数 λx.x"
    ),
    "give the tool another name": "给工具换一个名称",
    "the injected memory": "注入的记忆",
    "`memory.enabled` is false": "`memory.enabled` 为 false",
    "write `memory: {enabled: true}`": "写 `memory: {enabled: true}`",
    "the provider {name}": "provider {name}",
    "no provider": "没有任何 provider",
    "its models are served by {used}": "它的模型由 {used} 提供",
    "pass `providers=` under the name that the file has": "传入 `providers=` 时使用文件里的名称",
    "memory": "记忆",
    "`confirm` of the tool {name}": "工具 {name} 的 `confirm`",
    "no site `tool.…` is the tool of this name": "没有哪个调用点 `tool.…` 是这个名称的工具",
    "no site `confirm.…` asks before `{name}`": "没有哪个调用点 `confirm.…` 在 `{name}` 之前询问",
    "the program has no site `mem.read`": "程序没有调用点 `mem.read`",
    "the program has no site `recall`": "程序没有调用点 `recall`",
    # --- core programs, large texts ---
    "Python code": "Python 代码",
    "a surface term": "表层项",
    "it has no surface term, which is what that is made from": "它没有表层项，而那要由表层项生成",
    "use `load_program`, or `lambdagent lambda`": "使用 `load_program` 或 `lambdagent lambda`",
    "the bounds of its loops stand in the term, as in `Y[5]`": ("循环的上界写在项里，例如 `Y[5]`"),
    "change them in the file": "在文件里修改",
    "parts that use variables from around them have no definition: they are written each time": (
        "用到外层变量的部分没有定义，每次都要完整写出"
    ),
    "print it with `--format json`, where all that is shared is one row": (
        "用 `--format json` 打印，其中共享的部分只占一行"
    ),
    "LaTeX has no definitions, so parts that are shared are written each time": (
        "LaTeX 没有定义，共享的部分每次都要完整写出"
    ),
    "print it with `--format formal`, which has definitions": (
        "用 `--format formal` 打印，它有定义"
    ),
    "a value that crosses the border may contain values of its own type": (
        "穿过边界的值可能包含与它自身类型相同的值"
    ),
    "a value is {first} in one place and {second} in another": (
        "同一个值在一处是 {first}，在另一处是 {second}"
    ),
    "numerals end at {largest}, and it counts with {number}": (
        "数字最大到 {largest}，而它用 {number} 计数"
    ),
    "the text would have more than {largest} nodes": "文本会有超过 {largest} 个节点",
    "the answer of `{site}`": "`{site}` 的回答",
    "the input": "输入",
}
