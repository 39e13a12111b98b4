"""Files as nobody should write them: valid, nearly valid, binary, huge, deeply nested, bombs.

Each comes from its number alone, and so does the command that reads it, so that a file that does
harm can be made again.
"""

import random
import re
import string
from collections.abc import Callable
from typing import NamedTuple

from tests.fuzz.corpus import AGENTS, FOREIGN, PATHS, recordings


class File(NamedTuple):
    """What a command reads: a name, whose ending says how it is read, and bytes.

    Attributes:
        before: The command, and what stands before the name of the file.
        after: Its options.
    """

    name: str
    data: bytes
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def argv(self, path: str) -> list[str]:
        """Return the command line for the file at `path`."""
        return [*self.before, path, *self.after]


_TYPES = ("simple", "react", "chain", "router", "parallel", "groupchat", "simpel", "", "null")
# fmt: off
_SCALARS = (
    "null", "~", "true", "no", "0", "-1", "1e999", "-0.0", ".nan", ".inf", "0x1F", "1_000",
    "9" * 400, "1." + "0" * 400, "2024-01-01", "12:30:45", "''", '""', "' '", '"\\u0000"',
    "!!python/object:os.system x", "!!binary aGk=", "!!int x", "*a", "&a", "&a [*a]", "[", "]",
    "{", "}", "[,]", "{,}", "? a", "- - -", "|", ">", "|9", "%", "@", "`", "${", "${HOME}",
    "${A:-", "$${", "{a: {b: {c: []}}}", "<<", "{<<: 1}", "{<<: [1, 2]}", "[1, {a: b}, null]",
    '"\\ud800"', "🙂", "\u202e", "é" * 90, "x" * 20_000, "scripted", "openai", "gpt-4o",
    "len(x) > 3", "9 ** 9 ** 9", "(" * 90, "x" * 3000, "re.search('(a+)+$', x)", "lambda: 0",
    "[y for y in x for z in x]", "__import__('os')", "x.__class__", "'%1000000d' % 1", "x[::-1]",
    "(a+)+$", "(?P<a>(?P=a))", "[a-", "a{99999}", "(?i:(?i:" * 50, "\\",
)
_LEXEMES = (
    "λx. ", "\\x. ", "(", ")", "[", "]", "{", "}", "⟨", "⟩", "x", "f", "self", "Y[3]", "Y", ".",
    ",", ";", "=", "let ", " in ", "if ", " then ", " else ", "case ", " of ", "⇒", "where ", "3",
    '"t"', "`n`", "^0", "@a.b ", "llm.a", "tool.b", "par[2]", "guard[1]", "church[9]", ">>", "++",
    "::", "PAR(", "Guard(", "Memory(", "Truth(", "LLM_{", "CASE ", "IF ", "THEN ", "ELSE ",
    "Γ ∪ local", "Yₙ", "Y₂₀", "-", "|", "#", "--", '"', "`", "\n", "0xff", "1e9", "true", "null",
    "site[", "_",
)
_PIECES = (
    "", " ", "\n", ":", "{", "}", "[", "]", '"', "'", "\t", "\0", "&a ", "*a", "<<: *a", "!!x ",
    "0", "- ", "null", "\ud7ff", "\\ud800", "(", ")", "=", "#", "é", "9" * 30, "true", "{}", "[]",
)
_NUMBERS = ("-1", "0", "1", "7", "9" * 25, "1e9", "null", '""', "[]", "{}", "true", "[[0]]")
_VIEWS = (
    (), ("--level", "beta"), ("--level", "machine"), ("--format", "json"), ("--stats",),
    ("--check",), ("--timeline",), ("--flamegraph",), ("--step", "1"), ("--filter", "t*"),
)
_FORMATS = ("text", "json", "python", "sarif", "github")
# What is done with an agent file, and how often.
_USES: dict[tuple[str, ...], int] = {
    **{("compile", "--format", form): 3 for form in _FORMATS},
    ("compile", "--bounds"): 1,
    ("compile", "--validate"): 2,
    **{("lint", "--format", form): 1 for form in _FORMATS if form != "python"},
    ("lint", "--fix"): 3,
    ("lint", "--fix", "--diff"): 1,
    ("lambda",): 2,
}
# fmt: on


