"""For each field of the table a file that has it: the smallest one, with any value there."""

from typing import Any

from lambdagent.frontend import kinds
from lambdagent.frontend.schema import AGENT, BODIES, MODEL, SCRIPT, STEP

AGENT_INSIDE = {"systemPrompt": "p"}
MODEL_SAMPLE = {"provider": "openai", "name": "m"}
SCRIPT_SAMPLE = {"replies": ["a"]}


SINGLE = (
    kinds.Choice,
    kinds.Expression,
    kinds.Flag,
    kinds.Integer,
    kinds.Number,
    kinds.Pattern,
    kinds.Reply,
    kinds.Text,
)
BY_KIND: dict[type, tuple[Any, Any]] = {
    kinds.Agent: (AGENT_INSIDE, {"systemPrompt": "q"}),
    kinds.Anything: ("a", "b"),
    kinds.Expression: ("True", "False"),
    kinds.Flag: (True, False),
    kinds.Model: (MODEL_SAMPLE, {**MODEL_SAMPLE, "name": "n"}),
    kinds.Number: (0.25, 0.5),
    kinds.Pattern: ("a", "b"),
    kinds.Remembered: ("full", "sliding_window(20)"),
    kinds.Reply: ("a", {"tool_calls": [{"name": "b"}]}),
    kinds.Script: (SCRIPT_SAMPLE, {"replies": ["b"]}),
    kinds.Step: ({"prompt": "p"}, {"prompt": "q"}),
    kinds.Text: ("a", "b"),
}


def two(kind: kinds.Kind) -> tuple[Any, Any]:
    """Return two good values of `kind`."""
    match kind:
        case kinds.Integer(least=least):
            return least + 3, least + 4
        case kinds.Choice(words):
            return words[0], words[-1]
        case kinds.ListOf(item):
            first, second = two(item)
            return [first], [second]
        case kinds.MapOf(value, key):
            first, second = two(value)
            held = "title" if key == "KEYWORD" else "k"
            return {held: first}, {held: second}
        case kinds.ListOrMap(items, maps):
            return two(items)[0], two(maps)[1]
        case kinds.Block():
            return smallest(kind), smallest(kind, 1)
    return BY_KIND[type(kind)]


def wrong(kind: kinds.Kind) -> Any:
    """Return what no value of `kind` is: a mapping for a single value, a text for the rest."""
    return {"no": "value"} if isinstance(kind, SINGLE) else "no such thing"


def smallest(block: kinds.Block, first: int = 0) -> dict[str, Any]:
    """Return `block` with no more than it must have."""
    held = {name: two(block.fields[name].kind)[first] for name in block.required}
    return complete(block, held)


def complete(block: kinds.Block, held: dict[str, Any]) -> dict[str, Any]:
    """Return `held` with what it must have beside what it has, and without what it must not."""
    for field in block.conditional:
        assert field.only_with is not None
        key, value = field.only_with
        if held.get(key, block.defaults.get(key)) != value:
            held.pop(field.name, None)
        elif field.required:
            held.setdefault(field.name, two(field.kind)[0])
    return held


def file_with(path: str, value: Any) -> dict[str, Any]:
    """Return the smallest agent file whose field at `path` is `value`."""
    names = path.split(".")
    field = AGENT.fields[names[0].removesuffix("[]")]
    type_ = field.types[0] if field.types else "simple"
    held: dict[str, Any] = {"type": type_, "systemPrompt": "p", "model": dict(MODEL_SAMPLE)}
    if type_ in BODIES:
        held[type_] = smallest(BODIES[type_])
    return with_field(AGENT, held, names, value)


def with_field(
    block: kinds.Block, held: dict[str, Any], names: list[str], value: Any
) -> dict[str, Any]:
    """Return `held`, which is a `block`, with `value` at the path of `names` in it."""
    name = names[0].removesuffix("[]")
    field = block.fields[name]
    if field.only_with is not None:
        held[field.only_with[0]] = field.only_with[1]
    held[name] = value if len(names) == 1 else inside(field.kind, names, value)
    return complete(block, held)


def key_in(path: str) -> str:
    """Return what a key is called that the writer of the file chooses."""
    if "rateLimits" in path:
        return MODEL_SAMPLE["provider"]
    return MODEL_SAMPLE["name"] if "prices" in path else "k"


def inside(kind: kinds.Kind, names: list[str], value: Any) -> Any:
    """Return a value of `kind`, called `names[0]`, with `value` deeper in it."""
    match kind:
        case kinds.ListOf(item):
            return [inside(item, names, value)]
        case kinds.MapOf(each):
            return {key_in(names[0]): inside(each, names[1:], value)}
        case kinds.Step():
            return with_field(STEP, smallest(STEP), names[1:], value)
        case kinds.Script():
            return with_field(SCRIPT, dict(SCRIPT_SAMPLE), names[1:], value)
        case kinds.Model():
            model = {"provider": "scripted"} if names[1] == "script" else dict(MODEL_SAMPLE)
            return with_field(MODEL, model, names[1:], value)
    assert isinstance(kind, kinds.Block)
    return with_field(kind, smallest(kind), names[1:], value)


def place_of(path: str) -> str:
    """Return what findings call the field at `path` in `file_with`."""
    names = path.split(".")
    key = key_in(path)
    held = [key if name.isupper() and len(name) > 2 else name for name in names]
    return ".".join(held).replace("[]", "[0]")
