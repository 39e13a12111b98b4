"""A shell script as its simple commands, and the template in it as a script that is safe to run.

In goes the text of a script, out come the commands with their quotes removed, and the script with
each ``{}`` replaced by a reference to a shell variable. The input is never part of a script: no
shell reads the value of a variable as code, whatever stands in it.

Source: POSIX.1-2024, Shell Command Language, section 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from lambdagent.messages import phrase

HOLE = "\0"  # stands for the input in the words of a command
VARIABLE = "lambdagent_input"

_MAX_DEPTH = 8
_RESERVED = frozenset(["!", "{", "if", "then", "elif", "else", "while", "until", "do"])
ASSIGNMENT = re.compile(r"\w+\+?=")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*])")
_EVALUATED = re.compile(r"^\$\{!|\[|:[^-=?+]")  # indirect, a subscript, an offset
_NAME = re.compile(r"[A-Za-z_]\w*")
_POSITIONAL = re.compile(r"\$\{?[#!]?[0-9@*]")
_OPERATOR = re.compile(r"&&|\|\||;;|\|&|[;|&]")
_REDIRECTION = re.compile(r"\d*(?:<<-|<<<|<<|<>|<&|>&|>>|>\||<|>)|&>>|&>")
_END_OF_WORD = frozenset(" \t\n;|&()<>")
_REFERENCE = "${" + VARIABLE + "}"


class RefusedError(Exception):
    """The script is not run; the text says why."""


@attrs.frozen
class Command:
    """One simple command.

    Attributes:
        words: Without quotes; expansions stand in them as written, `HOLE` for the input.
        fed: Whether it reads a pipe, a here-document or a here-string.
        targets: The files that its output goes to.
        sources: The files that its input comes from.
    """

    words: tuple[str, ...]
    fed: bool
    targets: tuple[str, ...]
    sources: tuple[str, ...]


@attrs.define
class _Draft:
    words: list[str] = attrs.field(factory=list)
    targets: list[str] = attrs.field(factory=list)
    sources: list[str] = attrs.field(factory=list)
    fed: bool = False


@attrs.frozen
class _Document:
    """A here-document whose body is yet to come."""

    delimiter: str
    quoted: bool  # nothing in the body is expanded
    indented: bool  # tabs before the delimiter do not count


def without_prefix(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words from the name of the command on."""
    at = 0
    while at < len(words):
        if words[at] == "function" or (words[at] == "coproc" and "{" in words[at + 2 : at + 3]):
            at += 2
        elif words[at] in {"for", "select"} and "do" in words[at + 2 : at + 3]:
            at += 3
        elif words[at] in _RESERVED or words[at] == "coproc" or ASSIGNMENT.match(words[at]):
            at += 1
        else:
            break
    return tuple(words[at:])


