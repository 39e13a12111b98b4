"""What of a URL may be shown."""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

_URL = re.compile(
    r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)?"  # scheme
    r"(?:[^/?#]*@)?"  # user and password
    r"([^@?#]*)"  # host and path
    r"(?:[?#][^@]*)?",  # query and fragment
)
_HIDDEN = "…"


def shown_url(url: str) -> str:
    """Return what of `url` may be shown: no user, password, query or fragment.

    Nothing is left where an ``@`` after the host could belong to a password with ``/`` in it.

    >>> shown_url("https://bob:hunter2@example.com/v1?api_key=hush")
    'https://example.com/v1'
    >>> shown_url("https://bob:hun/ter2@example.com/v1")
    '…'
    """
    found = _URL.fullmatch(url)
    return _HIDDEN if found is None else (found[1] or "") + found[2]


def secrets_of_url(url: str) -> list[str]:
    """Return what `shown_url` leaves out that may be secret: password and values of the query.

    >>> secrets_of_url("https://bob:hunter%202@example.com/v1?api_key=hush")
    ['hunter%202', 'hunter 2', 'hush', 'api_key=hush']
    >>> secrets_of_url("notes.py"), secrets_of_url("https://[")
    ([], [])
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    if not parts.netloc:
        return []
    password = parts.password or ""
    values = [value for _, value in parse_qsl(parts.query)]
    found = [password, unquote(password), *values, parts.query]
    return [each for each in dict.fromkeys(found) if each]
