"""What files are damaged from: agent files, files of other frameworks, recordings of runs."""

import io
import json
import tempfile
from functools import cache
from pathlib import Path

import yaml

from lambdagent.cli.main import main
from lambdagent.cli.output import Output
from tests.frontend.foreign import test_autogen, test_crewai, test_dify, test_openai_agents

ROOT = Path(__file__).resolve().parents[2]


def _agents() -> dict[str, list[str]]:
    """Return texts that compile, by ending."""
    golden = ROOT / "tests" / "golden" / "agents"
    return {
        ".yml": [
            path.read_text(encoding="utf-8")
            for place in ("examples", "tests/conformance")
            for path in sorted((ROOT / place).rglob("*.yml"))
        ],
        ".lam": [
            *(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/*.lam"))),
            *(path.read_text(encoding="utf-8") for path in sorted(golden.glob("*.lam.txt"))),
        ],
        ".json": [
            '{"lambdagent": 1, "name": "a", "core": [["lit", 1]], "sites": []}',
            '{"type": "simple", "systemPrompt": "p", "model": {"provider": "scripted"}}',
        ],
    }


AGENTS = _agents()
# Every field of an agent file, as its path.
PATHS = sorted(
    line.split("`")[1]
    for line in (ROOT / "docs" / "yaml.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| `")
)
_TEAM = test_autogen.team(
    "SelectorGroupChat", test_autogen.assistant("a"), test_autogen.assistant("b")
)
_APP = test_dify.flow(
    [test_dify.START, test_dify.classifier("x", "y"), test_dify.llm("a"), test_dify.llm("b")],
    "start choose",
    "choose c0 a",
    "choose c1 b",
)
# By framework: the name of its file, and a text that can be imported.
FOREIGN = {
    "crewai": ("agents.yaml", test_crewai.AGENTS),
    "autogen": ("team.json", json.dumps(_TEAM, indent=1)),
    "openai-agents": ("app.py", test_openai_agents.HEAD + test_openai_agents.HANDOFFS),
    "dify": ("app.yml", yaml.safe_dump(_APP, allow_unicode=True)),
}


@cache
def recordings() -> tuple[str, ...]:
    """Return the recordings of some runs; their times are made up, so that they are the same."""
    with tempfile.TemporaryDirectory() as folder:
        return tuple(
            _recorded(ROOT / "examples" / f"{name}.yml", Path(folder) / "run.json")
            for name in ("react", "parallel", "router")
        )


def _recorded(agent: Path, file: Path) -> str:
    quiet = Output(io.StringIO(), io.StringIO())
    assert main(["run", str(agent), "weather", "--trace-file", str(file)], quiet) == 0
    data = json.loads(file.read_text(encoding="utf-8"))
    data["stats"]["total_time_ms"] = 5
    for number, entry in enumerate(data["journal"]):
        times = (
            1 if entry[0] == 0 else 2
        )  # that of a request; of an answer, when it was asked, too
        entry[-times:] = [number] * times
    return json.dumps(data, ensure_ascii=False)
