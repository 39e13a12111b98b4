"""Which commands are refused: a belt, not a fence.

In goes a script, out comes why it is refused, if it is. Commands are found by their words, through
wrappers such as ``sudo`` and ``sh -c``, so ``git add`` and ``--format json`` are none of them.
Whoever wants to get around this can: variables, aliases and files are not followed. It guards
against slips.

Source: specification 15.4, 16.3; design.md §2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lambdagent.effects.tools.shell.words import HOLE, Command, RefusedError, Script

_MAX_DEPTH = 8

_NEVER = frozenset({"dd", "format", "halt", "poweroff", "reboot", "shutdown", "wipefs"})
_SYSTEMCTL = frozenset({"halt", "kexec", "poweroff", "reboot"})
_SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"})
_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|md|dm-|mapper/|loop|mem\b|kmem\b|port\b)"
)
_WRITERS = frozenset({"cp", "install", "mv", "shred", "tee", "truncate"})
_BOMB = re.compile(r"([\w:.-]+)\s*\(\s*\)\s*\{[^}]*?\1\s*\|\s*\1\s*&")

_RESERVED = frozenset(["!", "{", "if", "then", "elif", "else", "while", "until", "do", "time"])
_ASSIGNMENT = re.compile(r"\w+\+?=")
_COMPUTED = re.compile(r"\$\(|`")
_LOOKUP = re.compile(r"\$\(\s*(?:which|command\s+-v|type\s+-P)\s+[\w./-]+\s*\)$")

# Programs that run the rest of their words, by the short options that take a value of their own.
_WRAPPERS = {
    "builtin": "",
    "busybox": "",
    "chroot": "",
    "chrt": "TPD",
    "command": "",
    "doas": "uC",
    "env": "uCS",
    "exec": "a",
    "flock": "wEc",
    "ionice": "cnpPu",
    "nice": "n",
    "nohup": "",
    "parallel": "jnNISa",
    "setsid": "",
    "ssh": "bcDEeFIiJLlmOopQRSWw",
    "stdbuf": "ioe",
    "strace": "eopsuabX",
    "su": "cgGswT",
    "sudo": "CDghpRrTtUu",
    "taskset": "",
    "time": "of",
    "timeout": "ks",
    "unshare": "",
    "watch": "nq",
    "xargs": "adEeIiLlnPs",
}
_OWN_OPERANDS = {
    "chroot",
    "chrt",
    "flock",
    "ssh",
    "su",
    "taskset",
    "timeout",
}  # one before the command
_READS_SCRIPTS = {
    "env",
    "flock",
    "parallel",
    "ssh",
    "su",
    "watch",
}  # one word may be a whole script

# Builtins that evaluate their words; the second set leaves what is assigned alone.
_EVALUATES = frozenset({".", "[[", "alias", "declare", "let", "read", "source", "trap", "typeset"})
_ASSIGNS = frozenset({"export", "local", "readonly", "unset"})

_FIND_ACTIONS = {"-exec", "-execdir", "-ok", "-okdir"}

# Interpreters by the options whose value is code; "" stands for the first operand.
_CODE = {
    "awk": {"", "-e", "--source"},
    "gawk": {"", "-e", "--source"},
    "mawk": {"", "-e"},
    "node": {"-e", "-p", "--eval", "--print"},
    "perl": {"-e", "-E"},
    "php": {"-r"},
    "python": {"-c"},
    "ruby": {"-e"},
    "sed": {"", "-e", "--expression"},
}


def check_command(text: str, depth: int = 0) -> Script:
    """Return the script `text`, found harmless.

    Args:
        text: A script, with ``{}`` where the input goes.
        depth: How many scripts it stands in.

    Raises:
        RefusedError: It holds a blocked command, or the input would be read as code.
    """
    if depth > _MAX_DEPTH:
        raise RefusedError(f"it is nested more than {_MAX_DEPTH} levels deep")
    if _BOMB.search(text):
        raise RefusedError("it is a fork bomb")
    script = Script(text)
    for command in script.commands:
        for target in command.targets:
            _refuse_device(target)
        words = _without_prefix(command.words)
        if words:
            _check(Command(words, command.fed, ()), depth)
    return script


def _without_prefix(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words from the name of the command on."""
    start = 0
    while start < len(words) and (words[start] in _RESERVED or _ASSIGNMENT.match(words[start])):
        start += 1
    return tuple(words[start:])


