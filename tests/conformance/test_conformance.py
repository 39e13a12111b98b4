"""Each folder is one behaviour: an agent, an input, and what every engine must make of it."""

import json
from pathlib import Path

import pytest

from lambdagent.api.compiling import compile_file, compile_term, from_config
from lambdagent.api.running import Session
from lambdagent.errors import LambdagentError
from lambdagent.ir.program import Program
from lambdagent.machine.engines import ENGINES, EngineName
from lambdagent.machine.values import project

ROOT = Path(__file__).parent
EXAMPLES = ROOT.parents[1] / "examples"
FOLDERS = sorted(path.name for path in ROOT.iterdir() if (path / "agent.yml").exists())
MEMORIES = {"memory": {"name": "Ada"}}

# Folders of which pure λ keeps the outcome alone, and why (semantics.md §10).
OUTCOME_ALONE = {"parallel-failure": "branches after one that fails never start"}


def outcome(folder: Path, memory: dict[str, str] | None, engine: EngineName) -> tuple[str, str]:
    """Run the agent of `folder`; return its result and its trace without times."""
    agent = from_config(folder / "agent.yml", tools=tools(folder), memory_store=memory)
    session = Session(compile_term(agent), engine=engine, clock=lambda: 1_000.0)
    try:
        text = (folder / "input.txt").read_text(encoding="utf-8")
        result = session.run(text, confirm=decisions(folder))
    except LambdagentError as error:
        return f"{type(error).__name__}: {error}", "\n".join(map(line, error.trace))
    counters = " ".join(f"{kind}={count}" for kind, count in result.counters.items())
    return result.text, "\n".join([*map(line, result.trace), counters])


def tools(folder: Path):
    uses_tools = "upper" in (folder / "agent.yml").read_text(encoding="utf-8")
    return {"upper": lambda text: text.upper()} if uses_tools else None


def decisions(folder: Path):
    """What a person says, one decision after the other, where the folder has a person."""
    path = folder / "confirm.json"
    said = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return lambda _: said.pop(0)


def line(record) -> str:
    notes = "".join(f" [{note}]" for note in record.notes)
    head = f"{record.step} {record.kind} {record.term}"
    return f"{head}: {record.input!r} -> {record.output!r}{notes}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FOLDERS)
def test_every_engine_does_what_the_folder_says(name, engine, golden):
    result, trace = outcome(ROOT / name, MEMORIES.get(name), engine)
    golden(ROOT / name / "result.txt", result)
    golden(ROOT / name / "trace.txt", trace)


def test_there_is_a_folder_for_every_type_of_agent():
    texts = [(ROOT / name / "agent.yml").read_text(encoding="utf-8") for name in FOLDERS]
    for kind in ("simple", "chain", "router", "parallel", "react"):
        assert any(text.startswith(f"type: {kind}") for text in texts)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yml")), ids=lambda path: path.stem)
def test_every_engine_comes_to_the_same_on_an_example(path):
    program = compile_file(path).program
    seen = []
    for engine in ENGINES:
        with Session(program, engine=engine, base_dir=EXAMPLES, clock=lambda: 1_000.0) as session:
            results = [session.run(text) for text in ("What is the news?", "and now")]
        seen.append([(r.value, r.counters, [line(each) for each in r.trace]) for r in results])
    assert seen[0] == seen[1] == seen[2]


def seen(program: Program, value: str, engine: EngineName) -> tuple[str, object]:
    """Run `program`; return its result or error, and its calls in canonical order, with cells."""
    session = Session(program, engine=engine, clock=lambda: 1_000.0)
    try:
        result = session.run(value).text
    except LambdagentError as error:
        result = f"{type(error).__name__}: {error}"
    exchanges = session._newest.exchanges
    done = [exchanges[key] for key in sorted(exchanges)]
    calls = [(call.site.name, project(call.argument), call.answer, call.failed) for call in done]
    return result, (calls, {cell: project(held) for cell, held in session.store.items()})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FOLDERS)
def test_the_pure_text_of_a_folder_does_the_same(name, engine, tmp_path):
    folder, own = ROOT / name, {"tools": tools(ROOT / name)}
    compiled = compile_file(folder / "agent.yml", memory_store=MEMORIES.get(name), **own)
    text = tmp_path / "pure.lam"
    text.write_text(compiled.pure().formal(sugar=False), encoding="utf-8")
    value = (folder / "input.txt").read_text(encoding="utf-8")
    before = seen(compiled.program, value, engine)
    after = seen(compile_file(text, **own).program, value, engine)
    assert after[0] == before[0]
    assert (after[1] == before[1]) is (name not in OUTCOME_ALONE)
