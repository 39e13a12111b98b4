"""What is known of programs that run what their words say: tables, and how such a call is read.

In go the words of one command, out comes which of them is code, and from which on all are data.
What is not in a table is unknown, and whoever asks refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs


def names(text: str) -> frozenset[str]:
    """Return the words of `text`."""
    return frozenset(text.split())


SHELLS = names(
    "ash bash csh dash elvish fish hush ksh lksh mksh nu oksh pdksh posh powershell pwsh rbash"
    " rksh rzsh sh tcsh xonsh yash zsh"
)

INTERPRETERS = names(
    "R Rscript awk bun clisp clojure dc deno duckdb ed elixir emacs erl ex expect gawk gdb ghc"
    " ghci gjs gnuplot gojq groovy gsed guile ipython irb isql janet jq julia jshell lldb"
    " lua luajit m4"
    " make mariadb mawk mongo mongosh mysql nawk node nodejs nvim ocaml octave osascript perl php"
    " psql pypy python racket raku ruby runghc sbcl scala sed sqlcmd sqlite ssed tclsh ts-node vi"
    " vim wish yq"
)

# Programs that hand their words to a shell, to another machine or into a container.
RUNNERS = names(
    "adb ansible at batch buildah chroot crontab ctr distrobox docker docker-compose firejail"
    " flatpak flock gmake incus kubectl lxc machinectl mosh nerdctl nix-shell nsenter oc parallel"
    " pdsh podman proot rsh runuser screen script setpriv ssh sshpass su systemd-run tmux toolbox"
    " unshare vagrant watch xargs"
)

# Programs that run the rest of their words, by the short options that take a value of their own.
WRAPPERS = {
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
    "xargs": "adEIJLnPs",
}
_OWN_OPERANDS = {
    "chroot",
    "chrt",
    "flock",
    "ssh",
    "su",
    "taskset",
    "timeout",
}  # before the command
_LONG_VALUES = names(
    "adjustment chdir chroot class classdata close-from group host kill-after max-args max-lines"
    " max-procs other-user prompt role signal type unset user"
)

_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


def base_name(word: str) -> str:
    """Return the name of a program without its folder and version."""
    if word in {"$BASH", "$SHELL", "${BASH}", "${SHELL}"}:
        return "sh"
    name = word.rsplit("/", 1)[-1].removesuffix(".exe")
    return re.sub(r"[-.\d]+$", "", name) or name


def is_stdin(word: str) -> bool:
    """Whether a file name stands for the standard input."""
    return word in _STDIN


@attrs.frozen
class Call:
    """How a shell or an interpreter is called; numbers count its words, the name left out.

    Attributes:
        code: Where a shell's script stands, if in a word.
        script: Where a program's file stands.
        data_from: From where on all words are data; None where that is not certain.
        values: Further words that are data.
        reads_stdin: Whether the program is read from there.
    """

    code: int | None = None
    script: int | None = None
    data_from: int | None = None
    values: frozenset[int] = frozenset()
    reads_stdin: bool = False


def shell_call(words: Sequence[str]) -> Call:
    """Return how a shell is called with `words`."""
    at, letters, certain = 0, "", True
    while at < len(words) and words[at][:1] in {"-", "+"} and words[at] not in {"-", "--"}:
        word = words[at]
        if word in {"--rcfile", "--init-file"}:
            at += 1
        elif word in {"--command", "--version", "--help"}:
            letters += "c" if word == "--command" else "V"
        elif word.startswith("--"):
            certain = certain and "=" not in word
        else:
            letters += word[1:] if word[0] == "-" else ""
            at += sum(letter in "oO" for letter in word[1:])
        at += 1
    at += at < len(words) and words[at] in {"-", "--"}
    data_from = at + 1 if certain else None
    if "c" in letters:
        return Call(code=at, data_from=data_from)
    if "s" in letters or at >= len(words) or is_stdin(words[at]):
        return Call(data_from=data_from, reads_stdin="V" not in letters)
    return Call(script=at, data_from=data_from)


@attrs.frozen
class _Language:
    """How an interpreter reads its options; each string lists short ones.

    Attributes:
        flags: Without a value.
        valued: With a value that is data, or is the user's own.
        code: Whose value is the program.
        files: Whose value names the file of the program.
        after_code: What holds once an option gave the program: the rest is ``data``; it is
            ``options`` until an operand; or it is ``unsafe``.
        permutes: Whether options may follow operands.
    """

    flags: str = ""
    valued: str = ""
    code: str = ""
    files: str = ""
    after_code: str = "unsafe"
    permutes: bool = False


_AWK = _Language("", "Fv", "e", "f", "options")
_SED = _Language("nErsuzi", "l", "e", "f", "options", permutes=True)
_NODE = _Language("", "r", "ep")
_PYTHON = _Language("bBdEhiIOPqRsSuvVx", "WX", "cm", after_code="data")
_LANGUAGES = {
    **dict.fromkeys(["awk", "gawk", "mawk", "nawk"], _AWK),
    **dict.fromkeys(["sed", "gsed", "ssed"], _SED),
    **dict.fromkeys(["node", "nodejs"], _NODE),
    **dict.fromkeys(["python", "pypy"], _PYTHON),
    "jq": _Language("nrRsSceaMCj", "L", "", "f", "options"),
    "lua": _Language("iEW", "l", "e"),
    # The operands of `perl -n` may be commands, and those after `-e` options: never safe.
    "perl": _Language("acghlnpstTuUwWXS0123456789", "CDFIiMmVx", "eE"),
    "php": _Language("nq", "cd", "rBRE", "fF"),
    "ruby": _Language("acghlnpswWS0123456789", "CEFIiKrTx", "e"),
    "tclsh": _Language(),
}
_LONG_FLAGS = names(
    "--compact-output --null-data --null-input --posix --quiet --raw-input --raw-output"
    " --regexp-extended --sandbox --separate --silent --slurp --sort-keys"
)
_LONG_CODE = names("--eval --expression --file --from-file --print --source")
_JQ_PAIRS = {"--arg", "--argjson"}


def interpreter_call(name: str, words: Sequence[str]) -> Call:
    """Return how the interpreter `name` is called with `words`."""
    language = _LANGUAGES.get(name)
    if language is None:
        return Call(reads_stdin=True)
    return _Reading(name, language, words).call()


class _Reading:
    """Reads the words of an interpreter from the left."""

    def __init__(self, name: str, language: _Language, words: Sequence[str]) -> None:
        self._name, self._language, self._words = name, language, words
        self._at = 0
        self._values: set[int] = set()
        self._given = False  # an option gave the program
        self._certain = True
        self._stdin = False

    def call(self) -> Call:
        while self._at < len(self._words) and self._words[self._at][:1] == "-":
            word = self._words[self._at]
            if word in {"-", "--"}:
                break
            if word.startswith("--"):
                self._long(word)
            else:
                self._cluster(word)
            self._at += 1
            if self._given and self._language.after_code == "data":
                return self._rest(self._at)
        return self._operands()

    def _long(self, word: str) -> None:
        if self._name == "jq" and word in _JQ_PAIRS:
            self._at += 2
            self._values.add(self._at)
        elif word.partition("=")[0] in _LONG_CODE:
            self._given = True
            self._value(word.partition("=")[2])
        elif "=" not in word and word not in _LONG_FLAGS:
            self._certain = False

    def _cluster(self, word: str) -> None:
        for place, letter in enumerate(word[1:], 2):
            if letter in self._language.code + self._language.files:
                self._given = True
                value = self._value(word[place:])
                self._stdin |= letter in self._language.files and is_stdin(value)
                return
            if letter in self._language.valued:
                if self._name not in {"perl", "ruby"} or letter in "CIMm":
                    self._value(word[place:])
                return
            if letter not in self._language.flags:
                self._certain = False

    def _value(self, glued: str) -> str:
        if glued:
            return glued
        self._at += 1
        return self._words[self._at] if self._at < len(self._words) else ""

    def _operands(self) -> Call:
        at, words = self._at, self._words
        dashes = at < len(words) and words[at] == "--"
        at += dashes
        if self._language.permutes and not dashes:
            later = words[at:].index("--") + at + 1 if "--" in words[at:] else None
            return self._rest(later)
        if self._given:
            unsafe = self._language.after_code == "unsafe"
            return self._rest(None if unsafe else at + (not dashes))
        script = None if self._language.after_code == "options" else at
        if script is not None and (script >= len(words) or is_stdin(words[script])):
            self._stdin = True
        return self._rest(at + 1, script)

    def _rest(self, data_from: int | None, script: int | None = None) -> Call:
        if not self._certain:
            data_from = None
        return Call(None, script, data_from, frozenset(self._values), self._stdin)


def starts(name: str, words: Sequence[str]) -> Iterator[int]:
    """Yield where the command that `name` wraps may start, the likeliest place first."""
    own = 1 if name in _OWN_OPERANDS else 0
    waiting, seen = [(0, own)], set()
    while waiting:
        at, operands = place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        following = list(_after(name, words, at, operands))
        if following:
            waiting.extend(reversed(following))
        elif at <= len(words):
            yield at


def _after(name: str, words: Sequence[str], at: int, operands: int) -> Iterator[tuple[int, int]]:
    """Yield where reading goes on behind one word, if that is not yet the wrapped command."""
    word = words[at] if at < len(words) else ""
    if word == "--" and operands >= 0:
        yield at + 1 + max(operands, 0), -1
    elif operands < 0 or not word:
        return
    elif word.startswith("--"):
        takes_value = word[2:] in _LONG_VALUES
        yield at + 1 + takes_value, operands
        if "=" not in word:
            yield at + 1 + (not takes_value), operands
    elif word.startswith("-"):
        letters = [letter in WRAPPERS[name] for letter in word[1:]]
        yield at + 1 + (True in letters and letters.index(True) == len(letters) - 1), operands
    elif re.match(r"\w+\+?=", word):
        yield at + 1, operands
    elif operands:
        yield at + 1, operands - 1
