"""Surface terms for the tests of their printers: samples by name, and a strategy."""

from typing import Any

from hypothesis import strategies as st

from lambdagent.ir import surface
from lambdagent.ir.data import freeze, is_json
from lambdagent.ir.model import Model

QWEN = Model(provider="dashscope", name="qwen3-max", base_url="https://me:pw@x.cn/v1")
LONG = '你是SeeCoderManus，一个会用工具的助手。\n一步一步地想。Say "done" when it\'s done.\\' * 2


def react(*tools: str, **settings: Any) -> surface.Loop:
    think = surface.ConversationLam("manus.think", LONG, QWEN)
    listed = [surface.Tool(name) for name in tools]
    step = surface.ReActStep("manus.react_step", think=think, tools=listed, **settings)
    return surface.Loop(step, max_steps=20)


REACT = surface.Memory(react("search", "calc", "terminate"), "manus", ttl_s=7200)
CHAIN = surface.Compose(
    surface.Lam("extract", "Extract key facts.", QWEN),
    surface.Guard(surface.Lam("analyze", "Analyze the facts.", QWEN), "len(x) > 50", 2),
    surface.Lam("draft", "Write a draft.", QWEN, "json"),
)
SAMPLES: dict[str, surface.Term] = {
    "simple": surface.Lam("agent", "Summarize text.", QWEN),
    "react": REACT,
    "react-early-stop": react("search", early_stop="turn > 3", observation_enabled=False),
    "chain": CHAIN,
    "router": surface.Route(
        surface.Lam("classifier", "Classify: code/math"),
        {"code": surface.Lam("code", "You code."), "数学": CHAIN},
        REACT,
    ),
    "parallel": (surface.Lam("a", "A") | surface.Lam("b", "B")) >> surface.Concat(),
    "loop": surface.Loop(CHAIN, surface.Lam("judge"), 5, on_exhausted="error"),
    "if": surface.If("len(x) > 3", REACT, surface.Pair(surface.Fst(), surface.Snd())),
    "guard": surface.Guard(REACT, surface.Lam("judge"), 1, 'say "no"'),
    "tool": surface.Tool("ls", command="ls -l", idempotent=True),
    "confirm": surface.Tool("pay", confirm=True),
    "server": surface.Tool("read", server="files", parameters={"type": "object"}),
    "terminate": surface.Tool("terminate"),
    "memory": surface.Memory(
        surface.Lam("agent", "Help.", QWEN),
        "notes",
        summary=surface.Lam("notes.summary", "Sum it up.", QWEN),
        strategy="custom",
        scope="user",
        place="mine.stores:Notes",
        settings={"table": "notes", "more": [1, {"x": None}]},
    ),
    "schema": surface.Lam(
        "agent", "Read it.", QWEN, output_schema={"type": "object", "required": ["name"]}
    ),
    "identity": surface.Compose(),
    "bare-step": react("terminate").body,
}

TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "思考\n者", "'\"\\", "x" * 200, "a b " * 40, "\u2028{}\r\n\x00", "if"]),
    st.text(alphabet="ab \n'\"\\思", min_size=60, max_size=200),
)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, DATA, max_size=3)
FLOATS = st.floats(0, 100)
SECONDS = st.floats(0, 100, exclude_min=True)
MODELS: Any = st.none() | st.builds(
    Model,
    provider=TEXTS.filter(bool),
    name=TEXTS,
    temperature=st.none() | FLOATS,
    max_tokens=st.none() | st.integers(1, 9000),
    stop_sequences=st.lists(TEXTS, max_size=2).map(tuple),
    base_url=st.none() | TEXTS,
    context_window=st.just(200_000) | st.integers(0, 9000),
    script=st.none() | OBJECTS.map(freeze),
    tool_calling=st.sampled_from(["auto", "native", "text"]),
)
PARSERS = st.sampled_from(["text", "json", "number", "boolean", "raw", "reply"])
SCHEMAS: Any = st.sampled_from(
    [
        None,
        {"type": "object", "properties": {"a b": {"enum": [1, None]}}, "required": ["a b"]},
        {"items": {"type": ["integer", "null"], "minimum": 0}, "description": LONG},
    ]
)
LAMS = st.builds(surface.Lam, TEXTS, TEXTS, MODELS, PARSERS) | st.builds(
    surface.Lam, TEXTS, TEXTS, MODELS, output_schema=SCHEMAS
)
STRATEGIES = st.sampled_from(
    ["managed", "full", "sliding_window(20)", "token_budget(8000)", "summary(1)", "summary(10)"]
)
TALKS = st.builds(
    surface.ConversationLam,
    *(TEXTS, TEXTS, MODELS, PARSERS),
    st.integers(1, 99),
    st.integers(0, 30),
    STRATEGIES,
) | st.builds(surface.ConversationLam, TEXTS, TEXTS, MODELS, output_schema=SCHEMAS)
TOOLS = st.builds(
    surface.Tool,
    TEXTS | st.just("terminate"),
    description=TEXTS,
    command=st.none() | TEXTS,
    timeout_s=SECONDS,
    idempotent=st.booleans(),
    confirm=st.booleans(),
    parameters=st.none() | OBJECTS.filter(lambda entries: is_json(freeze(entries))),
    retries=st.integers(0, 3),
    server=st.none() | TEXTS,
)


