import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.frontend.expression import MAX_TEXT, ExpressionError, parse_expression
from lambdagent.ir.data import Data

ESCAPES = [
    "().__class__.__bases__[0].__subclasses__()",
    "x.__class__",
    "x._private",
    "__import__('os')",
    "__import__('os').system('id')",
    "__builtins__",
    "_",
    "[_ for _ in x]",
    "x.__len__()",
    "'{0.__class__.__mro__}'.format(x)",
    "'{a}'.format_map(x)",
    "f'{x!r}'",
    "f'{x:>1000000000}'",
    "f'{x.__class__}'",
    "x.encode()",
    "x.translate({})",
    "x.zfill(1000000000)",
    "x.center(1000000000)",
    "x.ljust(1000000000)",
    "x.expandtabs(1000000000)",
    "eval('1')",
    "exec('1')",
    "compile('1', '', 'eval')",
    "open('/etc/passwd')",
    "getattr(x, 'y')",
    "setattr(x, 'y', 1)",
    "vars()",
    "globals()",
    "locals()",
    "dir(x)",
    "type(x)",
    "object()",
    "range(1000000000)",
    "bytes(1000000000)",
    "bytearray(1000000000)",
    "list(x)",
    "set(x)",
    "chr(1)",
    "print(x)",
    "input()",
    "breakpoint()",
    "help()",
    "lambda: 1",
    "(lambda: x)()",
    "(y := x)",
    "[y := 1 for z in x]",
    "await x",
    "(yield x)",
    "(yield from x)",
    "[*x]",
    "len(*x)",
    "len(**x)",
    "{**x}",
    "x if True",
    "import os",
    "x = 1",
    "x; x",
    "del x",
    "b'x' in x",
    "1j",
    "...",
    "x @ x",
    "1 << 1000000000",
    "1 >> 1",
    "~1",
    "1 | 2",
    "1 & 2",
    "1 ^ 2",
    "x.pop()",
    "x.append(1)",
    "x.update({})",
    "x.clear()",
    "x.sort()",
    "x.setdefault('a', 1)",
    "x.group",
    "len",
    "len.__self__",
    "re.compile('a')",
    "re.sub('a', 'b', x)",
    "re._compiler",
    "re.search",
    "re.search('a', x, re.DEBUG)",
    "re.search('a', x, 64)",
    "json.loads.__globals__",
    "json.dumps(x)",
    "json.load(x)",
    "json.codecs.open('a')",
    "os.system('id')",
    "sorted(x, key=len)",
    "sum(x, start=[], more=1)",
    "min(x, key=len)",
    "int(x=1)",
    "x is 'a'",
    "(c for c in x)",
    "len(c for c in x)",
    "[c async for c in x]",
    "[1 for x.y in x]",
    "[1 for x[0] in x]",
    "[1 for (a, (b, c)) in x]",
    "[1 for *a in x]",
    "x()",
    "x[0]()",
    "(len)(x)(x)",
    "re.search('(a+)+$', x)",
    "re.search('(a|a)*b', x)",
    "re.search('(a*)*b', x)",
    r"re.search('(.)\\1', x)",
    "re.search('(', x)",
    "re.search('" + "a" * 501 + "', x)",
    "(" * 300 + "x" + ")" * 300,
    "-" * 1500 + "1",
    "not " * 400 + "x",
    "+".join(["x"] * 200),
    "x" + "[0]" * 200,
    "[" * 60 + "]" * 60,
    "x\0",
    "x" * (MAX_TEXT + 1),
    "\ud800",
    "'",
    "",
    "   \n ",
    "x) + (x",
    "x]\n+ [x",
    "x,\nx]\n[0",
]


@pytest.mark.parametrize("text", ESCAPES, ids=lambda text: repr(text[:40]))
def test_what_leaves_the_subset_is_refused_with_its_column(text: str):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, ["x"])
    assert 1 <= caught.value.column <= len(text) + 1


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("x", ("name", "x")),
        (" x ", ("name", "x")),
        ("-1", ("neg", ("const", 1))),
        ("[1, 'a']", ("tuple", (("const", 1), ("const", "a")))),
        ("x is None", ("compare", ("name", "x"), (("is", ("const", None)),))),
        ("len(x)", ("call", "len", (("name", "x"),), ())),
        ("x.get('a')", ("method", "get", ("name", "x"), (("const", "a"),), ())),
        (
            "x[1:]",
            ("slice", ("name", "x"), ("const", 1), ("const", None), ("const", None)),
        ),
        (
            "[c for c in x]",
            ("tuples", ("name", "c"), ((("c",), True, ("name", "x"), ()),)),
        ),
        (
            "re.search('a', x, re.I | re.M)",
            ("call", "re.search", (("const", "a"), ("name", "x"), ("const", 10)), ()),
        ),
    ],
)
def test_an_expression_becomes_rows_of_data(text: str, row: Data):
    assert parse_expression(text, ["x"]) == row


def test_line_breaks_may_stand_anywhere():
    assert parse_expression("x\n  and x # both\n", ["x"]) == parse_expression("x and x", ["x"])


def test_a_name_may_also_be_that_of_a_function():
    row = parse_expression("round(round)", ["round"])
    assert row == ("call", "round", (("name", "round"),), ())


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("x == y", 6),
        ("  x == y", 8),
        ("'é' == y", 8),
        ("x.strip().pop()", 11),
        ("x and\n y", 8),
        ("x and (\n y)", 10),
        ("x + * 2", 5),
        ("re.search('(', x)", 11),
    ],
)
def test_a_column_counts_the_characters_of_the_text(text: str, column: int):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, ["x"])
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stat == 1", "did you mean `state`? known are round state"),
        ("x.starts_with('a')", "did you mean `startswith`?"),
        ("summ(state)", "did you mean `sum`?"),
        ("lambda: 1", "`lambda` cannot be used; allowed are literals"),
        ("state.__class__", "`__class__` starts with an underscore"),
    ],
)
def test_a_refusal_names_what_is_near_and_what_is_allowed(text: str, says: str):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, ["round", "state"])
    if "x." in text:
        assert says in caught.value.message
    else:
        assert says in str(caught.value)


def test_patterns_that_are_costly_together_are_refused():
    one = "re.search('{}[一-龥]', x)"
    assert parse_expression(" or ".join([one.format("a")] * 40), ["x"])
    with pytest.raises(ExpressionError, match="too many wide classes together"):
        parse_expression(" or ".join(one.format("a" * n) for n in range(20)), ["x"])


@given(st.text(alphabet="x()[]{}.,:'\"+-*/_ \nforinlembda01=!#\\", max_size=80))
def test_no_text_raises_anything_but_an_expression_error(text: str):
    try:
        row = parse_expression(text, ["x"])
    except ExpressionError:
        return
    hash(row)


def test_an_expression_is_read_once_for_the_same_names():
    assert parse_expression("x > 41", ["x"]) is parse_expression("x > 41", {"x"})
    with pytest.raises(ExpressionError, match="`x` is no known name"):
        parse_expression("x > 41", ["y"])
