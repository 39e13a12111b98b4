"""A program: a closed core term and its site table."""

from collections.abc import Mapping

import attrs

from lambdagent.ir.alpha import digest_rows
from lambdagent.ir.codec import encode_term
from lambdagent.ir.core import Term
from lambdagent.ir.data import Data, Record
from lambdagent.ir.sites import Site
from lambdagent.ir.url import shown_url


@attrs.frozen(eq=False)
class Program:
    """What every engine runs.

    Attributes:
        term: A function value from the input to the answer.
        sites: Each site that `term` mentions, by name.
        name: What people call the agent.
        shows_steps: The file asks for its intermediate steps to be printed.
        engine: The engine that the file asks for; no part of the meaning.
    """

    term: Term = attrs.field(repr=False)
    sites: Mapping[str, Site] = attrs.field(repr=False)
    name: str = "agent"
    shows_steps: bool = False
    engine: str | None = None

    def digest(self) -> str:
        """Return a hash of the meaning: nodes and sites.

        Hints and bindings are no part of it, nor are the credentials in the URL of a model.
        """
        rows: list[Data] = [*encode_term(self.term, names=False)]
        rows += [_without_credentials(site_row(self.sites[name])) for name in sorted(self.sites)]
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


def _without_credentials(row: Record) -> Record:
    static = row["static"]
    model = static.get("model") if isinstance(static, Record) else None
    url = model.get("base_url") if isinstance(model, Record) else None
    if not (isinstance(static, Record) and isinstance(model, Record) and isinstance(url, str)):
        return row
    model = Record({**model, "base_url": shown_url(url)})
    return Record({**row, "static": Record({**static, "model": model})})
