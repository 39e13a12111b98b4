"""One agent of each type, as a person would write it; the `model` block is filled in."""

from typing import Any

import yaml

SIMPLE = """\
agentId: greeter
name: greeter
type: simple
systemPrompt: You are friendly.
"""
REACT = """\
agentId: adder
name: adder
type: react
systemPrompt: You calculate.
react: {maxSteps: 20}
mcp: {localTools: [add, terminate]}
"""
CHAIN = """\
agentId: writer
name: writer
type: chain
systemPrompt: You write.
chain:
  steps:
    - {name: extract, prompt: Extract key facts.}
    - {name: analyze, prompt: Analyze the facts., guard: {validator: len(x) > 5, retry: 2}}
    - {name: draft, prompt: Write a draft.}
"""
ROUTER = """\
agentId: desk
name: desk
type: router
systemPrompt: You work at the desk.
router:
  classifier: {prompt: "Classify: code/math", categories: [code, math]}
  routes:
    code: {type: simple, systemPrompt: You are a coder.}
    math: {type: simple, systemPrompt: You are a mathematician.}
"""
PARALLEL = """\
agentId: council
name: council
type: parallel
systemPrompt: Be brief.
parallel:
  agents:
    - {name: researcher, type: simple, systemPrompt: Research the topic.}
    - {name: critic, type: simple, systemPrompt: Critique the topic.}
  merge: custom
  mergePrompt: Synthesize the research and critique.
"""
CALL = '{"tool": "add", "args": "1+1"}'
END = '{"tool": "terminate", "args": "1+1=2"}'

# Text, input, what the model says by agent, the answer.
TYPES: dict[str, tuple[str, str, dict[str, list[str]], str]] = {
    "simple": (SIMPLE, "Hello", {"greeter": ["Hi there"]}, "Hi there"),
    "react": (REACT, "1+1等于几", {"adder": [CALL, END]}, "1+1=2"),
    "chain": (
        CHAIN,
        "A long text.",
        {"extract": ["the facts"], "analyze": ["short", "the analysis"], "draft": ["the draft"]},
        "the draft",
    ),
    "router": (
        ROUTER,
        "How do I sort?",
        {"classifier": ["code"], "code": ["sorted(x)"]},
        "sorted(x)",
    ),
    "parallel": (
        PARALLEL,
        "A topic",
        {"researcher": ["found"], "critic": ["but"], "merge": ["found, but"]},
        "found, but",
    ),
}


def with_model(text: str, model: dict[str, Any], **more: Any) -> str:
    """Return the agent `text` with a `model` block and `more` fields."""
    return text + yaml.safe_dump({"model": model, **more}, allow_unicode=True)


def scripted(kind: str, **more: Any) -> str:
    """Return the agent of a type, answered by a script."""
    text, _, replies, _ = TYPES[kind]
    return with_model(text, {"provider": "scripted", "script": {"replies": replies}}, **more)


def replies_in_order(kind: str) -> list[str]:
    """Return what the model says, in the order in which it is asked."""
    return [reply for replies in TYPES[kind][2].values() for reply in replies]


def add(text: str) -> int:
    """Add the numbers of a sum."""
    return sum(map(int, text.split("+")))
