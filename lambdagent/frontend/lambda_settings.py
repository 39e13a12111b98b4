"""What the settings of the forms in a text of agents may be: `Guard(…)`, `Γ ∪ store{…}`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from lark import Token

from lambdagent.frontend.lambda_sites import NUMBER, OBJECT, TEXT, WHOLE, Kind
from lambdagent.frontend.lambda_tree import Setting
from lambdagent.ir.data_text import data_text
from lambdagent.ir.surface import SCOPES
from lambdagent.messages import phrase

_ANSWER = Kind(phrase("error, empty, last or a text"), TEXT.fits)
_SCOPE = Kind(phrase("session, global or user"), lambda value: value in SCOPES)

GUARD: Final[Mapping[str, Kind]] = {"retry": WHOLE, "fallback": _ANSWER}
STORE: Final[Mapping[str, Kind]] = {
    "name": TEXT,
    "size": WHOLE,
    "ttl": NUMBER,
    "scope": _SCOPE,
    "place": TEXT,
    "settings": OBJECT,
    "initial": OBJECT,
}
# Fields of a `Memory` that are called otherwise in a text.
STORE_FIELDS: Final[Mapping[str, str]] = {"ttl": "ttl_s"}


def read_settings(
    form: Token,
    given: Collection[Setting],
    known: Mapping[str, Kind],
    report: Callable[..., None],
) -> dict[str, Any]:
    """Return what the settings of `form` say; what is wrong with them is reported."""
    found: dict[str, Any] = {}
    for setting in given:
        name, value = str(setting.name), setting.value
        kind = known.get(name)
        if kind is None or name in found:
            expected = phrase("{known}, each once", known=", ".join(known))
            report("P039", setting.name, form=form, expected=expected, actual=f"`{name}`")
        elif not kind.fits(value):
            expected = phrase("as `{name}` {expected}", name=name, expected=kind.expected)
            report("P039", setting.name, form=form, expected=expected, actual=data_text(value))
        else:
            found[name] = value
    return found