def _text(pick: random.Random) -> tuple[str, str]:
    """Return a text that compiles, and its ending."""
    ending = pick.choices(list(AGENTS), weights=(6, 3, 1))[0]
    return pick.choice(AGENTS[ending]), ending


def _valid(pick: random.Random) -> File:
    text, ending = _text(pick)
    return File(f"a{ending}", text.encode())


def _lines_changed(pick: random.Random) -> File:
    """Lines are gone, twice there, elsewhere, or further in."""
    text, ending = _text(pick)
    lines = text.split("\n")
    for _ in range(pick.randint(1, 6)):
        at = pick.randrange(len(lines))
        match pick.randrange(6):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                lines.insert(at, lines.pop(pick.randrange(len(lines))))
            case 3:
                lines[at] = " " * pick.randint(1, 3) + lines[at]
            case 4:
                lines[at] = lines[at].lstrip()
            case _:
                lines[at] = "\t" + lines[at]
        lines = lines or [""]
    return File(f"a{ending}", "\n".join(lines).encode())


def _values_changed(pick: random.Random) -> File:
    """Other values stand behind some keys."""
    lines = pick.choice(AGENTS[".yml"]).split("\n")
    for _ in range(pick.randint(1, 5)):
        at = pick.randrange(len(lines))
        key, colon, _rest = lines[at].partition(":")
        if colon:
            lines[at] = f"{key}: {pick.choice(_SCALARS)}"
    return File("a.yml", "\n".join(lines).encode())


def _characters_changed(pick: random.Random) -> File:
    """Some characters are gone, others, or more."""
    text, ending = _text(pick)
    characters = [*text]
    for _ in range(pick.randint(1, 12)):
        at = pick.randrange(len(characters) or 1)
        characters[at : at + pick.randint(0, 3)] = pick.choice([*string.printable, "λ", "\u200b"])
    return File(f"a{ending}", "".join(characters).encode())


def _fields(pick: random.Random) -> File:
    """Any fields, with any values."""
    tree: dict[str, object] = {"type": pick.choice(_TYPES), "systemPrompt": "p"}
    for path in pick.sample(PATHS, pick.randint(1, 25)):
        keys = [key for key in path.replace("[]", "").split(".") if key]
        place = tree
        for key in keys[:-1]:
            below = place.get(_slip(pick, key))
            if not isinstance(below, dict):
                below = place[key] = {}
            place = below
        if keys:
            place[_slip(pick, keys[-1])] = pick.choice(_SCALARS)
    return File("a.yml", _written(tree, "").encode())


def _slip(pick: random.Random, key: str) -> str:
    if pick.random() > 0.1 or len(key) < 2:
        return key
    at = pick.randrange(len(key) - 1)
    return key[:at] + key[at + 1] + key[at] + key[at + 2 :]


def _written(tree: dict[str, object], margin: str) -> str:
    lines = []
    for key, value in tree.items():
        if isinstance(value, dict):
            lines.append(f"{margin}{key}:\n{_written(value, margin + '  ')}")
        else:
            lines.append(f"{margin}{key}: {value}")
    return "\n".join(lines)


def _lexemes(pick: random.Random) -> File:
    """A λ text of any lexemes."""
    count = pick.choice((5, 30, 300))
    return File("a.lam", "".join(pick.choices(_LEXEMES, k=count)).encode())


def _binary(pick: random.Random) -> File:
    """Bytes of any kind, or a text whose bytes are not those of UTF-8."""
    text, ending = _text(pick)
    data = bytearray(text.encode())
    match pick.randrange(5):
        case 0:
            data = bytearray(pick.randbytes(pick.choice((1, 100, 10_000))))
        case 1:
            for _ in range(pick.randint(1, 5)):
                data[pick.randrange(len(data))] = pick.randrange(256)
        case 2:
            data = bytearray(text.encode(pick.choice(("utf-16", "utf-32", "utf-16-le"))))
        case 3:
            data = bytearray(b"\xef\xbb\xbf" + data)
        case _:
            data[pick.randrange(len(data)) :] = b"\x00" * pick.choice((1, 5000))
    return File(f"a{ending}", bytes(data))


