"""Kills processes that move kept runs, at random moments, and counts what that does.

python -m tests.chaos.chaos [KILLS [SEED]]
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import attrs

from lambdagent.api.run_files import replayed
from lambdagent.effects.journal import Told, read_journal
from lambdagent.effects.render import messages_of
from lambdagent.effects.run_directory import RunDirectory, runs_in
from lambdagent.errors import CheckpointError, SuspendedError
from lambdagent.ir.alpha import digest_rows
from lambdagent.ir.exchange import Exchange, Failure, key_text
from lambdagent.machine.state import Path as Key
from lambdagent.machine.text import text_of_value
from tests.chaos.agents import AGENTS
from tests.chaos.world import CountingServer

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0
DONE, KILLED, SUSPENDED = 0, -signal.SIGKILL, SuspendedError.exit_code


@attrs.define
class Report:
    """What was done, and what went wrong.

    Attributes:
        asked_again: Calls that were under way at a kill and were made again: in doubt, allowed.
        duplicates: Calls that were made again although their answer was in the journal.
        divergences: Runs that came to another end, store, trace or log than an undisturbed one.
        lost: Answers that a journal had before a kill and not after, or not the same.
        by_agent: Kills by agent.
        under_way: Kills while the world was asked.
        waiting: Kills while a person was to decide.
        decided: Kills after a person had decided and before the run went on.
        keyed: Calls of models that had an idempotency key.
        with_states: Kills of runs that had states on disk, not only a journal.
    """

    kills: int = 0
    resumes: int = 0
    runs: int = 0
    asked_again: int = 0
    duplicates: int = 0
    divergences: int = 0
    lost: int = 0
    problems: list[str] = attrs.field(factory=list)
    by_agent: Counter[str] = attrs.field(factory=Counter)
    under_way: int = 0
    waiting: int = 0
    decided: int = 0
    with_states: int = 0
    keyed: int = 0

    def __str__(self) -> str:
        counts = [f"{name}: {count}" for name, count in self.counts.items()]
        return "\n".join([*counts, *self.problems])

    @property
    def counts(self) -> dict[str, int]:
        return {
            "kills": self.kills,
            "kills with a call under way": self.under_way,
            "kills while a person was to decide": self.waiting,
            "kills between a decision and going on": self.decided,
            "kills with states on disk": self.with_states,
            "runs": self.runs,
            "resumes": self.resumes,
            "calls with an idempotency key": self.keyed,
            "calls in doubt made again": self.asked_again,
            "duplicates": self.duplicates,
            "divergences": self.divergences,
            "lost results": self.lost,
        }


@attrs.frozen(eq=False)
class Whole:
    """An undisturbed run.

    Attributes:
        questions: What the world is asked at each key.
    """

    outcome: Any
    log: list[Any]
    questions: dict[Key, str]
    seconds: float


def log_of(told: Told) -> list[Any]:
    """The canonical log."""
    return [
        (key, told.intents[key].site, told.intents[key].digest, answer_of(told, key))
        for key in sorted(told.answers)
    ]


def answer_of(told: Told, key: Key) -> str:
    answer = told.answers[key].answer
    return digest_rows(("failed", *answer) if isinstance(answer, Failure) else ("said", answer))


def question_of(exchange: Exchange) -> str | None:
    """What the world is asked by an exchange; None where nobody outside is."""
    if exchange.site.kind == "llm":
        messages = messages_of(exchange.site, exchange.argument)
        return "\n".join(message.text for message in messages)
    about = text_of_value(exchange.argument)
    if exchange.site.kind == "tool":
        return f"{exchange.site.static['name']}: {about}"
    if exchange.site.kind == "confirm":
        return f"confirm {exchange.site.static['tool']}: {about}"
    return None


def is_to_person(question: str) -> bool:
    return question.startswith("confirm ")


def asks_a_person(told: Told, key: Key) -> bool:
    return told.intents[key].site.startswith("confirm:")


def is_decided(told: Told, key: Key) -> bool:
    """Whether a person has decided at `key`, and the thread has not gone on."""
    following = (*key[:-1], key[-1] + 1)
    return asks_a_person(told, key) and following not in told.intents


class Chaos:
    """Runs agents and kills them."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.report = Report()
        self._random = Random(seed)
        self._folder = folder
        self._server = CountingServer()
        self._worker = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.worker"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # `select` sees what was not read
        )
        self._processes = 0
        self._whole: dict[str, Whole] = {}

    def close(self) -> None:
        assert self._worker.stdin is not None
        self._worker.stdin.close()
        self._worker.wait(PATIENCE_S)
        assert self._worker.stdout is not None
        self._worker.stdout.close()
        self._server.close()

    # --- processes -------------------------------------------------------------------------------

    def _process(
        self, agent: str, directory: Path, kill_after_s: float | None, deadly: int | None = None
    ) -> tuple[str, int]:
        """Let a process move a run; return its name and its exit code.

        It is killed after `kill_after_s`, or by itself when a person is to decide for the time
        that `deadly` says.
        """
        self._processes += 1
        name = f"process {self._processes}"
        job = {
            "agent": agent,
            "directory": str(directory),
            "outcome": str(directory.with_suffix(".outcome")),
            "process": name,
            "port": self._server.port,
            "person": kill_after_s is None or self._random.random() < 0.8,
            "deadly": deadly,
            "asynchronous": self._random.random() < 0.3,
            "fsync": self._random.random() < 0.3,
        }
        self._tell(json.dumps(job))
        number = int(self._line())
        if kill_after_s is not None and not self._ends_within(kill_after_s):
            os.kill(number, signal.SIGKILL)
        self._line()
        self._tell("")
        return name, int(self._line())

    def _tell(self, line: str) -> None:
        assert self._worker.stdin is not None
        self._worker.stdin.write(f"{line}\n".encode())

    def _ends_within(self, seconds: float) -> bool:
        return bool(select.select([self._worker.stdout], [], [], seconds)[0])

    def _line(self) -> bytes:
        assert self._worker.stdout is not None
        assert self._ends_within(PATIENCE_S), "a process hangs"
        return self._worker.stdout.readline()

    # --- runs ------------------------------------------------------------------------------------

    def whole(self, agent: str) -> Whole:
        """The undisturbed run of `agent`."""
        if agent not in self._whole:
            directory = self._folder / f"{agent} undisturbed"
            if not self._whole:  # the first one waits until the interpreter has begun
                self._process(agent, self._folder / "first", None)
            began = time.monotonic()
            _, status = self._process(agent, directory, None)
            seconds = time.monotonic() - began
            assert status == DONE, directory.with_suffix(".error").read_text()
            (run,) = runs_in(directory)
            _, history = replayed(run)
            asked = {key: question_of(each) for key, each in history.exchanges.items()}
            self._whole[agent] = Whole(
                json.loads(directory.with_suffix(".outcome").read_text()),
                log_of(read_journal(run.journal)),
                {key: question for key, question in asked.items() if question is not None},
                seconds,
            )
        return self._whole[agent]

    def until(self, kills: int) -> Report:
        """Run agents, one after the other, until `kills` processes were killed, some of each."""
        report = self.report
        for number, agent in enumerate(cycle(AGENTS)):
            if report.kills >= kills:
                if len(report.by_agent) == len(AGENTS):
                    break
                if agent in report.by_agent:
                    continue
            self._run(agent, self._folder / f"{agent} {number}")
        return report

    def at_decisions(self, agent: str) -> Report:
        """Kill a process at each moment at which a person is to decide something."""
        for number in range(sum(map(is_to_person, self.whole(agent).questions.values()))):
            self._run(agent, self._folder / f"{agent} {number}", number)
        return self.report

    def _run(self, agent: str, directory: Path, deadly: int | None = None) -> None:
        """Let processes move a run to its end, killed at random or once at `deadly`."""
        whole, report = self.whole(agent), self.report
        report.runs += 1
        status, after, tries = KILLED, None, 0
        while status in {KILLED, SUSPENDED}:
            before = after
            moment = self._moment(whole, before, tries) if deadly is None else None
            name, status = self._process(agent, directory, moment, None if tries else deadly)
            tries += 1
            try:
                after = _told(directory)
            except CheckpointError as error:
                self._diverge(f"{directory.name}, {name}: {error}")
                return
            self._check(agent, whole, name, before, after)
            self._check_keys(directory, name, before)
            report.resumes += before is not None
            if status == KILLED:
                self._count_kill(agent, directory, after)
        if status != DONE:
            error = directory.with_suffix(".error").read_text()
            self._diverge(f"{directory.name}, {name}: {error}")
            return
        outcome = json.loads(directory.with_suffix(".outcome").read_text())
        (run,) = runs_in(directory)
        for what, found, wanted in (
            ("outcome", outcome, whole.outcome),
            ("log", log_of(read_journal(run.journal)), whole.log),
        ):
            if found != wanted:
                self._diverge(f"{directory.name}: another {what}: {found} ≠ {wanted}")
        run.remove()

    def _count_kill(self, agent: str, directory: Path, after: Told | None) -> None:
        report = self.report
        report.kills += 1
        report.by_agent[agent] += 1
        report.with_states += any(directory.glob("*/states"))
        if after is not None:
            report.under_way += bool(after.open)
            report.waiting += any(asks_a_person(after, key) for key in after.open)
            report.decided += any(is_decided(after, key) for key in after.answers)

    def _diverge(self, how: str) -> None:
        self.report.divergences += 1
        self.report.problems.append(how)

    def _moment(self, whole: Whole, before: Told | None, tries: int) -> float:
        """When to kill: at any time of what is left, and often soon after it was begun.

        Later at later tries, so that each run comes to its end on a host of any speed.
        """
        if self._random.random() < 0.2:
            return self._random.expovariate(1 / 0.004)
        answered = 0 if before is None else len(before.answers)
        left = max(0.4, 1.1 - answered / len(whole.log)) + tries / 20
        return self._random.uniform(0.0, left * whole.seconds)

    def _check(
        self, agent: str, whole: Whole, name: str, before: Told | None, after: Told | None
    ) -> None:
        report = self.report
        known = {} if before is None else before.answers
        for key, recorded in known.items():
            if after is None or after.answers.get(key) != recorded:
                report.lost += 1
                report.problems.append(f"{agent}, {name}: the answer at {key} is lost")
        left = Counter(question for key, question in whole.questions.items() if key not in known)
        # Other keys may ask the same: what is more than what was left was asked twice.
        asked = self._server.asked_by(name)
        if twice := asked - left:
            report.duplicates += twice.total()
            report.problems.append(f"{agent}, {name}: asked again: {dict(twice)}")
        doubted = [] if before is None else [whole.questions.get(key) for key in before.open]
        report.asked_again += (asked & Counter(q for q in doubted if q is not None)).total()

    def _check_keys(self, directory: Path, name: str, before: Told | None) -> None:
        """Models know their calls by key: none that was answered is made again."""
        keys = self._server.keys_of(name)
        self.report.keyed += len(keys)
        answered = {} if before is None else before.answers
        prefix = [run.id for run in runs_in(directory)] if answered else []
        known = {f"{run}{key_text(key)}" for run in prefix for key in answered}
        if twice := [key for key in keys if key in known or keys.count(key) > 1]:
            self.report.duplicates += len(twice)
            self.report.problems.append(f"{directory.name}, {name}: asked again: {twice}")


def _told(directory: Path) -> Told | None:
    """What the journal of the run in `directory` says, None if there is no run yet."""
    runs: list[RunDirectory] = runs_in(directory) if directory.exists() else []
    return read_journal(runs[0].journal) if runs else None


def main() -> int:
    kills, seed = (int(each) for each in [*sys.argv[1:], "300", "1"][:2])
    with tempfile.TemporaryDirectory() as folder, closing(Chaos(seed, Path(folder))) as chaos:
        report = chaos.until(kills)
    print(report)  # noqa: T201 - a command of its own
    return int(bool(report.problems))


if __name__ == "__main__":
    sys.exit(main())
