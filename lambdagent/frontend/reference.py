"""The field tables as pages for people: docs/yaml.md and docs/yaml.zh.md.

After a change of `schema`, ``cogapp -r docs/*.md`` rewrites the pages.
"""

from __future__ import annotations

import json
from typing import Any

from lambdagent.frontend import kinds
from lambdagent.frontend.nodes import MAX_COPIES, MAX_DEPTH, MAX_FINDINGS
from lambdagent.frontend.schema.paths import BLOCKS, SERVED, below, served_yet
from lambdagent.ir.data import thaw
from lambdagent.ir.labels import EARLY_STOP_NAMES
from lambdagent.ir.services import SERVICES

_HEAD = f"""\
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
* An editor that reads JSON Schema completes and checks these fields: see
  [cli.md](cli.md#an-editor-that-knows-agent-files).
* Expressions are a safe subset of Python; [language.md](language.md) lists it. `validator` sees
  the answer as `x`. `earlyStop` sees {
    ", ".join(f"`{name}`" for name in sorted(EARLY_STOP_NAMES))
}.

All findings of a file are reported at once, each with its line, column and field; of more than
{MAX_FINDINGS} the first ones.

## Agents inside agents

Routes, the agents of a parallel agent, and steps of a chain that have a `type` are whole agents,
with all the fields of an agent except `runtime` and `checkpoint`. Such an agent inherits the
`model` of the agent around it, setting by setting: what it writes itself wins. So do steps and
classifiers. With another `provider` it inherits no `name`, `baseUrl` or `script`.

An agent is called by its `name`, else its `agentId`, else its place: the category of a route,
`default`, `step1`, `agent1`, else its type.

The core of an agent is wrapped by its `guard`, and both by its `memory`.

## Providers

{
    ", ".join(f"`{name}`" for name in SERVICES)
}, a class of yours (`package.module:Class`), a name that
an installed package brings, and every name that is passed as `providers=`
([providers.md](providers.md#a-class-of-your-own)).

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

What is *not yet* compiled is checked here and refused by the compiler.
"""

_HEAD_ZH = """\
# Agent 文件

Agent 文件是一个 UTF-8 编码的 YAML 映射。
以 `x-` 开头的键归使用者自己所有，读取时忽略；其他未列出的键都是错误。
取值规则与内层 Agent 的说明见 [yaml.md](yaml.md)。

标为 *connection* 的文本中，`${NAME}` 和 `${NAME:-default}` 代表环境变量。
标为“尚不支持”的字段会被检查，但编译器会拒绝。

## 字段
"""

# The words of the page that are no doc of a field, by language.
_WORDS = {
    "en": {
        "agent": "An agent",
        "columns": "| field | value | default | compiles to | since | meaning |",
        "required": "required",
        "required with": "required with `{}`",
        "only with": "only with `{}`",
        "not yet": "not yet",
        "only": "{}; only `{}` yet",
        "connection": "text, connection",
        "whole": "whole number {}",
        "number": "number {}",
        "from": "from {:g}",
        "from to": "from {:g} to {:g}",
        "above": "above {:g}",
        "list": "list of: {}",
        "map": "mapping of {} to: {}",
        "or": "{}; or {}",
        "Agent": "agent",
        "Anything": "any data",
        "Block": "block",
        "Expression": "expression",
        "Flag": "`true` or `false`; also `yes`, `no`, `on`, `off`",
        "Model": "`model` block",
        "Pattern": "regular expression",
        "Remembered": (
            "`true`, `false`, `full`, `sliding_window(n)`, `token_budget(n)` or `summary(n)`"
        ),
        "Reply": "text or mapping",
        "Script": "block",
        "Step": "step or agent",
        "Text": "text",
    },
    "zh": {
        "agent": "Agent",
        "columns": "| 字段 | 取值 | 默认 | 编译为 | 始于 | 含义 |",
        "required": "必填",
        "required with": "`{}` 时必填",
        "only with": "仅用于 `{}`",
        "not yet": "尚不支持",
        "only": "{}；目前仅 `{}`",
        "connection": "文本，connection",
        "whole": "整数，{}",
        "number": "数，{}",
        "from": "≥ {:g}",
        "from to": "{:g} 至 {:g}",
        "above": "> {:g}",
        "list": "列表：{}",
        "map": "{} 到下列值的映射：{}",
        "or": "{}；或{}",
        "Agent": "Agent",
        "Anything": "任意数据",
        "Block": "块",
        "Expression": "表达式",
        "Flag": "`true` 或 `false`；亦可 `yes`、`no`、`on`、`off`",
        "Model": "`model` 块",
        "Pattern": "正则表达式",
        "Remembered": (
            "`true`、`false`、`full`、`sliding_window(n)`、`token_budget(n)` 或 `summary(n)`"
        ),
        "Reply": "文本或映射",
        "Script": "块",
        "Step": "步骤或 Agent",
        "Text": "文本",
    },
}


