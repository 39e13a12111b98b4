"""What agents do: the loop, the chain, the router, agents side by side."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import (
    Agent,
    Block,
    Choice,
    Expression,
    Field,
    Flag,
    Integer,
    ListOf,
    MapOf,
    Step,
    Text,
)
from lambdagent.frontend.schema.shared import OTHER_MODEL, OUTPUT_SCHEMA, SECONDS, TEXTS, VALIDATOR
from lambdagent.ir.labels import EARLY_STOP_NAMES

REACT: Final = Block(
    "react",
    "How an agent of type `react` thinks, calls tools and looks at what they return.",
    "`react` 类型的 Agent 如何思考、调用工具并观察结果。",
    Field(
        "maxSteps",
        Integer(zero="L003"),
        "Most rounds; after the last one, the last thought is the answer.",
        "最大轮数（Y 组合子最多展开次数）；最后一轮之后，以最后的思考作答。",
        default=10,
        to="`Loop.max_steps`: Yₙ",
    ),
    Field(
        "observationEnabled",
        Flag(),
        "Whether the model sees what the tools returned.",
        "是否将工具结果追加给模型。",
        default=True,
        to="`ReActStep.observation_enabled`",
    ),
    Field(
        "toolTimeout",
        SECONDS,
        "Longest wait for one tool, in seconds.",
        "单个工具调用的超时（秒）。",
        default=30.0,
        to="`Tool.timeout_s`",
    ),
    Field(
        "verbose",
        Flag(),
        "Whether the rounds are printed.",
        "是否打印中间步骤。",
        default=False,
        to="`Loop.verbose`",
    ),
    Field(
        "earlyStop",
        Expression(frozenset(EARLY_STOP_NAMES)),
        "Ends the loop when it holds after the tools of a round; the thought is then the answer.",
        "提前终止条件：一轮工具调用之后若成立则结束循环，以该轮思考作答。",
        to="`ReActStep.early_stop`",
    ),
    Field(
        "thinkPrompt",
        Text(),
        "Stands in for `systemPrompt` when the agent thinks.",
        "思考时替代 `systemPrompt` 的提示词。",
        to="`ReActStep.think`",
    ),
    to="`Loop(ReActStep(…))`: Yₙ",
)

STEP_GUARD: Final = Block(
    "guard",
    "What the answer of a step must satisfy.",
    "步骤的输出必须满足的条件。",
    VALIDATOR,
    Field(
        "retry",
        Integer(),
        "How often the step is tried again.",
        "验证失败后的重试次数。",
        default=0,
        to="`Guard.retry`",
    ),
    Field(
        "fallback",
        Text(),
        "After the last try: `error` fails, `empty` answers nothing, `last` gives the last answer;"
        " any other text is the answer.",
        "最后一次重试之后：`error` 报错，`empty` 回答空文本，`last` 给出最后的输出；"
        "其他文本即为回答。",
        default="error",
        to="`Guard.fallback`",
    ),
    to="`Guard`",
)

STEP: Final = Block(
    "step",
    "One step of a chain. A step with a `type` is a whole agent and has an agent's fields.",
    "链中的一步。带 `type` 的步骤是一个完整的 Agent，具有 Agent 的所有字段。",
    Field(
        "name",
        Text(),
        "What the step is called; left out, `step1`, `step2`, ….",
        "步骤名称；省略时为 `step1`、`step2`……。",
        to="`Lam.name`",
    ),
    Field(
        "prompt",
        Text(blank="L001"),
        "What the model is told.",
        "给模型的提示词。",
        required=True,
        to="`Lam.prompt`",
    ),
    OTHER_MODEL,
    Field(
        "outputParser",
        Choice(("text", "json", "number", "boolean")),
        "What the answer is read as. One that cannot be read ends the run; with `outputSchema` the"
        " model mends it once.",
        "回答按何种格式解析。无法解析的回答会使运行失败；写 `outputSchema` 则由模型修正一次。",
        default="text",
        to="`Lam.output_parser`",
    ),
    OUTPUT_SCHEMA,
    Field(
        "guard",
        STEP_GUARD,
        "What the answer must satisfy.",
        "输出必须满足的条件。",
        to="`Guard`",
    ),
    to="`Lam`",
)

CHAIN: Final = Block(
    "chain",
    "Steps one after another; each gets the answer of the one before.",
    "依次执行的步骤；每一步得到上一步的回答。",
    Field(
        "steps",
        ListOf(Step(), empty="L006"),
        "The steps, in order.",
        "有序的步骤列表。",
        required=True,
        to="`Compose.stages`",
    ),
    to="`Compose`",
)

CLASSIFIER: Final = Block(
    "classifier",
    "The model call that chooses a route.",
    "选择路由的模型调用。",
    Field(
        "prompt",
        Text(blank="L001"),
        "What the model is told.",
        "分类提示词。",
        required=True,
        to="`Lam.prompt`",
    ),
    OTHER_MODEL,
    Field(
        "categories",
        TEXTS,
        "The names to choose from; they are added to the prompt unless it holds all of them.",
        "可选的类别名称；若提示词未全部包含它们，则追加到提示词中。",
        to="`Route.others`",
    ),
    to="`Route.classifier`",
)

ROUTER: Final = Block(
    "router",
    "One of several agents answers; a classifier chooses which.",
    "由几个 Agent 之一作答；分类器选择由谁作答。",
    Field(
        "classifier",
        CLASSIFIER,
        "The model call that chooses.",
        "进行选择的模型调用。",
        required=True,
        to="`Route.classifier`",
    ),
    Field(
        "routes",
        MapOf(Agent(), "CATEGORY", empty="L005"),
        "The agents, by category.",
        "类别到 Agent 的映射。",
        required=True,
        to="`Route.routes`",
    ),
    Field(
        "default",
        Agent(),
        "Who answers when no category fits; left out, that is an error.",
        "没有类别适合时由谁作答；省略时报错。",
        to="`Route.default`",
    ),
    to="`Route`: CASE",
)

PARALLEL: Final = Block(
    "parallel",
    "Several agents answer the same input, side by side.",
    "几个 Agent 并行回答同一输入。",
    Field(
        "agents",
        ListOf(Agent(), empty="L006"),
        "The agents, in the order of their answers.",
        "Agent 列表，按回答的顺序。",
        required=True,
        to="`Par.branches`",
    ),
    Field(
        "merge",
        Choice(("tuple", "concat", "custom")),
        "What becomes of the answers: a tuple, one text, or whatever a model makes of them.",
        "如何合并回答：元组、一段文本，或由模型合并。",
        default="tuple",
        to="`Par`, `Par >> Concat`, `Par >> Lam`",
    ),
    Field(
        "mergePrompt",
        Text(),
        "What that model is told; for `merge: custom` only.",
        "合并用的提示词；仅用于 `merge: custom`。",
        required=True,
        only_with=("merge", "custom"),
        to="`Lam.prompt`",
    ),
    to="`Par`",
)
