"""What is left out, or wrong, when files of other frameworks are read: `I` import."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "I001": Text(
        "`{field}` is not carried over: {reason}",
        fix="add to the agent file by hand what the agent needs of it",
    ),
    "I002": Text(
        "what the tool `{name}` does is not carried over",
        why="that stands in program code, and an agent file holds none",
        fix="pass `--tool {name}=COMMAND`, or `tools={{…}}` in Python",
    ),
    "I003": Text(
        "`{name}` in `{field}` is not filled in",
        why="a prompt is a constant here; what changes from run to run is the input",
        fix="say in the prompt that the input holds it, and hand it over there",
    ),
    "I004": Text(
        "the provider of the model `{name}` is not known here",
        why="it can be asked if it speaks Chat Completions",
        fix="add `baseUrl: https://…/v1` to the model, and its key in CUSTOM_API_KEY",
    ),
    "I005": Text(
        "the secret in `{field}` is not carried over",
        why="a secret does not belong into an agent file",
        fix="set the environment variable of the provider: docs/providers.md lists them",
    ),
    "I010": Text(
        "this is no file of {framework}: {reason}", fix="docs/import.md says what is read"
    ),
    "I011": Text("there is no {what} in `{path}`", fix="{hint}"),
    "I012": Text("there would be more than {limit} agents", fix="import a part of it"),
    "I013": Text(
        "this is no Python that can be read: {reason}",
        why="the file is only parsed, never run",
        fix="repair it, or import a smaller file",
    ),
    "I015": Text("the agent file would be larger than {limit}", fix="import a part of it"),
    "I014": Text("the file is larger than {limit}", fix="import a part of it"),
}