def render_reference(language: str = "en") -> str:
    """Return docs/yaml.md, or docs/yaml.zh.md for the language ``zh``."""
    words = _WORDS[language]
    lines = [_HEAD if language == "en" else _HEAD_ZH]
    for prefix, block in BLOCKS:
        doc = block.doc if language == "en" else block.zh
        lines += [f"### {f'`{prefix}`' if prefix else words['agent']}", "", doc, ""]
        lines += [words["columns"], "|---|---|---|---|---|---|"]
        for field in block.fields.values():
            lines.append(_row(below(prefix, field), field, block, language))
        lines.append("")
    return "\n".join(lines)


def _row(path: str, field: kinds.Field, block: kinds.Block, language: str) -> str:
    words = _WORDS[language]
    cells = [
        f"`{path}`",
        _kind(field.kind, words),
        _default(field, words),
        target(field, block),
        _since(path, field, words),
        field.doc if language == "en" else field.zh,
    ]
    return f"| {' | '.join(cells)} |"


def target(field: kinds.Field, block: kinds.Block) -> str:
    """Return what `field` of `block` compiles to."""
    inner = field.kind
    while isinstance(inner, kinds.ListOf | kinds.MapOf):
        inner = inner.item if isinstance(inner, kinds.ListOf) else inner.value
    return field.to or (inner.to if isinstance(inner, kinds.Block) else "") or block.to


def _default(field: kinds.Field, words: dict[str, str]) -> str:
    parts = [] if field.default is None else [f"`{value_text(field.default)}`"]
    if field.only_with is not None:
        needed = ": ".join(field.only_with)
        parts.append(words["required with" if field.required else "only with"].format(needed))
    elif field.required:
        parts.append(words["required"])
    return ", ".join(parts)


def _since(path: str, field: kinds.Field, words: dict[str, str]) -> str:
    served = served_yet(path)
    if served is SERVED:
        return field.since
    return (
        words["not yet"]
        if served is None
        else words["only"].format(field.since, value_text(served))
    )


def value_text(value: Any) -> str:
    """Return `value` as it is written in a file."""
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return value if isinstance(value, str) and value else json.dumps(thaw(value))


def _kind(kind: Any, words: dict[str, str]) -> str:
    """Return what a value of `kind` is, in words."""
    match kind:
        case kinds.Text(connection=True):
            return words["connection"]
        case kinds.Integer():
            return words["whole"].format(_range(1 if kind.zero else kind.least, kind.most, words))
        case kinds.Number(open=True):
            return words["number"].format(words["above"].format(kind.least))
        case kinds.Number():
            return words["number"].format(_range(kind.least, kind.most, words))
        case kinds.Choice(choices):
            return ", ".join(f"`{word}`" for word in choices)
        case kinds.ListOf(item):
            return words["list"].format(_kind(item, words))
        case kinds.MapOf(value, key):
            return words["map"].format(key, _kind(value, words))
        case kinds.ListOrMap(items, maps):
            return words["or"].format(_kind(items, words), _kind(maps, words))
    return words[type(kind).__name__]


def _range(least: float, most: float | None, words: dict[str, str]) -> str:
    return words["from"].format(least) if most is None else words["from to"].format(least, most)
