"""Surface terms: the agents that people see, write and combine.

Plain frozen data. A term can be applied (``term("hello")``), composed (``f >> g`` runs `g` on what
`f` answers) and put side by side (``f | g`` runs both on the same input). Its meaning is the core
term that `lambdagent.desugar` lowers it to.

Source: specification 3.2 and 14; semantics.md §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import attrs

import lambdagent
from lambdagent.ir import fields, registry
from lambdagent.ir.data import Data, Record, freeze
from lambdagent.ir.labels import OTHER, TERMINATE
from lambdagent.ir.model import Model, model_of
from lambdagent.ir.signature import parameters_of
from lambdagent.ir.strategies import MANAGED

# How the answer of a model call is read.
PARSERS = ("text", "json", "number", "boolean", "raw", "reply")
# Of those: what may be said of an answer that must fit a schema; it is then read as JSON.
SCHEMA_PARSERS = ("text", "json")
# Where a memory keeps its entries, and who shares them.
STRATEGIES = ("local", "redis", "sqlite", "custom")
SCOPES = ("session", "global", "user")


def _distinct(what: str, names: Sequence[str]) -> None:
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        message = f"the {what} `{twice}` stands twice"
        raise ValueError(message)


@attrs.frozen
class Term:
    """An agent: a function from an input to an answer."""

    def __call__(self, value: object) -> Any:
        """Run the agent on `value` and return its answer.

        Calls of the same object share its conversation and its memory.

        Raises:
            RunError: The run failed: a model, a guard without fallback, a route without default.
        """
        return lambdagent.call(self, value)

    def stream(self, value: object, **options: Any) -> lambdagent.Stream:
        """Run the agent on `value` and return an iterator over what is said and done in it.

        It shares the conversation with the calls. The options are those of `Session.run`.
        """
        return lambdagent.stream(self, value, **options)

    def __rshift__(self, then: Term) -> Compose:
        """Return the agent that gives its answer to `then`."""
        return Compose(*_stages(self), *_stages(then))

    def __or__(self, other: Term) -> Par:
        """Return the agent that runs both on the same input and answers with both."""
        return Par(*_branches(self), *_branches(other))


@attrs.frozen
class Lam(Term):
    """``λx. LLM(x)``: one model call without history.

    Attributes:
        output_parser: What the answer is read as, one of `PARSERS`.
        output_schema: A JSON Schema that the answer must fit, which is then read as JSON. One that
            does not is sent back to the model, once.
    """

    name: str
    prompt: str = attrs.field(default="", repr=fields.sized)
    model: Model | None = attrs.field(default=None, converter=model_of)
    output_parser: str = attrs.field(default="text", validator=attrs.validators.in_(PARSERS))
    output_schema: Record | None = attrs.field(
        default=None,
        kw_only=True,
        converter=attrs.converters.optional(freeze),
        validator=fields.schema_or_none,
    )

    def __attrs_post_init__(self) -> None:
        """Read as JSON what must fit a schema; refuse to read it as something else."""
        if self.output_schema is None or self.output_parser == "json":
            return
        if self.output_parser not in SCHEMA_PARSERS:
            what = f"an answer with a schema is read as json, not as {self.output_parser}"
            raise ValueError(what)
        object.__setattr__(self, "output_parser", "json")


@attrs.frozen
class ConversationLam(Lam):
    """``λx. LLM(history ++ x)``: a model call that remembers its conversation.

    Attributes:
        max_history_tokens: Most tokens of it that are sent: turns, and a summary of the others.
        recent_turns: Most turns that are sent, with the strategy ``managed``.
        strategy: What of it is sent, one of those in `ir.strategies`.
    """

    max_history_tokens: int = attrs.field(default=80_000, validator=fields.whole)
    recent_turns: int = attrs.field(default=20, validator=fields.whole)
    strategy: str = attrs.field(
        default=MANAGED, converter=fields.spelled_strategy, validator=fields.strategy
    )


def _implementation(value: Callable[..., object] | str | None) -> str | None:
    return registry.register(value) if callable(value) else value


def _signature_of(tool: Any) -> Record | None:
    key = tool.implementation
    return None if key is None else parameters_of(registry.lookup(key))


@attrs.frozen
class Tool(Term):
    """An effect by name: a Python function, a shell command, a remote tool.

    Attributes:
        implementation: The function, kept in the registry; here only its key.
        command: Shell command, for tools of the command line.
        timeout_s: Longest wait for one call, in seconds.
        idempotent: Whether calling it twice does no harm.
        confirm: Whether a person has to approve each call before it is made.
        parameters: JSON Schema of the arguments, an object; of a function by default as its
            signature and docstring say. None takes one text.
        retries: How often a call that failed is made again.
        server: Whose tool it is, if a server outside runs it; where that is, is no part of a term.
    """

    name: str
    implementation: str | None = attrs.field(default=None, converter=_implementation, eq=False)
    description: str = attrs.field(default="", kw_only=True)
    command: str | None = attrs.field(default=None, kw_only=True)
    timeout_s: float = attrs.field(
        default=30.0, kw_only=True, converter=fields.plain_float, validator=fields.seconds
    )
    idempotent: bool = attrs.field(default=False, kw_only=True)
    confirm: bool = attrs.field(default=False, kw_only=True)
    parameters: Record | None = attrs.field(
        default=attrs.Factory(_signature_of, takes_self=True),
        kw_only=True,
        converter=fields.object_schema,
        validator=fields.object_schema_or_none,
    )
    retries: int = attrs.field(default=0, kw_only=True, validator=fields.whole)
    server: str | None = attrs.field(default=None, kw_only=True)

    @property
    def fn(self) -> Callable[[Any], Any]:
        """The Python function behind the tool; the identity for ``terminate``.

        Raises:
            LookupError: The tool has no Python function.
        """
        if self.name == TERMINATE:
            return _identity
        if self.implementation is None or self.server is not None:
            what = f"the tool `{self.name}` has no Python function"
            raise LookupError(what)
        function: Callable[[Any], Any] = registry.lookup(self.implementation)
        return function


def _identity(value: Any) -> Any:
    return value


def _tools(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    return tuple(tools)


@attrs.frozen
class ReActStep(Tool):
    """One round of a ReAct loop: think, choose, act, observe.

    Of several calls in one reply `max_concurrent` are made at once, the others after them.
    """

    think: Lam = attrs.field(kw_only=True)
    tools: tuple[Tool, ...] = attrs.field(kw_only=True, converter=_tools)
    observation_enabled: bool = attrs.field(default=True, kw_only=True)
    early_stop: str | None = attrs.field(default=None, kw_only=True)
    max_concurrent: int = attrs.field(default=1, kw_only=True, validator=fields.whole)

    def __attrs_post_init__(self) -> None:
        """Refuse two tools of one name."""
        _distinct("tool", [tool.name for tool in self.tools])


@attrs.frozen(init=False)
class Compose(Term):
    """``λx. fk(…(f1 x))``: the stages one after another."""

    stages: tuple[Term, ...]

    def __init__(self, *stages: Term) -> None:
        """Compose `stages`, the first one first; none at all is the identity."""
        self.__attrs_init__(stages)


@attrs.frozen
class Loop(Term):
    """``Yₙ(…)``: `body` again and again until `condition`, at most `max_steps` times.

    Attributes:
        condition: An expression over `x`, the result, and `step`, counted from 0; or an agent that
            answers true or false to the pair of both. Tested after each round.
        on_exhausted: ``last`` answers with the last result, ``error`` raises MaxTurns.
    """

    body: Term
    condition: str | Term = "False"
    max_steps: int = attrs.field(default=10, validator=fields.count)
    on_exhausted: str = attrs.field(
        default="last", kw_only=True, validator=attrs.validators.in_(("last", "error"))
    )
    verbose: bool = attrs.field(default=False, kw_only=True)


def _routes(routes: Mapping[str, Term]) -> Mapping[str, Term]:
    if OTHER in routes:
        what = f"a route cannot be named `{OTHER}`; use `default`"
        raise ValueError(what)
    frozen: Any = Record(cast(Any, routes))
    return cast(Mapping[str, Term], frozen)


@attrs.frozen
class Route(Term):
    """``case (classifier x) of {label ⇒ agent x}``.

    Attributes:
        routes: Agents by label.
        default: Who answers when no label fits; without one that raises RouteError.
        others: Further labels that the classifier may answer; they go to the default.
    """

    classifier: Term
    routes: Mapping[str, Term] = attrs.field(converter=_routes)
    default: Term | None = None
    others: tuple[str, ...] = attrs.field(default=(), converter=tuple)

    def __attrs_post_init__(self) -> None:
        """Refuse a label that would stand twice, or that stands for all others."""
        _distinct("label", self.labels)
        if OTHER in self.others:
            what = f"no label can be `{OTHER}`: it stands for all that have no route"
            raise ValueError(what)

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label that the classifier may answer, those with a route first."""
        return (*self.routes, *self.others)


