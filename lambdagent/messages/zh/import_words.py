"""Why parts of other frameworks' files are left out, in Chinese."""

from __future__ import annotations

PHRASES: dict[str, str] = {
    "Imported from {framework}: {names}": "从 {framework} 导入：{names}",
    "Not carried over:": "没有转换的部分：",
    "an agent file has nothing that stands for it": "Agent 文件中没有与它对应的内容",
    "{expected} was expected": "应为：{expected}",
    "it holds no mapping": "其中没有映射",
    "agent": " Agent",
    "task": "任务",
    "model call": "模型调用",
    "it names no model, so `{name}` stands there": "它没有写明模型，所以写成 `{name}`",
    "`{kind}` has no counterpart": "`{kind}` 没有对应的内容",
    "nothing that is carried over leads to it": "已转换的部分都不会到达它",
    "agents have no knowledge base yet": "Agent 目前还没有知识库",
    # --- AutoGen ---
    "a router chooses once, and whom it chooses answers": "router 只选择一次，由选中者回答",
    "it is neither an agent nor a team": "它既不是 Agent，也不是团队",
    "nobody can hand over to `{name}` while they work": "工作过程中不能移交给 `{name}`",
    "a conversation is cut by its messages or its tokens only": (
        "对话只能按消息数或 token 数截断"
    ),
    "`participants` lists them": "它们列在 `participants` 中",
    "the team": "团队",
    "each sees the answer before its own; in AutoGen all see the whole conversation": (
        "每个 Agent 只看到前一个的回答；在 AutoGen 中，所有 Agent 都看到整个对话"
    ),
    "the team goes round a fixed number of times": "团队轮流的次数是固定的",
    "its `{…}` are not filled in; a prompt of ours stands there": (
        "其中的 `{…}` 不会填充；改用我们的提示词"
    ),
    "`{kind}` lets several speak in turn; {more}": "`{kind}` 让多个 Agent 轮流发言；{more}",
    # --- CrewAI ---
    "a step sees the answer of the step before it, and no other": (
        "每一步只看到前一步的回答，看不到其他的"
    ),
    "its type is not written in the file, or has no JSON Schema": (
        "其类型未写在该文件中，或没有对应的 JSON Schema"
    ),
    "it is no JSON Schema that can be checked": "它不是可以检查的 JSON Schema",
    "agents.yaml holds a mapping of names to `role`, `goal` and `backstory`": (
        "agents.yaml 是从名称到 `role`、`goal` 和 `backstory` 的映射"
    ),
    "tasks.yaml holds a mapping of names to `description` and `agent`": (
        "tasks.yaml 是从名称到 `description` 和 `agent` 的映射"
    ),
    "put tasks.yaml beside it: it says who does what, in which order": (
        "把 tasks.yaml 放在它旁边：其中说明谁按什么顺序做什么"
    ),
    "no step of a chain can hand over its work": "chain 的步骤不能移交自己的工作",
    "it is left out, so nobody is said to do the task": "没有写出它，所以不知道由谁完成任务",
    "agents.yaml has no `{name}`": "agents.yaml 中没有 `{name}`",
    "no task is given to it": "没有任务分配给它",
    "it would be all tasks before; {more}": "它本应是之前的所有任务；{more}",
    "it names `{name}`; {more}": "它写的是 `{name}`；{more}",
    "the tasks run one after another": "任务依次执行",
    # --- Dify ---
    "it has no `app`": "其中没有 `app`",
    "its `workflow` has no `graph`": "它的 `workflow` 没有 `graph`",
    "an app of mode `{mode}` has nothing to run": "模式为 `{mode}` 的应用没有可以运行的内容",
    "prompts are constants": "提示词是常量",
    "of prompts only `pre_prompt` is read": "提示词中只读取 `pre_prompt`",
    "an agent does not speak first": "Agent 不会先发言",
    "it is no tool with a name": "它不是有名称的工具",
    "an agent file holds no program code": "Agent 文件中没有程序代码",
    "an agent file holds no templates": "Agent 文件中没有模板",
    "an agent file has no loop over a list": "Agent 文件中没有对列表的循环",
    "an agent file has no loop over nodes": "Agent 文件中没有对节点的循环",
    "an agent file asks models and tools only": "Agent 文件只询问模型和工具",
    "outside of an agent no tool is called": "在 Agent 之外不会调用工具",
    "a run has one input, which is a text": "一次运行只有一个输入，它是文本",
    "it is reached again; agents do not go back": "再次到达了它；Agent 不会往回走",
    "what comes after it branches too often": "它之后的分支太多",
    "conditions are left out; its first way is kept": "条件没有转换；保留它的第一条路径",
    "several ways lead on; the first is kept": "有多条后续路径；保留第一条",
    "no model is asked on its way": "它的路径上没有询问模型",
    "examples of answers are left out": "回答的示例没有转换",
    "a model sees its prompt and the answer before": "模型只看到提示词和前一个回答",
    "what a plugin defines is left out": "插件定义的内容没有转换",
    "the answer is what the last model says, as it is": "回答就是最后一个模型所说的原文",
    "an agent is read from nodes of type `llm`, behind the node `start`": (
        "Agent 从 `start` 节点之后类型为 `llm` 的节点读取"
    ),
    "it": "它",
    # --- the OpenAI Agents SDK ---
    "agents are read where a name stands for one, as in `a = Agent(name=…)`": (
        "只读取由名称表示的 Agent，例如 `a = Agent(name=…)`"
    ),
    "it is made while the program runs": "它在程序运行时才产生",
    "it is set while the program runs": "它在程序运行时设置",
    "it is changed while the program runs": "它在程序运行时修改",
    "agents made of others are not read": "由其他 Agent 派生的 Agent 不会读取",
    "only what is written in the file is read": "只读取写在文件里的内容",
    "it is no `ModelSettings(…)`": "它不是 `ModelSettings(…)`",
    "it is no agent of this file": "它不是这个文件中的 Agent",
    "it nests too deeply": "它嵌套过深",
    "the agent `{name}` cannot be called as a tool": "Agent `{name}` 不能作为工具调用",
    "`{name}` handed over before; a route does not lead back": (
        "`{name}` 之前已经移交过；路由不会往回走"
    ),
}
