"""Lint of whole files: comments, fixes, secrets, and laws over generated files."""

import os
from pathlib import Path

import pytest

from lambdagent import CompileError, from_config, lint_config
from lambdagent.api.linting import Report, Selection, fixed, lint_source, sources_of
from lambdagent.frontend.lint.pages import PAGES
from lambdagent.frontend.lint.terms import configurations
from lambdagent.ir import surface
from lambdagent.ir.agent_text import print_agent
from lambdagent.ir.model import Model
from lambdagent.source import Source

ROOT = Path(__file__).resolve().parents[2]
MODEL = "model: {provider: openai, name: gpt-4o-mini}\n"
SIMPLE = f"type: simple\nsystemPrompt: Answer.\n{MODEL}"
REACT = f"type: react\nsystemPrompt: Work.\n{MODEL}"


def lint(text: str, **selected) -> Report:
    return lint_source(Source("agent.yml", text), Selection(**selected))


def codes(text: str, **selected) -> list[str]:
    return [each.diagnostic.code for each in lint(text, **selected).findings]


def mended(text: str) -> str:
    after = fixed(Source("agent.yml", text))
    assert fixed(after).text == after.text
    return after.text


# --- what is told --------------------------------------------------------------------------------


@pytest.mark.parametrize("code", PAGES)
def test_each_rule_finds_its_bad_example_and_not_its_good_one(code: str):
    page = PAGES[code]
    bad, good = (
        lint_source(Source(f"agent.{page.suffix}", text)) for text in (page.bad, page.good)
    )
    assert code in [each.diagnostic.code for each in bad.findings]
    assert good.readable
    assert code not in [each.diagnostic.code for each in good.findings]
    assert good.count("error") == 0


def test_what_we_ship_has_no_findings():
    reports = [lint_source(source) for source in sources_of([str(ROOT / "examples")])]
    told = [each for report in reports for each in report.findings if each.level != "info"]
    assert reports
    assert told == []


def test_an_agent_without_faults_has_no_findings_and_a_structure():
    report = lint(SIMPLE)
    assert (report.findings, report.structure, report.readable) == ((), "simple", True)


def test_rules_run_on_what_is_legible_of_a_file_that_does_not_compile():
    text = f"{REACT}react: {{maxSteps: 0}}\nmcp: {{localTools: [search]}}\nguard: {{retry: 9}}\n"
    assert codes(text) == ["L003", "L004", "S101", "L012"]


def test_what_is_illegible_is_not_called_missing():
    text = f"{REACT}mcp: {{localTools: 7}}\nmodel: 3\n"
    assert set(codes(text)) == {"S003", "S104"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: [", ["S001"]),
        ("", ["S105"]),
        ("- a", ["S105"]),
        ("[{type: simple}]", ["S105"]),
        ("type: {a: b}\nsystemPrompt: [x]\n", ["S104", "S104"]),
        ("type: router\nsystemPrompt: a\nrouter: 3\n", ["S103"]),
        ("type: chain\nsystemPrompt: a\nchain: {steps: [3, {prompt: 4}, [a]]}\n", None),
        ("type: parallel\nsystemPrompt: a\nparallel: {agents: {a: b}, merge: [x]}\n", None),
        ("type: router\nsystemPrompt: a\nrouter: {routes: [a], classifier: [b]}\n", None),
        ("type: react\nsystemPrompt: a\nreact: [1]\nmcp: [a]\nmemory: no\nguard: 1\n", None),
        ("type: simple\nsystemPrompt: a\nmodel: {script: {rules: [1, {match: '('}]}}\n", None),
    ],
)
def test_no_file_breaks_a_rule(text: str, found: list[str] | None):
    if found is None:
        assert "S104" in codes(text) or "S103" in codes(text)
    else:
        assert sorted(codes(text)) == sorted(found)


def test_findings_stand_in_file_order_with_place_and_field():
    text = f"{SIMPLE}memory: {{ttl: 0, size: 0}}\nguard: {{validator: 'False', retry: 8}}\n"
    found = lint(text).findings
    told = [(f.diagnostic.code, f.diagnostic.field, f.diagnostic.where.line) for f in found]
    assert told == [
        ("L015", "memory", 4),
        ("L008", "memory.ttl", 4),
        ("L009", "memory.size", 4),
        ("L017", "guard.validator", 5),
        ("L012", "guard.retry", 5),
    ]


