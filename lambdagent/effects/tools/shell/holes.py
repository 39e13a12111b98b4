"""Where the input may stand in a command: only where it is data, for sure.

In goes one command with `HOLE` for the input, out comes why it is refused, if it is. The rule is
turned round: near a program that runs what its words say, the input is refused unless it is a
whole word behind the script of a shell or an interpreter whose options are known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lambdagent.effects.tools.shell.programs import (
    INTERPRETERS,
    RUNNERS,
    SHELLS,
    WRAPPERS,
    Call,
    base_name,
    interpreter_call,
    names,
    shell_call,
)
from lambdagent.effects.tools.shell.words import (
    ASSIGNMENT,
    HOLE,
    VARIABLE,
    RefusedError,
    Script,
    without_prefix,
)
from lambdagent.messages import phrase

# They run none of their words, so short options and words such as `sh` are no sign of it.
_HARMLESS = names(
    "basename cat cd chmod comm cp curl cut date diff dirname echo egrep false fgrep file"
    " grep head ln ls md5sum mkdir mv printf pwd readlink realpath rg rm rmdir"
    " seq sha256sum sleep sort"
    " stat tail test touch tr true uniq wc wget which ["
)

# Builtins that evaluate their words; the second set leaves what is assigned alone.
_EVALUATES = names(
    ". [[ alias bind compgen complete declare enable fc getopts hash let mapfile read readarray"
    " source trap typeset"
)
_ASSIGNS = frozenset({"export", "local", "readonly", "unset"})
_FILLS = {"getopts": "OPTARG", "read": "REPLY", "mapfile": "MAPFILE", "readarray": "MAPFILE"}

# Variables that a shell, a loader or some well-known program obeys.
_OBEYED = re.compile(
    r"(?:PATH|IFS|ENV|BASH_ENV|SHELL|SHELLOPTS|HOME|CDPATH|PS\d|_JAVA_OPTIONS|(?:LD|DYLD|GIT|PERL\d?"
    r"|PYTHON|RUBY|NODE|LUA|LESS|GCONV|XDG|npm)_?\w*|\w*(?:COMMAND|OPTS|OPTIONS|FLAGS|PAGER|EDITOR"
    r"|VISUAL|BROWSER|ASKPASS|_SHELL|RSH|SSH|_PATH|_PRELOAD|RC|STARTUP))\+?="
)

_CODE_CLUSTER = r"-[A-Za-z]*[ceErS]"
_MORE_CODE = {"git": "xO", "man": "PH", "rsync": "e", "tar": "FI", "test": "v", "printf": "v"}
_MORE_CODE |= {"[": "v", "scp": "oF", "sftp": "oF", "wget": "e", "zip": "T"}
_CODE_PIECES = names(
    "action alias askpass cmd code command config editor eval exec execute expr expression hook"
    " init import pack pager plugin pre preload program rcfile require rsh run script shell split"
)
_GIT_RUNS = frozenset({"bisect", "config", "difftool", "filter-branch", "foreach", "mergetool"})
FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def read_script(text: str, tainted: frozenset[str]) -> Script:
    """Return the script `text`, with all variables followed that the input is put into."""
    tainted |= {VARIABLE}
    while True:
        script = Script(text, tainted)
        _refuse_obeyed(script)
        more = tainted | _filled(script)
        if more == tainted:
            return script
        tainted = more


def tainted_within(script: Script, text: str, tainted: frozenset[str]) -> frozenset[str]:
    """Return which variables hold the input in scripts that stand in the words of `script`."""
    tainted |= _filled(script)
    return tainted | {"@"} if "{}" in text and script.has_holes else tainted


def _refuse_obeyed(script: Script) -> None:
    for command in script.commands:
        for word in command.words:
            if HOLE in word and _OBEYED.match(word):
                raise RefusedError(phrase("`{word}` would be the input", word=word.split("=")[0]))


def _filled(script: Script) -> frozenset[str]:
    """Return the variables that commands of a script put the input into."""
    found: set[str] = set()
    functions = {
        command.words[0]
        for command in script.commands
        if command.words and re.search(rf"{re.escape(command.words[0])}\s*\(", script.text)
    }
    functions |= set(re.findall(r"function\s+([\w.-]+)", script.text))
    for command in script.commands:
        holes = [word for word in command.words if HOLE in word]
        found |= {word.split("=")[0].rstrip("+") for word in holes if ASSIGNMENT.match(word)}
        words = without_prefix(command.words)
        for builtin in _FILLS.keys() & set(words):
            found |= {_FILLS[builtin], *words[words.index(builtin) + 1 :]}
        if "for" in command.words and "in" not in command.words:  # over the positional ones
            found |= {*command.words[command.words.index("for") + 1 :][:1]}
        if holes and words:
            found |= _filled_by(words, functions)
    return frozenset(found)


def _filled_by(words: Sequence[str], functions: set[str]) -> set[str]:
    found = set()
    if words[0] in {"for", "select"}:
        found.add(words[1])
    if "-v" in words[:-1]:
        found.add(words[words.index("-v") + 1])
    if "set" in words or not functions.isdisjoint(words):
        found.add("@")
    return found


def refuse_code(words: Sequence[str], tainted: frozenset[str], *, wrapped: bool) -> None:
    """Refuse a command that would read the input as code.

    Args:
        words: Its name and the rest.
        tainted: The variables that hold the input.
        wrapped: Whether it is run by another one, so that its name is less certain.

    Raises:
        RefusedError: It has a `HOLE` where that is not for sure data.
    """
    name = base_name(words[0])
    if name in {"[[", "let"} and not tainted.isdisjoint(re.findall(r"\w+", " ".join(words[1:]))):
        raise _read_as_code(name)
    holes = [at for at, word in enumerate(words) if HOLE in word]
    if not holes:
        return
    if name in _EVALUATES or name in _ASSIGNS:
        _refuse_evaluated(name, words[1:])
    elif name in RUNNERS or name not in WRAPPERS:
        call = _call(name, words[1:])
        for at in holes:
            if call is None:
                _refuse_near_code(name, words, at, wrapped=wrapped)
            elif not _is_data(call, words[at], at - 1):
                raise _read_as_code(name)


def _call(name: str, words: Sequence[str]) -> Call | None:
    if name in SHELLS:
        return shell_call(words)
    return interpreter_call(name, words) if name in INTERPRETERS else None


def _is_data(call: Call, word: str, at: int) -> bool:
    behind = call.data_from is not None and at >= call.data_from
    return word == HOLE and (behind or at in call.values)


def _refuse_evaluated(name: str, words: Sequence[str]) -> None:
    for word in words:
        if HOLE in word and (name in _EVALUATES or not ASSIGNMENT.match(word)):
            raise _read_as_code(name)


def _refuse_near_code(name: str, words: Sequence[str], at: int, *, wrapped: bool) -> None:
    """Refuse a hole behind the name of a program that runs code, or an option that takes it."""
    if name == "find" and not FIND_ACTIONS.isdisjoint(words[:at]):
        return  # what it runs is looked at by itself
    earlier, word = words[at - 1], words[at]
    option = word if word.startswith("-") else earlier
    if option.startswith("--") and (option is word or "=" not in option):
        pieces = option[2:].split("=")[0].split(HOLE)[0].split("-")
        if not _CODE_PIECES.isdisjoint(pieces):
            raise _read_as_code(option.split("=")[0].replace(HOLE, "{}"))
    certain = name in _HARMLESS and not wrapped
    letters = _MORE_CODE.get(name, "")
    cluster = rf"-[A-Za-z]*[{letters}]" if letters else _CODE_CLUSTER
    patterns = ([] if certain or name == "find" else [_CODE_CLUSTER]) + (
        [cluster] if letters else []
    )
    for pattern in patterns:
        if re.fullmatch(pattern, earlier) or re.match(pattern, word.split(HOLE)[0]):
            raise _read_as_code(f"{name} {option.split(HOLE)[0]}".rstrip())
    if not certain:
        _refuse_behind_runner(name, words, at)


def _refuse_behind_runner(name: str, words: Sequence[str], at: int) -> None:
    around = [*words[:at], *words[at].split(HOLE)[0].split()]
    for each in map(base_name, around):
        if each in SHELLS | INTERPRETERS | RUNNERS or (name == "git" and each in _GIT_RUNS):
            raise _read_as_code(each)


def _read_as_code(name: str) -> RefusedError:
    return RefusedError(phrase("`{name}` could read the input as code", name=name))
