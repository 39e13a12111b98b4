"""What every test shares: random examples that repeat, goldens, an environment without keys."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lambdagent.messages import ENGLISH, choose

GOLDEN_HEAD = "# Written by `pytest --accept`; read the difference before you commit it.\n"

settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=50, print_blob=True
)
settings.register_profile(
    "deep", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")

# A job in the background may have been told to ignore Ctrl-C, which some tests press.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite goldens to what came out")


@pytest.fixture(autouse=True, scope="session")
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the keys, options and memories of the person at the keyboard out; speak English."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("LAMBDAGENT_") or name.endswith(("_API_KEY", "_BASE_URL")):
                patch.delenv(name)
        patch.delenv("COLUMNS", raising=False)  # a worker of pytest-xdist has it
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture
def chinese() -> Iterator[None]:
    """Tell everything in Chinese."""
    choose("zh")
    yield
    choose(ENGLISH)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with the golden at a path; `--accept` writes it instead."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--accept"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(GOLDEN_HEAD + text, encoding="utf-8")
        assert path.exists(), f"no golden {path}; `pytest --accept` writes it"
        assert GOLDEN_HEAD + text == path.read_text(encoding="utf-8")

    return check
