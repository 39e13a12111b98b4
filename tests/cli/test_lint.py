"""`lambdagent lint`: its options, formats and exit codes."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lambdagent.api import linting
from lambdagent.api.linting import RULES
from lambdagent.source import Source
from tests.cli.command import Command

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "cli"
MODEL = "model: {provider: openai, name: gpt-4o-mini}\n"
GOOD = f"type: simple\nsystemPrompt: Answer.\n{MODEL}"
LOOP = f"type: react\nsystemPrompt: Work. # how\n{MODEL}mcp: {{localTools: [look]}}\n"


def test_findings_are_as_written_down(command: Command, golden: Callable[[Path, str], None]):
    command.write(
        "bad.yml",
        "agentId: a\nname: SeeCoder\ntype: react\nsystemPrompt: Work.\n"
        "model: {provider: openai, name: gpt-4o-mini, temperature: 1.8}\n"
        "react: {maxSteps: 60}\nmcp: {localTools: [search]}\n"
        "memory: {enabled: true, size: 20, ttl: 7200}\n",
    )
    command.write("broken.yml", "type: simple\nsystemPrompt: [\n")
    command.write("slip.yml", "type: simple\nsytemPrompt: a\nmodel: {temperature: hot}\n")
    command.write("key.yml", f"{GOOD}x-key: sk-abcdefghijklmnop1234567890\n")
    done = command("lint", "bad.yml", "broken.yml", "slip.yml", "key.yml", "none.yml")
    assert (done.code, done.err) == (4, "")
    golden(GOLDEN / "lint.txt", done.out)


def test_the_rules_are_listed(command: Command):
    done = command("lint", "--rules")
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) == len(RULES)
    assert done.out.startswith("L001  error  an agent without a prompt\n")


@pytest.mark.parametrize(
    ("argv", "code", "codes"),
    [
        (["a.yml"], 3, ["L014", "L004"]),
        (["a.yml", "--level", "error"], 3, ["L004"]),
        (["a.yml", "--ignore", "L004,L014"], 0, []),
        (["a.yml", "--ignore", "L004", "--ignore", "L014"], 0, []),
        (["--rules", "L014", "a.yml"], 0, ["L014"]),
        (["good.yml"], 0, []),
        (["good.yml", "a.yml"], 3, ["L014", "L004"]),
        (["broken.yml"], 2, ["S001"]),
        (["a.yml", "broken.yml"], 2, ["L014", "L004", "S001"]),
        (["none.yml", "broken.yml"], 4, ["S012", "S001"]),
        (["type.yml"], 3, ["S104"]),
        (["bad.lam"], 2, ["P023"]),
    ],
)
def test_exit_codes_and_choices(command: Command, argv: list[str], code: int, codes: list[str]):
    command.write("a.yml", LOOP.replace("4o-mini", "4o-mini, temperature: 0"))
    command.write("good.yml", GOOD)
    command.write("broken.yml", "a: [")
    command.write("type.yml", GOOD.replace("simple", "smple"))
    command.write("bad.lam", "λx. y\n")
    done = command("lint", *argv, "--format", "json")
    assert done.code == code
    assert [each["code"] for each in json.loads(done.out)["findings"]] == codes


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "`lint` needs a file"),
        (["a.yml", "--ignore", "L4"], "there is no rule `L4`"),
        (["a.yml", "--rules", "L004,L0O5"], "write `L005`"),
        (["a.yml", "--ignore", "L003"], "what L003 finds cannot be ignored"),
        (["-", "--fix"], "`--fix` needs a file to write"),
        (["a.yml", "--rules"], "needs codes"),
    ],
)
def test_wrong_usage_is_told(command: Command, argv: list[str], words: str):
    command.write("a.yml", LOOP)
    done = command("lint", *argv)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_standard_input_is_linted(command: Command):
    done = command("lint", "-", stdin=LOOP.encode())
    assert done.code == 3
    assert done.out.startswith("lambdagent lint: standard input\n")


def test_formats_for_services(command: Command):
    command.write("a.yml", LOOP)
    sarif = json.loads(command("lint", "a.yml", "--format", "sarif").out)
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == ["L004"]
    assert command("lint", "a.yml", "--format", "github").out.startswith(
        "::error file=a.yml,line=4"
    )


def test_a_directory_is_linted_whole(command: Command):
    (command.folder / "agents").mkdir()
    command.write("agents/a.yml", GOOD)
    command.write("agents/b.yml", "a: [")
    command.write("agents/c.yml", LOOP)
    done = command("lint", "agents")
    assert done.code == 2
    assert "3 files: 2 error(s)" in done.out
    for name in "abc":
        assert f"agents/{name}.yml" in done.out


def test_a_directory_holds_pipes_and_links_to_nothing(command: Command):
    folder = command.folder / "agents"
    folder.mkdir()
    os.mkfifo(folder / "pipe.yml")
    (folder / "device.yml").symlink_to(os.devnull)
    (folder / "gone.yml").symlink_to("nowhere.yml")
    command.write("agents/z.yml", GOOD)
    done = command("lint", "agents")
    assert done.code == 4
    assert "there is no file `agents/gone.yml`" in done.out
    assert "2 files: 1 error(s)" in done.out


def test_a_directory_without_agents_has_nothing_to_tell(command: Command):
    (command.folder / "empty").mkdir()
    done = command("lint", "empty")
    assert (done.code, done.out) == (0, "0 files: 0 error(s), 0 warning(s), 0 info(s)\n")


def test_fix_mends_the_file_and_tells_what_is_left(command: Command):
    path = command.folder / command.write("a.yml", LOOP)
    path.chmod(0o640)
    done = command("lint", "a.yml", "--fix")
    assert (done.code, done.err) == (0, "fixed a.yml\n")
    assert path.read_text() == LOOP.replace("[look]", "[look, terminate]")
    assert path.stat().st_mode & 0o777 == 0o640
    again = command("lint", "a.yml", "--fix")
    assert (again.code, again.err, again.out) == (0, "", done.out)


def test_a_file_that_cannot_be_written_ends_nothing(command: Command, monkeypatch):
    from lambdagent.cli import files

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_file", refuse)
    command.write("a.yml", LOOP)
    command.write("b.yml", GOOD)
    done = command("lint", "a.yml", "b.yml", "--fix")
    assert done.code == 2
    assert "`a.yml` is not mended: No space left on device" in done.out
    assert "lambdagent lint: b.yml" in done.out


def test_a_read_only_file_stays_as_it_is(command: Command, monkeypatch):
    path = command.folder / command.write("a.yml", LOOP)
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for all but root
    done = command("lint", "a.yml", "--fix")
    assert (done.code, path.read_text()) == (2, LOOP)
    assert "`a.yml` is not mended: Permission denied (U035)" in done.out


def test_what_was_written_meanwhile_is_not_lost(command: Command, monkeypatch):
    path = command.folder / command.write("a.yml", LOOP)
    fixed = linting.fixed

    def slowly(source: Source, selected: linting.Selection) -> Source:
        path.write_text(f"{LOOP}name: mine\n")
        return fixed(source, selected)

    monkeypatch.setattr(linting, "fixed", slowly)
    done = command("lint", "a.yml", "--fix")
    assert (done.code, path.read_text()) == (2, f"{LOOP}name: mine\n")
    assert "`a.yml` is not mended: it has been changed meanwhile" in done.out


def test_a_fix_keeps_links_and_the_bytes_around_it(command: Command):
    path = command.folder / "real.yml"
    path.write_bytes(("\ufeff" + LOOP.replace("\n", "\r\n")).encode())
    link = command.folder / "link.yml"
    link.symlink_to(path)
    assert command("lint", "link.yml", "--fix").code == 0
    assert link.is_symlink()
    mended = LOOP.replace("[look]", "[look, terminate]")
    assert path.read_bytes() == ("\ufeff" + mended.replace("\n", "\r\n")).encode()


def test_a_fix_that_is_interrupted_leaves_the_file_whole(command: Command, monkeypatch):
    from lambdagent.cli import files

    def interrupt(path: Path, text: str) -> None:
        path.write_text(text[:9])
        raise KeyboardInterrupt

    path = command.folder / command.write("a.yml", LOOP)
    monkeypatch.setattr(files, "_write", interrupt)
    assert command("lint", "a.yml", "--fix").code == 130
    assert path.read_text() == LOOP
    assert not [*command.folder.glob(".*")]


def test_diff_shows_the_fix_and_changes_nothing(command: Command):
    text = f"{LOOP}x-key: sk-abcdefghijklmnop1234567890\n"
    command.write("a.yml", text)
    done = command("lint", "a.yml", "--fix", "--diff")
    assert done.code == 3
    assert "-mcp: {localTools: [look]}\n+mcp: {localTools: [look, terminate]}\n" in done.out
    assert "sk-" not in done.out
    assert (command.folder / "a.yml").read_text() == text
    assert command("lint", "-", "--diff", stdin=text.encode()).out.count("\n+") == 2


def test_a_stream_without_signs_gets_ascii(command: Command):
    command.write("a.yml", LOOP)
    done = command.process("lint", "a.yml", env={"PYTHONIOENCODING": "ascii"})
    assert done.code == 3
    assert "  x [ERROR] mcp.localTools" in done.out
