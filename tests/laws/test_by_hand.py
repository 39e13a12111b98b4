"""Terms that people write by hand, with tags and sites that lowering uses otherwise.

They answer, or end with a finding, the same on every engine; never with an error of Python.
"""

import io
import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdagent.cli.main import main
from lambdagent.cli.output import Output
from lambdagent.ir.sites import KINDS
from lambdagent.machine.engines import ENGINES

MODEL = 'model: {provider: "scripted", name: "", script: {rules: [{match: "", reply: "hi"}]}}'
# A site of every kind, and its row.
SITES = {
    "llm.plain": f"{{{MODEL}}}",
    "llm.talk": f"{{conversation: true, {MODEL}}}",
    "tool.t": '{command: "cat"}',
    "now.s": "{}",
    "conv.read.s": "{}",
    "conv.append.s": "{}",
    "conv.over.s": "{}",
    "conv.old.s": '{strategy: "summary(1)"}',
    "conv.fold.s": "{}",
    "mem.read.s": "{ttl: 5}",
    "mem.append.s": "{}",
    "recall.s": "{}",
    "remember.s": "{}",
    "confirm.t": "{}",
    "predicate.one": '{text: "len(x) > 2"}',
    "predicate.two": '{names: ["x", "y"], text: "len(x) > y"}',
    "stop.s": '{text: "turn > 2"}',
    "action.s": '{tools: ["wc"]}',
    "label.s": '{labels: ["a", "b"]}',
    "fits.s": '{schema: {type: "object"}}',
    "next.s": "{}",
    "next.talk": "{conversation: true}",
    "thought.s": "{}",
    "concat.s": "{}",
    "truth.s": "{}",
    "border.s": "{}",
    "fail.s": "{}",
}
TAGS = ('"transcript", 0', '"memory", 0', '"reply", 0', '"approved", "denied", 1', '"other", 0')
LEAVES = (
    *("5", "-2.5", "NaN", '"s"', '""', "()", "null", "true", "λx. x", "succ", "pair 1", "nil"),
    *("cons", "Y[2]", "llm.plain", "json[]", "json[1]", 'json{"a": 1}', 'json[{"key": "a"}]'),
    *('json[{"key": 1, "value": {}, "age": Infinity}]', '(json[], (9, "a"))', f"0x{'f' * 4000}"),
    *('("a", [("b", ("c", "d"))])', "([(1, (2, 3))], (9, 9))", '(3, ("a", ("b", "c")))'),
)


def larger(values):
    two = st.tuples(values, values)
    return st.one_of(
        two.map("({0[0]}, {0[1]})".format),
        two.map("[{0[0]}, {0[1]}]".format),
        two.map("({0[0]} :: {0[1]})".format),
        st.tuples(st.sampled_from(TAGS), values).map("tag[{0[0]}] ({0[1]})".format),
    ).map("({})".format)


_TIME = re.compile(r"\d{9,}\.\d+|\(\d+\.\ds\)")

values = st.recursive(st.sampled_from(LEAVES).map("({})".format), larger, max_leaves=6)


def ran(folder, text, engine):
    """Return exit code, answer and messages of a run, without the times of the clock."""
    (folder / "t.lam").write_text(text)
    out, err = io.StringIO(), io.StringIO()
    options = ("--engine", engine, "--trace")
    code = main(["run", str(folder / "t.lam"), "hello", *options], Output(out, err))
    return code, *(_TIME.sub("", stream.getvalue().partition("─")[0]) for stream in (out, err))


def told(folder, site, value):
    """Return how a run ends that asks `site` twice with `value`, the same on every engine."""
    row = f"where {{ {site} = {SITES[site]}, llm.plain = {SITES['llm.plain']} }}"
    if site == "llm.plain":
        row = f"where {{ {site} = {SITES[site]} }}"
    text = f"λx. let first = {site} {value} in @llm.again ({site} {value})\n{row}"
    ends = [ran(folder, text, engine) for engine in ENGINES]
    assert all(end == ends[0] for end in ends), text
    return ends[0]


def test_a_site_of_every_kind_is_tried():
    tried = {site.rpartition(".")[0] for site in SITES}
    assert tried == {*KINDS}


@pytest.mark.parametrize("site", SITES)
@settings(max_examples=20)
@given(st.data())
def test_a_site_takes_any_value_or_says_why_not(site, tmp_path_factory, data):
    code, _, err = told(tmp_path_factory.getbasetemp(), site, data.draw(values))
    assert code in {0, 1, 75}
    assert ("error[" in err) == (code != 0), err
    assert "internal" not in err, err


@pytest.mark.parametrize("tag", TAGS)
def test_a_tag_takes_any_payload(tag, tmp_path):
    for payload, form in itertools.product(LEAVES, ("{}", "({}, 1)")):
        value = f"({form.format(f'tag[{tag}] ({payload})')})"
        code, _, err = told(tmp_path, "llm.plain", value)
        assert code == 0, err