def _check(command: Command, depth: int) -> None:
    name, words = _name(command.words[0]), command.words[1:]
    _check_name(name, words)
    if name == "rm":
        _check_rm(words)
    elif name in _WRITERS:
        for word in words:
            _refuse_device(word)
    elif name in _SHELLS:
        _check_shell(name, words, depth, fed=command.fed)
    elif name == "eval":
        _check_code("eval", " ".join(words), depth)
    elif name in _WRAPPERS:
        _check_wrapper(name, command, depth)
    elif name == "find":
        for action in _FIND_ACTIONS & set(words):
            _check_rest(words[words.index(action) + 1 :], depth, fed=False)
    else:
        _check_code_words(name, words)


def _name(word: str) -> str:
    """Return the name of a program without its folder."""
    if HOLE in word:
        raise RefusedError("the input would be the command itself")
    if _COMPUTED.match(word) and not _LOOKUP.match(word):
        raise RefusedError("the command itself is computed")
    return word.rsplit("/", 1)[-1]


def _check_name(name: str, words: Sequence[str]) -> None:
    blocked = name in _NEVER or name.split(".", 1)[0] in {"mkfs", "mke2fs"}
    if blocked or (name == "systemctl" and _SYSTEMCTL & set(words)):
        raise RefusedError(f"`{name}` is blocked")


def _check_rm(words: Sequence[str]) -> None:
    options = _options(words)
    short = "".join(option[1:] for option in options if not option.startswith("--"))
    long = [option for option in options if len(option) > 2 and option.startswith("--")]
    recursive = "r" in short or "R" in short or any("--recursive".startswith(o) for o in long)
    force = "f" in short or any("--force".startswith(o) for o in long)
    if (recursive and force) or any(o.startswith("--no-pres") for o in long):
        raise RefusedError("`rm` with -r and -f is blocked")


def _options(words: Sequence[str]) -> list[str]:
    end = words.index("--") if "--" in words else len(words)
    return [word for word in words[:end] if word.startswith("-") and len(word) > 1]


def _refuse_device(word: str) -> None:
    if _DEVICE.search(word):
        raise RefusedError("writing to a device is blocked")


def _check_shell(name: str, words: Sequence[str], depth: int, *, fed: bool) -> None:
    for at, word in enumerate(words):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            _check_code(f"{name} -c", words[at + 1] if at + 1 < len(words) else "", depth)
            return
        if not word.startswith(("-", "+")):
            if word.startswith("<("):
                raise RefusedError(f"what another command prints is run by `{name}`")
            if HOLE in word:
                raise RefusedError(f"the input would be a script for `{name}`")
            return
    if fed:
        raise RefusedError(f"what another command prints is run by `{name}`")


def _check_code(name: str, code: str, depth: int) -> None:
    if HOLE in code:
        raise RefusedError(f"`{name}` would read the input as code")
    if _COMPUTED.match(code):
        raise RefusedError(f"what another command prints is run by `{name}`")
    check_command(code, depth + 1)


def _check_wrapper(name: str, command: Command, depth: int) -> None:
    words = command.words[1:]
    if name in _READS_SCRIPTS:
        for word in words:
            if any(blank in word for blank in " \t\n;|&"):
                _check_code(name, word, depth)
    for start in _starts(name, words):
        fed = command.fed and name != "xargs"
        _check_rest(words[start:], depth, fed=fed)


def _check_rest(words: Sequence[str], depth: int, *, fed: bool) -> None:
    rest = _without_prefix(words)
    if rest:
        _check(Command(rest, fed, ()), depth)


def _starts(name: str, words: Sequence[str]) -> Iterator[int]:
    """Yield where the wrapped command may start: after options, their values, own operands."""
    at, operands = 0, 1 if name in _OWN_OPERANDS else 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if not word.startswith("-"):
            if _ASSIGNMENT.match(word):
                at += 1
                continue
            if operands == 0:
                break
            operands -= 1
        elif word.startswith("--"):
            if "=" not in word and at + 2 < len(words):
                yield at + 2  # if the option takes a value
        elif word[-1] in _WRAPPERS[name]:
            at += 1
        at += 1
    yield at + operands if name in _OWN_OPERANDS and operands else at


def _check_code_words(name: str, words: Sequence[str]) -> None:
    read = words if name in _EVALUATES else ()
    if name in _ASSIGNS:
        read = [word for word in words if not _ASSIGNMENT.match(word)]
    if any(HOLE in word for word in read):
        raise RefusedError(f"`{name}` would read the input as code")
    options = _CODE.get(re.sub(r"[\d.]+$", "", name))
    if options is None:
        return
    previous, operand_seen = "", False
    for word in words:
        is_code = previous in options - {""}
        if not word.startswith("-") and not operand_seen and not is_code:
            operand_seen = True
            is_code = "" in options and not (options - {""}) & set(words)
        if is_code and HOLE in word:
            raise RefusedError(f"`{name}` would read the input as code")
        previous = word
