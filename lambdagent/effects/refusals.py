"""What services say where they refuse a request: which setting, what to do, in which words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from lambdagent.messages import phrase

_BAD_REQUEST = 400
_NO_CREDIT = 402
_HINTS = {
    400: phrase("check the settings under `model:`"),
    401: phrase("check the key in `{variable}`"),
    402: phrase("the account has no credit: add some, or use the key of another one"),
    403: phrase("check the key in `{variable}` and what it may use"),
    404: phrase("check `model.name` and `model.baseUrl`"),
    408: phrase("raise `model.timeout`"),
    413: phrase("send less text, or lower `model.maxHistoryTokens`"),
    422: phrase("check the settings under `model:`"),
    429: phrase("wait a little, or run fewer calls at once"),
}
_USED_UP = phrase("what the account may use is used up: look at its plan and its balance")

# What services call an account that has no quota or no money left, whatever the status; some of
# them only say so.
_FINAL_CODES: Final = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "exceeded_current_quota_error",
        "insufficient_balance",
        "Arrearage",
    }
)
_FINAL_WORDS: Final = re.compile(
    r"(credit balance|balance) is (too low|not enough)|insufficient (account )?(balance|credits?)"
    r"|余额不足|欠费",
    re.IGNORECASE,
)

# Note [What a model refuses]
#
# A parameter is left out or renamed only for a model that does not know it. A value that is too
# large names the parameter as well, but to send that without its limit would be another request.
_UNKNOWN = re.compile(
    r"unsupported|unknown|unrecogni[sz]ed|unexpected|deprecated|not (supported|permitted|allowed)"
    r"|forbidden|no longer|(does|do|is|are)(n.t| not) support|cannot both|only \S+ is allowed",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\buse\W+[a-z_]\w*\W+instead", re.IGNORECASE)
_OF_SIZE = re.compile(
    r"too (large|big|high|small|low|long|many)|at (most|least)|m(ax|in)imum|exceed|greater|larger"
    r"|higher|less than|smaller|lower|out of range|must be|between",
    re.IGNORECASE,
)


def refused_name(error: Exception, negotiable: frozenset[str]) -> str | None:
    """Return the parameter that the model does not know; see Note [What a model refuses]."""
    text = str(getattr(error, "message", ""))
    unknown = _INSTEAD.search(text) or (_UNKNOWN.search(text) and not _OF_SIZE.search(text))
    if getattr(error, "status_code", None) != _BAD_REQUEST or not unknown:
        return None
    found = ((text.find(name), name) for name in negotiable if re.search(rf"\b{name}\b", text))
    return min(found, default=(0, None))[1]


def is_used_up(body: object) -> bool:
    """Whether an error body says that the account has nothing left, which no waiting mends."""
    inner: Any = body.get("error", body) if isinstance(body, Mapping) else None
    if isinstance(inner, Mapping):
        named = {each for each in (inner.get("code"), inner.get("type")) if isinstance(each, str)}
        if named & _FINAL_CODES:
            return True
    return _FINAL_WORDS.search(sentence_in(body)) is not None


def hint_of(status: int, body: object) -> str:
    """Return what to do about an answer with `status` and the error `body`."""
    if status != _NO_CREDIT and is_used_up(body):
        return _USED_UP
    return _HINTS.get(status, phrase("try again later") if status >= 500 else _HINTS[_BAD_REQUEST])


def sentence_in(body: object) -> str:
    """Return the one sentence of an error body, in the usual places."""
    while isinstance(body, Mapping):
        body = body.get("error", body.get("message"))
    return body.strip() if isinstance(body, str) and "<" not in body[:1] else ""