def test_agents_inside_agents_are_looked_into():
    text = f"""\
type: chain
systemPrompt: You write.
{MODEL}chain:
  steps:
    - {{name: a, prompt: p, guard: {{validator: 'True', retry: 7}}, model: {{temperature: 1.9}}}}
    - type: router
      router:
        classifier: {{prompt: "", model: {{temperature: 0}}}}
        routes:
          x: {{type: react, systemPrompt: s, mcp: {{localTools: [look]}}, react: {{maxSteps: 99}}}}
          y: {{type: parallel, parallel: {{agents: [{{systemPrompt: t, memory: {{size: 0}}}}]}}}}
"""
    fields = {(f.diagnostic.code, f.diagnostic.field) for f in lint(text).findings}
    route = "chain.steps[1].router.routes"
    assert fields >= {
        ("L018", "chain.steps[0].guard.validator"),
        ("L012", "chain.steps[0].guard.retry"),
        ("L007", "chain.steps[0].model.temperature"),
        ("L013", "chain.steps[1].router"),
        ("L001", "chain.steps[1].router.classifier.prompt"),
        ("L014", "chain.steps[1].router.classifier.model.temperature"),
        ("L004", f"{route}.x.mcp.localTools"),
        ("L010", f"{route}.x.react.maxSteps"),
        ("L009", f"{route}.y.parallel.agents[0].memory.size"),
    }


def test_what_an_alias_repeats_is_told_once():
    text = (
        f"type: parallel\nsystemPrompt: a\n{MODEL}parallel:\n  agents:\n"
        "    - &a {systemPrompt: b, memory: {size: 0, ttl: 1}}\n    - *a\n"
    )
    assert codes(text, level="warn") == ["L009"]


def test_levels_and_selections_choose_what_is_told():
    text = f"{SIMPLE}memory: {{ttl: 0}}\n"
    assert codes(text) == ["L015", "L008"]
    assert codes(text, level="warn") == ["L008"]
    assert codes(text, level="error") == []
    assert codes(text, only=frozenset({"L015"})) == ["L015"]
    assert codes(text, ignored=frozenset({"L015"})) == ["L008"]


