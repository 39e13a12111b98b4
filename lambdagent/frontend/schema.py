"""What may stand in an agent file: every field, as data.

The checker reads these tables, and docs/yaml.md is written from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lambdagent.frontend.kinds import (
    Agent,
    Block,
    Choice,
    Expression,
    Field,
    Flag,
    Integer,
    Kind,
    Later,
    ListOf,
    ListOrMap,
    MapOf,
    Model,
    Number,
    Pattern,
    Script,
    Step,
    Text,
)
from lambdagent.ir.labels import EARLY_STOP_NAMES

TEXTS: Final = ListOf(Text())
AT_LEAST_1: Final = Integer(least=1)
SECONDS: Final = Number(open=True)

VALIDATOR_NAMES: Final = frozenset({"x"})

# --- the blocks ----------------------------------------------------------------------------------

RULE = Block(
    "rule",
    "A pattern and the reply to inputs in which it is found.",
    Field(
        "match",
        Pattern(),
        "What must be found in the last message, as by `re.search`; left out, the rule fits.",
    ),
    Field("reply", Text(), "What is answered.", required=True),
    Field("agent", Text(), "The name of the only agent that the rule is for."),
    Field("times", AT_LEAST_1, "How often the rule may be used; left out, always."),
)

SCRIPT = Block(
    "script",
    "What the provider `scripted` answers: replies while they last, then rules, then a recording.",
    Field(
        "replies",
        ListOrMap(TEXTS, MapOf(TEXTS, "AGENT")),
        "Answers in order, for all calls, or for each agent by its name.",
    ),
    Field(
        "rules", ListOf(RULE), "Answers by pattern; the first rule whose pattern is found answers."
    ),
    Field("recording", Text(), "A file that `run --record` wrote; it is played back."),
)

MODEL = Block(
    "model",
    "The model that answers. An agent inside another one inherits what it does not write.",
    Field(
        "provider",
        Text(),
        "Who serves the model: one of the providers above, or a name passed as `providers=`;"
        " left out, the provider whose models are named like `name`.",
    ),
    Field("name", Text(), "The model, by the provider's name for it."),
    Field("temperature", Number(0, 2), "How freely the model answers.", default=0.3),
    Field("maxTokens", AT_LEAST_1, "The longest answer, in tokens.", default=4096),
    Field("topP", Number(0, 1), "The share of likely tokens to choose from."),
    Field("stopSequences", TEXTS, "Texts at which the answer ends."),
    Field("baseUrl", Text(connection=True), "Another address of the provider's interface."),
    Field("conversation", Flag(), "Whether the agent remembers its conversation.", default=True),
    Field(
        "maxHistoryTokens",
        AT_LEAST_1,
        "How much of the conversation is sent, in tokens; left out, half of `contextWindow`, at"
        " most 80000.",
    ),
    Field("contextWindow", AT_LEAST_1, "How much the model can read, in tokens.", default=200_000),
    Field("timeout", SECONDS, "Longest wait for one answer, in seconds.", default=600.0),
    Field("script", Script(), "What the provider `scripted` answers."),
)

REACT = Block(
    "react",
    "How an agent of type `react` thinks, calls tools and looks at what they return.",
    Field(
        "maxSteps",
        Integer(zero="L003"),
        "Most rounds; after the last one, the last thought is the answer.",
        default=10,
    ),
    Field(
        "observationEnabled",
        Flag(),
        "Whether the model sees what the tools returned.",
        default=True,
    ),
    Field("toolTimeout", SECONDS, "Longest wait for one tool, in seconds.", default=30.0),
    Field("verbose", Flag(), "Whether the rounds are printed.", default=False),
    Field(
        "earlyStop",
        Expression(frozenset(EARLY_STOP_NAMES)),
        "Ends the loop when it holds after the tools of a round; the thought is then the answer.",
    ),
    Field("thinkPrompt", Text(), "Stands in for `systemPrompt` when the agent thinks."),
)

STEP_GUARD = Block(
    "guard",
    "What the answer of a step must satisfy.",
    Field("validator", Expression(VALIDATOR_NAMES), "Holds for a good answer `x`.", required=True),
    Field("retry", Integer(), "How often the step is tried again.", default=0),
    Field(
        "fallback",
        Text(),
        "After the last try: `error` fails, `empty` answers nothing, `last` gives the last answer;"
        " any other text is the answer.",
        default="error",
    ),
)

STEP = Block(
    "step",
    "One step of a chain. A step with a `type` is a whole agent and has an agent's fields.",
    Field(
        "name",
        Text(),
        "What the step is called; left out, `step1`, `step2`, ….",
    ),
    Field("prompt", Text(), "What the model is told.", required=True),
    Field("model", Model(), "Settings that differ from the agent's `model`."),
    Field(
        "outputParser",
        Choice(("text", "json", "number", "boolean")),
        "What the answer is read as.",
        default="text",
    ),
    Field("guard", STEP_GUARD, "What the answer must satisfy."),
)

CHAIN = Block(
    "chain",
    "Steps one after another; each gets the answer of the one before.",
    Field("steps", ListOf(Step(), empty="L006"), "The steps, in order.", required=True),
)

CLASSIFIER = Block(
    "classifier",
    "The model call that chooses a route.",
    Field("prompt", Text(), "What the model is told.", required=True),
    Field("model", Model(), "Settings that differ from the agent's `model`."),
    Field(
        "categories",
        TEXTS,
        "The names to choose from; they are added to the prompt unless it holds all of them.",
    ),
)

ROUTER = Block(
    "router",
    "One of several agents answers; a classifier chooses which.",
    Field("classifier", CLASSIFIER, "The model call that chooses.", required=True),
    Field(
        "routes",
        MapOf(Agent(), "CATEGORY", empty="L005"),
        "The agents, by category.",
        required=True,
    ),
    Field("default", Agent(), "Who answers when no category fits; left out, that is an error."),
)

PARALLEL = Block(
    "parallel",
    "Several agents answer the same input, side by side.",
    Field(
        "agents",
        ListOf(Agent(), empty="L006"),
        "The agents, in the order of their answers.",
        required=True,
    ),
    Field(
        "merge",
        Choice(("tuple", "concat", "custom")),
        "What becomes of the answers: a tuple, one text, or whatever a model makes of them.",
        default="tuple",
    ),
    Field("mergePrompt", Text(), "What that model is told; for `merge: custom` only."),
)

POLICY = Block(
    "policy",
    "How tools are called.",
    Field(
        "mode",
        Choice(("auto", "force", "intelligence", "disable")),
        "Which calls wait until a person approves them: `auto` those of the tools in `confirm`,"
        " `force` all, `intelligence` those and all of tools that are not idempotent, `disable`"
        " none. A tool whose `Tool` in Python says `confirm=True` waits whatever stands here.",
        default="auto",
    ),
    Field(
        "maxConcurrent",
        AT_LEAST_1,
        "Most calls at the same time; only 1 is supported yet.",
        default=1,
    ),
    Field(
        "retryOnFail",
        Integer(),
        "How often a failed call is tried again; only 0 is supported yet.",
        default=0,
    ),
)

MCP = Block(
    "mcp",
    "The tools of an agent.",
    Field(
        "onlineTool", MapOf(TEXTS, "SERVER"), "Tools of MCP servers, by server; not supported yet."
    ),
    Field(
        "localTools",
        TEXTS,
        "`terminate`, which ends the loop, and tools passed as `tools=` or `--tool`.",
        default=(),
    ),
    Field("policy", POLICY, "How the tools are called."),
)

NODE = Block(
    "node",
    "An MCP server.",
    Field("url", Text(connection=True), "Its address.", required=True),
    Field("endpoint", Text(connection=True), "The path below the address."),
    Field("headers", MapOf(Text(connection=True)), "Headers of each request."),
    Field("timeout", SECONDS, "Longest wait for one answer, in seconds."),
)

APP = Block(
    "app",
    "Services outside; not supported yet.",
    Field(
        "mcp",
        Block(
            "mcp",
            "MCP services.",
            Field(
                "custom",
                Block(
                    "custom",
                    "Servers of one's own.",
                    Field("nodes", MapOf(NODE, "SERVER"), "The servers, by name."),
                ),
                "Servers of one's own.",
            ),
        ),
        "MCP services.",
    ),
)

GUARD = Block(
    "guard",
    "What the answer of the agent must satisfy.",
    Field("validator", Expression(VALIDATOR_NAMES), "Holds for a good answer `x`.", required=True),
    Field("retry", Integer(), "How often the agent is asked again.", default=0),
    Field(
        "fallback",
        Choice(("error", "empty", "last")),
        "After the last try: `error` fails, `empty` answers nothing, `last` gives the last"
        " answer.",
        default="error",
    ),
)

MEMORY = Block(
    "memory",
    "What the agent remembers from one question to the next.",
    Field("enabled", Flag(), "Whether it remembers.", default=True),
    Field(
        "strategy",
        Choice(("local", "redis", "sqlite", "custom")),
        "Where it remembers; only `local` is supported yet.",
        default="local",
    ),
    Field("size", Integer(), "Most entries kept.", default=20),
    Field("ttl", Number(), "Seconds after which an entry is gone; 0 keeps it.", default=0.0),
    Field(
        "scope",
        Choice(("session", "global", "user")),
        "Who shares the memory; only `session` is supported yet.",
        default="session",
    ),
    Field("customStore", Text(), "The class of the store, for `strategy: custom`."),
)

RUNTIME = Block(
    "runtime",
    "How the program runs.",
    Field(
        "engine",
        Choice(("cek", "recursive", "adaptive")),
        "The engine that runs it: see docs/machine.md.",
        default="recursive",
    ),
)

CHECKPOINT = Block(
    "checkpoint",
    "Runs that are kept on disk and can be gone on with: see docs/checkpoint-format.md.",
    Field("enabled", Flag(), "Whether they are kept.", default=False),
    Field(
        "directory",
        Text(),
        "Where each run gets a directory of its own; a relative path starts where you are.",
        default="checkpoints",
    ),
    Field(
        "maxCheckpoints",
        Integer(least=1),
        "How many runs stay there; of more, the oldest that are finished are removed.",
        default=10,
    ),
    Field(
        "autoSaveSteps",
        Integer(),
        "β-reductions between two states on disk; 0 for none but the last. Answers are kept at"
        " once, whatever stands here: a state only makes going on quicker.",
        default=50_000,
    ),
)

TYPES: Final = ("simple", "react", "chain", "router", "parallel", "groupchat")

AGENT = Block(
    "agent",
    "An agent.",
    Field("agentId", Text(), "The agent's identifier."),
    Field("name", Text(), "The agent's name, as people and traces call it."),
    Field("description", Text(), "What the agent is for; it changes nothing."),
    Field(
        "type",
        Choice(TYPES),
        "What kind of agent it is; inside another agent, `simple` if left out.",
    ),
    Field(
        "systemPrompt",
        Text(),
        "What the model is told. In a chain it stands before the prompt of every step, in a"
        " parallel agent before the prompts of its agents and of the merge, in a router before"
        " the prompt of the classifier. An agent inside another one may leave it out, unless its"
        " type is `simple` or `react`.",
    ),
    Field("model", Model(), "The model that answers."),
    Field("react", REACT, "The loop of an agent of type `react`.", types=("react",)),
    Field("chain", CHAIN, "The steps of an agent of type `chain`.", types=("chain",)),
    Field("router", ROUTER, "The routes of an agent of type `router`.", types=("router",)),
    Field("parallel", PARALLEL, "The agents of an agent of type `parallel`.", types=("parallel",)),
    Field("mcp", MCP, "The tools of an agent of type `react`.", types=("react",)),
    Field(
        "confirm",
        TEXTS,
        "Tools that are called only after a person has approved the call: see docs/cli.md.",
        types=("react",),
    ),
    Field("guard", GUARD, "What the answer must satisfy."),
    Field("memory", MEMORY, "What the agent remembers."),
    Field("runtime", RUNTIME, "How the program runs.", top_only=True),
    Field("checkpoint", CHECKPOINT, "Runs on disk.", top_only=True),
    Field("app", APP, "Services outside."),
    *(
        Field(name, Later(), "Not supported yet.")
        for name in (
            "a2a",
            "channels",
            "cli",
            "groupchat",
            "handoff",
            "mcpServers",
            "rag",
            "sandbox",
            "sharedMemory",
            "skills",
        )
    ),
)


# The block that says what an agent of a type does.
BODIES: Final = {"react": REACT, "chain": CHAIN, "router": ROUTER, "parallel": PARALLEL}

# Fields that belong to some agents only.
NOT_EVERYWHERE: Final = frozenset(
    field.name for field in AGENT.fields.values() if field.types or field.top_only
)


def _blocks(prefix: str, kind: Kind) -> Iterator[tuple[str, Block]]:
    """Yield the blocks in a value of `kind` that stands at `prefix`, outer before inner."""
    match kind:
        case Block():
            yield prefix, kind
            for field in kind.fields.values():
                yield from _blocks(below(prefix, field), field.kind)
        case ListOf(item):
            yield from _blocks(f"{prefix}[]", item)
        case MapOf(value, key):
            yield from _blocks(f"{prefix}.{key}", value)
        case Step():
            yield from _blocks(prefix, STEP)
        case Script():
            yield from _blocks(prefix, SCRIPT)
        case Model() if prefix == "model":
            yield from _blocks(prefix, MODEL)


def below(prefix: str, field: Field) -> str:
    """Return the path of `field` in the block at `prefix`."""
    return f"{prefix}.{field.name}" if prefix else field.name


# All blocks and all fields by path. An agent inside an agent has the same fields again, and so has
# a `model`; they stand here once.
BLOCKS: Final = tuple(_blocks("", AGENT))
FIELDS: Final[dict[str, Field]] = {
    below(prefix, field): field for prefix, block in BLOCKS for field in block.fields.values()
}
