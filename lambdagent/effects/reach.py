"""URL → whether its server can be reached, and how fast.

A connection is opened, over TLS where the URL says so, and closed again. Nothing is asked for and
no key is sent, so it costs nothing. Proxies of the environment are gone through, as in a run.
"""

from __future__ import annotations

import base64
import os
import queue
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import attrs

from lambdagent.messages import Phrase, phrase

_AT_ONCE = 32
_PORTS = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379}
_OVER_TLS = {"https", "rediss"}
_PROXIED = {"http", "https"}
_LONGEST_ANSWER = 65_536  # of a proxy, in bytes
# The variables that name whom to trust; the first one counts.
_TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_STRANGER = phrase(
    "its certificate is signed by nobody trusted here; `SSL_CERT_FILE` can name them"
)
_ELSEWHERE = phrase("its certificate is for another host")
# By the number of the verification error of OpenSSL.
_CERTIFICATES = {
    9: phrase("its certificate is not valid yet, or the clock here is wrong"),
    10: phrase("its certificate has expired"),
    18: _STRANGER,
    19: _STRANGER,
    20: _STRANGER,
    21: _STRANGER,
    62: _ELSEWHERE,
    64: _ELSEWHERE,
}


class UnreachableError(Exception):
    """A server cannot be reached, for a `reason` that is found here."""

    def __init__(self, reason: Phrase) -> None:
        """Keep `reason`."""
        super().__init__(reason)
        self.reason = reason


@attrs.frozen
class Reached:
    """How one attempt ended.

    Attributes:
        elapsed_s: How long it took.
        reason: Why the server cannot be reached; None if it can.
    """

    elapsed_s: float
    reason: str | None = None


def reach(urls: Sequence[str], limit_s: float) -> list[Reached]:
    """Return whether the servers of `urls` can be reached, in that order, all within `limit_s`."""
    started = time.monotonic()
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(urls)):
        waiting.put(number)
    found: queue.SimpleQueue[tuple[int, Reached]] = queue.SimpleQueue()

    def work() -> None:
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            found.put((number, _attempt(urls[number], started + limit_s)))

    # Not joined: nothing can interrupt a look-up of a name, and nobody waits for one at the end.
    for _ in range(min(_AT_ONCE, len(urls))):
        threading.Thread(target=work, daemon=True).start()
    ended: dict[int, Reached] = {}
    while len(ended) < len(urls):
        try:
            number, reached = found.get(timeout=max(started + limit_s - time.monotonic(), 0.0))
        except queue.Empty:
            break
        ended[number] = reached
    late = Reached(limit_s, phrase("no answer within {limit} s", limit=f"{limit_s:g}"))
    return [ended.get(number, late) for number in range(len(urls))]


def _attempt(url: str, deadline: float) -> Reached:
    started = time.monotonic()
    reason = None
    try:
        _connect(urlsplit(url), deadline)
    except (OSError, ValueError, UnreachableError) as error:
        reason = _reason(error)
    return Reached(time.monotonic() - started, reason)


def _connect(parts: SplitResult, deadline: float) -> None:
    # Before the connection: to read certificates takes longer than some servers wait.
    trust = _trust() if parts.scheme in _OVER_TLS else None
    host = parts.hostname or ""
    if parts.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as opened:
            opened.settimeout(max(deadline - time.monotonic(), 0.001))
            opened.connect(unquote(parts.path))
        return
    if parts.scheme not in _PORTS:
        raise ValueError(parts.scheme)
    port = parts.port or _PORTS[parts.scheme]
    proxies = getproxies() if parts.scheme in _PROXIED else {}
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None or proxy_bypass(host):
        with _opened(host, port, deadline) as plain:
            if trust is not None:
                _greet(plain, host, trust)
        return
    way = urlsplit(proxy if "//" in proxy else f"//{proxy}", "http")
    try:
        plain = _opened(way.hostname or "", way.port or _PORTS.get(way.scheme, 1080), deadline)
    except OSError as error:
        where = phrase("the proxy `{name}`", name=way.hostname)
        told = phrase("{what}: {more}", what=where, more=_reason(error))
        raise UnreachableError(told) from error
    with plain:
        # An http server is asked through the proxy, so only a request could tell more.
        if trust is not None and way.scheme == "http":
            _tunnel(plain, way, host, port)
            _greet(plain, host, trust)


def _opened(host: str, port: int, deadline: float) -> socket.socket:
    left_s = max(deadline - time.monotonic(), 0.001)
    opened = socket.create_connection((host, port), timeout=left_s)
    opened.settimeout(max(deadline - time.monotonic(), 0.001))
    return opened


def _greet(plain: socket.socket, host: str, trust: ssl.SSLContext) -> None:
    """Shake hands over TLS as a client does that insists on a certificate."""
    with trust.wrap_socket(plain, server_hostname=host):
        return


def _trust() -> ssl.SSLContext:
    """Return what tells good certificates, as the clients of models do.

    Raises:
        UnreachableError: The environment names certificates that cannot be read.
    """
    file, folder = (os.environ.get(name) or None for name in _TRUST)
    try:
        return ssl.create_default_context(cafile=file, capath=None if file else folder)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        told = phrase(
            "the certificates of `{name}` cannot be read: {reason}",
            name=_TRUST[not file],
            reason=reason,
        )
        raise UnreachableError(told) from error


def _tunnel(plain: socket.socket, way: SplitResult, host: str, port: int) -> None:
    """Have the proxy `way` connect us to `host`."""
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if way.username is not None:
        user = f"{unquote(way.username)}:{unquote(way.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(user.encode()).decode()}")
    plain.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        more = plain.recv(4096)
        if not more or len(answer) > _LONGEST_ANSWER:
            break
        answer += more
    words = answer.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) < 2 or words[1] != "200":
        answered = len(words) > 1 and words[1].isdecimal()
        said = words[1] if answered else phrase("something else than HTTP")
        told = phrase("the proxy `{name}` answers {said}", name=way.hostname, said=said)
        raise UnreachableError(told)


def _reason(error: OSError | ValueError | UnreachableError) -> str:
    """Return what happened in words that say what to look at."""
    match error:
        case socket.gaierror():
            return phrase("no server of that name is known")
        case ssl.SSLCertVerificationError():
            told = _CERTIFICATES.get(error.verify_code, phrase("its certificate is refused"))
            return phrase("{what}: {more}", what=told, more=error.verify_message.rstrip("."))
        case ssl.SSLError():
            reason = error.reason.lower() if error.reason else phrase("no reason")
            return phrase("it does not speak TLS: {reason}", reason=reason)
        case TimeoutError():
            return phrase("it does not answer in time")
        case ConnectionRefusedError():
            return phrase("nothing listens there")
        case OSError():
            return (error.strerror or "").lower() or str(error) or type(error).__name__
        case UnreachableError():
            return error.reason
    return phrase("that is no address")