class Script:
    """The commands of a script, those inside substitutions included.

    Attributes:
        text: As it was given.
        commands: In the order in which they end.
        safe: The script with references in place of ``{}``.
        has_holes: Whether there is a ``{}``.
    """

    def __init__(self, text: str, tainted: frozenset[str] = frozenset()) -> None:
        """Read `text`.

        Args:
            text: A script, with ``{}`` where the input goes.
            tainted: Variables that hold the input, ``@`` for the positional ones; a reference to
                one becomes a `HOLE` in the words.

        Raises:
            RefusedError: It is no script, or a ``{}`` stands where no reference can.
        """
        if HOLE in text:
            raise RefusedError(phrase("it holds a null character"))
        self.commands: list[Command] = []
        self.text = text
        self._at = 0
        self._depth = 0
        self._out: list[str] = []
        self._draft = _Draft()
        self._tainted = tainted
        self._documents: list[_Document] = []
        self._holes = 0
        self._references = 0  # to tainted variables
        self._fixed = 0  # how many constructs around the spot cannot hold a reference
        self._read(closing=False)

    @property
    def safe(self) -> str:
        """The script with references in place of ``{}``."""
        return "".join(self._out)

    @property
    def has_holes(self) -> bool:
        """Whether there is a ``{}``."""
        return self._holes > 0

    @property
    def references(self) -> int:
        """How often a tainted variable is read."""
        return self._references

    # --- commands --------------------------------------------------------------------------------

    def _read(self, *, closing: bool) -> None:
        """Read commands to the end, or to the closing parenthesis."""
        parentheses = 0
        while self._at < len(self.text):
            char = self.text[self._at]
            if char == ")" and closing and parentheses == 0:
                break
            if char in "()":
                self._refuse_arithmetic()
                parentheses += 1 if char == "(" else -1
            self._read_one(char)
        self._end_command()

    def _read_one(self, char: str) -> None:
        if char in " \t":
            self._copy(1)
        elif char == "#":
            self._copy(self._line_end(self._at) - self._at)
        elif char == "\n":
            self._end_command()
            self._copy(1)
            self._skip_documents()
        elif char in "()":
            self._end_command()
            self._copy(1)
        elif self._is_substitution():
            self._draft.words.append(self._word())
        elif found := _REDIRECTION.match(self.text, self._at):
            self._redirect(found.group())
        elif found := _OPERATOR.match(self.text, self._at):
            self._end_command(pipes=found.group() in {"|", "|&"})
            self._copy(len(found.group()))
        else:
            self._draft.words.append(self._word())

    def _end_command(self, *, pipes: bool = False) -> None:
        draft, self._draft = self._draft, _Draft(fed=pipes)
        if draft.words or draft.targets:
            files = tuple(draft.targets), tuple(draft.sources)
            self.commands.append(Command(tuple(draft.words), draft.fed, *files))
        elif not pipes:
            self._draft.fed = draft.fed  # `… | (sh)`: what is fed is inside

    def _redirect(self, operator: str) -> None:
        self._copy(len(operator))
        while self._peek() in {" ", "\t"}:
            self._copy(1)
        start = self._at
        target = self._word()
        kind = operator.lstrip("0123456789")
        if kind == "<<<":
            self._draft.fed = True
        elif kind.startswith("<<"):
            if HOLE in target:
                raise RefusedError(phrase("`{}` names a here-document"))
            self._draft.fed = True
            quoted = any(char in self.text[start : self._at] for char in "'\"\\")
            self._documents.append(_Document(target, quoted, kind == "<<-"))
        elif ">" in kind:
            self._draft.targets.append(target)
        elif kind == "<":
            self._draft.sources.append(target)

    def _skip_documents(self) -> None:
        documents, self._documents = self._documents, []
        for document in documents:
            self._skip_document(document)

    def _skip_document(self, document: _Document) -> None:
        end, after = self._end_of(document)
        if "{}" in self.text[self._at : end]:
            raise RefusedError(phrase("`{}` stands in a here-document"))
        while self._at < end and not document.quoted:
            char = self._peek()
            if char == "\\" or self.text.startswith("$'", self._at):
                self._copy(2)
            else:
                self._expansion(char)
        if self._at > after:
            raise RefusedError(phrase("a parenthesis is not closed"))
        self._copy(after - self._at)

    def _end_of(self, document: _Document) -> tuple[int, int]:
        """Return where the body of a document ends, and where its last line does."""
        at = self._at
        while at < len(self.text):
            end = self._line_end(at)
            line = self.text[at:end]
            if (line.lstrip("\t") if document.indented else line) == document.delimiter:
                return at, min(end + 1, len(self.text))
            at = end + 1
        return len(self.text), len(self.text)

    # --- words -----------------------------------------------------------------------------------

    def _word(self) -> str:
        parts: list[str] = []
        if self._is_substitution():
            parts.append(self._copy(1) + self._nested())
        while self._at < len(self.text) and self.text[self._at] not in _END_OF_WORD:
            parts.append(self._part())
        return "".join(parts)

    def _part(self) -> str:
        char = self.text[self._at]
        if char == "'":
            return self._single()
        if char == '"':
            return self._double()
        if char == "\\":
            return self._copy(2)[1:].replace("\n", "")
        if self.text.startswith("{}", self._at):
            return self._hole(f'"{_REFERENCE}"')
        return self._expansion(char)

    def _expansion(self, char: str) -> str:
        if char == "`":
            return self._backticks()
        if char != "$":
            return self._copy(1)
        if self.text.startswith("$((", self._at):
            return self._closed_by("))", 3)
        if self.text.startswith("$(", self._at):
            return self._copy(1) + self._nested()
        if self.text.startswith("${", self._at):
            return self._closed_by("}", 2)
        if self.text.startswith("$'", self._at):
            self._fixed += 1
            word = self._copy(1) + self._single()
            self._fixed -= 1
            return word
        return self._variable()

    def _variable(self) -> str:
        found = _VARIABLE.match(self.text, self._at)
        if not found or not self._taints(found.group()):
            return self._copy(1)
        self._copy(len(found.group()))
        self._references += 1
        return HOLE

    def _taints(self, text: str) -> bool:
        """Whether a tainted variable is named in `text`, an expansion or an arithmetic one."""
        names = set(_NAME.findall(text))
        if _POSITIONAL.search(text):
            names.add("@")
        return not names.isdisjoint(self._tainted)

    def _single(self) -> str:
        end = self.text.find("'", self._at + 1)
        if end < 0:
            raise RefusedError(phrase("a quote is not closed"))
        inside = self.text[self._at + 1 : end].split("{}")
        self._at = end + 1
        self._count_holes(len(inside) - 1)
        self._out.append(f"'{_joined(inside)}'")
        return HOLE.join(inside)

    def _double(self) -> str:
        parts: list[str] = []
        self._copy(1)
        while self._peek() not in {'"', ""}:
            char = self.text[self._at]
            if char == "\\":
                escaped = self._copy(2)
                parts.append(escaped[1:] if escaped[1:] in {"$", "`", '"', "\\"} else escaped)
            elif self.text.startswith("{}", self._at):
                parts.append(self._hole(_REFERENCE))
            elif self.text.startswith("$'", self._at):
                parts.append(self._copy(2))
            else:
                parts.append(self._expansion(char))
        self._expect('"', phrase("a quote is not closed"))
        return "".join(parts)

    def _backticks(self) -> str:
        found = re.compile(r"`((?:[^`\\]++|\\.)*+)`", re.DOTALL).match(self.text, self._at)
        if not found:
            raise RefusedError(phrase("a backtick is not closed"))
        if "{}" in found.group():
            raise RefusedError(phrase("`{}` stands between backticks"))
        self._deeper()
        inner = Script(re.sub(r"\\([`\\$])", r"\1", found.group(1)), self._tainted)
        self._depth -= 1
        self.commands.extend(inner.commands)
        self._references += inner.references
        return self._copy(len(found.group())) + HOLE * bool(inner.references)

    def _nested(self) -> str:
        """Read ``( … )`` with commands in it, and return it as written; `HOLE` if it has one."""
        self._deeper()
        start, first, outer = self._at, len(self.commands), (self._draft, self._documents)
        holes = self._holes + self._references
        self._copy(1)
        self._draft, self._documents = _Draft(), []
        self._read(closing=True)
        self._draft, self._documents = outer
        self._depth -= 1
        self._expect(")", phrase("a parenthesis is not closed"))
        for command in self.commands[first:]:
            name, *words = without_prefix(command.words) or ("",)
            if name == "case" or (name == "time" and "case" in words):
                raise RefusedError(phrase("`case` stands inside a substitution"))
        has_hole = self._holes + self._references > holes
        return self.text[start : self._at] + HOLE * has_hole

    def _closed_by(self, closer: str, opened: int) -> str:
        """Read an expansion that cannot hold a reference, up to `closer`."""
        self._deeper()
        self._fixed += 1
        start = self._at
        self._copy(opened)
        while not self.text.startswith(closer, self._at):
            if self._at >= len(self.text):
                raise RefusedError(phrase("`{closer}` is missing", closer=closer))
            self._part()
        self._copy(len(closer))
        self._fixed -= 1
        self._depth -= 1
        text = self.text[start : self._at]
        if not self._taints(text):
            return text
        if closer != "}" or _EVALUATED.search(text):
            raise RefusedError(phrase("a variable with the input stands where it is evaluated"))
        self._references += 1
        return HOLE

    # --- characters ------------------------------------------------------------------------------

    def _hole(self, reference: str) -> str:
        self._count_holes(1)
        self._at += 2
        self._out.append(reference)
        return HOLE

    def _count_holes(self, number: int) -> None:
        if number and self._fixed:
            raise RefusedError(phrase("`{}` stands inside an expansion"))
        self._holes += number

    def _refuse_arithmetic(self) -> None:
        """Refuse a hole in ``((``: there a shell evaluates even what a variable holds."""
        if self.text.startswith("((", self._at):
            inside = self.text[self._at :].split("))")[0]
            if "{}" in inside or self._taints(inside):
                raise RefusedError(phrase("`{}` stands inside an expansion"))

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise RefusedError(phrase("it is nested deeper than {most} levels", most=_MAX_DEPTH))

    def _is_substitution(self) -> bool:
        return self.text.startswith(("<(", ">("), self._at)

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def _peek(self) -> str:
        return self.text[self._at : self._at + 1]

    def _expect(self, char: str, otherwise: str) -> None:
        if self._peek() != char:
            raise RefusedError(otherwise)
        self._copy(1)

    def _copy(self, number: int) -> str:
        piece = self.text[self._at : self._at + number]
        self._out.append(piece)
        self._at += number
        return piece


def _joined(inside: list[str]) -> str:
    """Return the text of single quotes with references, which stand outside them."""
    return f"'\"{_REFERENCE}\"'".join(inside)
