"""A program: a closed core term and its site table."""

from collections.abc import Mapping
from functools import cached_property

import attrs

from lambdagent.ir.alpha import digest_rows
from lambdagent.ir.codec import encode_term
from lambdagent.ir.core import Term
from lambdagent.ir.data import Data, Record
from lambdagent.ir.limits import RunLimits
from lambdagent.ir.sites import Site
from lambdagent.ir.url import shown_url


@attrs.frozen
class Checkpoints:
    """How a file wants its runs to be kept on disk.

    Attributes:
        directory: Where.
        autosave: β between two states on disk; 0 for none but the last.
        most: Runs that stay there; of more, the oldest that are finished are removed.
    """

    directory: str
    autosave: int
    most: int


@attrs.frozen(eq=False)
class Program:
    """What every engine runs.

    Attributes:
        term: A function value from the input to the answer.
        sites: Each site that `term` mentions, by name.
        name: What people call the agent.
        shows_steps: The file asks for its intermediate steps to be printed.
        engine: The engine that the file asks for; no part of the meaning.
        limits: What the file lets its runs spend, and how often they may ask.
        by_hand: It was read as a core term, not lowered from an agent: it may get stuck.
        checkpoints: How the file wants its runs to be kept; no part of the meaning either.
    """

    term: Term = attrs.field(repr=False)
    sites: Mapping[str, Site] = attrs.field(repr=False)
    name: str = "agent"
    shows_steps: bool = False
    engine: str | None = None
    checkpoints: Checkpoints | None = None
    limits: RunLimits = attrs.field(factory=RunLimits)
    by_hand: bool = False

    def digest(self) -> str:
        """Return a hash of the meaning: nodes and sites.

        Hints and bindings are no part of it, nor are the credentials in the URL of a model.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        rows: list[Data] = [*encode_term(self.term, names=False)]
        rows += [site_row(_public(self.sites[name])) for name in sorted(self.sites)]
        return digest_rows(rows)


def site_row(site: Site) -> Record:
    """Return `site` as JSON-like data, without its binding."""
    types = {"arg": site.arg, "result": site.result}
    row = Record(
        name=site.name,
        kind=site.kind,
        static=site.static,
        decoder=site.decoder,
        onError=site.on_error,
        idempotent=site.idempotent,
        timeout=site.timeout_s,
    )
    return Record({**row, **{key: kind for key, kind in types.items() if kind is not None}})


def without_credentials(program: Program) -> tuple[Program, tuple[str, ...]]:
    """Return `program` with nothing secret in the URLs of its models, and the sites it changed."""
    sites = {name: _public(site) for name, site in program.sites.items()}
    changed = tuple(name for name in sorted(sites) if sites[name] is not program.sites[name])
    return (attrs.evolve(program, sites=sites) if changed else program), changed


def _public(site: Site) -> Site:
    static = _without_credentials(site.static)
    return site if static is site.static else attrs.evolve(site, static=static)


def _without_credentials(static: Record) -> Record:
    """Return the static data of a site with nothing secret in the URL of its model."""
    model = static.get("model")
    public = public_model(model) if isinstance(model, Record) else model
    return static if public is model else Record({**static, "model": public})


def public_model(model: Record) -> Record:
    """Return the settings of a model with nothing secret in its URL; itself if nothing is."""
    url = model.get("base_url")
    if not isinstance(url, str) or shown_url(url) == url:
        return model
    return Record({**model, "base_url": shown_url(url)})