@attrs.frozen(init=False)
class Par(Term):
    """``λx. ⟨f1 x, …, fk x⟩``, the branches side by side."""

    branches: tuple[Term, ...]

    def __init__(self, *branches: Term) -> None:
        """Run `branches`, at least one, on the same input.

        Raises:
            ValueError: There is no branch.
        """
        if not branches:
            what = "Par needs at least one branch"
            raise ValueError(what)
        self.__attrs_init__(branches)


@attrs.frozen
class Concat(Term):
    """``λ⟨a, b, …⟩. text``: joins the answers of a `Par`, in order, with blank lines between."""


@attrs.frozen
class Pair(Term):
    """``λx. ⟨left x, right x⟩``, left before right."""

    left: Term
    right: Term


@attrs.frozen
class Fst(Term):
    """``λp. fst p``."""


@attrs.frozen
class Snd(Term):
    """``λp. snd p``."""


@attrs.frozen
class If(Term):
    """``λx. if (condition x) (then x) (otherwise x)``; `condition` as in `Loop`, over `x`."""

    condition: str | Term
    then: Term
    otherwise: Term = attrs.field(factory=Compose)


@attrs.frozen
class Guard(Term):
    """``{x : T | P(x)}``: `agent` again until its answer passes, at most `retry` times more.

    Attributes:
        validator: An expression over `x`, the answer; or an agent that answers true or false.
        fallback: ``error`` raises ValidationError, ``empty`` answers "", ``last`` the last answer;
            any other text is the answer itself.
    """

    agent: Term
    validator: str | Term
    retry: int = attrs.field(default=0, validator=fields.whole)
    fallback: str = "error"


