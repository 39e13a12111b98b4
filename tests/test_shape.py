"""Small tests that guard the whole: size, names, imports, what the docs must mention."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lambdagent"
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = [path for top in ("lambdagent", "tests", "bench") for path in (ROOT / top).rglob("*.py")]

# SDKs, the library for terminals, and the parser of the λ syntax, which agent files do without.
SLOW_TO_IMPORT = {
    *("anthropic", "httpx", "httpx2", "lark", "mcp", "openai", "prompt_toolkit", "redis"),
}
BANNED_NAMES = {"deepcopy", "pickle", "singledispatch", "singledispatchmethod"}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8"), relative(path)))


def kept_files() -> list[Path]:
    """The files that git keeps, or would keep after `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_no_module_is_longer_than_500_lines():
    lengths = {relative(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in lengths.items() if lines > 500} == {}


# --- names ---------------------------------------------------------------------------------------


def exported(path: Path) -> list[str] | None:
    """Return the names of `__all__`, or None if there is none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(import_module(module_name(path)).__all__)
    return None


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def defined(path: Path) -> set[str]:
    """Return the public names of a module; those of a package are also what it imports from us."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            case ast.ImportFrom(module=str(module), names=aliases):
                if path.name == "__init__.py" and module.startswith("lambdagent"):
                    names |= {alias.asname or alias.name for alias in aliases}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_all_lists_each_public_name_once(path: Path):
    names = exported(path)
    if names is None:
        return
    assert len(set(names)) == len(names)
    if "__getattr__" in {getattr(node, "name", "") for node in nodes(path)}:
        module = import_module(module_name(path))  # names loaded on first use: they must exist
        assert [name for name in names if not hasattr(module, name)] == []
    else:
        assert {name for name in names if not name.startswith("__")} == defined(path)


# --- imports -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import lambdagent",
        "import lambdagent.cli.main",
        "command('version')",
        "command('compile', 'examples/react.yml')",
        "command('lambda', 'examples/react.yml')",
        "command('lint', 'examples/react.yml')",
        "command('new', 'react', '--output', '-')",
    ],
)
def test_no_sdk_is_loaded_before_a_run(code: str):
    program = f"""
import sys
def command(*words):
    from lambdagent.cli.main import entry
    sys.argv = ["lambdagent", *words]
    try:
        entry()
    except SystemExit as end:
        assert not end.code, end.code
{code}
sys.stdout.flush()
loaded = {SLOW_TO_IMPORT!r} & set(sys.modules)
assert not loaded, sorted(loaded)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Direct style has no states: its text is written line by line, its run counts as it goes.
STATELESS = {"direct.py", "direct_text.py", "recursive.py"}


def test_the_machine_assigns_to_no_attribute():
    stores = [
        f"{relative(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in (PACKAGE / "machine").rglob("*.py")
        if path.name not in STATELESS
        for node in nodes(path)
        if (isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Name | ast.Attribute) and is_setattr(node))
    ]
    assert stores == []


def is_setattr(node: ast.Name | ast.Attribute) -> bool:
    return (node.id if isinstance(node, ast.Name) else node.attr) in {"__setattr__", "setattr"}


def test_nothing_pickles_copies_deeply_or_dispatches_by_annotation():
    uses = [
        f"{relative(path)}:{getattr(node, 'lineno', '')}"
        for path in SOURCES
        for node in nodes(path)
        if names_of(node) & BANNED_NAMES
    ]
    assert uses == []


def names_of(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case ast.ImportFrom(module=str(module)):
            return {module, *(alias.name for alias in node.names)}
        case ast.Import():
            return {alias.name for alias in node.names}
    return set()


# --- texts ---------------------------------------------------------------------------------------


def test_each_cited_note_exists():
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    notes = set(re.findall(r"^ *# Note \[([^\]]+)\]", text, re.MULTILINE))
    flat = re.sub(r"\s*\n\s*#?\s*", " ", text)  # a citation may run over the end of a line
    assert set(re.findall(r"See Note \[([^\]]+)\]", flat)) - notes == set()


def test_no_file_names_a_path_of_one_machine():
    machine_path = re.compile(rb"(?<![\w.-])/(?:work|root|farm)/")
    found = [relative(path) for path in kept_files() if machine_path.search(path.read_bytes())]
    assert found == []


def test_ci_runs_the_test_command_of_the_readme():
    command = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert command.endswith("make check")
    assert command in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


def test_each_error_code_is_documented():
    codes = set(import_module("lambdagent.messages.english").MESSAGES)
    assert codes
    assert codes - set(re.findall(r"\b[A-Z]\d{3}\b", page("errors.md"))) == set()


def test_each_error_code_is_used():
    codes = set(import_module("lambdagent.messages.english").MESSAGES)
    used = [
        path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if PACKAGE / "messages" not in path.parents
    ]
    assert codes - set(re.findall(r"\"([A-Z]\d{3})\"", "\n".join(used))) == set()


def test_each_command_is_documented():
    commands = set(import_module("lambdagent.cli.main").COMMANDS)
    assert commands
    assert commands - set(re.findall(r"lambdagent ([a-z-]+)", page("cli.md"))) == set()


def test_each_lint_rule_is_documented():
    rules = {rule.code for rule in import_module("lambdagent.frontend.lint.table").RULES}
    assert rules
    assert rules - set(re.findall(r"^### (L\d{3})$", page("lint.md"), re.MULTILINE)) == set()


def test_each_field_is_documented():
    fields = set(import_module("lambdagent.frontend.schema.paths").FIELDS)
    assert fields
    assert fields - set(re.findall(r"`([\w.\[\]-]+)`", page("yaml.md"))) == set()


def test_the_stub_of_the_package_says_where_each_public_name_is():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    told = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    package = import_module("lambdagent")
    assert told == {name: f"lambdagent.{home}.{name}" for name, home in package._HOME_OF.items()}
