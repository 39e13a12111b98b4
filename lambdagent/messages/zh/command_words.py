"""What the command line says of itself in Chinese: commands, options, wrong usage, rules."""

from __future__ import annotations

PHRASES: dict[str, str] = {
    "{count} characters": "{count} 个字符",
    # --- commands ---
    "write an agent file to begin with": "写出一个可以作为起点的 Agent 文件",
    "make an agent file of a file of another framework": "把其他框架的文件转换为 Agent 文件",
    "compile an agent and run it on an input": "编译 Agent，并对输入运行它",
    "compile an agent and print its structure, without running it": (
        "编译 Agent 并输出其结构，不运行它"
    ),
    "say what is wrong with agents, what it means in λ, and how to mend it": (
        "说明 Agent 有什么问题、在 λ 中的含义以及如何修复"
    ),
    "print an agent as a lambda expression": "把 Agent 输出为 λ 表达式",
    "reduce a pure term step by step": "逐步归约一个纯 λ 项",
    "show a recorded run: what the agent did, each reduction, each state": (
        "显示录制的运行：Agent 做了什么、每次归约、每个状态"
    ),
    "list the runs that are kept in a directory": "列出目录中保存的运行",
    "print the JSON Schema of agent files, for editors": (
        "输出 Agent 文件的 JSON Schema，供编辑器使用"
    ),
    "print the version": "输出版本",
    # --- around the help ---
    "usage: ": "用法：",
    "COMMAND [OPTIONS] …": "命令 [选项] …",
    "[OPTIONS]": "[选项]",
    "commands": "命令",
    "options": "选项",
    "positional arguments": "位置参数",
    "`lambdagent COMMAND --help` tells more about a command": (
        "`lambdagent 命令 --help` 显示某个命令的详细说明"
    ),
    "show this help message and exit": "显示本帮助并退出",
    "show where in the program an error arose": "显示错误在程序中的位置",
    # --- what argparse says of a wrong command line ---
    "argument {name}: {message}": "参数 {name}：{message}",
    "the following arguments are required: {names}": "缺少必需的参数：{names}",
    "unrecognized arguments: {names}": "无法识别的参数：{names}",
    "expected one argument": "需要一个值",
    "expected at least one argument": "至少需要一个值",
    "not allowed with argument {name}": "不能与参数 {name} 同时使用",
    "ignored explicit argument {value}": "不接受值 {value}",
    "invalid {type} value: {value}": "不合法的 {type} 值：{value}",
    # --- options of several commands ---
    "agent file: YAML, λ text (.lam) or tables (.json)": (
        "Agent 文件：YAML、λ 文本（.lam）或表（.json）"
    ),
    "replace a file that is there": "覆盖已经存在的文件",
    "form of the answer": "回答的格式",
    "form of the list": "列表的格式",
    "form of the steps": "步骤的格式",
    # --- run ---
    "the input; - reads standard input": "输入；- 表示从标准输入读取",
    "read the input from a file": "从文件读取输入",
    "print the β-trace on standard error": "在标准错误上输出 β-trace",
    "record the run, for `trace`": "录制运行，供 `trace` 使用",
    "write what the models said, for `script: {recording: …}`": (
        "写下模型的回答，供 `script: {recording: …}` 使用"
    ),
    "what the run may spend: tokens, usd, calls (of models) or seconds": (
        "运行可花费的上限：tokens、usd、calls（模型调用）或 seconds"
    ),
    "whose memories of the scope `user` the run has": "运行使用哪个用户的 `user` 范围记忆",
    "the session whose memories it has; without one they end with the run": (
        "使用哪个会话的记忆；不指定则随运行结束"
    ),
    "bound of every ReAct loop": "每个 ReAct 循环的上界",
    "temperature of every agent": "每个 Agent 的 temperature",
    "longest time for the run, in seconds": "运行的最长时间，单位秒",
    "what runs the program; the file decides by default": "用什么运行程序；默认由文件决定",
    "model of every agent": "每个 Agent 的模型",
    "a shell command as a tool; {} becomes its input, without {} it reads stdin": (
        "作为工具的 shell 命令；{} 换成它的输入，没有 {} 时从标准输入读取"
    ),
    "longest time for one tool call": "一次工具调用的最长时间",
    "something that the agent remembers from the start": "Agent 从一开始就记得的内容",
    "keep the run on disk, in a directory of its own": "把运行保存在磁盘上，每次运行一个目录",
    "go on with a run that was kept": "继续一个保存的运行",
    "what to do with calls of which nobody knows whether they were carried out": (
        "对不知道是否已经执行的调用怎么办"
    ),
    "go on with the program of FILE, as long as nothing that differs was called": (
        "用 FILE 中的程序继续，只要不同之处还没有被调用过"
    ),
    "begin a new run that is as RUN was until step N": "开始一次新的运行，第 N 步之前与 RUN 相同",
    "what step N answered, in a new run or where that is in doubt": (
        "第 N 步的回答，用于新的运行或者存疑之处"
    ),
    "what the new run has another of: input, a step's answer N, or a part of it N:field": (
        "新的运行有哪些不同：input、第 N 步的回答，或者其中的一部分 N:field"
    ),
    "make the call that waits for a person: the one at KEY, or all that wait": (
        "执行等待确认的调用：KEY 处的那一个，或者全部"
    ),
    "do not make it, and tell the agent why": "不执行，并告诉 Agent 原因",
    "print what models say while they do; the answer comes last": (
        "在模型回答的同时输出；最后是最终回答"
    ),
    "write the answer to a file instead of stdout": "把回答写入文件，而不是标准输出",
    "print nothing but the answer": "只输出回答",
    "print every step as it ends; on a terminal also what is under way": (
        "每一步结束时输出；在终端上还显示正在进行的步骤"
    ),
    # --- compile ---
    "text for people, json for tools, python for code that rebuilds the term; sarif and github "
    "print what is wrong with the file, for services that build and test": (
        "text 供人阅读，json 供工具使用，python 是重建该项的代码；"
        "sarif 和 github 输出文件的问题，供构建和测试服务使用"
    ),
    "print how often models and tools can be called instead; json has that too": (
        "改为输出模型和工具可能被调用多少次；json 也含有这些"
    ),
    "connect to every server that a run would ask, without asking anything": (
        "连接运行会访问的每个服务器，但不发出任何请求"
    ),
    "lint the file, too": "同时对文件运行 lint",
    # --- lint ---
    "agent files, λ texts (.lam), tables (.json); all agents below a directory; - reads an agent "
    "file from standard input": (
        "Agent 文件、λ 文本（.lam）、表（.json）；目录下的所有 Agent；"
        "- 表示从标准输入读取 Agent 文件"
    ),
    "the lowest level that is told; info by default": "报告的最低级别；默认 info",
    "run only these, such as L001,L004; without CODES, list all rules": (
        "只运行这些规则，例如 L001,L004；不写 CODES 时列出所有规则"
    ),
    "do not run these; in a file, `# lint: ignore L014` on a line or above it": (
        "不运行这些规则；在文件中，把 `# lint: ignore L014` 写在该行或其上方"
    ),
    "text for people, json for tools, sarif and github for services that build and test": (
        "text 供人阅读，json 供工具使用，sarif 和 github 供构建和测试服务使用"
    ),
    "mend in the files what is certain; comments and layout stay": (
        "在文件中修复有把握的问题；注释和排版保持不变"
    ),
    "show what `--fix` would change, and change nothing": "显示 `--fix` 会改变什么，但不改变",
    # --- lambda and reduce ---
    "human for people; formal is the core term, and json its tables: all run": (
        "human 供人阅读；formal 是核心项，json 是它的表：都可以运行"
    ),
    "for people, without settings and long prompts": "供人阅读，省略设置和长提示词",
    "pure λ: variables, λ, applications; it runs": "纯 λ：变量、λ、应用；可以运行",
    "formal, in nothing but ASCII": "formal，只用 ASCII",
    "the core term in LaTeX": "LaTeX 形式的核心项",
    "formal, with indices for variables": "formal，变量用索引表示",
    "a λ term, or a .lam file; - reads standard input": "λ 项，或者 .lam 文件；- 表示标准输入",
    "call by value (as agents run), normal order, or call by need; default cbv": (
        "按值调用（Agent 的运行方式）、正规序或者按需调用；默认 cbv"
    ),
    "most steps; default {count}": "最多步数；默认 {count}",
    "write known terms as TRUE, church[3], …": "把已知的项写成 TRUE、church[3] 等",
    "whole lines; without it a line ends at the width of the terminal, or elsewhere after {count} "
    "characters of the term, and … stands for the rest": (
        "完整的行；否则一行在终端的宽度处结束，别处则在项的 {count} 个字符之后，其余用 … 代替"
    ),
    "a .lam file with definitions": "含有定义的 .lam 文件",
    # --- trace ---
    "a file of `run --trace-file`, or a directory of a kept run": (
        "`run --trace-file` 的文件，或者保存的运行的目录"
    ),
    "what the agent did, each reduction, or each transition of the machine": (
        "Agent 做了什么、每次归约，或者机器的每次转换"
    ),
    "all about step N alone": "只显示第 N 步的全部内容",
    "steps of a name, a kind, a rule or a site; may be a glob": (
        "某个名称、种类、规则或调用点的步骤；可以是通配符"
    ),
    "step through the run by keys; h there shows them": "用按键逐步查看运行；按 h 显示按键",
    "write a page that shows every step, for any browser": "写出显示每一步的网页，任何浏览器可读",
    "draw when the steps were": "画出各步骤的时间",
    "draw what the steps stand in as an SVG, to FILE or through a pipe": (
        "把步骤的嵌套画成 SVG，写入 FILE 或者管道"
    ),
    "what the width of the flame graph is; time": "火焰图的宽度表示什么；默认 time",
    "sums by term, reductions, failures, retries": "按项汇总：归约、失败、重试",
    "where another run parts from this one; exit code 1": (
        "另一次运行从哪里开始与这一次不同；退出码 1"
    ),
    "go through the run rule by rule: is it what its program does? exit code 1 if not": (
        "逐条规则检查运行：它是否与程序一致？不一致时退出码为 1"
    ),
    # --- checkpoints, new, import, schema ---
    "where runs are kept": "保存运行的目录",
    "print where a run stands: its steps, and its continuation": "输出运行的进度：步骤和续延",
    "remove finished runs until no more than N runs are left; all of them without N": (
        "删除已结束的运行，最多保留 N 个；不写 N 时全部删除"
    ),
    "one of {names}; in a terminal, what is left out is asked for": (
        "{names} 之一；在终端中会询问省略的内容"
    ),
    "what the agent is called; its type by default": "Agent 的名称；默认为它的类型",
    "who answers; by default scripted, which needs no key": "由谁回答；默认 scripted，不需要密钥",
    "the model; a usual one of the provider by default": "模型；默认为该 provider 常用的模型",
    "where to write it, - for standard output; NAME.yml by default": (
        "写到哪里，- 表示标准输出；默认 NAME.yml"
    ),
    "language of comments and prompts; LAMBDAGENT_LANG or the locale by default": (
        "注释和提示词的语言；默认由 LAMBDAGENT_LANG 或区域设置决定"
    ),
    "its file; for crewai also its directory": "它的文件；crewai 也可以是目录",
    "where to write it instead of stdout": "写到哪里，而不是标准输出",
    "language of the descriptions; LAMBDAGENT_LANG decides by default": (
        "说明的语言；默认由 LAMBDAGENT_LANG 决定"
    ),
    # --- titles of rules ---
    "an agent without a prompt": "Agent 没有提示词",
    "an agent without a model": "Agent 没有模型",
    "a loop of no rounds": "一轮也不执行的循环",
    "a ReAct agent without `terminate`": "ReAct Agent 没有 `terminate`",
    "a router without routes": "router 没有路由",
    "a chain without steps, or nothing side by side": "chain 没有步骤，或者并行中没有 Agent",
    "a high temperature": "temperature 偏高",
    "a memory that never forgets": "永不过期的记忆",
    "a memory that keeps nothing": "什么也不保存的记忆",
    "a loop of many rounds": "轮数很多的循环",
    "a ReAct agent without tools": "ReAct Agent 没有工具",
    "a guard with many retries": "重试次数很多的 guard",
    "a router without a default": "router 没有 default",
    "a temperature of 0": "temperature 为 0",
    "an agent with a memory": "Agent 有记忆",
    "an agent with a knowledge base": "Agent 有知识库",
    "a guard that no answer passes": "没有回答能通过的 guard",
    "a guard that every answer passes": "所有回答都能通过的 guard",
    "an exit test that is always the same": "结果总是相同的退出条件",
    "a category without a route": "没有路由的类别",
    "a route that is hard to reach": "难以到达的路由",
    "two agents of one name": "两个 Agent 同名",
    "tools whose results are never seen": "结果从不被看到的工具",
    "a block without effect": "没有作用的块",
    "a scripted reply that nobody gets": "没有人得到的脚本回复",
    "a secret in the file": "文件中的密钥",
    "a doubtful name of a model": "可疑的模型名",
    "a conversation larger than the window": "超过窗口的对话",
    "a loop that goes on twice": "在一条路径上继续两次的循环",
    "calls without bound": "没有上界的调用",
    "a loop that never ends early": "从不提前结束的循环",
    "a lasting memory that ends with its session": "持久记忆随会话结束",
    "a comment that ignores nothing": "什么也没有忽略的注释",
    "`debug`, `info` or `warning`": "`debug`、`info` 或 `warning`",
}
