"""Both languages say the same: every code and phrase, with the same values, and nothing else."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from lambdagent import errors, messages
from lambdagent.errors import finding, in_english, render, retold
from lambdagent.messages import phrase, recognized, say, told, zh
from lambdagent.messages.english import MESSAGES
from lambdagent.messages.text import Text

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "lambdagent"
TABLES = PACKAGE / "messages"


def names_of(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Every call that makes a phrase, and where it is."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if not path.is_relative_to(TABLES):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                called = node.func if isinstance(node, ast.Call) else None
                if isinstance(called, ast.Name) and called.id in {"phrase", "say"}:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


# --- tables --------------------------------------------------------------------------------------


def test_both_tables_have_the_same_codes():
    assert set(zh.MESSAGES) == set(MESSAGES)


@pytest.mark.parametrize("code", MESSAGES)
def test_the_words_of_a_code_fill_in_the_same_values(code: str):
    for english, chinese in zip(MESSAGES[code], zh.MESSAGES[code], strict=True):
        assert names_of(english) == names_of(chinese)
        assert bool(english) == bool(chinese)


@pytest.mark.parametrize("code", MESSAGES)
def test_each_code_says_what_to_do(code: str):
    assert MESSAGES[code].fix


def test_no_hint_is_empty():
    """Where the words of a fix are all a hint, each place that tells it has one."""
    hints = {code for code, text in MESSAGES.items() if text.fix == "{hint}"}
    empty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        if any(isinstance(arg, ast.Constant) and arg.value in hints for arg in node.args)
        for keyword in node.keywords
        if keyword.arg == "hint"
        if isinstance(keyword.value, ast.Constant) and not keyword.value.value
    ]
    assert empty == []


def test_each_phrase_is_written_out_where_it_is_made():
    hidden = [place for place, call in calls() if not isinstance(call.args[0], ast.Constant)]
    assert hidden == []


def test_the_table_of_phrases_has_those_that_are_made_and_no_others():
    made = {call.args[0].value for _, call in calls() if isinstance(call.args[0], ast.Constant)}
    assert made - set(zh.PHRASES) == set()
    assert set(zh.PHRASES) - made == set()


def test_a_phrase_fills_in_the_same_values_in_both_languages():
    unequal = [
        place
        for place, call in calls()
        if isinstance(call.args[0], ast.Constant)
        if call.keywords
        if not names_of(call.args[0].value)
        == names_of(zh.PHRASES[call.args[0].value])
        == {keyword.arg for keyword in call.keywords}
    ]
    assert unequal == []


def test_each_chinese_text_is_chinese_and_ends_without_a_full_stop():
    texts = [part for text in zh.MESSAGES.values() for part in text] + [*zh.PHRASES.values()]
    for text in filter(None, texts):
        assert not text.endswith(".")
        assert "\n" not in text
    told_of = [text for text in zh.MESSAGES.values() if set(text.what) - set("{message}")]
    assert [text for text in told_of if not any("一" <= c <= "鿿" for c in text.what)] == []


def test_no_family_of_phrases_repeats_another():
    families = [import_family(path) for path in sorted((TABLES / "zh").glob("*.py"))]
    every = [key for family in families for key in family]
    assert len(every) == len(set(every)) == len(zh.PHRASES)


def import_family(path: Path) -> list[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "PHRASES":
            keys = node.value.keys if isinstance(node.value, ast.Dict) else []
            return [key.value for key in keys if isinstance(key, ast.Constant)]
    return []


# --- which language ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "zh_TW.UTF-8", "LANG": "C"}, "zh"),
        ({"LC_ALL": "", "LANG": "zh_CN"}, "zh"),
        ({"LAMBDAGENT_LANG": "en", "LC_ALL": "zh_CN.UTF-8"}, "en"),
        ({"LAMBDAGENT_LANG": "zh", "LC_ALL": "C"}, "zh"),
        ({"LAMBDAGENT_LANG": "ZH-cn"}, "zh"),
    ],
)
def test_the_variable_wins_and_then_the_locale(environment: dict[str, str], language: str):
    assert messages.language_of(environment) == language


@pytest.mark.parametrize(("language", "other"), [("en", "zh"), ("zh", "english")])
def test_only_the_tables_in_use_are_loaded(language: str, other: str):
    program = f"""
