"""What of a URL may be shown."""

import re

_URL = re.compile(
    r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)?"  # scheme
    r"(?:[^/?#]*@)?"  # user and password
    r"([^@?#]*)"  # host and path
    r"(?:[?#][^@]*)?",  # query and fragment
)
_SECRETS = re.compile(r"//[^/?#:@]*:([^/?#]+)@|[?&][^=&#]*=([^&#]+)")
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

    >>> secrets_of_url("https://bob:hunter2@example.com/v1?api_key=hush&x=1#part")
    ['hunter2', 'hush', '1']
    >>> secrets_of_url("notes.py")
    []
    """
    return ["".join(found) for found in _SECRETS.findall(url)]
