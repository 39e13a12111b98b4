"""Servers are reached by a connection alone, each within the time that all have together."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lambdagent.effects.reach import Reached, reach

PATIENCE_S = 20.0
CERTIFICATES = Path(__file__).parent / "certificates"


class Listener:
    """Accepts connections, keeps what it is sent first, and answers that with `answer`."""

    def __init__(self, answer: bytes = b"") -> None:
        self.answer = answer
        self.heard: list[bytes] = []
        self.hung_up = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                opened, _ = self._socket.accept()
            except OSError:
                return
            with opened, suppress(OSError):
                opened.settimeout(PATIENCE_S)
                self.heard.append(opened.recv(65_536))
                if self.answer:
                    opened.sendall(self.answer)
            self.hung_up.set()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(PATIENCE_S)


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as made:
        port: int = made.getsockname()[1]
        return port


def test_a_server_is_reached_and_sent_nothing():
    listener = Listener()
    (found,) = reach([f"http://127.0.0.1:{listener.port}/v1"], PATIENCE_S)
    assert found.reason is None
    assert 0 < found.elapsed_s < PATIENCE_S
    assert listener.hung_up.wait(PATIENCE_S)
    listener.close()
    assert listener.heard == [b""]


def test_results_come_in_the_order_of_the_urls(listener: Listener):
    here, nowhere = f"http://127.0.0.1:{listener.port}", f"http://127.0.0.1:{unused_port()}"
    urls = [nowhere, here] * 40
    reasons = [each.reason for each in reach(urls, PATIENCE_S)]
    assert reasons == ["nothing listens there", None] * 40


def test_nothing_at_all_is_reached_at_once():
    assert reach([], PATIENCE_S) == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://no-such-host.invalid/v1", "no server of that name is known"),
        ("http://a..b/v1", "that is no address"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(url: str, reason: str):
    (found,) = reach([url], PATIENCE_S)
    assert found.reason == reason


def test_a_server_that_speaks_no_tls_is_told():
    made = Listener(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    (found,) = reach([f"https://127.0.0.1:{made.port}/v1"], PATIENCE_S)
    made.close()
    assert found.reason is not None
    assert found.reason.startswith("it does not speak TLS: ")


def test_a_server_that_is_silent_ends_with_the_time(monkeypatch: pytest.MonkeyPatch):
    # Quick to read: who shakes hands with a socket that is gone leaves it open, in Python 3.11.
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "trusted.pem"))
    with socket.create_server(("127.0.0.1", 0), backlog=8) as silent:
        port = silent.getsockname()[1]
        started = time.monotonic()
        (found,) = reach([f"https://127.0.0.1:{port}/v1"], 0.1)
    assert time.monotonic() - started < PATIENCE_S
    assert found.reason in {"it does not answer in time", "no answer within 0.1 s"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "the proxy `127.0.0.1` answers 407",
        ),
        (b"220 mail\r\n\r\n", "the proxy `127.0.0.1` answers something else than HTTP"),
        (b"", "the proxy `127.0.0.1` answers something else than HTTP"),
        (b"HTTP/1.1 200 OK\r\n\r\n", None),
    ],
)
def test_a_proxy_of_the_environment_is_gone_through(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, reason: str | None
):
    made = Listener(answer)
    monkeypatch.setenv("https_proxy", f"http://me:s%20cret@127.0.0.1:{made.port}")
    (found,) = reach(["https://models.invalid/v1"], PATIENCE_S)
    made.close()
    assert made.heard[0].startswith(b"CONNECT models.invalid:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6cyBjcmV0\r\n" in made.heard[0]
    # The proxy that says yes hangs up, so the handshake fails behind it.
    assert found.reason == reason if reason else found.reason is not None


def test_a_proxy_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{unused_port()}")
    (found,) = reach(["http://models.invalid/v1"], PATIENCE_S)
    assert found.reason == "the proxy `127.0.0.1`: nothing listens there"


def test_what_the_environment_excepts_is_reached_without_its_proxy(
    monkeypatch: pytest.MonkeyPatch, listener: Listener
):
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{unused_port()}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert reach([f"http://127.0.0.1:{listener.port}"], PATIENCE_S)[0].reason is None


class SecureListener:
    """Shakes hands as the server whose certificate is in a file, and says nothing more."""

    def __init__(self, certificate: str) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(CERTIFICATES / f"{certificate}.pem")
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.heard: list[bytes] = []
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        opened, _ = self._socket.accept()
        with opened, suppress(OSError):
            opened.settimeout(PATIENCE_S)
            with self._context.wrap_socket(opened, server_side=True) as secure:
                self.heard.append(secure.recv(65_536))

    def close(self) -> None:
        self._thread.join(PATIENCE_S)
        self._socket.close()


def over_tls(certificate: str, host: str = "127.0.0.1") -> tuple[Reached, list[bytes]]:
    """Return how a server with that certificate is reached, and what it is told."""
    made = SecureListener(certificate)
    (found,) = reach([f"https://{host}:{made.port}/v1"], PATIENCE_S)
    made.close()
    return found, made.heard


def test_a_server_with_a_good_certificate_is_reached_and_asked_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "trusted.pem"))
    found, heard = over_tls("good")
    assert found.reason is None
    assert 0 < found.elapsed_s < PATIENCE_S
    assert heard == [b""]


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        ("unknown", "its certificate is signed by nobody trusted here; `SSL_CERT_FILE` can name"),
        ("expired", "its certificate has expired"),
        ("elsewhere", "its certificate is for another host"),
    ],
)
def test_a_certificate_that_is_refused_is_told(
    monkeypatch: pytest.MonkeyPatch, certificate: str, reason: str
):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "trusted.pem"))
    found, heard = over_tls(certificate)
    assert found.reason is not None
    assert found.reason.startswith(reason)
    assert heard == []


def test_nobody_made_here_is_trusted_unless_the_environment_says_so(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    found, _ = over_tls("good")
    assert found.reason is not None
    assert found.reason.startswith("its certificate is signed by nobody trusted here")


@pytest.mark.parametrize(("text", "reason"), [(None, "no such file"), ("", ""), ("no PEM", "")])
def test_certificates_that_cannot_be_read_are_told_by_the_variable_that_names_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listener: Listener,
    text: str | None,
    reason: str,
):
    file = tmp_path / "trust.pem"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    (found,) = reach([f"https://127.0.0.1:{listener.port}/v1"], PATIENCE_S)
    assert found.reason is not None
    assert found.reason.startswith(f"the certificates of `SSL_CERT_FILE` cannot be read: {reason}")
