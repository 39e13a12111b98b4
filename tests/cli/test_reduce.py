"""``lambdagent reduce``: what learners see, limits that are exact, errors that are kind."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.api.reducing import Line, elided
from lambdagent.cli.main import main
from lambdagent.cli.output import Output
from lambdagent.machine.reduction import STRATEGIES
from tests.cli.command import Command
from tests.cli.test_output import Terminal

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "cli"
OMEGA = "(λx. x x) (λx. x x)"
SHOWN = [
    ("AND TRUE FALSE", "--fold"),
    ("ADD church[2] church[3]", "--fold", "--strategy", "normal"),
    ("(λx. ⟨x, x⟩) ((λy. succ y) 1)",),
    ("(λx. ⟨x, x⟩) ((λy. succ y) 1)", "--strategy", "normal"),
    ("(λx. ⟨x, x⟩) ((λy. succ y) 1)", "--strategy", "need"),
    ("Y[1] (λself n. if n then self false else 5) (λx. x) true",),
    ('case tag["a", "_", 0] 3 of {"a" ⇒ λx. succ x, _ ⇒ I}', "--strategy", "need"),
    (f"(λx. 1) ({OMEGA})", "--strategy", "need"),
    (OMEGA,),
    ("(λx. x x x) (λx. x x x)", "--max-steps", "2"),
    ("λx. (λy. y) x",),
    ("λx. (λy. y) x", "--strategy", "normal"),
    ("(λx. fst x) 1",),
    ("λx. llm.writer x",),
    ("catch (λ_. 1) I",),
    ("PAR(λx. x)",),
    ("(λx x)",),
    ("PAIRR",),
    ("(λx y. x) y",),
    ("",),
    ("x = 1;",),
    ("agent.yml",),
    ("missing.lam",),
]


def test_reductions_are_as_written_down(command: Command, golden: Callable[[Path, str], None]):
    told = []
    for argv in SHOWN:
        done = command("reduce", *argv)
        assert not (done.out and done.err)
        told.append(f"$ reduce {' '.join(argv)}\n{done.out}{done.err}exit {done.code}\n")
    golden(GOLDEN / "reduce.txt", "\n".join(told))


@pytest.mark.parametrize("strategy", ["cbv", "normal", "need"])
def test_the_limit_of_steps_is_exact(command: Command, strategy: str):
    argv = ("reduce", "(λx. ⟨x, x⟩) ((λy. succ y) 1)", "--strategy", strategy)
    whole = command(*argv).out.splitlines()
    steps = len(whole) - 2
    assert whole[-1] == f"normal form reached after {steps} steps"
    for limit in (steps, steps + 1):
        assert command(*argv, "--max-steps", str(limit)).out.splitlines() == whole
    done = command(*argv, "--max-steps", str(steps - 1))
    assert done.code == 1
    assert done.out.splitlines()[:-1] == whole[:steps]
    assert done.out.splitlines()[-1].startswith(f"stopped after {steps - 1} steps, still reducing")
    assert command(*argv, "--max-steps", "0").out.splitlines()[0] == whole[0]


@pytest.mark.parametrize("limit", ["-1", "many"])
def test_a_limit_is_a_whole_number(command: Command, limit: str):
    done = command("reduce", "I", f"--max-steps={limit}")
    assert done.code == 2
    assert "expected a whole number from 0" in done.err


@pytest.mark.slow
def test_the_usual_limit_is_1000_steps(command: Command):
    grows = command("reduce", "(λx. λy. x x) (λx. λy. x x) 1", "--strategy", "normal")
    assert grows.out.splitlines()[-1].startswith("stopped after 1000 steps")


def test_a_term_that_comes_again_ends_a_reduction(command: Command):
    done = command("reduce", "(λx. x 1 x) (λy z. z 1 z)")
    assert done.code == 1
    again = "it is the term of step 0 again, so it never ends"
    assert done.out.splitlines()[-1] == f"diverges: after 2 steps {again}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_numbers_may_be_of_any_size(command: Command, strategy: str):
    huge = hex(1 << 20_000)
    done = command("reduce", f"(λx. succ x) {huge}", "--strategy", strategy, "--fold", "--full")
    assert done.code == 0
    assert hex((1 << 20_000) + 1) in done.out
    done = command("reduce", f"fst {huge}", "--strategy", strategy, "--full")
    assert done.out.splitlines()[-1].startswith("stuck after 0 steps: no rule applies to fst 0x1")


def test_a_term_that_grows_too_large_is_said(command: Command):
    doubles = "".join(f"d{n} = ⟨d{n - 1}, d{n - 1}⟩; " for n in range(1, 40))
    done = command("reduce", f"d0 = 1; {doubles} I d39")
    assert done.code == 1
    assert done.out == "stopped after 0 steps: the term has grown past 1,000,000 nodes\n"


def test_a_file_is_reduced_with_its_definitions_and_a_prelude(command: Command):
    command.write("prelude.lam", "three = church[3];\ntwice = λf x. f (f x);")
    command.write("t.lam", "id = λq. q;\nid twice")
    done = command("reduce", "t.lam", "--prelude", "prelude.lam", "--fold")
    assert done.out.splitlines() == [
        "   0       ‹id twice›",
        "   1 β     twice",
        "normal form reached after 1 step",
    ]
    bare = command("reduce", "t.lam")
    assert bare.code == 2
    assert "t.lam:2:4: error[P023]: `twice` is not defined" in bare.err
    assert command("reduce", "t.lam", "--prelude", "no.lam").code == 4
    assert command("reduce", "prelude.lam").err.startswith("prelude.lam:2:23: error[P030]")


def test_names_of_the_file_win_over_the_library(command: Command):
    done = command("reduce", "I = λx. ⟨x, x⟩; TRUE' = λa b. a; I ⟨λx. x, λt f. t⟩", "--fold")
    assert done.out.splitlines()[1] == "   1 β     ⟨⟨λx. x, TRUE⟩, λx. x, TRUE⟩"


def test_a_name_that_is_shown_is_no_variable(command: Command):
    done = command("reduce", "λI. ⟨I, λx. x⟩", "--fold")
    assert done.out.splitlines()[0] == "   0       λI₁. ⟨I₁, I⟩"


def test_a_term_comes_from_standard_input(command: Command):
    assert command("reduce", "-", stdin="(λx. x) 1".encode()).out.splitlines()[1] == "   1 β     1"
    done = command("reduce", "-", stdin=b"\xff")
    assert (done.code, "U005" in done.err) == (2, True)


def test_a_text_that_ends_in_lam_may_be_a_term(command: Command):
    for text in ("λx. lam x .lam", f"λx. {'x ' * 5000}.lam"):
        done = command("reduce", text)
        assert done.code == 2
        assert done.err.startswith("<expression>:1:")


def test_a_redex_is_bold_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    assert main(["reduce", "I 1"], Output(out, io.StringIO())) == 0
    assert out.getvalue().splitlines()[0] == "   0       \x1b[1;4m(λx. x) 1\x1b[0m"
    assert "\x1b" not in out.getvalue().splitlines()[1]


class Unreadable(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: object) -> int:
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("argv", [("reduce", "-"), ("run", "simple.yml", "-")])
@pytest.mark.parametrize(
    ("stdin", "said"),
    [
        (None, "error[U004]: `standard input` cannot be read: it is closed"),
        (
            io.TextIOWrapper(io.BufferedReader(Unreadable())),
            "error[U004]: `standard input` cannot be read: Input/output error",
        ),
        (
            io.TextIOWrapper(io.BytesIO(b"caf\xe9")),
            "error[U005]: standard input is not UTF-8 text: byte 3 is 0xe9",
        ),
    ],
)
@pytest.mark.usefixtures("command")
def test_every_command_says_why_standard_input_cannot_be_read(
    argv: tuple[str, ...],
    stdin: io.TextIOWrapper | None,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
):
    if stdin is not None and stdin.seekable():
        stdin.seek(0)
    monkeypatch.setattr(sys, "stdin", stdin)
    err = io.StringIO()
    assert main(argv, Output(io.StringIO(), err)) == 2
    assert err.getvalue().splitlines()[0] == said


@pytest.mark.parametrize("suffix", [".json", ".yml", ".yaml"])
def test_only_the_name_of_a_file_is_taken_for_one(command: Command, suffix: str):
    for name in (f"agent{suffix}", f"dir/agent-1{suffix}", f"../x{suffix}"):
        assert "error[U007]" in command("reduce", name).err
    command.write(f"my agent{suffix}", "")
    assert "error[U007]" in command("reduce", f"my agent{suffix}").err
    for term in (f"(λx. x) y{suffix}", f"\\x. x{suffix}", f"I y{suffix}"):
        done = command("reduce", term)
        assert (done.code, "U007" in done.err, "<expression>:1:" in done.err) == (2, False, True)


LONG = " ".join(["⟨1, 2⟩"] * 400)


def test_a_long_line_shows_what_is_around_the_redex(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    term = f"(λx. {LONG}) ((λy. y) ({LONG}))"
    for columns in ("40", "80", "200", "1"):
        monkeypatch.setenv("COLUMNS", columns)
        out = Terminal()
        assert main(["reduce", term, "--strategy", "normal"], Output(out, out)) in {0, 1}
        first = out.getvalue().splitlines()[0]
        assert len(first) <= max(int(columns), 40)
        assert "‹" in first
        assert "…" in first


def test_a_pipe_gets_a_thousand_characters_and_with_full_all(command: Command):
    term = f"(λx. x) ({LONG})"
    short = command("reduce", term).out.splitlines()
    whole = command("reduce", term, "--full").out.splitlines()
    assert len(short) == len(whole)
    assert max(map(len, short)) <= 1_020 < len(whole[0])
    assert "…" not in whole[0]


@given(st.text("ab"), st.text("c"), st.text("de"), st.integers(5, 30))
def test_a_line_keeps_its_redex_and_what_is_nearest(before, redex, after, width):
    after = after if redex else ""  # without a redex all of the text is before it
    line = Line(0, "", before, redex, after, ())
    short = elided(line, width)
    shown = short.before + short.redex + short.after
    assert len(shown) <= max(width, 0)
    if len(before + redex + after) <= width:
        assert short == line
    assert before.endswith(short.before.removeprefix("…")) or not redex
    assert after.startswith(short.after.removesuffix("…"))
    assert bool(short.redex) == bool(redex)