def _deep(pick: random.Random) -> File:
    """Much inside much else."""
    depth = pick.choice((50, 99, 101, 1000, 10_000, 200_000))
    opening, middle, closing, ending = pick.choice(
        (
            ("[", "", "]", ".yml"),
            ("{a: ", "1", "}", ".yml"),
            ("- ", "x", "", ".yml"),
            ("? ", "x", "", ".yml"),
            ("[", "1", "]", ".json"),
            ('{"a":', "1", "}", ".json"),
            ("(", "x", ")", ".lam"),
            ("λx. ", "x", "", ".lam"),
            ("⟨x, ", "x", "⟩", ".lam"),
            ("f (", "x", ")", ".lam"),
            ("if true then 1 else ", "2", "", ".lam"),
            ("let x = 1 in ", "x", "", ".lam"),
            ("PAR(", "λx. x", ")", ".lam"),
            ("x = x;\n", "x", "", ".lam"),
        )
    )
    before = (
        "systemPrompt: x\ntype: simple\nmodel: "
        if ending == ".yml" and pick.random() < 0.5
        else ""
    )
    if opening == "- " and before:
        before += "\n  "
    if ending != ".yml":  # is read however deep; `_huge` makes larger ones
        depth = min(depth, 3_000)
    text = before + opening * depth + middle + closing * pick.choice((depth, 0))
    return File(f"a{ending}", text.encode())


def _nested_agents(pick: random.Random) -> File:
    """Agents inside agents, each in a route or a step of the one before."""
    lines, margin = [], ""
    for _ in range(pick.choice((3, 20, 45, 90))):
        lines += [f"{margin}type: chain", f"{margin}systemPrompt: p", f"{margin}chain:"]
        lines += [f"{margin}  steps:", f"{margin}    - name: s"]
        margin += "      "
    lines += [f"{margin}type: simple", f"{margin}systemPrompt: p"]
    return File("a.yml", "\n".join(lines).encode())


def _bomb(pick: random.Random) -> File:
    """Aliases that stand for much more than they are."""
    width, depth = pick.choice(((9, 9), (2, 30), (1000, 2), (50, 4), (2, 90)))
    lines = ["a0: &a0 [x, x]"]
    for i in range(1, depth):
        match pick.randrange(3):
            case 0:
                lines.append(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]")
            case 1:
                inside = ", ".join(f"k{j}: *a{i - 1}" for j in range(width))
                lines.append(f"a{i}: &a{i} {{{inside}}}")
            case _:
                lines.append(f"a{i}: &a{i}\n  <<: {{a: *a{i - 1}}}\n  b: *a{i - 1}")
    head = "type: chain\nsystemPrompt: p\n"
    tail = f"chain: {{steps: *a{depth - 1}}}\n" if pick.random() < 0.7 else ""
    if pick.random() < 0.2:
        lines.append("loop: &loop {a: *loop}")
    return File("a.yml", (head + "\n".join(lines) + "\n" + tail).encode())


def _merges(pick: random.Random) -> File:
    """Merge keys over merge keys."""
    count = pick.choice((10, 300, 2000))
    lines = ["x-0: &m0 {temperature: 0.1}"]
    lines += [f"x-{i}: &m{i} {{<<: *m{i - 1}, k{i}: 1}}" for i in range(1, count)]
    lines += ["type: simple", "systemPrompt: p", f"model: {{<<: *m{count - 1}}}"]
    return File("a.yml", "\n".join(lines).encode())


def _foreign(pick: random.Random) -> File:
    """A file of another framework, whole or damaged."""
    framework = pick.choice([*FOREIGN])
    name, text = FOREIGN[framework]
    return File(name, _damaged(pick, text), ("import", framework))


def _recording(pick: random.Random) -> File:
    """What a run left, damaged: the bytes, or one value of it."""
    text = pick.choice(recordings())
    if pick.random() < 0.5:
        numbers = [*re.finditer(r"(?<=[\[ ])-?\d+(?=[,\]}])", text)]
        at = pick.choice(numbers)
        text = text[: at.start()] + pick.choice(_NUMBERS) + text[at.end() :]
        data = text.encode()
    else:
        data = _damaged(pick, text)
    return File("run.json", data, ("trace",), pick.choice(_VIEWS))


