import math
import os
from pathlib import Path
from typing import Any

import pytest

from lambdagent.effects import process
from lambdagent.effects.process import run_group
from lambdagent.effects.protocol import Cancellation
from lambdagent.effects.tools.shell import ShellTool
from lambdagent.ir.services import SERVICES
from tests.effects.calls import invocation

SECRET = [
    *(service.key_variable for service in SERVICES.values() if service.key_variable),
    *("GH_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "PGPASSWORD"),
    *("MY_APIKEY", "SMTP_PASSWD", "CLIENT_SECRET", "my_api_key", "APP_CREDENTIALS", "API_KEYS"),
]
HARMLESS = ["LANG", "MONKEY", "OPENAI_BASE_URL", "KEYBOARD", "TOKENIZERS_PARALLELISM"]


def is_running(pid: int) -> bool:
    """Whether a process runs; one that is dead and unburied does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_tool_sees_no_secret(monkeypatch: pytest.MonkeyPatch):
    for name in [*SECRET, *HARMLESS]:
        monkeypatch.setenv(name, "value")
    seen = ShellTool("tool", "env").call(invocation())
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert names.isdisjoint(SECRET)
    assert names >= {"PATH", "HOME", *HARMLESS}
    assert os.environ[SECRET[0]] == "value"


def test_a_tool_has_the_key_that_its_command_gives_it():
    tool = ShellTool("tool", "GH_TOKEN=$(echo mine) env | grep GH_TOKEN")
    assert tool.call(invocation()) == "GH_TOKEN=mine"


@pytest.mark.parametrize("limit_s", [2.2e6, 1e12, 1e300, math.inf])
def test_no_limit_is_too_long(limit_s: float):
    tool = ShellTool("tool", "cat", timeout_s=limit_s)
    assert tool.call(invocation("text", timeout_s=limit_s)) == "text"
    assert run_group(["sleep", "0.01"], None, limit_s, Cancellation()).status == 0


def test_a_fork_runs_programs_though_another_thread_was_starting_one():
    with process._groups.starting:
        process._groups.leaders.add(2**30)
        child = os.fork()
        if child == 0:
            free = not process._groups.leaders and process._groups.starting.acquire(timeout=1)
            os._exit(0 if free else 1)
        process._groups.leaders.discard(2**30)
    assert os.waitpid(child, 0)[1] == 0


def test_an_interrupted_wait_kills_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(watch: Any, wait_s: float) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    pid = tmp_path / "pid"
    monkeypatch.setattr(process._Watch, "_move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_group(["sh", "-c", f"echo $$ > {pid}; sleep 600"], None, 20, Cancellation())
    assert not pid.exists() or not is_running(int(pid.read_text() or 0))


def test_it_works_where_the_system_has_no_process_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    stop = Cancellation()
    assert process._pidfd(os.getpid()) is None
    assert run_group(["sh", "-c", "cat"], b"a", 20, stop).output == "a"
    assert run_group(["sh", "-c", "sleep 600"], None, 0.05, stop).timed_out