def test_a_variable_that_is_not_set_here_is_a_warning(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_SUCH_URL", raising=False)
    text = "type: simple\nsystemPrompt: a\nmodel: {name: gpt-4o, baseUrl: '${NO_SUCH_URL}'}\n"
    (found,) = lint(text).findings
    assert (found.diagnostic.code, found.level) == ("S106", "warn")


def test_lint_config_is_public_and_says_what_the_compiler_says(tmp_path: Path):
    path = tmp_path / "agent.yml"
    path.write_text(f"{REACT}mcp: {{localTools: [a, a, terminate]}}\n")
    (found,) = lint_config(path)
    with pytest.raises(CompileError) as error:
        from_config(path)
    assert found.diagnostic == error.value.diagnostic
    assert found.level == "error"


def test_a_thousand_findings_end_the_list():
    steps = "".join(
        f"    - {{prompt: p, model: {{temperature: 0, topP: 0.{i}}}}}\n" for i in range(1200)
    )
    found = codes(f"type: chain\nsystemPrompt: a\n{MODEL}chain:\n  steps:\n{steps}")
    assert len(found) == 1001
    assert found.count("S016") == 1


# --- secrets -------------------------------------------------------------------------------------

SECRETS = {
    "sk-proj-Abcdefghijklmnop1234567890": "apiNote",
    "sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5": "x-key",
    "AKIAIOSFODNN7EXAMPLE": "x-aws",
    "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB": "x-git",
    "AIzaSyA0123456789abcdefghijklmnopqrstuvw": "x-google",
    "xoxb-123456789012-abcdefABCDEF": "x-slack",
}


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_and_never_shown(secret: str):
    report = lint(f"{SIMPLE}{SECRETS[secret]}: {secret}\ntemperatur: {secret}\n")
    found = [f.diagnostic for f in report.findings]
    assert [f.code for f in found].count("L026") == 2
    assert secret not in report.source.text
    assert secret not in str(found)
    assert report.source.line(4).startswith(f"{SECRETS[secret]}: ****")


@pytest.mark.parametrize(
    "value",
    [
        *("password: hunter2hunter2", "DB_PASSWORD='hunter2-x'", "x-apiKey: 'k1k2k3k4'"),
        *('"client_secret": "a1b2c3d4"', "access_token=abcdef123"),
        "https://me:hunter2@h/v1",
        "https://h/v1?api_key=abcdefgh12",
        "Bearer abcdefghijklmnop12",
    ],
)
def test_credentials_of_connections_are_found(value: str):
    assert "L026" in codes(f"{SIMPLE}x-note: {value!r}\n")


@pytest.mark.parametrize(
    "value",
    [
        *(
            "https://${USER}:${PASSWORD}@h/v1",
            "https://h:8080/v1",
            "Bearer ${API_TOKEN}",
            "sk-...",
        ),
        *("task-force-of-many-words-in-a-row", "https://h/v1?key=${KEY}", "a key = value"),
        *(
            "the password: required for all",
            "password: ${DB_PASSWORD}",
            "api_key: OPENAI_API_KEY2",
        ),
        *(
            "maxTokens: 4096tokens",
            "passwords: hunter2hunter2",
            "secret = <fill1234>",
            "key: abc12345",
        ),
        "The sk-prefix marks keys; ask your admin@example.com: they know.",
    ],
)
def test_what_only_looks_like_a_secret_is_none(value: str):
    assert "L026" not in codes(f"{SIMPLE}x-note: {value!r}\n")


# --- comments ------------------------------------------------------------------------------------

COLD = "type: simple\nsystemPrompt: a\nmodel:\n  name: gpt-4o\n"


@pytest.mark.parametrize(
    "line",
    [
        "  temperature: 0 # lint: ignore L014\n",
        "  temperature: 0   #lint:ignore L007, L014\n",
        "  # lint: ignore L014\n  temperature: 0\n",
        "  # lint: ignore L014\n  # lint: ignore L028\n  # cold\n  temperature: 0\n",
        "  # lint: ignore L014 as it is meant\n  temperature: 0\n",
    ],
)
def test_a_comment_ignores_a_finding_beside_or_below_it(line: str):
    assert "L014" in codes(f"{COLD}  temperature: 0\n")
    assert "L014" not in codes(f"{COLD}{line}")


def test_a_comment_ignores_nothing_elsewhere():
    assert codes(f"# lint: ignore L014\n{COLD}  temperature: 0\n") == ["L032", "L014"]


def test_a_comment_inside_a_text_is_none():
    text = f"{COLD}  temperature: 0\nname: |\n  # lint: ignore L014\n"
    assert codes(text) == ["L014"]


def test_what_the_compiler_refuses_cannot_be_ignored():
    text = (
        f"{REACT}react: {{maxSteps: 0}} # lint: ignore L003\nmcp: {{localTools: [a, terminate]}}\n"
    )
    (zero, comment) = lint(text).findings
    assert (zero.diagnostic.code, comment.diagnostic.code) == ("L003", "L032")
    assert comment.diagnostic.why == "what the compiler refuses cannot be ignored"


def test_a_comment_about_a_rule_that_does_not_run_is_not_told():
    text = f"{COLD}  temperature: 0 # lint: ignore L014\n"
    assert codes(text, level="warn") == []
    assert codes(f"{COLD}# lint: ignore L999\n") == ["L032"]


def test_a_comment_without_use_is_removed():
    assert (
        mended(f"{SIMPLE}# lint: ignore L014\nname: a # lint: ignore L007\n")
        == f"{SIMPLE}name: a\n"
    )


@pytest.mark.parametrize(
    "kept",
    [
        f"{COLD}  temperature: 0 # lint: ignore L014 L007\n",
        f"{SIMPLE}name: a # lint: ignore L007 because of b\n",
        f"{SIMPLE}# lint: ignore L007, or else\nname: a\n",
    ],
)
def test_a_comment_with_use_or_with_words_is_kept(kept: str):
    assert "L032" in codes(kept)
    assert mended(kept) == kept


# --- fixes ---------------------------------------------------------------------------------------

HEAD = f"# An agent.\n{REACT}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mcp: {localTools: [a]} # why\n", "mcp: {localTools: [a, terminate]} # why\n"),
        ("mcp: {localTools: [a,]}\n", "mcp: {localTools: [a, terminate,]}\n"),
        ("mcp: {localTools: []}\n", "mcp: {localTools: [terminate]}\n"),
        ("mcp: {localTools: }\n", "mcp: {localTools: [terminate] }\n"),
        ("mcp:\n  localTools: # none\n", "mcp:\n  localTools: [terminate] # none\n"),
        ("mcp: # none\n", "mcp: {localTools: [terminate]} # none\n"),
        (
            "mcp: {policy: {mode: auto}}\n",
            "mcp: {localTools: [terminate], policy: {mode: auto}}\n",
        ),
        ("mcp: {}\n", "mcp: {localTools: [terminate]}\n"),
        (
            "mcp:\n  # how\n  policy: {mode: auto}\n",
            "mcp:\n  # how\n  localTools: [terminate]\n  policy: {mode: auto}\n",
        ),
        (
            "mcp:\n  localTools:\n    - a # one\n    - 'b'   # two\n# end\n",
            "mcp:\n  localTools:\n    - a # one\n    - 'b'   # two\n    - terminate\n# end\n",
        ),
        ("mcp:\n  localTools:\n  - a", "mcp:\n  localTools:\n  - a\n  - terminate"),
        ("mcp: {localTools: [a, Termnate]}\n", "mcp: {localTools: [a, terminate]}\n"),
        ("mcp: {localTools: [a, a, terminate]}\n", "mcp: {localTools: [a, terminate]}\n"),
        (
            "mcp:\n  localTools:\n    - terminate\n    - a\n    - a\n",
            "mcp:\n  localTools:\n    - terminate\n    - a\n",
        ),
    ],
)
def test_terminate_is_added_in_the_layout_of_the_file(before: str, after: str):
    assert mended(HEAD + before) == HEAD + after
    windows = f"\ufeff{HEAD + before}".replace("\n", "\r\n")
    assert mended(windows) == f"\ufeff{HEAD + after}".replace("\n", "\r\n")


