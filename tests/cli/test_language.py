"""The language in which `lambdagent` tells what is wrong."""

import io
import re

import pytest

from lambdagent.cli.main import COMMANDS, main
from lambdagent.cli.output import Output
from lambdagent.frontend.lint.pages import PAGES
from tests.cli.command import Command

CHINESE = re.compile("[一-鿿]")
BROKEN = """\
type: react
systemPrompt: p
model: {provider: scripted, script: [a], temprature: hot, contextWindow: 0}
react: {maxSteps: "5", toolTimeout: soon}
mcp: {localTools: terminate, policy: {mode: atuo}}
guard: {validator: "f(x)", retry: -1}
memory: {enabled: maybe, size: 99999999999999999999}
x: 1
"""


@pytest.fixture(autouse=True)
def in_chinese(monkeypatch: pytest.MonkeyPatch, chinese: None) -> None:
    monkeypatch.setenv("LAMBDAGENT_LANG", "zh")


def test_findings_are_told_in_chinese_word_by_word(command: Command):
    command.write("agent.yml", BROKEN)
    done = command("compile", "agent.yml")
    assert done.code == 2
    heads = [line for line in done.err.splitlines() if line.startswith("agent.yml:")]
    assert len(heads) == 12
    assert all("错误[" in line and CHINESE.search(line.partition("]: ")[2]) for line in heads)
    assert not re.search("^(why|fix): ", done.err, re.MULTILINE)
    told = re.sub("^(\\d+| +) \\| .*$", "", done.err, flags=re.MULTILINE)  # but the excerpts
    assert not re.search(r"(?<![\w`]) (must|is|are|the|a|of|write|got) ", told)


def test_json_and_workflow_commands_are_chinese_too(command: Command):
    command.write("agent.yml", BROKEN)
    assert '"expected": "true 或 false"' in command("compile", "agent.yml", "--format", "json").out
    assert "必须是列表" in command("compile", "agent.yml", "--format", "github").out


def test_what_is_wrong_with_a_command_line_is_told_in_chinese(command: Command):
    assert command("runn").err.startswith("lambdagent: 没有命令 `runn`\n修复: ")
    assert "应为：0 到 2 的数，实际是：" in command("run", "a.yml", "x", "--temperature", "9").err


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_is_chinese(command: Command, name: str):
    text = command(name, "--help").out
    assert text.startswith(f"用法：lambdagent {name} [选项]")
    blocks = re.split(r"^  (?=\S)", text, flags=re.MULTILINE)[1:]
    assert len(blocks) >= 2
    assert [block for block in blocks if not CHINESE.search(block)] == []
    assert not re.search(r"(?<!-)\b(the|of|is|and|show|default)\b", text)


def test_what_lint_finds_is_chinese_to_its_innermost_words(command: Command):
    command.write("b.lam", PAGES["L030"].bad)
    assert "`pmap` 对列表的每一项运行一次函数" in command("lint", "b.lam").out
    assert "没有规则 `L4`" in command("lint", "b.lam", "--ignore", "L4").err
    assert "列出所有规则" in command("lint", "b.lam", "--ignore", "L4").err


def test_the_commands_and_rules_have_chinese_titles(command: Command):
    listed = command().out
    rules = command("lint", "--rules").out
    assert listed.startswith("用法：lambdagent 命令 [选项] …\n\n命令:\n")
    for line in [*re.findall("^  .*", listed, re.MULTILINE), *rules.splitlines()]:
        assert CHINESE.search(line)


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["compile"], "缺少必需的参数：FILE"),
        (["lint", "--foo"], "无法识别的参数：--foo"),
        (["lint", "a", "--level"], "参数 --level：需要一个值"),
        (["lint", "a", "--level", "x"], '参数 --level：没有 "x"：使用其中之一：error, warn, info'),
        (["run", "a", "b", "--trace=3"], "参数 --trace：不接受值 '3'"),
        (["lambda", "a", "--ascii", "--latex"], "参数 --latex：不能与参数 --ascii 同时使用"),
        (["run", "a", "b", "--max-steps", "x"], "参数 --max-steps：应为：不小于 1 的整数"),
    ],
)
def test_what_argparse_says_is_chinese(command: Command, argv: list[str], told: str):
    done = command(*argv)
    assert done.code == 2
    assert done.err.startswith("用法：lambdagent ")
    assert f": 错误: {told}" in done.err