def _initial(entries: Mapping[str, object]) -> Record:
    frozen = freeze(entries)
    return frozen if isinstance(frozen, Record) else Record()


@attrs.frozen
class Memory(Term):
    """``Γ ∪ store``: `agent` sees what was remembered, and its exchange is remembered.

    Attributes:
        name: Memories of the same name, in the same store and of the same scope, are one.
        summary: An agent that writes what is remembered, from ``⟨input, answer⟩``; without one,
            that is the start of the answer.
        strategy: A key of `STRATEGIES`: where entries are kept.
        scope: Who shares them: a ``session``, all runs (``global``), or the runs of a ``user``.
        place: The file of ``sqlite``, or the class of ``custom``; None for the usual one.
        settings: What the class of ``custom`` is made with.
        size: Most entries kept; 0 keeps none.
        ttl_s: Seconds after which an entry is gone; 0 keeps it.
        initial: Entries that are there from the start.
        binding: Key of a `MemoryStore` in the registry, which replaces strategy and scope.
    """

    agent: Term
    name: str = "memory"
    summary: Term | None = attrs.field(default=None, kw_only=True)
    strategy: str = attrs.field(default="local", kw_only=True, validator=fields.one_of(STRATEGIES))
    scope: str = attrs.field(default="session", kw_only=True, validator=fields.one_of(SCOPES))
    place: str | None = attrs.field(default=None, kw_only=True)
    settings: Record = attrs.field(factory=Record, kw_only=True, converter=_initial)
    size: int = attrs.field(default=20, kw_only=True, validator=fields.whole)
    ttl_s: float = attrs.field(
        default=0, kw_only=True, converter=fields.plain_zero, validator=fields.number
    )
    initial: Record = attrs.field(factory=Record, kw_only=True, converter=_initial)
    binding: str | None = attrs.field(default=None, kw_only=True, eq=False)


def _stages(term: Term) -> tuple[Term, ...]:
    return term.stages if isinstance(term, Compose) else (term,)


def _branches(term: Term) -> tuple[Term, ...]:
    return term.branches if isinstance(term, Par) else (term,)


def subterms(root: Term) -> Iterator[Term]:
    """Yield `root` and every agent inside it, outer before inner, left to right, each once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        term = stack.pop()
        if id(term) not in seen:
            seen.add(id(term))
            yield term
            stack.extend(reversed(parts(term)))


def parts(term: Term) -> list[Term]:
    """Return the agents that `term` is made of, in the order in which they run."""
    match term:
        case Compose(stages):
            return list(stages)
        case Par(branches):
            return list(branches)
        case Loop(body, condition):
            return [body, *_agents(condition)]
        case Route(classifier, routes, default, _):
            return [classifier, *routes.values(), *_agents(default)]
        case Guard(agent, validator):
            return [agent, *_agents(validator)]
        case If(condition, then, otherwise):
            return [*_agents(condition), then, otherwise]
        case Pair(left, right):
            return [left, right]
        case Memory(agent, summary=summary):
            return [agent, *_agents(summary)]
        case ReActStep():
            return [term.think, *term.tools]
    return []


def _agents(value: Data | Term) -> list[Term]:
    return [value] if isinstance(value, Term) else []
