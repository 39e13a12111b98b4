"""The rules, in the order of their codes. Source: specification 8.1 (L001 to L016)."""

from __future__ import annotations

from typing import Final

from lambdagent.frontend.lint import agents, guards, models, programs, secrets
from lambdagent.frontend.lint.rules import Rule
from lambdagent.frontend.schema import TYPES
from lambdagent.messages import phrase

_AGENTS: Final = (*TYPES, "unknown")  # unknown: its type is illegible
_ALL: Final = (*_AGENTS, "step", "classifier")
_GUARDED: Final = (*_AGENTS, "step")
_REACT, _ROUTER, _FILE, _PROGRAM = ("react",), ("router",), ("file",), ("program",)

RULES: Final = (
    Rule(
        "L001",
        "error",
        phrase("an agent without a prompt"),
        _ALL,
        agents.empty_prompt,
        refused=True,
    ),
    Rule("L002", "error", phrase("an agent without a model"), _FILE, agents.no_model),
    Rule("L003", "error", phrase("a loop of no rounds"), refused=True),
    Rule(
        "L004", "error", phrase("a ReAct agent without `terminate`"), _REACT, agents.no_terminate
    ),
    Rule("L005", "error", phrase("a router without routes"), refused=True),
    Rule("L006", "error", phrase("a chain without steps, or nothing side by side"), refused=True),
    Rule("L007", "warn", phrase("a high temperature"), _ALL, models.hot, block="model"),
    Rule(
        "L008",
        "warn",
        phrase("a memory that never forgets"),
        _AGENTS,
        agents.endless_memory,
        block="memory",
    ),
    Rule(
        "L009",
        "warn",
        phrase("a memory that keeps nothing"),
        _AGENTS,
        agents.empty_memory,
        block="memory",
    ),
    Rule(
        "L010", "warn", phrase("a loop of many rounds"), _REACT, agents.many_rounds, block="react"
    ),
    Rule("L011", "warn", phrase("a ReAct agent without tools"), _REACT, agents.no_tools),
    Rule(
        "L012",
        "warn",
        phrase("a guard with many retries"),
        _GUARDED,
        agents.many_retries,
        block="guard",
    ),
    Rule("L013", "warn", phrase("a router without a default"), _ROUTER, agents.no_default),
    Rule("L014", "info", phrase("a temperature of 0"), _ALL, models.cold, block="model"),
    Rule(
        "L015", "info", phrase("an agent with a memory"), _AGENTS, agents.remembers, block="memory"
    ),
    Rule(
        "L016",
        "info",
        phrase("an agent with a knowledge base"),
        _AGENTS,
        agents.reads_knowledge,
        block="rag",
    ),
    Rule(
        "L017",
        "error",
        phrase("a guard that no answer passes"),
        _GUARDED,
        guards.guard_in_vain,
        block="guard",
    ),
    Rule(
        "L018",
        "warn",
        phrase("a guard that every answer passes"),
        _GUARDED,
        guards.guard_without_need,
        block="guard",
    ),
    Rule(
        "L019",
        "warn",
        phrase("an exit test that is always the same"),
        _REACT,
        guards.constant_exit,
        block="react",
    ),
    Rule(
        "L020",
        "warn",
        phrase("a category without a route"),
        _ROUTER,
        agents.category_without_route,
        block="router",
    ),
    Rule(
        "L021",
        "warn",
        phrase("a route that is hard to reach"),
        _ROUTER,
        agents.unreachable_route,
        block="router",
    ),
    Rule("L022", "warn", phrase("two agents of one name"), _FILE, agents.same_names),
    Rule(
        "L023",
        "warn",
        phrase("tools whose results are never seen"),
        _REACT,
        agents.unseen_tools,
        block="mcp",
    ),
    Rule("L024", "warn", phrase("a block without effect"), _ALL, agents.no_effect),
    Rule(
        "L025",
        "warn",
        phrase("a scripted reply that nobody gets"),
        _ALL,
        models.unused_replies,
        block="model",
    ),
    Rule("L026", "error", phrase("a secret in the file"), _FILE, secrets.written_secret),
    Rule(
        "L027",
        "warn",
        phrase("a doubtful name of a model"),
        _ALL,
        models.doubtful_name,
        block="model",
    ),
    Rule(
        "L028",
        "warn",
        phrase("a conversation larger than the window"),
        _ALL,
        models.narrow_window,
        block="model",
    ),
    Rule("L029", "warn", phrase("a loop that goes on twice"), _PROGRAM, programs.twice_on_a_path),
    Rule("L030", "warn", phrase("calls without bound"), _PROGRAM, programs.without_bound),
    Rule("L031", "warn", phrase("a loop that never ends early"), _PROGRAM, programs.never_ends),
    Rule("L032", "warn", phrase("a comment that ignores nothing")),
    Rule(
        "L033",
        "warn",
        phrase("a lasting memory that ends with its session"),
        _AGENTS,
        agents.passing_memory,
        block="memory",
    ),
)

BY_CODE: Final = {rule.code: rule for rule in RULES}