def test_a_failure_of_a_run_is_told_in_chinese_and_kept_in_english(command: Command):
    command.write(
        "agent.yml",
        "type: simple\nname: a\nsystemPrompt: p\n"
        "model: {provider: scripted, script: {rules: [{match: never, reply: r}]}}\n",
    )
    done = command("run", "agent.yml", "hello", "--checkpoint-dir", "runs")
    assert done.code == 1
    assert "错误[E004]: `llm:a` 的脚本没有第 1 个回答：没有匹配的规则" in done.err
    kept = [path.read_bytes() for path in (command.folder / "runs").rglob("*") if path.is_file()]
    assert kept
    assert not any(CHINESE.search(data.decode(errors="ignore")) for data in kept)


def test_what_a_program_says_of_itself_is_told_in_chinese(command: Command):
    command.write(
        "agent.yml",
        "type: simple\nname: a\nsystemPrompt: p\n"
        "model: {provider: scripted, script: {replies: [r]}}\n"
        'guard: {validator: "len(x) > 9", retry: 0}\n',
    )
    done = command("run", "agent.yml", "hello")
    assert "错误[R002]: 没有回答通过 guard：必须满足 len(x) > 9；最后一个是 r" in done.err


def test_why_an_answer_cannot_be_read_is_told_in_chinese(command: Command):
    command.write(
        "agent.yml",
        "type: chain\nname: a\nsystemPrompt: p\n"
        "model: {provider: scripted, script: {replies: [so so]}}\n"
        "chain: {steps: [{name: one, prompt: p, outputParser: number}]}\n",
    )
    done = command("run", "agent.yml", "hello")
    assert "：文本中没有数；" in done.err


def test_what_an_import_leaves_out_is_told_in_chinese(command: Command):
    (command.folder / "config").mkdir()
    (command.folder / "config" / "agents.yaml").write_text(
        "one: {role: r, max_iter: 0, knowledge: {a: b}}\nother: {role: r}\n"
    )
    (command.folder / "config" / "tasks.yaml").write_text(
        "t: {description: d, agent: nobody}\nu: {description: d, agent: one, context: [x]}\n"
    )
    done = command("import", "crewai", ".")
    assert done.code == 3
    told = done.err.splitlines()
    assert any("`one.max_iter` 没有转换：应为：1 到 10000 的数" in line for line in told)
    assert any("agents.yaml 中没有 `nobody`" in line for line in told)
    assert not [line for line in told if re.search(r"(?<![\w`]) (is|are|the|a|of|no) ", line)]
    assert done.out.startswith(
        "# 从 CrewAI 导入：agents.yaml, tasks.yaml\n#\n# 没有转换的部分：\n"
    )


def test_servers_are_told_of_in_chinese(command: Command):
    command.write(
        "agent.yml",
        "type: simple\nname: a\nsystemPrompt: p\n"
        "model: {provider: openai, name: gpt-4o, baseUrl: http://127.0.0.1:1}\n",
    )
    done = command("compile", "agent.yml", "--dry-run")
    assert "服务端点：" in done.out
    assert re.search("✗ 无法连接（\\d+ms）：那里没有服务在监听", done.out)
    assert "；" in done.out or "没有设置环境变量 `OPENAI_API_KEY`" in done.out


def test_who_cannot_read_chinese_gets_english(command: Command):
    err = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    assert main(["compile", "none.yml"], Output(io.StringIO(), err)) == 4
    assert b"error[S012]: there is no file" in err.buffer.getvalue()


@pytest.mark.parametrize(
    ("environment", "chinese_told"),
    [
        ({"LAMBDAGENT_LANG": "zh", "LC_ALL": "C.UTF-8"}, True),
        ({"LAMBDAGENT_LANG": "", "LC_ALL": "zh_CN.UTF-8"}, True),
        ({"LAMBDAGENT_LANG": "en", "LC_ALL": "zh_CN.UTF-8"}, False),
    ],
)
def test_a_process_looks_at_its_environment(
    command: Command, environment: dict[str, str], chinese_told: bool
):
    done = command.process("compile", "none.yml", env={**environment, "PYTHONUTF8": "1"})
    assert done.code == 4
    assert bool(CHINESE.search(done.err)) is chinese_told
