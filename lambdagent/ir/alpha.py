"""α-equality and digests: names of bound variables do not count."""

from __future__ import annotations

import hashlib
import json

from lambdagent.ir.codec import encode_term
from lambdagent.ir.core import App, Lam, Lit, Prim, Term, Var
from lambdagent.ir.data import Data, Record, thaw
from lambdagent.ir.data_text import data_text


def alpha_equal(left: Term, right: Term, *, labels: bool = True) -> bool:
    """Whether two terms are the same up to the names of bound variables.

    Args:
        left: One term.
        right: The other.
        labels: Whether trace labels must agree too.
    """
    seen: set[tuple[int, int]] = set()
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if type(a) is App and type(b) is App:
            if labels and a.label != b.label:
                return False
            stack += [(a.arg, b.arg), (a.fun, b.fun)]
        elif type(a) is Lam and type(b) is Lam:
            stack.append((a.body, b.body))
        elif not _same_leaf(a, b):
            return False
    return True


def _same_leaf(a: Term, b: Term) -> bool:
    match a, b:
        case Var(i), Var(j):
            return i == j
        case Lit(v), Lit(w):
            return same_data(v, w)
        case Prim(name, params), Prim(other, others):
            return name == other and same_data(params, others)
    return False


def same_data(a: object, b: object) -> bool:
    """Whether two constants are equal and of the same type: 1, 1.0 and True are three values."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_data, a, b))
    if isinstance(a, Record) and isinstance(b, Record):
        return a.keys() == b.keys() and all(same_data(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return repr(a) == repr(b)
    return a == b


def digest(term: Term) -> str:
    """Return the SHA-256 of `term` in hexadecimal, the same for α-equal terms."""
    return digest_rows(encode_term(term, names=False))


def digest_rows(rows: Data | list[Data]) -> str:
    """Return the SHA-256 of JSON-like rows in hexadecimal."""
    data = tuple(rows) if isinstance(rows, list) else rows
    try:
        text = json.dumps(thaw(data), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    except (ValueError, RecursionError):  # a number of thousands of digits, or nested deeply
        text = data_text(data, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
