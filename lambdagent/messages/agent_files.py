"""What is wrong with an agent file: `S`."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "S001": Text("the file is not valid YAML: {reason}", fix="{hint}"),
    "S002": Text("a tab is used for indentation", "YAML indents with spaces only", "use spaces"),
    "S003": Text(
        "the key `{key}` appears twice",
        why="only one of the values could count; the first stands at line {first}",
        fix="remove one of them",
    ),
    "S004": Text(
        "a second document starts here",
        why="an agent file holds one agent",
        fix="put the second agent into a file of its own",
    ),
    "S005": Text(
        "the tag `{tag}` is not allowed",
        why="an agent file is data; it cannot name types or call code",
        fix="remove the tag",
    ),
    "S006": Text(
        "the aliases of this file expand to more than {limit} values",
        why="such files exhaust the memory of whoever reads them",
        fix="write the values out, or use fewer aliases",
    ),
    "S007": Text("the nesting is deeper than {limit} levels", fix="nest less deeply"),
    "S008": Text("the file is not UTF-8 text: {reason}", fix="save it as UTF-8"),
    "S009": Text("the alias `*{name}` is inside its own anchor", fix="remove the alias"),
    "S010": Text(
        "the merge key `<<` needs a mapping or a list of mappings, got {actual}",
        fix="write it as in `<<: *defaults`, or put quotes around the key",
    ),
    "S011": Text("the file cannot be read: {reason}", fix="check the path and its permissions"),
    "S012": Text("there is no file `{path}`", fix="check the path"),
    "S013": Text(
        "a key must be a text, got {actual}",
        fix="put quotes around the key, or around the whole text",
    ),
    "S014": Text("the configuration holds itself", fix="build it without the circle"),
    "S015": Text(
        "the configuration holds a {actual}",
        why="it is data: texts, numbers, booleans, lists and dicts with texts as keys",
        fix="pass Python objects as `tools=`, `providers=` or `memory_store=`",
    ),
    "S016": Text(
        "there may be more findings than these; the first {limit} are told",
        fix="mend these first",
    ),
    "S017": Text(
        "the file has more than {limit} parts: what follows is not read",
        why="an agent file is written by people; so much data belongs elsewhere",
        fix="give it to the agent as input, or let a tool read it",
    ),
    "S101": Text(
        "`{field}` is missing",
        why="{doc}",
        fix="add `{key}:`",
    ),
    "S102": Text("unknown key `{key}`", why="{known}", fix="{hint}"),
    "S103": Text("`{field}` must be {expected}, got {actual}", fix="write {expected}"),
    "S104": Text("`{field}` must be {expected}, got {actual}", fix="{hint}"),
    "S105": Text(
        "the file is no agent: it holds {actual}",
        why="an agent file is a mapping with `type:` and `systemPrompt:`",
        fix="start with `type: simple`",
    ),
    "S106": Text(
        "`{field}` needs the environment variable `{variable}`, which is not set or empty",
        fix="set it, or write a default as in `${{{variable}:-https://…}}`",
    ),
    "S107": Text("`{field}` is no valid expression: {reason}", fix="{hint}"),
    "S108": Text(
        "not supported yet: `{field}`",
        why="this version would have to ignore it",
        fix="remove it",
    ),
    "S109": Text("`{field}` does not belong to an agent of type `{type}`", fix="{hint}"),
    "S110": Text(
        "`{field}` belongs to the whole file, not to an agent inside it",
        fix="move it to the top level",
    ),
    "S111": Text(
        "`{field}` has an effect only with `{needed}`",
        fix="remove it, or write `{needed}`",
    ),
    "S201": Text(
        "the name `{name}` is given to two {things}",
        why="the second could not be told from the first",
        fix="rename one of them",
    ),
    "S202": Text(
        "there is no tool `{name}`",
        why="a local tool is `terminate`, or a Python function, or a command of `--tool`",
        fix='pass `tools={{"{name}": …}}` or `--tool {name}=COMMAND`',
    ),
    "S203": Text(
        "nothing in the file uses {what}",
        why="{why}",
        fix="{hint}",
    ),
    "S205": Text(
        "the MCP server `{server}` has no tool `{name}`", why="it has: {known}", fix="{hint}"
    ),
    "S206": Text(
        "which tools the MCP server `{name}` has is not known here",
        why="only the server can tell, and nobody is asked without being told to",
        fix="name them (`tools: [...]`), or have it asked: `--discover`, or `discover=True`",
    ),
    "S207": Text("there is no server `{name}`", why="the file describes: {known}", fix="{hint}"),
    "S208": Text(
        "the tool `{tool}` of the server `{server}` has the name of {other}",
        why="a call could not tell one from the other",
        fix="name the tools that the agent needs: `tools: [...]` of the server",
    ),
    "S209": Text(
        "what these tools of the server `{server}` take is not known here: {names}",
        why="only the server can tell; they are compiled as taking any object",
        fix="have it asked: `--discover`; a run does so before it starts",
    ),
    "S204": Text(
        "there is no tool `{name}` to confirm",
        why="the agent can call: {known}",
        fix="{hint}",
    ),
}
