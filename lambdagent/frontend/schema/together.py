"""Several agents: a group that talks, channels, delegation, skills."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import (
    Agent,
    Block,
    Choice,
    Expression,
    Field,
    Integer,
    ListOf,
    MapOf,
    Text,
)
from lambdagent.frontend.schema.shared import AT_LEAST_1, OTHER_MODEL, TEXTS

_TERMINATION: Final = Block(
    "termination",
    "When the group is done before its last round.",
    "何时在最后一轮之前结束。",
    Field(
        "keywords",
        TEXTS,
        "Words that end it when a message has one of them.",
        "消息包含其中之一时终止的关键词。",
        default=("CONSENSUS", "DONE"),
    ),
    Field(
        "custom",
        Expression(frozenset({"state", "round"})),
        "Ends it when it holds for `state`, the messages so far, and `round`, counted from 0.",
        "对 `state`（至今的消息）和 `round`（从 0 计）成立时终止的表达式。",
    ),
    to="`GroupChat.termination`",
)

GROUPCHAT: Final = Block(
    "groupchat",
    "Agents that take turns; each reads what was said before.",
    "轮流发言的 Agent；每个都能读到之前的发言。",
    Field(
        "agents",
        ListOf(Agent(), empty="L006"),
        "Who takes part.",
        "参与对话的 Agent 列表。",
        required=True,
        to="`GroupChat.agents`",
    ),
    Field(
        "maxRounds",
        AT_LEAST_1,
        "Most turns.",
        "最大轮数（Y 组合子展开上界）。",
        default=10,
        to="`GroupChat.max_rounds`: Yₙ",
    ),
    Field(
        "scheduler",
        Choice(("round_robin", "random", "llm")),
        "Who speaks next: the next in order, anyone, or whom a model chooses.",
        "谁接着发言：按顺序、随机，或由模型选择。",
        default="round_robin",
        to="`GroupChat.scheduler`",
    ),
    Field(
        "schedulerPrompt",
        Text(),
        "What that model is told; for `scheduler: llm` only.",
        "选择发言者的提示词；仅用于 `scheduler: llm`。",
        only_with=("scheduler", "llm"),
        to="`GroupChat.scheduler`",
    ),
    Field(
        "termination",
        _TERMINATION,
        "When the group is done before its last round.",
        "何时在最后一轮之前结束。",
        to="`GroupChat.termination`",
    ),
    Field(
        "summaryAgent",
        Agent(),
        "Who sums up what was said; left out, the last message is the answer.",
        "总结对话的 Agent；省略时以最后一条消息作答。",
        to="`GroupChat.summary_agent`",
    ),
    to="`GroupChat`: Yₙ",
)

CHANNEL: Final = Block(
    "channel",
    "A channel by which agents that run side by side hand each other data.",
    "并行的 Agent 之间传递数据的通道。",
    Field("name", Text(), "What it is called.", "通道名称。", required=True),
    Field(
        "capacity",
        Integer(),
        "How many values wait in it; with 0 the sender waits for the receiver.",
        "缓冲区大小；0 为无缓冲（同步）。",
        default=0,
    ),
    to="`Channel`",
)

_SELECTOR: Final = Block(
    "selector",
    "The model call that chooses whom to hand over to.",
    "选择交给谁的模型调用。",
    Field("prompt", Text(), "What the model is told.", "分类提示词。", required=True),
    OTHER_MODEL,
    to="`Lam`",
)

HANDOFF: Final = Block(
    "handoff",
    "Agents to which the question may be handed over.",
    "可将问题动态委派给的 Agent。",
    Field(
        "selector",
        _SELECTOR,
        "The model call that chooses whom to hand over to.",
        "选择交给谁的模型调用。",
        required=True,
        to="`Handoff.selector`",
    ),
    Field(
        "registry",
        MapOf(Agent(), "AGENT", empty="L005"),
        "The agents, by name.",
        "Agent 注册表，按名称。",
        required=True,
        to="`Handoff.registry`",
    ),
    Field(
        "fallback",
        Agent(),
        "Who answers when no name fits; left out, that is an error.",
        "没有名称适合时由谁作答；省略时报错。",
        to="`Handoff.fallback`",
    ),
    to="`Handoff`: CASE",
)

_EXAMPLE: Final = Block(
    "example",
    "An input and the answer to it.",
    "一个输入及其回答。",
    Field("input", Text(), "The input.", "输入。", required=True),
    Field("output", Text(), "The answer.", "输出。", required=True),
    to="`Skill.examples`",
)

SKILL: Final = Block(
    "skill",
    "An agent with a name and a description, by which others find it.",
    "带名称和描述的 Agent，供他人查找和复用。",
    Field("name", Text(), "What it is called.", "技能名称。", required=True, to="`Skill.name`"),
    Field(
        "description",
        Text(),
        "What it can do, in words.",
        "自然语言描述。",
        to="`Skill.description`",
    ),
    Field("tags", TEXTS, "Words by which it is found.", "标签。", default=(), to="`Skill.tags`"),
    Field(
        "inputType",
        Text(),
        "What it takes, in words.",
        "输入类型描述。",
        default="Str",
        to="`Skill.signature`",
    ),
    Field(
        "outputType",
        Text(),
        "What it answers, in words.",
        "输出类型描述。",
        default="Str",
        to="`Skill.signature`",
    ),
    Field("agent", Agent(), "Who does it.", "技能的实现。", required=True, to="`Skill.term`"),
    Field(
        "examples",
        ListOf(_EXAMPLE),
        "Inputs and the answers to them.",
        "使用示例。",
        to="`Skill.examples`",
    ),
    to="`Skill`",
)
