"""HTTP clients of the SDKs: they ask one server, and what they read of it has an end.

Imported by handlers when they connect, since the transport takes a while to load.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpx2

from lambdagent.effects.messages import Endpoint
from lambdagent.effects.replies import CHECK_URL, OutOfFormError
from lambdagent.errors import EffectError, finding
from lambdagent.ir.url import shown_url
from lambdagent.messages import phrase

# Far more than any model writes in one answer, and less than a process has.
MOST_BYTES: Final = 100_000_000
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_TRUST: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


class Limited(httpx2.AsyncByteStream):
    """A body that is read only as long as it may be one of an answer."""

    def __init__(self, body: Any, too_long: Callable[[], Exception]) -> None:
        """Read `body`; `too_long` makes what is raised where it has no end."""
        self._body = body
        self._too_long = too_long

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for piece in self._body:
            read += len(piece)
            if read > MOST_BYTES:
                raise self._too_long()
            yield piece

    async def aclose(self) -> None:
        """Read no more."""
        await self._body.aclose()


async def _look_at(response: httpx2.Response) -> None:
    """Refuse to be sent on to another server, and limit the body."""
    if response.has_redirect_location:
        asked, location = response.request.url, response.headers["location"]
        try:
            is_elsewhere = asked.join(location).origin != asked.origin
        except (httpx2.InvalidURL, ValueError):
            is_elsewhere = True
        if is_elsewhere:
            # Neither prompts nor keys are for whoever is named there.
            what = phrase("it sends requests on to {url}", url=shown_url(location))
            raise OutOfFormError(what, CHECK_URL)
    response.stream = Limited(response.stream, _too_long)


def _too_long() -> OutOfFormError:
    return OutOfFormError(phrase("the answer is longer than {most} bytes", most=MOST_BYTES))


@lru_cache(1)
def _trust(*_settings: str | None) -> ssl.SSLContext:
    """Return whom clients trust; it takes 20 ms to make, all else of a client one."""
    return httpx2.create_ssl_context()


def http_client(kind: Any, endpoint: Endpoint) -> Any:
    """Return a new client of the SDK's class `kind` for the server at `endpoint`.

    Raises:
        EffectError: What the environment says of proxies or certificates is of no use (E005).
    """
    url = urlsplit(endpoint.base_url)
    auth = None
    if url.username is not None:  # not as a part of the URL: transports write those to logs
        auth = (unquote(url.username), unquote(url.password or ""))
    try:
        return kind(
            auth=auth,
            verify=_trust(*map(os.environ.get, _TRUST)),
            event_hooks={"response": [_look_at]},
            headers={"accept-encoding": "identity"},  # or the limit would be one of packed bytes
        )
    except ImportError as error:
        what = phrase("a SOCKS proxy needs the package `socksio`, which is not installed")
        raise _unusable(endpoint, what, _PROXIES) from error
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror or type(error).__name__
        reason = reason.replace("_", " ").lower()
        what = phrase("the certificates cannot be read: {reason}", reason=reason)
        raise _unusable(endpoint, what, _TRUST) from error
    except (httpx2.InvalidURL, ValueError):  # their words may hold the password of a proxy
        what = phrase("a proxy of the environment has no URL that can be used")
        raise _unusable(endpoint, what, _PROXIES) from None


def _unusable(endpoint: Endpoint, what: str, variables: tuple[str, ...]) -> EffectError:
    hint = phrase("check {variables}", variables=", ".join(f"`{each}`" for each in variables))
    return EffectError(finding("E005", provider=endpoint.provider, message=what, hint=hint))