def steps(expressions: Any) -> Any:
    return st.builds(
        surface.ReActStep,
        TEXTS,
        description=st.just("") | TEXTS,
        think=LAMS | TALKS,
        tools=st.lists(TOOLS, max_size=3, unique_by=lambda tool: tool.name),
        observation_enabled=st.booleans(),
        early_stop=st.none() | expressions,
        max_concurrent=st.integers(0, 4),
    )


def leaves(expressions: Any) -> Any:
    return st.deferred(
        lambda: st.one_of(
            LAMS,
            TALKS,
            TOOLS,
            steps(expressions),
            st.builds(surface.Loop, steps(expressions), max_steps=st.integers(0, 3)),
            st.just(surface.Fst()),
            st.just(surface.Snd()),
            st.just(surface.Concat()),
        )
    )


def forms(agents: Any, expressions: Any) -> Any:
    inner = st.deferred(lambda: agents)  # strategies are shown whole, again at each use
    tests = expressions | inner
    steps = st.integers(0, 5)
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda terms: surface.Compose(*terms)),
        st.lists(inner, min_size=1, max_size=3).map(lambda terms: surface.Par(*terms)),
        inner.map(lambda term: surface.Compose(term, term)),
        st.builds(surface.Pair, inner, inner),
        st.builds(surface.If, tests, inner, inner),
        st.builds(surface.Loop, inner, tests, steps, verbose=st.booleans()),
        st.builds(surface.Guard, inner, tests, steps, TEXTS | st.just("last")),
        st.builds(
            surface.Route,
            inner,
            st.dictionaries(TEXTS.filter(lambda label: label != "_"), inner, max_size=3),
            st.none() | inner,
        ),
        inner.map(lambda term: surface.Route(surface.Lam("c"), {"a": term}, term, ("b", "c d"))),
        st.builds(
            surface.Memory,
            inner,
            TEXTS,
            summary=st.none() | inner,
            strategy=st.sampled_from(surface.STRATEGIES),
            scope=st.sampled_from(surface.SCOPES),
            place=st.none() | TEXTS,
            settings=st.just({}) | OBJECTS,
            size=steps,
            ttl_s=FLOATS,
            initial=OBJECTS,
        ),
    )


AGENTS: Any = st.recursive(leaves(TEXTS), lambda inner: forms(inner, TEXTS), max_leaves=8)
# Expressions of the language, with what is special in other languages.
EXPRESSIONS = st.sampled_from(
    (
        *(
            "x",
            "True",
            "len(x) > 3",
            " x ",
            "x == '}'",
            "{'a': 1} == x",
            "x == '\\n'",
            '"x"',
            "x\n",
        ),
        *("'\"' in x or x == \"'\"", 'x == "é λ\u2028"', "'|' in x", "x == '|}' # no", "x[1:]"),
    )
)
# Agents that compile.
RIGHT_AGENTS: Any = st.recursive(
    leaves(EXPRESSIONS), lambda inner: forms(inner, EXPRESSIONS), max_leaves=8
)


def deep(number: int, levels: int) -> surface.Term:
    """Return a term nested so deeply that nothing may recurse over it; `number` is 0 to 7."""
    wraps: list[Any] = [
        lambda t: surface.Guard(t, "x", 1),
        lambda t: surface.Compose(t, surface.Fst()),
        surface.Compose,
        lambda t: surface.Compose(surface.Compose(), surface.Compose(t)),
        lambda t: surface.Route(surface.Lam("c"), {"l": t}, surface.Compose()),
        lambda t: surface.Loop(surface.Compose(), t, 2),
        surface.Memory,
        lambda t: surface.If(t, surface.Fst()),
    ]
    term: surface.Term = surface.Lam("w")
    for _ in range(levels):
        term = wraps[number](term)
    return term