import os, sys
os.environ["LAMBDAGENT_LANG"] = {language!r}
import lambdagent.api
from lambdagent.errors import finding
assert not any("agent_files" in name for name in sys.modules), "before anything is told"
finding("U003")
assert "lambdagent.messages.{other}" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, text=True)
    assert done.returncode == 0


# --- what is told --------------------------------------------------------------------------------


def test_phrases_are_english_as_texts_and_told_in_chinese(chinese: None):
    hint = phrase("write `{meant}`", meant="maxSteps")
    assert hint == "write `maxSteps`"
    assert told(hint) == "写成 `maxSteps`"
    inner = phrase("{words} or {last}", words=phrase("a term"), last="`.`")
    assert inner == "a term or `.`"
    assert told(inner) == "项 或 `.`"
    assert told("write `x`") == "write `x`"
    assert say("interrupted") == "已中断"


def test_a_finding_is_told_in_chinese(chinese: None):
    found = finding("S103", field="a", expected=phrase("a list"), actual=[1])
    assert render(found) == "错误[S103]: `a` 必须是列表，实际是：[1]\n修复: 改为列表"
    assert found.expected == "列表"
    assert str(errors.UsageError(finding("U009"))).startswith("错误[U009]: ")


def test_equal_findings_are_one():
    assert len({finding("S012", path="a"), finding("S012", path="a")}) == 1


def test_values_of_users_are_not_translated(chinese: None):
    found = finding("S102", key="a list", known="", hint="")
    assert found.what == "未知的键 `a list`"


# --- the data of runs ----------------------------------------------------------------------------


def test_data_is_english_whoever_reads(chinese: None):
    found = finding(
        "E005", provider="x", message=phrase("there is no such provider"), hint=phrase("remove it")
    )
    assert found.what == "`x` 在这里不能使用：没有这个 provider"
    assert in_english(found) == {
        "code": "E005",
        "what": "`x` cannot be used here: there is no such provider",
        "why": "",
        "fix": "remove it",
    }


def test_data_is_told_in_the_language_of_the_reader(chinese: None):
    what = "`x` cannot be used here: there is no such provider"
    found = retold("E005", what, "", "use one of a, b")
    assert found.what == "`x` 在这里不能使用：没有这个 provider"
    assert found.fix == "使用其中之一：a, b"
    assert retold("E005", "something else", "", "").what == "something else"


@pytest.mark.parametrize("code", MESSAGES)
def test_each_finding_is_found_again_in_its_english(chinese: None, code: str):
    names = set().union(*map(names_of, MESSAGES[code]))
    found = finding(code, **{name: f"<{name}>" for name in names})
    again = retold(**in_english(found))
    assert (again.what, again.why, again.fix) == (found.what, found.why, found.fix)


def test_recognition_knows_the_phrases_of_runs(chinese: None):
    assert told(recognized("no answer after 4 rounds")) == "4 轮之后仍没有回答"
    assert recognized("something of the world") == "something of the world"
    messages.choose("en")
    assert recognized("no answer after 4 rounds") == "no answer after 4 rounds"
    assert isinstance(MESSAGES["U003"], Text)


def test_each_code_is_told_somewhere_and_each_that_is_told_has_words():
    code = re.compile(r"[A-Z]\d{3}")
    told_of = {
        node.value
        for path in PACKAGE.rglob("*.py")
        if not path.is_relative_to(TABLES)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if code.fullmatch(node.value)
    }
    assert told_of == set(MESSAGES)
