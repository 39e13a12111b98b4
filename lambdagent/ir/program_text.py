"""Program → text that reads back as the same program, in the λ syntax or as JSON.

The λ text is the term, and a ``where`` table with the exact row of each site. Nothing is cut.
"""

from collections.abc import Iterable, Sequence

from lambdagent.ir.codec import encode_term
from lambdagent.ir.data import Data, Record
from lambdagent.ir.data_text import data_text, quoted
from lambdagent.ir.layout import Mark, Piece, laid_out
from lambdagent.ir.printer import print_shared
from lambdagent.ir.program import Program, site_row, without_credentials
from lambdagent.ir.sites import Site
from lambdagent.ir.spelling import site_reference, spelled

FORMAT_KEY, FORMAT = "lambdagent-program", 1

# The first line of a text that does not hold all of a program.
BRIEF = "# prompts and settings are left out; without --brief the text has all of them, and runs\n"

# Stands before the table for each row that it is about.
LEFT_OUT = "# {}: the credentials in its base_url are left out\n"

_USUAL = Record(decoder="raw", onError="raise", idempotent=True, timeout=None)


def print_program(
    program: Program,
    *,
    ascii: bool = False,  # noqa: A002 - the word for it
    de_bruijn: bool = False,
    lines: bool = False,
    sugar: bool = True,
) -> str:
    """Return `program` as text that reads back to a program of equal digest.

    The credentials in URLs of models are no part of the digest, and not of the text.

    Args:
        program: Any program whose sites are as the kinds say.
        ascii: Use nothing but ASCII.
        de_bruijn: Write variables as ``^i``.
        lines: Break the term into lines, for people.
        sugar: Write ``let`` for an abstraction that is applied.

    Raises:
        TooLargeTextError: Its term would be too large as text.
    """
    program, hidden = without_credentials(program)
    term = print_shared(program.term, ascii=ascii, de_bruijn=de_bruijn, lines=lines, sugar=sugar)
    if not program.sites:
        return f"{term}\n"
    table = [
        (site_reference(name, ascii=ascii), _row(site)) for name, site in program.sites.items()
    ]
    left_out = [site_reference(name, ascii=ascii) for name in hidden]
    return f"{term}\n\n{print_where(table, left_out, ascii=ascii)}\n"


def print_brief(program: Program) -> str:
    """Return the term of `program` for people, without its sites; the first line says so.

    Raises:
        TooLargeTextError: The term would be too large as text.
    """
    return f"{BRIEF}{print_shared(program.term, lines=True)}\n"


def print_where(
    table: Iterable[tuple[str, Record]],
    hidden: Sequence[str] = (),
    *,
    ascii: bool = False,  # noqa: A002
) -> str:
    """Return a ``where`` table of at least one row; each name is spelled already.

    Args:
        table: The rows by name.
        hidden: Rows without the credentials of their URL, which a comment lists.
        ascii: Use nothing but ASCII.
    """
    notes: list[Piece] = [LEFT_OUT.format(name) for name in hidden]
    pieces: list[Piece] = [*notes, "where {", Mark.INDENT]
    for name, row in table:
        pieces += [Mark.LINE, f"{name} = ", *_data_pieces(row, ascii=ascii), ","]
    pieces[-1:] = [Mark.DEDENT, Mark.LINE, "}"]
    return laid_out(pieces)


def program_json(program: Program) -> str:
    """Return `program` as JSON: the rows of its term, and of its sites; one row a line.

    As in the text, URLs are without credentials.
    """
    program, _ = without_credentials(program)
    head = f'"{FORMAT_KEY}": {FORMAT},\n"name": {quoted(program.name)}'
    core = _lines([*encode_term(program.term)])
    sites = _lines([site_row(site) for site in program.sites.values()])
    digest = quoted(program.digest())
    return f'{{\n{head},\n"core": {core},\n"sites": {sites},\n"digest": {digest}\n}}\n'


def _lines(rows: Sequence[Data]) -> str:
    lines = ",\n".join(f"  {data_text(row, strict=True)}" for row in rows)
    return f"[\n{lines}\n]" if rows else "[]"


def _row(site: Site) -> Record:
    """Return the attributes of `site` that its name does not tell and that are not usual."""
    row = site_row(site)
    assert isinstance(row, Record)
    kind = {} if site.name.partition(":")[0] == site.kind else {"kind": site.kind}
    unusual = {key: row[key] for key, usual in _USUAL.items() if row[key] != usual}
    types = {key: row[key] for key in ("arg", "result") if key in row}
    return Record({**kind, **unusual, **types, "static": site.static})


def _data_pieces(value: Data, *, ascii: bool) -> list[Piece]:  # noqa: A002
    """Return the pieces of `value` as the ``where`` table writes it, on lines where it is long."""
    pieces: list[Piece] = []
    stack: list[tuple[Sequence[Piece], Data]] = [((), value)]
    while stack:
        before, item = stack.pop()
        pieces += before
        if item is _END:
            continue
        if isinstance(item, Record) and item:
            names = [_key(key, ascii=ascii) for key in item]
            opened, closed, parts = "{", "}", [*zip(names, item.values(), strict=True)]
        elif isinstance(item, tuple) and item:
            opened, closed, parts = "[", "]", [("", part) for part in item]
        else:
            pieces.append(data_text(item, ascii=ascii))
            continue
        pieces += [Mark.OPEN, opened, Mark.INDENT, Mark.BREAK]
        stack.append(((Mark.DEDENT, Mark.BREAK, closed, Mark.CLOSE), _END))
        for number in reversed(range(len(parts))):
            name, part = parts[number]
            stack.append(((",", Mark.SPACE, name) if number else (name,), part))
    return pieces


_END = Record()  # told apart by identity


def _key(key: str, *, ascii: bool) -> str:  # noqa: A002
    plain = spelled(key, ascii=ascii) == key
    return f"{key if plain else quoted(key, ascii=ascii)}: "