def _damaged(pick: random.Random, text: str) -> bytes:
    for _ in range(pick.randint(0, 4)):
        at = pick.randrange(len(text) or 1)
        text = text[:at] + pick.choice(_PIECES) + text[at + pick.randint(0, 30) :]
    data = text.encode()
    return data[: pick.randrange(len(data) + 1)] if pick.random() < 0.1 else data


_HEAD = "systemPrompt: p\nmodel: {provider: openai, name: gpt-4o}\n"
_STEPS = f"type: chain\n{_HEAD}chain:\n  steps:\n"
_ROUTER = f"type: router\n{_HEAD}router:\n  classifier: {{prompt: p}}\n  routes:\n"
_GUARD = "guard: {validator: 'len(x) > 1', retry: 2}}"
_PLAIN = ("compile",)  # as JSON or Python, a program takes several times as long as for people
# By ending: a text of about so many lines, keys, entries, faults, words.
# fmt: off
_HUGE: tuple[tuple[str, Callable[[int], str], tuple[str, ...]], ...] = (
    (".yml", lambda n: f"type: simple\nsystemPrompt: {'word ' * n * 5}", ()),
    (".yml", lambda n: _HEAD + "".join(f"k{i}: {i}\n" for i in range(n)), ()),
    (".yml", lambda n: _STEPS + _lines(n // 20, "    - {name: s%d, prompt: p}"), _PLAIN),
    (".yml", lambda n: _STEPS + _lines(n // 100, "    - {name: s%d, prompt: p}"), ()),
    (".yml", lambda n: _STEPS + _lines(n // 100, "    - {naem: s%d, prompt: [1]}"), ()),
    (".yml", lambda n: _STEPS + _lines(n // 200, "    - {name: s%d, prompt: p, " + _GUARD), ()),
    (".yml", lambda n: _ROUTER + _lines(n // 100, "    r%d: {type: simple, systemPrompt: p}"), ()),
    (".yml", lambda n: _HEAD + "- x\n" * n, ()),
    (".yml", lambda n: _HEAD + "x-a: [" + "1, " * n + "]\n", ()),
    (".yml", lambda n: _HEAD + "---\n" * n, ()),
    (".lam", lambda n: "f " * (n // 4), ()),
    (".lam", lambda n: _lines(n // 10, "d%d = λx. x;") + "d0", ()),
    (".lam", lambda n: _lines(n // 40, 'λx. LLM_{gpt-4o, "Hi", w%d}(x) >>') + "λx. x", _PLAIN),
    (".json", lambda n: "[" + "1," * n + "1]", ()),
)
# fmt: on


def _lines(count: int, line: str) -> str:
    return "".join(f"{line}\n" % number for number in range(count))


def _huge(pick: random.Random) -> File:
    """Long lines, many keys, many entries, many faults."""
    ending, made, use = pick.choice(_HUGE)
    return File(f"a{ending}", made(pick.choice((1_000, 10_000, 100_000))).encode(), use)


def _empty(pick: random.Random) -> File:
    data = pick.choice((b"", b"\n", b"#", b"---", b"...", b"%YAML 1.1", b"\xef\xbb\xbf", b"\x00"))
    return File(pick.choice(("a.yml", "a.lam", "a.json", "a", "a.yaml")), data)


KINDS: dict[Callable[[random.Random], File], int] = {
    _valid: 4,
    _lines_changed: 18,
    _values_changed: 20,
    _characters_changed: 16,
    _fields: 16,
    _lexemes: 8,
    _binary: 6,
    _deep: 3,
    _nested_agents: 1,
    _bomb: 3,
    _merges: 1,
    _foreign: 5,
    _recording: 3,
    _empty: 1,
}


# Of so many files, one is huge.
_HUGE_EVERY = 500


def file(number: int) -> File:
    """Return the file of this number."""
    pick = random.Random(number)
    kinds = pick.choices([*KINDS], weights=KINDS.values())
    made = (_huge if number % _HUGE_EVERY == _HUGE_EVERY - 1 else kinds[0])(pick)
    if made.before:
        return made
    command, *options = pick.choices([*_USES], weights=_USES.values())[0]
    return made._replace(before=(command,), after=tuple(options))
