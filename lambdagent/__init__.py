"""lambdagent: agents as λ-terms that you can run, stop, trace and understand.

The public names are loaded when they are first used, so that the import is quick; `__init__.pyi`
says what they are.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "api.compiling": ("build_agent", "compile_term", "from_config", "load_config", "load_program"),
    "api.kept": ("Run",),
    "api.linting": ("lint_config",),
    "api.running": ("Result", "Session", "arun", "call", "run"),
    "api.streaming": ("Done", "Stream", "ToolEnd", "ToolStart", "stream"),
    "api.telemetry": ("export_spans",),
    "effects.confirming": ("Confirmation",),
    "effects.listeners": ("Listener",),
    "effects.llm.scripted": ("Scripted",),
    "effects.protocol": ("MemoryStore",),
    "effects.stores": ("Owner",),
    "effects.stores.conformance": ("StoreConformance",),
    "effects.run_events": (
        "GuardRetried",
        "LlmCalled",
        "LoopExited",
        "MemoryWritten",
        "RouteTaken",
        "RunEvent",
        "RunFinished",
        "RunStarted",
        "Token",
        "ToolCompleted",
        "ToolDispatched",
        "TurnStarted",
    ),
    "errors": (
        "BudgetError",
        "CheckpointError",
        "CompileError",
        "ConfigError",
        "EffectError",
        "GuardError",
        "LambdaSyntaxError",
        "LambdagentError",
        "RouteError",
        "RunError",
        "SchemaError",
        "SemanticError",
        "SuspendedError",
    ),
    "ir.model": ("Model",),
    "ir.surface": (
        "Compose",
        "Concat",
        "ConversationLam",
        "Fst",
        "Guard",
        "If",
        "Lam",
        "Loop",
        "Memory",
        "Pair",
        "Par",
        "ReActStep",
        "Route",
        "Snd",
        "Term",
        "Tool",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - the table above is the one list of public names


def __getattr__(name):
    """Load a public name."""
    module = _HOME_OF.get(name)
    if module is None:
        what = f"module 'lambdagent' has no attribute {name!r}"
        raise AttributeError(what)
    return getattr(import_module(f"lambdagent.{module}"), name)


def __dir__():
    """Return the public names."""
    return [*__all__, "__version__"]