def test_terminate_is_added_to_an_agent_without_tools():
    assert mended("type: react # loop\nsystemPrompt: a\n") == (
        "type: react # loop\nmcp: {localTools: [terminate]}\nsystemPrompt: a\n"
    )
    assert mended("\ufefftype: react\r\n") == (
        "\ufefftype: react\r\nmcp: {localTools: [terminate]}\r\n"
    )
    assert mended("{systemPrompt: a, type: react}\n") == (
        "{systemPrompt: a, type: react, mcp: {localTools: [terminate]}}\n"
    )
    head = "type: chain\nsystemPrompt: a\nchain:\n  steps:\n"
    nested = f"{head}    - type: react\n      systemPrompt: b\n"
    assert mended(nested) == nested.replace(
        "react\n", "react\n      mcp: {localTools: [terminate]}\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sytemPrompt: a\ntype: simple\n", "systemPrompt: a\ntype: simple\n"),
        ("system_prompt: a # b\ntype: simple\n", "systemPrompt: a # b\ntype: simple\n"),
        ("'typ': smple # c\nsystemPrompt: a\n", "type: simple # c\nsystemPrompt: a\n"),
        (f"{REACT}raect: {{max_steps: '3'}}\nmcp: {{localTools: [a, terminate]}}\n", None),
        ("type: simple\nsystemPrompt: a\nmodel: {provider: opneai, name: gpt-4o}\n", None),
    ],
)
def test_slips_are_mended(before: str, after: str | None):
    text = mended(before)
    if after is None:
        assert codes(text) == []
    else:
        assert text == after


