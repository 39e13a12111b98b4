"""Texts and Python values as trees: places, faults, and bounds on what aliases can do."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.errors import CompileError
from lambdagent.frontend import yaml_tree
from lambdagent.frontend.check import check_config
from lambdagent.frontend.nodes import (
    MAX_DEPTH,
    PLAIN,
    TEXT,
    ListNode,
    MapNode,
    Scalar,
    children,
    path_text,
    span_of,
)
from lambdagent.frontend.python_tree import tree_of
from lambdagent.frontend.yaml_tree import parse_yaml
from lambdagent.source import Source


def read(text):
    return parse_yaml(Source("f.yml", text))


def plain(node):
    """Return `node` as Python values, all scalars as text."""
    if isinstance(node, MapNode):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    return [plain(item) for item in node.items] if isinstance(node, ListNode) else node.text


def findings(text):
    return [(each.code, each.where.line, each.where.column) for each in read(text).findings]


def value(text, *keys):
    node = read(text).root
    for key in keys:
        node = node.items[key] if isinstance(key, int) else node.entries[key][1]
    return node


# --- what is read --------------------------------------------------------------------------------


def test_scalars_keep_their_text_and_whether_they_are_quoted():
    text = "a: 010\nb: 'yes'\nc: |\n  x\n  y\nd:\n"
    assert plain(read(text).root) == {"a": "010", "b": "yes", "c": "x\ny\n", "d": ""}
    assert [value(text, key).kind for key in "abcd"] == [PLAIN, TEXT, TEXT, PLAIN]


@pytest.mark.parametrize(
    ("tag", "kind"),
    [("!!str", "text"), ("!", "text"), ("!!int", "int"), ("!!bool", "bool"), ("!!null", "null")],
)
def test_core_tags_decide_what_a_scalar_may_be_read_as(tag, kind):
    assert value(f"a: {tag} 5", "a").kind == kind


@pytest.mark.parametrize("text", ["a: !!map {b: 1}", "a: !!seq [1]", "a: ! [1]"])
def test_core_tags_of_collections_are_allowed(text):
    assert findings(text) == []


def test_a_node_knows_its_place():
    source = Source("f", "a: 1\nbc: [x, 'y z']\n")
    span = span_of(value(source.text, "bc", 1), source)
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 9, 2, 14)


def test_places_count_characters_and_only_newlines():
    source = Source("f", "\ufeffa: 'é😀\u2028'\r\nb: x\r\n")
    span = span_of(value(source.text, "b"), source)
    assert (span.line, span.column) == (2, 4)
    assert source.excerpt(span).splitlines()[0] == "2 | b: x"


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "\ufeff"])
def test_a_file_without_a_value_holds_nothing(text):
    assert plain(read(text).root) == ""
    assert read(text).findings == ()


def test_a_document_may_be_marked():
    assert plain(read("%YAML 1.1\n---\na: 1\n...\n").root) == {"a": "1"}


def test_merge_keys_take_over_what_is_not_written():
    text = "a: &a {x: 1, y: 2}\nb: &b {x: 3, z: 3}\nc: {y: 0, <<: [*a, *b]}\nd: {<<: *a}\n"
    tree = plain(read(text).root)
    assert tree["c"] == {"x": "1", "y": "0", "z": "3"}
    assert tree["d"] == {"x": "1", "y": "2"}


def test_a_quoted_merge_key_is_a_key():
    assert plain(read('"<<": {a: 1}').root) == {"<<": {"a": "1"}}


# --- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\n\tb: 2\n", "S002", 2, 1),
        ("a:\n\tb: 1", "S002", 2, 1),
        ("a:\n  \tb: 1\n", "S002", 2, 3),
        ("a: 'x\nb: 2\n", "S001", 1, 4),
        ("a: [1, 2\nb: 3\n", "S001", 2, 2),
        ("a: b: c\n", "S001", 1, 5),
        ("a:\n  - b\n c: 1\n", "S001", 3, 2),
        ("a: @b", "S001", 1, 4),
        ('a: "\\q"', "S001", 1, 5),
        ("a: \x00", "S001", 1, 4),
        ("a: 1\nb: \x07\n", "S001", 2, 4),
        ("a: \ud800", "S008", 1, 4),
        ("a: *b", "S001", 1, 4),
        ("a: 1\na: 2\na: 3", "S003", 2, 1),
        ("yes: 1\n'yes': 2", "S003", 2, 1),
        ("a: 1\n---\nb: 1", "S004", 2, 1),
        ("a: !!python/name:os.system ''", "S005", 1, 4),
        ("a: !local 1", "S005", 1, 4),
        ("a: !!set {b}", "S005", 1, 4),
        ("a: !!str [b]", "S005", 1, 4),
        ("a: &a [*a]", "S009", 1, 8),
        ("a: &a {<<: *a}", "S009", 1, 12),
        ("a: {<<: 1}", "S010", 1, 9),
        ("a: {<<: [{b: 1}, c]}", "S010", 1, 18),
        ("? [a]\n: 1\n", "S013", 1, 3),
    ],
)
def test_a_fault_is_told_at_its_place(text, code, line, column):
    assert findings(text)[0] == (code, line, column)


def test_reading_goes_on_after_faults_that_allow_it():
    text = "a: !x 1\nb: {c: 1, c: 2}\nd: *none\ne: 5\n---\n"
    assert [code for code, _, _ in findings(text)] == ["S005", "S003", "S001", "S004"]
    assert plain(read(text).root)["e"] == "5"


def test_a_duplicate_key_is_told_with_its_path():
    assert read("a:\n  - x\n  - b: {c: 1, c: 2}\n").findings[0].field == "a[1].b.c"


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_at_once(opening):
    text = "a: " + opening * 20_000 if opening != "- " else opening * 20_000
    assert [code for code, _, _ in findings(text)] == ["S007"]


def test_nesting_up_to_the_bound_is_read():
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert findings(text) == []
    assert findings(f"[{text}]")[0][0] == "S007"


def layers(count, width, shape="a{n}: &a{n} [{items}]\n"):
    first = "a0: &a0 [z]\n"
    return first + "".join(
        shape.format(n=n, items=", ".join([f"*a{n - 1}"] * width)) for n in range(1, count)
    )


def test_aliases_that_multiply_are_refused():
    assert findings(layers(12, 9))[0][0] == "S006"


def test_aliases_that_nest_deeply_are_refused():
    assert findings(layers(200, 1))[0][0] == "S007"


def test_merges_that_multiply_are_refused():
    big = "a: &a {" + ", ".join(f"k{i}: 1" for i in range(2000)) + "}\n"
    assert findings(big + "".join(f"b{i}: {{<<: *a}}\n" for i in range(100)))[0][0] == "S006"


def test_a_shared_alias_is_one_node():
    root = read("a: &a [1]\nb: *a\n").root
    assert root.entries["a"][1] is root.entries["b"][1]


def test_without_libyaml_the_same_is_read(monkeypatch):
    text = "a: 1\nb: {c: [x, 'y'], <<: {d: 2}}\nb: 2\n"
    ours = [plain(read(text).root), findings(text), findings("a:\n\tb: 1"), findings("\x00")]
    monkeypatch.setattr(yaml_tree, "_LOADER", yaml_tree.yaml.SafeLoader)
    assert [plain(read(text).root), findings(text)] == ours[:2]
    assert [findings("a:\n\tb: 1"), findings("\x00")] == ours[2:]


# --- Python values -------------------------------------------------------------------------------


def test_python_values_give_the_tree_that_their_yaml_gives():
    tree = tree_of({"a": [1, 2.5, True, None, "x"], "b": ({"c": False},)})
    assert plain(tree.root) == {"a": ["1", "2.5", "true", "", "x"], "b": [{"c": "false"}]}
    kinds = [node.kind for node in tree.root.entries["a"][1].items]
    assert kinds == ["int", "float", "bool", "null", "text"]
    assert tree.findings == ()


def circle():
    inner = {}
    inner["a"] = [inner]
    return inner


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def doubled(depth):
    value = []
    for _ in range(depth):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("held", "code"),
    [
        (circle(), "S014"),
        (nested(5_000), "S007"),
        (doubled(40), "S006"),
        ({"a": object()}, "S015"),
        ({1: "a"}, "S013"),
        ([{1, 2}], "S015"),
    ],
)
def test_python_values_that_are_no_data_are_refused(held, code):
    assert [each.code for each in tree_of(held).findings] == [code]


def test_shared_python_values_are_one_node():
    part = ["x"]
    root = tree_of({"a": part, "b": part}).root
    assert root.entries["a"][1] is root.entries["b"][1]


# --- laws ----------------------------------------------------------------------------------------

AGENT = """\
type: chain
systemPrompt: &p Be brief.
model: &m {provider: openai, name: gpt-4o, temperature: 0.2}
chain:
  steps:
    - {name: a, prompt: "Do it.", guard: {validator: len(x) > 3, retry: 1}}
    - name: b
      type: react
      systemPrompt: *p
      model: {<<: *m, temperature: 1}
      mcp: {localTools: [terminate]}
