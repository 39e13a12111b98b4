"""What is around an agent: guard, memory, knowledge, and how its runs are carried out and kept."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.kinds import (
    Anything,
    Block,
    Choice,
    Field,
    Flag,
    Integer,
    MapOf,
    Number,
    Text,
)
from lambdagent.frontend.schema.shared import AT_LEAST_1, SECONDS, VALIDATOR
from lambdagent.ir.surface import SCOPES, STRATEGIES

GUARD: Final = Block(
    "guard",
    "What the answer of the agent must satisfy.",
    "Agent 的输出必须满足的条件。",
    VALIDATOR,
    Field(
        "retry",
        Integer(),
        "How often the agent is asked again.",
        "验证失败后的重试次数。",
        default=0,
        to="`Guard.retry`",
    ),
    Field(
        "fallback",
        Choice(("error", "empty", "last")),
        "After the last try: `error` fails, `empty` answers nothing, `last` gives the last"
        " answer.",
        "最后一次重试之后：`error` 报错，`empty` 回答空文本，`last` 给出最后的输出。",
        default="error",
        to="`Guard.fallback`",
    ),
    to="`Guard`",
)

MEMORY: Final = Block(
    "memory",
    "What the agent remembers from one question to the next.",
    "Agent 在多次提问之间记住的内容。",
    Field(
        "enabled",
        Flag(),
        "Whether it remembers.",
        "是否启用。",
        default=True,
        to="`Memory`",
    ),
    Field(
        "name",
        Text(),
        "What the memory is called in its store: those with the same name are one. The name of"
        " the agent, if that has one; what outlives a session needs a name.",
        "记忆在存储中的名称：同名的记忆是同一个。省略则用 Agent 的名称；"
        "超出会话的记忆必须有名称。",
        to="`Memory.name`",
    ),
    Field(
        "strategy",
        Choice(STRATEGIES),
        "Where it remembers: in the run (`local`), in a file (`sqlite`), on a server (`redis`, at"
        " `LAMBDAGENT_REDIS_URL`), or in an object of your own class (`custom`).",
        "记忆存放在何处：运行之内（`local`）、文件（`sqlite`）、服务器（`redis`，地址为"
        " `LAMBDAGENT_REDIS_URL`），或自定义类的对象（`custom`）。",
        default="local",
        to="`Memory.strategy`",
    ),
    Field(
        "size",
        Integer(),
        "Most entries kept; the oldest go first.",
        "最多保留多少条；最旧的先淘汰。",
        default=20,
        to="`Memory.size`",
    ),
    Field(
        "ttl",
        Number(),
        "Seconds after which an entry is gone; 0 keeps it.",
        "过期时间（秒）；0 表示永不过期。",
        default=0.0,
        to="`Memory.ttl_s`",
    ),
    Field(
        "scope",
        Choice(SCOPES),
        "Who shares the memory: the runs of a session, all runs, or those of a user: see"
        " docs/memory.md.",
        "记忆由谁共享：同一会话的运行、所有运行，或同一用户的运行：见 docs/memory.md。",
        default="session",
        to="`Memory.scope`",
    ),
    Field(
        "path",
        Text(),
        "The file of `strategy: sqlite`; a relative path starts at the agent file. Left out, it is"
        " `lambdagent/memory.db` in your data directory (`$XDG_DATA_HOME`, `~/.local/share`).",
        "`strategy: sqlite` 的文件；相对路径从 Agent 文件所在处算起。省略则为数据目录"
        "（`$XDG_DATA_HOME`、`~/.local/share`）中的 `lambdagent/memory.db`。",
        only_with=("strategy", "sqlite"),
        to="`Memory.place`",
    ),
    Field(
        "customStore",
        Text(),
        "The class of the store, for `strategy: custom`, as in `package.module:Class`; or pass"
        " an object as `memory_store=`.",
        "`strategy: custom` 时存储的 Python 类路径，如 `package.module:Class`；"
        "或以 `memory_store=` 传入对象。",
        only_with=("strategy", "custom"),
        to="`Memory.place`",
    ),
    Field(
        "settings",
        MapOf(Anything(), "KEY"),
        "What the class of `customStore` is made with, by keyword.",
        "构造 `customStore` 的类时传入的关键字参数。",
        only_with=("strategy", "custom"),
        to="`Memory.settings`",
    ),
    Field(
        "summarize",
        Choice(("digest", "llm")),
        "What is remembered of an answer: its start (`digest`), or what the model of the agent"
        " writes about it (`llm`), at one more call for each.",
        "记住输出的什么：开头部分（`digest`），"
        "或由 Agent 的模型撰写的摘要（`llm`，每次多一次调用）。",
        default="digest",
        to="`Memory.summary`",
    ),
    to="`Memory`: Γ ∪ store",
)

RAG: Final = Block(
    "rag",
    "Knowledge in which the agent looks up what fits the question.",
    "知识库：Agent 从中检索与问题相关的内容。",
    Field("enabled", Flag(), "Whether it looks things up.", "是否启用。", default=True),
    Field(
        "source",
        Text(connection=True),
        "The path or address of the knowledge.",
        "知识库路径或 URL。",
        required=True,
    ),
    Field("topK", AT_LEAST_1, "How many passages are looked up.", "检索数量。", default=3),
    Field(
        "chunkSize",
        AT_LEAST_1,
        "The length of a passage, in characters; left out, as `backend` does.",
        "分块大小（字符数）；省略则由 `backend` 决定。",
    ),
    Field(
        "backend",
        Choice(("simple", "chroma")),
        "What looks the passages up.",
        "检索后端。",
        default="simple",
    ),
    Field(
        "minScore",
        Number(0, 1),
        "The least likeness of a passage to the question.",
        "最低相似度阈值。",
        default=0.0,
    ),
    Field(
        "format",
        Choice(("numbered", "plain", "json")),
        "How the passages stand before the question.",
        "检索内容的排列格式。",
        default="numbered",
    ),
    Field(
        "agentic",
        Flag(),
        "Whether the agent itself decides when to look something up.",
        "是否由 Agent 自行决定检索。",
        default=False,
    ),
    Field(
        "persistDirectory",
        Text(),
        "Where `chroma` keeps its index.",
        "`chroma` 的持久化目录。",
        only_with=("backend", "chroma"),
    ),
    to="`RAG`: λx. f ⟨retrieve x, x⟩",
)

SHARED_MEMORY: Final = Block(
    "sharedMemory",
    "Data that several agents read and write.",
    "多个 Agent 共享读写的数据。",
    Field("enabled", Flag(), "Whether there is any.", "是否启用。", default=True),
    Field(
        "store",
        MapOf(Anything(), "KEY"),
        "What is there from the start, by key.",
        "初始共享数据，按键。",
    ),
    Field(
        "appendOnly",
        Flag(),
        "Whether keys may only be added, never changed.",
        "是否只许新增键、不许更改（Σ' ⊇ Σ）。",
        default=False,
    ),
    to="`SharedMemory.wrap`: λx. f ⟨snapshot, x⟩",
)

BUDGET: Final = Block(
    "budget",
    "What a run may spend. No model is called any more once a limit is reached; a kept run can go"
    " on from there.",
    "一次运行可花费的上限。达到上限后不再调用模型；已保存的运行可从那里继续。",
    Field(
        "tokens", AT_LEAST_1, "Model tokens, read and written.", "模型 token 数（输入与输出）。"
    ),
    Field(
        "usd",
        Number(open=True),
        "US dollars; the price of each model must be known.",
        "美元；每个模型的价格必须已知。",
    ),
    Field("calls", AT_LEAST_1, "Model calls.", "模型调用次数。"),
    Field(
        "seconds",
        SECONDS,
        "Seconds of running, without those in which a person is waited for.",
        "运行的秒数，不含等待人的时间。",
    ),
    to="—",
)

RATE_LIMIT: Final = Block(
    "rateLimit",
    "What a provider allows in any minute. All runs of the process that reach it with the same"
    " key share it.",
    "提供方在任意一分钟内允许的用量，由进程内使用同一密钥的所有运行共享。",
    Field("requestsPerMinute", AT_LEAST_1, "Requests.", "请求数。"),
    Field(
        "tokensPerMinute",
        AT_LEAST_1,
        "Tokens, read and written; those of a request are estimated before it goes out.",
        "token 数（输入与输出）；请求发出前先估算。",
    ),
    to="—",
)

PRICE: Final = Block(
    "price",
    "What a model costs, in US dollars for a million tokens; it counts more than a known price.",
    "模型的价格：每百万 token 的美元数；优先于已知的价格。",
    Field("input", Number(), "Tokens that it reads.", "输入 token。", required=True),
    Field("output", Number(), "Tokens that it writes.", "输出 token。", required=True),
    Field(
        "cached",
        Number(),
        "Tokens that it had read before; left out, they cost as others do.",
        "命中缓存的输入 token；省略则与其他输入相同。",
    ),
    to="—",
)

RUNTIME: Final = Block(
    "runtime",
    "How the program runs.",
    "程序如何运行。",
    Field(
        "engine",
        Choice(("cek", "recursive", "adaptive")),
        "The engine that runs it: see docs/machine.md.",
        "运行程序的执行引擎：见 docs/machine.md。",
        default="recursive",
        to="—",
    ),
    Field(
        "rateLimits",
        MapOf(RATE_LIMIT, "PROVIDER"),
        "How often each provider may be asked; requests beyond that wait.",
        "各提供方的请求频率；超出的请求等待。",
        to="—",
    ),
    Field(
        "prices",
        MapOf(PRICE, "MODEL"),
        "What models cost that docs/providers.md has no price of.",
        "docs/providers.md 中没有价格的模型的价格。",
        to="—",
    ),
    to="—",
)

CHECKPOINT: Final = Block(
    "checkpoint",
    "Runs that are kept on disk and can be gone on with: see docs/checkpoint-format.md.",
    "保存在磁盘上、可继续的运行：见 docs/checkpoint-format.md。",
    Field("enabled", Flag(), "Whether they are kept.", "是否保存。", default=False),
    Field(
        "directory",
        Text(),
        "Where each run gets a directory of its own; a relative path starts where you are.",
        "每次运行在此得到自己的目录；相对路径从当前目录算起。",
        default="checkpoints",
    ),
    Field(
        "maxCheckpoints",
        AT_LEAST_1,
        "How many runs stay there; of more, the oldest that are finished are removed.",
        "最多保留多少次运行；超出时删除最旧的已结束运行。",
        default=10,
    ),
    Field(
        "autoSaveSteps",
        Integer(),
        "β-reductions between two states on disk; 0 for none but the last. Answers are kept at"
        " once, whatever stands here: a state only makes going on quicker.",
        "每多少次 β-规约保存一次状态；0 表示只存最后一次。回答总是立即保存，状态只是让继续更快。",
        default=50_000,
    ),
    to="—",
)
