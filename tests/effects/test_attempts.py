"""Which failures are tried again, and when."""

import asyncio
import time
from datetime import UTC, datetime
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects import attempts
from lambdagent.effects.attempts import (
    LONGEST_WAIT_S,
    RETRIED,
    backoff_s,
    persist,
    retry_after_s,
    wait_before_next,
)
from lambdagent.effects.streams import BrokenOffError


class StatusError(Exception):
    def __init__(self, status: int, body: object = None, **headers: str) -> None:
        super().__init__(status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.status_code, self.body = status, body
        self.response = SimpleNamespace(headers=named)


class APIConnectionError(Exception):
    """Called like that of the SDKs."""


class APITimeoutError(APIConnectionError):
    pass


def stranger() -> Exception:
    error = APIConnectionError()
    error.__cause__ = OSError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate")
    return error


@pytest.mark.parametrize("status", range(400, 600))
def test_a_status_is_tried_again_if_it_may_pass(status: int):
    assert (wait_before_next(StatusError(status), 0) is not None) is (status in RETRIED)


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (BrokenOffError("x"), True),
        (BrokenOffError("x", {"type": "overloaded_error"}), True),
        (BrokenOffError("x", {"code": 502}), True),
        (BrokenOffError("x", {"code": "429"}), True),
        (BrokenOffError("x", {"code": "of their own"}), True),
        (BrokenOffError("x", {"type": "invalid_request_error"}), False),
        (BrokenOffError("x", {"type": "of their own", "code": 401}), False),
        (BrokenOffError("x", {"code": "insufficient_quota"}), False),
        (APIConnectionError(), True),
        (stranger(), False),
        (APITimeoutError(), False),
        (ValueError(), False),
        (StatusError(400, x_should_retry="true"), True),
        (StatusError(503, x_should_retry="false"), False),
        (StatusError(429, {"error": {"code": "insufficient_quota"}}), False),
        (StatusError(429, {"type": "insufficient_quota"}), False),
        (StatusError(429, {"error": {"type": "exceeded_current_quota_error"}}), False),
        (StatusError(429, {"error": {"code": "1113", "message": "余额不足,请充值"}}), False),
        (StatusError(429, {"error": {"code": "1302", "message": "并发数过高"}}), True),
        (StatusError(429, {"error": {"type": "rate_limit_error", "message": "quota"}}), True),
        (StatusError(429, {"error": "text"}), True),
        (StatusError(429, "text"), True),
    ],
)
def test_a_failure_is_tried_again_if_it_may_pass(error: Exception, again: bool):
    assert (wait_before_next(error, 0) is not None) is again


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry_after": "1"}, 1.0),
        ({"retry_after": "0"}, 0.0),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after": "1, 20,3"}, 20.0),
        ({"retry_after": "100000"}, LONGEST_WAIT_S),
        ({"retry_after": "9" * 400}, LONGEST_WAIT_S),
        ({"retry_after": "9", "retry_after_ms": "250"}, 0.25),
        ({"retry_after": format_datetime(datetime(1999, 1, 1, tzinfo=UTC), usegmt=True)}, 0.0),
        ({"retry_after": format_datetime(datetime(9999, 1, 1, tzinfo=UTC), usegmt=True)}, 60.0),
    ],
)
def test_a_server_that_says_how_long_is_believed(headers: dict[str, str], wait_s: float):
    assert wait_before_next(StatusError(429, **headers), 5) == wait_s


@pytest.mark.parametrize(
    "text", ["", "soon", "-1", "1e3", "٣", "1.2.3", "nan", "Wed, 99 Foo 2026 00:00:00 GMT", "\0"]
)
def test_other_words_count_as_none(text: str):
    assert retry_after_s({"retry-after": text}, 0.0) is None


@pytest.mark.parametrize(
    "date",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 -0000",
        "Sun, 06 Nov 1994 10:49:37 +0200",
    ],
)
def test_a_date_of_any_form_is_in_universal_time(date: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert retry_after_s({"retry-after": date}, 784111770.0) == 7.0
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text() | st.integers().map(str) | st.floats().map(str))
def test_no_header_is_a_fault(text: str):
    found = retry_after_s({"retry-after": text}, 0.0)
    assert found is None or found >= 0


@given(st.integers(0, 10_000))
def test_the_waits_double_up_to_a_limit(number: int):
    longest = min(0.5 * 2 ** min(number, 10), 8.0)
    assert longest / 2 <= backoff_s(number) <= longest


def persisted(*outcomes: Any, retries: int = 2, time_s: float = 100.0) -> tuple[Any, list[float]]:
    """What comes of attempts that end like `outcomes`, and the waits between them."""
    left: list[Any] = list(outcomes)
    waits: list[float] = []

    def again(_: Exception, wait_s: float) -> None:
        waits.append(wait_s)

    async def attempt() -> Any:
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def run() -> Any:
        deadline_s = asyncio.get_running_loop().time() + time_s
        return await persist(
            attempt,
            retries=retries,
            deadline_s=deadline_s,
            again=lambda _, wait_s: waits.append(wait_s),
        )

    return asyncio.run(run()), waits


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sleep(_: float) -> None:
        pass

    monkeypatch.setattr(attempts.asyncio, "sleep", sleep)


@pytest.mark.usefixtures("instant")
def test_it_is_tried_until_it_works():
    busy = StatusError(429, retry_after="3")
    assert persisted(busy, BrokenOffError("x"), "fine") == (
        "fine",
        [3.0, pytest.approx(0.75, abs=0.25)],
    )


@pytest.mark.usefixtures("instant")
@pytest.mark.parametrize("retries", range(3))
def test_it_is_tried_so_often_and_no_more(retries: int):
    with pytest.raises(StatusError):
        persisted(*[StatusError(500)] * (retries + 1), "never", retries=retries)


@pytest.mark.usefixtures("instant")
def test_nobody_waits_longer_than_the_call_may_take():
    with pytest.raises(StatusError):
        persisted(StatusError(429, retry_after="30"), "never", time_s=20.0)


def test_a_wait_can_be_cancelled():
    async def run() -> None:
        async def attempt() -> None:
            raise StatusError(429, retry_after="60")

        task = asyncio.create_task(
            persist(attempt, retries=1, deadline_s=float("inf"), again=lambda *_: None)
        )
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
