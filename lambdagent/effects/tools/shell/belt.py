"""Which commands are refused: a belt, not a fence.

In goes a script, out comes why it is refused, if it is. Commands are found by their words, through
wrappers such as ``sudo`` and ``sh -c``, so ``git add`` and ``--format json`` are none of them.
Whoever wants to get around this can: variables, aliases and files are not followed. It guards
against slips.

Source: specification 15.4, 16.3; design.md §2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import attrs

from lambdagent.effects.tools.shell.holes import (
    FIND_ACTIONS,
    read_script,
    refuse_code,
    tainted_within,
)
from lambdagent.effects.tools.shell.programs import (
    INTERPRETERS,
    RUNNERS,
    SHELLS,
    WRAPPERS,
    base_name,
    interpreter_call,
    is_stdin,
    shell_call,
    starts,
)
from lambdagent.effects.tools.shell.words import (
    HOLE,
    Command,
    RefusedError,
    Script,
    without_prefix,
)
from lambdagent.messages import phrase

_MAX_DEPTH = 8

_NEVER = frozenset({"dd", "format", "halt", "poweroff", "reboot", "shutdown", "wipefs"})
_SYSTEMCTL = frozenset({"halt", "kexec", "poweroff", "reboot"})
_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|md|dm-|mapper/|loop|mem\b|kmem\b|port\b)"
)
_WRITERS = frozenset({"cp", "install", "mv", "shred", "tee", "truncate"})
_BOMB = re.compile(r"([\w:.-]+)\s*\(\s*\)\s*\{[^}]*?\1\s*\|\s*\1\s*&")

_COMPUTED = re.compile(r"\$\(|`")
_LOOKUP = re.compile(r"\$\(\s*(?:which|command\s+-v|type\s+-P)\s+[\w./-]+\s*\)$")

_READS_SCRIPTS = {"env", "flock", "parallel", "ssh", "su", "watch"}  # one word may be a script
_TAKES_SCRIPT = {"flock", "runuser", "script", "su"}  # the value of `-c` is one
_LONG_SCRIPTS = ("--command=", "--split-string=")
_OPENS_SHELL = {"chroot", "nsenter", "runuser", "ssh", "su", "unshare"}  # without a command


@attrs.frozen
class _Scope:
    """Where a command stands.

    Attributes:
        depth: How many scripts and commands are around it.
        tainted: Variables that hold the input.
        poured: Whether the input may come out of a pipe or a here-document.
        from_file: Whether its standard input is a file of the user's.
        exact: Whether it is where its wrapper's command starts, or only might be.
        wrapped: Whether another command runs it.
    """

    depth: int = 0
    tainted: frozenset[str] = frozenset()
    poured: bool = False
    from_file: bool = False
    exact: bool = True
    wrapped: bool = False

    def deeper(self) -> _Scope:
        if self.depth >= _MAX_DEPTH:
            raise RefusedError(phrase("it is nested deeper than {most} levels", most=_MAX_DEPTH))
        return attrs.evolve(self, depth=self.depth + 1)


def check_command(text: str) -> Script:
    """Return the script `text`, found harmless.

    Raises:
        RefusedError: It holds a blocked command, or the input could be read as code.
    """
    return _check_script(text, _Scope())


def _check_script(text: str, scope: _Scope) -> Script:
    if _BOMB.search(text):
        raise RefusedError(phrase("it is a fork bomb"))
    script = read_script(text, scope.tainted)
    tainted = tainted_within(script, text, scope.tainted)
    has_input = script.has_holes or script.references > 0
    fed = ">(" in text or any(
        command.fed or any(HOLE in source for source in command.sources)
        for command in script.commands
    )
    poured = scope.poured or (fed and has_input)
    for command in script.commands:
        for target in command.targets:
            _refuse_device(target)
        words = without_prefix(command.words)
        if words:
            within = attrs.evolve(
                scope,
                tainted=tainted,
                poured=poured,
                from_file=_is_from_file(command),
                exact=True,
                wrapped=False,
            )
            _check(words, within)
    return script


def _is_from_file(command: Command) -> bool:
    """Whether the standard input is a file that neither the input nor a command makes."""
    return (
        bool(command.sources)
        and not any(
            HOLE in source or source.startswith(("<(", "/proc/")) or is_stdin(source)
            for source in command.sources
        )
        and not command.fed
    )


def _check(words: Sequence[str], scope: _Scope) -> None:
    if not scope.exact and HOLE in words[0]:
        return
    name, rest = _name(words[0]), words[1:]
    _check_name(name, rest)
    if scope.exact:
        refuse_code(words, scope.tainted, wrapped=scope.wrapped)
    kind = base_name(name)
    if check := _CHECKS.get(name):
        check(name, rest, scope)
    elif kind in SHELLS:
        _check_shell(name, rest, scope)
    elif kind in INTERPRETERS:
        _check_interpreter(kind, rest, scope)
    elif kind in WRAPPERS or kind in RUNNERS:
        _check_wrapper(kind, rest, scope)


def _name(word: str) -> str:
    """Return the name of a program without its folder."""
    if HOLE in word:
        raise RefusedError(phrase("the input would be the command itself"))
    if _COMPUTED.match(word) and not _LOOKUP.match(word):
        raise RefusedError(phrase("the command itself is computed"))
    return word.rsplit("/", 1)[-1]


def _check_name(name: str, words: Sequence[str]) -> None:
    blocked = name in _NEVER or name.split(".", 1)[0] in {"mkfs", "mke2fs"}
    if blocked or (name == "systemctl" and _SYSTEMCTL & set(words)):
        raise RefusedError(phrase("`{name}` is blocked", name=name))


def _check_rm(_name: str, words: Sequence[str], _scope: _Scope) -> None:
    options = _options(words)
    short = "".join(option[1:] for option in options if not option.startswith("--"))
    long = [option for option in options if len(option) > 2 and option.startswith("--")]
    recursive = "r" in short or "R" in short or any("--recursive".startswith(o) for o in long)
    force = "f" in short or any("--force".startswith(o) for o in long)
    if (recursive and force) or any(o.startswith("--no-pres") for o in long):
        raise RefusedError(phrase("`rm` with -r and -f is blocked"))


def _options(words: Sequence[str]) -> list[str]:
    end = words.index("--") if "--" in words else len(words)
    return [word for word in words[:end] if word.startswith("-") and len(word) > 1]


def _refuse_device(word: str) -> None:
    if _DEVICE.search(word):
        raise RefusedError(phrase("writing to a device is blocked"))


def _check_shell(name: str, words: Sequence[str], scope: _Scope) -> None:
    call = shell_call(words)
    if call.code is not None:
        _check_code(f"{name} -c", words[call.code] if call.code < len(words) else "", scope)
    elif call.script is not None and words[call.script].startswith("<("):
        raise RefusedError(phrase("what another command prints is run by `{name}`", name=name))
    elif call.reads_stdin and not scope.from_file:
        raise RefusedError(phrase("what `{name}` reads would be run by it", name=name))
    for word in words:
        if word.startswith("--command="):
            _check_code(name, word.partition("=")[2], scope)


def _check_writer(_name: str, words: Sequence[str], _scope: _Scope) -> None:
    for word in words:
        _refuse_device(word)


def _check_eval(name: str, words: Sequence[str], scope: _Scope) -> None:
    _check_code(name, " ".join(words), scope)


def _check_find(_name: str, words: Sequence[str], scope: _Scope) -> None:
    for at, word in enumerate(words):
        if word in FIND_ACTIONS:
            _check_rest(words[at + 1 :], scope)


def _check_source(name: str, words: Sequence[str], _scope: _Scope) -> None:
    if any(word.startswith("<(") or is_stdin(word) for word in words[:1]):
        raise RefusedError(phrase("what another command prints is run by `{name}`", name=name))


def _check_interpreter(name: str, words: Sequence[str], scope: _Scope) -> None:
    if scope.poured and not scope.from_file and interpreter_call(name, words).reads_stdin:
        raise RefusedError(phrase("the input could be a program for `{name}`", name=name))


def _check_code(name: str, code: str, scope: _Scope) -> None:
    if HOLE in code:
        raise RefusedError(phrase("`{name}` would read the input as code", name=name))
    if _COMPUTED.match(code):
        raise RefusedError(phrase("what another command prints is run by `{name}`", name=name))
    _check_script(code, scope.deeper())


def _check_wrapper(name: str, words: Sequence[str], scope: _Scope) -> None:
    for code in _scripts(name, words):
        _check_code(name, code, scope)
    if name not in WRAPPERS:
        _check_everywhere(words, scope)
        return
    for number, start in enumerate(starts(name, words)):
        exact = scope.exact and number == 0
        if exact and any(HOLE in word for word in words[:start]):
            raise RefusedError(phrase("`{name}` could read the input as code", name=name))
        within = attrs.evolve(scope, exact=exact)
        if name in {"parallel", "xargs"}:
            _check_fed_words(name, words[:start], words[start:], within)
        elif exact and start >= len(words) and _opens_shell(name, words):
            raise RefusedError(phrase("what `{name}` reads would be run by a shell", name=name))
        else:
            _check_rest(words[start:], within)


def _scripts(name: str, words: Sequence[str]) -> list[str]:
    """Return the words of a wrapper that are scripts."""
    found = []
    if name in _READS_SCRIPTS:
        found = [word for word in words if any(blank in word for blank in " \t\n;|&")]
    for at, word in enumerate(words):
        if name == "env" and word.startswith("-") and "S" in word.partition("=")[0]:
            found.append(word.partition("S")[2])
        elif name in _READS_SCRIPTS | _TAKES_SCRIPT and word.startswith(_LONG_SCRIPTS):
            found.append(word.partition("=")[2])
        elif name in _TAKES_SCRIPT and re.fullmatch(r"-[A-Za-z]*c|--command", word):
            found.extend(words[at + 1 : at + 2])
    return found


def _opens_shell(name: str, words: Sequence[str]) -> bool:
    if name in {"doas", "sudo"}:
        return any(re.fullmatch(r"-[A-Za-z]*[is]|--shell|--login", word) for word in words)
    is_code = any(re.fullmatch(r"-[A-Za-z]*c|--command(?:=.*)?", word) for word in words)
    return name in _OPENS_SHELL and not is_code


def _check_everywhere(words: Sequence[str], scope: _Scope) -> None:
    """Check a command whose own words are not known: each of them may be the one it runs."""
    for at, word in enumerate(words):
        if not word.startswith("-") and base_name(word) not in RUNNERS:
            _check_rest(words[at:], attrs.evolve(scope, exact=False))


def _check_fed_words(name: str, own: Sequence[str], words: Sequence[str], scope: _Scope) -> None:
    """Check a command whose last words are read from the standard input, or put into others."""
    if not words and name == "xargs":
        return
    marks = [mark for at, word in enumerate(own) if (mark := _mark(word, own[at + 1 : at + 2]))]
    words = [_marked(word, marks) for word in words] if marks else [*words, HOLE]
    _check_rest(words, attrs.evolve(scope, tainted=scope.tainted | {"@"}))


def _mark(word: str, following: Sequence[str]) -> str:
    """Return what an option of `xargs` says to replace by what it reads."""
    if word in {"-I", "-J"}:
        return following[0] if following else ""
    if word in {"-i", "--replace"}:
        return "{}"
    found = re.match(r"-[IiJ](.+)|--replace=(.+)", word)
    return found.group(found.lastindex or 0) if found else ""


def _marked(word: str, marks: Sequence[str]) -> str:
    for mark in marks:
        word = word.replace(mark, HOLE)
    return word


def _check_rest(words: Sequence[str], scope: _Scope) -> None:
    rest = without_prefix(words)
    if rest:
        _check(rest, attrs.evolve(scope.deeper(), wrapped=True))


_CHECKS: dict[str, Callable[[str, Sequence[str], _Scope], None]] = {
    **dict.fromkeys(_WRITERS, _check_writer),
    **dict.fromkeys([".", "source"], _check_source),
    "eval": _check_eval,
    "find": _check_find,
    "rm": _check_rm,
}