"""


def compiles_or_says_why(text):
    source = Source("f.yml", text)
    try:
        check_config(parse_yaml(source), source, {})
    except CompileError as error:
        return str(error)
    return ""


@given(st.text())
def test_any_text_compiles_or_is_refused(text):
    compiles_or_says_why(text)


@given(st.text(alphabet="ab:-?[]{},&*!|>'\"%@`#~ \n\t\\<"))
def test_any_yaml_like_text_compiles_or_is_refused(text):
    compiles_or_says_why(text)


@given(st.data())
def test_a_damaged_file_compiles_or_is_refused(data):
    text = AGENT
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 12)))
        text = text[:start] + data.draw(st.text(max_size=6)) + text[end:]
    compiles_or_says_why(text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(values)
def test_any_python_value_compiles_or_is_refused(held):
    with suppress(CompileError):
        check_config(tree_of(held), Source("", ""), {})


@given(st.lists(st.text() | st.integers(0, 9), min_size=1))
def test_each_path_is_written_in_its_own_way(path):
    other = [*path[:-1], "other"]
    assert (path_text(path) == path_text(other)) == (path == other)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a: " + "x" * 10_000_000,
        "".join(f"k{i}: value\n" for i in range(700_000)),
        "a: &a [x]\nb:\n" + "- *a\n" * 2_000_000,
        "- " * 5_000_000,
        "a: [" + "'" * 10_000_000,
        "\t" * 10_000_000,
        "{" * 10_000_000,
    ],
    ids=["scalar", "keys", "aliases", "dashes", "quotes", "tabs", "braces"],
)
def test_ten_megabytes_are_read_or_refused(text):
    compiles_or_says_why(text)


def test_children_of_a_scalar_are_none():
    assert children(Scalar("a", TEXT)) == []
