"""A program in JSON → program: the term table and the site rows that `program_json` writes."""

from __future__ import annotations

from typing import NoReturn

from lambdagent.errors import Diagnostic, LambdaSyntaxError, finding
from lambdagent.frontend.json_text import NoJsonError, parse_json
from lambdagent.frontend.lambda_sites import WrongSiteError, site_of_row
from lambdagent.ir.codec import MalformedRowsError, decode_term, typed
from lambdagent.ir.data import Data, Record
from lambdagent.ir.program import Program
from lambdagent.ir.program_text import FORMAT, FORMAT_KEY
from lambdagent.ir.sites import Site
from lambdagent.ir.walk import free_reach, site_names
from lambdagent.messages import phrase
from lambdagent.source import Source, Span

_HINT = phrase("write one with `lambdagent lambda FILE --format json`")


def parse_program_json(source: Source) -> Program:
    """Return the program that `source` is in JSON.

    Raises:
        LambdaSyntaxError: It is none: no JSON, of another format, or damaged.
    """
    try:
        data = parse_json(source.text)
    except NoJsonError as error:
        _refuse(source, error.args[0], error.where)
    return program_of(data, source)


def program_of(data: Data, source: Source) -> Program:
    """Return the program that `data`, which stands in `source`, describes.

    Raises:
        LambdaSyntaxError: It describes none.
    """
    if not isinstance(data, Record) or typed(data.get(FORMAT_KEY)) != FORMAT:
        _refuse(
            source,
            phrase('"{key}": {form} is missing', key=FORMAT_KEY, form=FORMAT),
        )
    core, rows, name = data.get("core"), data.get("sites"), data.get("name")
    if not isinstance(core, tuple) or not isinstance(rows, tuple) or not isinstance(name, str):
        _refuse(source, phrase("`name`, `core` or `sites` is missing"))
    try:
        term = decode_term(core)
    except MalformedRowsError as error:
        _refuse(source, error.args[0])
    if free_reach(term):
        raise LambdaSyntaxError(finding("P031"), source)
    program = Program(term, _sites(rows, source), name, by_hand=True)
    for site in sorted(site_names(term) - {*program.sites}):
        _refuse(source, phrase("no row describes the site `{site}`", site=site))
    if data.get("digest", program.digest()) != program.digest():
        _refuse(source, phrase("its digest is that of another program"))
    return program


def _sites(rows: tuple[Data, ...], source: Source) -> dict[str, Site]:
    sites: dict[str, Site] = {}
    findings: list[Diagnostic] = []
    for row in rows:
        name = row.get("name") if isinstance(row, Record) else None
        if not isinstance(row, Record) or not isinstance(name, str) or name in sites:
            _refuse(source, phrase("a site has no name, or the name of another one"))
        try:
            rest = {key: value for key, value in row.items() if key != "name"}
            sites[name] = site_of_row(name, Record({"static": Record(), **rest}))
        except WrongSiteError as error:
            findings += error.findings
    if findings:
        raise LambdaSyntaxError(findings, source)
    return sites


def _refuse(source: Source, reason: str, where: Span | None = None) -> NoReturn:
    raise LambdaSyntaxError(finding("P032", where, reason=reason, hint=_HINT), source) from None
