"""Files of other frameworks → agent files. Reads files and executes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from lambdagent.api.compiling import read_source
from lambdagent.errors import ConfigError, NoSuchFileError, finding
from lambdagent.frontend.foreign.autogen import import_team
from lambdagent.frontend.foreign.crewai import import_crew
from lambdagent.frontend.foreign.dify import import_app
from lambdagent.frontend.foreign.draft import Imported
from lambdagent.frontend.foreign.openai_agents import import_source
from lambdagent.source import Source

# Larger ones are no agents that people wrote.
MAX_BYTES: Final = 4 << 20
_AGENTS: Final = ("agents.yaml", "agents.yml")
_TASKS: Final = ("tasks.yaml", "tasks.yml")
_CODE: Final = "crew.py"


def import_agents(framework: str, path: str | Path) -> Imported:
    """Return the agent file that `path` makes, and what it lacks.

    Args:
        framework: One of `FRAMEWORKS`.
        path: A file; for ``crewai`` also a project's directory, or that of its configuration.

    Raises:
        NoSuchFileError: There is no such file.
        ConfigError: It cannot be read, or is no file of that framework.
    """
    return FRAMEWORKS[framework](Path(path))


def _crewai(path: Path) -> Imported:
    agents, tasks = _crew_files(path)
    beside = agents.parent.parent if agents.parent.name == "config" else agents.parent
    code = beside / _CODE
    return import_crew(
        _read(agents),
        None if tasks is None else _read(tasks),
        _read(code) if code.is_file() else None,
    )


def _crew_files(path: Path) -> tuple[Path, Path | None]:
    """Return agents.yaml and tasks.yaml of the crew at `path`."""
    if path.is_dir():
        folders = [path / "config", path, *sorted(path.glob("src/*/config"))]
        agents = next(filter(None, (_one_of(each, _AGENTS) for each in folders)), None)
        if agents is None:
            raise NoSuchFileError(finding("S012", path=str(path / "config" / _AGENTS[0])))
        return agents, _one_of(agents.parent, _TASKS)
    if path.name in _TASKS:
        agents = _one_of(path.parent, _AGENTS)
        if agents is None:
            raise NoSuchFileError(finding("S012", path=str(path.parent / _AGENTS[0])))
        return agents, path
    return path, _one_of(path.parent, _TASKS)


def _one_of(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _read(path: Path) -> Source:
    source = read_source(path)
    if len(source.text) > MAX_BYTES:
        raise ConfigError(finding("I014", limit=f"{MAX_BYTES >> 20} MB"), source)
    return source


FRAMEWORKS: Final[Mapping[str, Callable[[Path], Imported]]] = {
    "crewai": _crewai,
    "autogen": lambda path: import_team(_read(path)),
    "openai-agents": lambda path: import_source(_read(path)),
    "dify": lambda path: import_app(_read(path)),
}