@pytest.mark.parametrize(
    "text",
    [
        "type: simple\nsystemPrompt: a\nsytemPrompt: b\n",  # which one is meant?
        "type: simple\nsytemPrompt: a\nsystmPrompt: b\n",
        f"{REACT}mcp: &m {{localTools: [a]}}\nx-m: *m\n",  # others may share it
        f"{REACT}mcp:\n  localTools:\n    - >-\n      a\n",  # layout of its own
        "a: [",
    ],
)
def test_what_is_not_certain_stays(text: str):
    once = mended(text)
    assert once == text or "sytemPrompt" in text


# --- files ---------------------------------------------------------------------------------------


def test_a_directory_is_searched_and_a_bad_file_ends_nothing(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub" / "b.yaml").write_text(SIMPLE)
    (tmp_path / "a.yml").write_bytes(b"\xff\xfe")
    (tmp_path / "c.lam").write_text("λx. x\n")
    (tmp_path / "compose.yml").write_text("services: {web: {image: x}}\n")
    (tmp_path / "list.yml").write_text("- a\n")
    (tmp_path / "broken.yml").write_text("a: [\n")
    (tmp_path / "slip.yml").write_text("sytemPrompt: a\n")
    (tmp_path / ".git" / "d.yml").write_text(SIMPLE)
    (tmp_path / "notes.txt").write_text("x")
    found = [*sources_of([str(tmp_path), str(tmp_path / "none.yml")])]
    names = [
        Path(each.source.name if isinstance(each, Report) else each.name).name for each in found
    ]
    assert names == ["a.yml", "broken.yml", "c.lam", "slip.yml", "b.yaml", "none.yml"]
    unread = [each.findings[0].diagnostic.code for each in found if isinstance(each, Report)]
    assert unread == ["S008", "S012"]


def test_a_directory_that_is_closed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.yml").write_text(SIMPLE)
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def refuse(path: str):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    first, second = sources_of([str(tmp_path)])
    assert isinstance(first, Source)
    assert isinstance(second, Report)
    assert second.source.name == str(tmp_path / "closed")
    assert second.findings[0].diagnostic.what == "the file cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('agent "w" "p"', ["P"]),
        ("λx. (", ["P"]),
    ],
)
def test_a_text_that_is_no_program_is_not_readable(text: str, found: list[str]):
    report = lint_source(Source("a.lam", text))
    assert not report.readable
    assert [f.diagnostic.code[:1] for f in report.findings] == found


def test_agents_that_nest_deeply_are_several_configurations():
    agent: surface.Term = surface.Lam("a", "", Model(provider="openai", name="gpt-4o"))
    for _ in range(500):
        agent = surface.Guard(agent, "x", 1)
    assert len(configurations(agent)) > 1


def test_the_agent_of_a_text_is_linted_as_one_of_a_file_is(tmp_path: Path):
    text = """\
type: router
systemPrompt: d
model: {provider: openai, name: gpt-4o-mini, temperature: 2}
router:
  classifier: {prompt: p}
  routes:
    a: {type: react, systemPrompt: s, react: {maxSteps: 60}, mcp: {localTools: [look]}}
    b: {type: chain, chain: {steps: [{name: w, prompt: q, guard: {validator: 'False'}}]}}
memory: {size: 0, ttl: 0}
"""
    path = tmp_path / "agent.yml"
    path.write_text(text)
    lam = print_agent(from_config(path))
    report = lint_source(Source("agent.lam", lam))
    assert {f.diagnostic.code for f in report.findings} >= {
        *("L004", "L007", "L008", "L009", "L010", "L013", "L015", "L017"),
    }
    assert report.structure == "Memory(Route({a, b}), local)"


def test_agents_inside_agents_are_linted_however_deep_they_are():
    depth = 2_000
    call = 'Guard(λx. LLM_{gpt-4o, "p", w}(x), {x | False}, retry=1, fallback=last)'
    report = lint_source(Source("a.lam", "PAR(" * depth + call + ")" * depth))
    assert report.readable
    assert "L017" in {f.diagnostic.code for f in report.findings}


def test_what_sums_up_for_a_memory_is_linted_too():
    memory = surface.Memory(surface.Lam("a", "p"), summary=surface.Lam("sum", ""))
    assert [each.get("systemPrompt") for each in configurations(memory)] == ["p", ""]
