"""The field tables as a page for people: docs/yaml.md.

After a change of `schema`, ``pytest --accept tests/frontend/test_schema.py`` rewrites the page.
"""

from __future__ import annotations

import json
from typing import Any

from lambdagent.frontend import kinds, schema
from lambdagent.frontend.models import PROVIDERS
from lambdagent.frontend.nodes import MAX_COPIES, MAX_DEPTH, MAX_FINDINGS
from lambdagent.ir.labels import EARLY_STOP_NAMES

_HEAD = f"""\
<!-- Written from lambdagent/frontend/schema.py by `render_reference`; change the tables there. -->

# The agent file

An agent file is one YAML mapping in UTF-8. This is the smallest one:

```yaml
type: simple
systemPrompt: Answer in one sentence.
model: {{provider: openai, name: gpt-4o-mini}}
```

## How values are read

* A value is read as its field wants. `temperature: 1e-1` is a number, `maxSteps: 010` is ten,
  `categories: [yes, no, on]` are three texts, `enabled: yes` is true. A quoted value is a text
  and nothing else: `maxSteps: "3"` is an error.
* Whole numbers are written in digits and fit into 64 bits. `true` is no number, and neither are
  `1_000`, `0x10`, `.inf` and `.nan`.
* A key that is not listed here is an error, and so is a key that stands twice. Keys that begin
  with `x-` are your own: `x-note: …` is ignored wherever it stands in a block.
* A block or list that is left empty is an empty block or list. A text or number must not be left
  empty; quote the words `null` and `~` to mean them as texts.
* `<<: *anchor` takes over the keys of another mapping; keys written beside it win. A file whose
  aliases stand for more than {MAX_COPIES} values, or that nests deeper than {MAX_DEPTH} levels,
  is refused.
* Where the table says *connection*, `${{NAME}}` stands for an environment variable and
  `${{NAME:-default}}` for a variable with a default; an unset variable without default is an
  error, and an empty one counts as unset. `$${{` stands for `${{`. Elsewhere a `$` is just a
  `$`.
* Expressions are a safe subset of Python; [language.md](language.md) lists it. `validator` sees
  the answer as `x`. `earlyStop` sees {
    ", ".join(f"`{name}`" for name in sorted(EARLY_STOP_NAMES))
}.

All findings of a file are reported at once, each with its line, column and field; of more than
{MAX_FINDINGS} the first ones.

## Agents inside agents

Routes, the agents of a parallel agent, and steps of a chain that have a `type` are whole agents,
with all the fields of an agent except `runtime`. Such an agent inherits the `model` of the agent
around it, setting by setting: what it writes itself wins. So do steps and classifiers. With
another `provider` it inherits no `name`, `baseUrl` or `script`.

An agent is called by its `name`, else its `agentId`, else its place: the category of a route,
`default`, `step1`, `agent1`, else its type.

The core of an agent is wrapped by its `guard`, and both by its `memory`.

## Providers

{", ".join(f"`{name}`" for name in PROVIDERS)}, and every name that is passed as `providers=`.

`scripted` needs no key and no network. It answers from `model.script`, and says so in the trace:

```yaml
model:
  provider: scripted
  script:
    replies: [The first answer., The second answer.]
    rules:
      - {{match: "(?i)hello", reply: Hello!, times: 1}}
      - {{match: "", reply: I do not know.}}
```

The replies are used first, in order, while they last; `replies: {{NAME: […]}}` gives each agent
its own. Then the first rule answers whose pattern is found in the last message and which is not
used up.

## Fields
"""


def render_reference() -> str:
    """Return docs/yaml.md."""
    lines = [_HEAD]
    for prefix, block in schema.BLOCKS:
        lines += [f"### {f'`{prefix}`' if prefix else 'An agent'}", "", block.doc, ""]
        lines += ["| field | value | default | meaning |", "|---|---|---|---|"]
        lines += (_row(schema.below(prefix, field), field) for field in block.fields.values())
        lines.append("")
    return "\n".join(lines)


def _row(path: str, field: kinds.Field) -> str:
    if field.required:
        default = "required"
    elif field.default is None:
        default = ""
    else:
        default = f"`{_value(field.default)}`"
    return f"| `{path}` | {_kind(field.kind)} | {default} | {field.doc} |"


def _value(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else json.dumps(value)


def _kind(kind: Any) -> str:
    """Return what a value of `kind` is, in words."""
    match kind:
        case kinds.Text(connection):
            return "text, connection" if connection else "text"
        case kinds.Integer():
            return f"whole number from {1 if kind.zero else kind.least}"
        case kinds.Number():
            return f"number {_range(kind)}"
        case kinds.Choice(words):
            return ", ".join(f"`{word}`" for word in words)
        case kinds.ListOf(item):
            return f"list of: {_kind(item)}"
        case kinds.MapOf(value, key):
            return f"mapping of {key} to: {_kind(value)}"
        case kinds.ListOrMap(items, maps):
            return f"{_kind(items)}; or {_kind(maps)}"
    return _NAMES[type(kind)]


def _range(kind: kinds.Number) -> str:
    if kind.most is not None:
        return f"from {kind.least:g} to {kind.most:g}"
    return f"{'above' if kind.open else 'from'} {kind.least:g}"


_NAMES = {
    kinds.Agent: "agent",
    kinds.Block: "block",
    kinds.Expression: "expression",
    kinds.Flag: "`true` or `false`; also `yes`, `no`, `on`, `off`",
    kinds.Later: "",
    kinds.Model: "`model` block",
    kinds.Pattern: "regular expression",
    kinds.Script: "block",
    kinds.Step: "step or agent",
}
