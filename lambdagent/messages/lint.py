"""What may be wrong with an agent that is well-formed: `L`. `why` says what it means in λ."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "L001": Text(
        "`{field}` is missing or empty",
        why="λx.⊥: the body of the function is undefined, so the agent has no behaviour",
        fix="say in `{key}:` what the model is to do",
    ),
    "L002": Text(
        "no model is configured",
        why="without a model no application of the agent can be β-reduced",
        fix="add `model: {{provider: …, name: …}}`, or pass `--model`",
    ),
    "L003": Text(
        "`{field}` is 0",
        why="Y₀ never calls its body: the agent would not run",
        fix="write a number from 1, such as `maxSteps: 10`",
    ),
    "L004": Text(
        "there is no tool `terminate`",
        why="Y has no base case λx.x: only the bound, or an answer without a call, ends the loop",
        fix="{hint}",
    ),
    "L005": Text(
        "`{field}` is empty",
        why="a CASE without branches has no value",
        fix="add at least one route",
    ),
    "L006": Text(
        "`{field}` is empty",
        why="an empty composition is the identity, no agent",
        fix="add at least one entry",
    ),
    "L007": Text(
        "the temperature {value} is high: answers may be erratic",
        why="a choice ⊕ₚ of high entropy: the same application reduces to many values",
        fix="write at most 1.5",
    ),
    "L008": Text(
        "what is remembered never expires",
        why="a binding of Γ′ is dropped only when newer ones push it out",
        fix="write `ttl:` with a number of seconds above 0",
    ),
    "L009": Text(
        "the memory keeps nothing: its size is 0",
        why="Γ′ = Γ ∪ ∅ = Γ",
        fix="write a size from 1, or leave `memory` out",
    ),
    "L010": Text(
        "up to {value} rounds: a run may be long and expensive",
        why="Y unfolds up to {value} times, with a model call in each round",
        fix="write at most 50, or leave it if that is meant",
    ),
    "L011": Text(
        "the file gives the agent no tool but `terminate`: it can only think",
        why="CASE has no branch for a tool, so no round brings in anything from outside",
        fix="name tools in `mcp.localTools`, or use `type: simple`; those of `--tool` come on top",
    ),
    "L012": Text(
        "{value} retries: a guard that fails for a reason will fail {value} times more",
        why="guard[{value}] calls its agent up to {calls} times",
        fix="write at most 5, and say in the prompt what is wanted",
    ),
    "L013": Text(
        "the router has no `default`: an answer without a route is an error",
        why="the CASE is not total",
        fix="add `default:` with an agent that answers the rest",
    ),
    "L014": Text(
        "the temperature is 0: the model answers as deterministically as it can",
        why="each application has one likely value, so a retry rarely changes it",
        fix="leave it if that is meant; else write a higher one",
    ),
    "L015": Text(
        "the agent has a memory: {settings}",
        why="Γ′ = Γ ∪ store: what it answers depends on what it was asked before",
        fix="leave it if that is meant; else remove `memory`",
    ),
    "L016": Text(
        "the agent reads a knowledge base",
        why="an oracle from outside: what it answers depends on what is stored there",
        fix="leave it if that is meant; else remove `rag`",
    ),
    "L017": Text(
        "no answer passes the guard `{expression}`",
        why="the type of answers x with P(x) is empty, so all tries are made in vain",
        fix="write a condition that a good answer fulfils, such as `len(x) > 0`",
    ),
    "L018": Text(
        "every answer passes the guard `{expression}`",
        why="guard[r] f (λx. TRUE) h = f: nothing is ever tried again",
        fix="write a condition over `x`, or leave the guard out",
    ),
    "L019": Text(
        "`{expression}` is always {value}: {effect}",
        why="the exit test of the loop does not depend on the round",
        fix="write a condition over `observation`, `content` or `turn`, or leave it out",
    ),
    "L020": Text(
        "the category `{name}` has no route, and there is no `default`",
        why="CASE has no branch for a label that the classifier may answer: the run fails",
        fix="{hint}",
    ),
    "L021": Text(
        "the route `{name}` is hard to reach: {reason}",
        why="CASE takes the branch of the label that the classifier answers",
        fix="{hint}",
    ),
    "L022": Text(
        "the name `{name}` is used twice; it is that of `{first}` too",
        why="traces, scripts and recordings tell agents apart by their names",
        fix="give each a name of its own",
    ),
    "L023": Text(
        "the model never sees what the tools return: {reason}",
        why="the observation is never joined to the state (state ⊕ obs)",
        fix="{hint}",
    ),
    "L024": Text(
        "`{field}` has no effect: {reason}",
        why="the agent compiles to the same term without it",
        fix="{hint}",
    ),
    "L025": Text(
        "nothing asks for this reply: {reason}",
        why="a script is asked by the name of the agent, and its first rule that fits answers",
        fix="{hint}",
    ),
    "L026": Text(
        "{what} is written in the file",
        why="whoever reads the file, or its history, has it; a term is printed and kept on disk",
        fix="take it out and replace it by a new one; connections read `${{NAME}}`, and keys of "
        "models are read from the environment",
    ),
    "L027": Text(
        "the model `{name}` is not known here: {reason}",
        why="the name goes to the provider as it is, who refuses what it does not have",
        fix="{hint}",
    ),
    "L028": Text(
        "{what} do not fit into the {window} tokens that `{name}` can read",
        why="a request longer than the window is refused, or its beginning is cut off",
        fix="lower {setting}",
    ),
    "L029": Text(
        "a path through a loop goes on twice, so Y[{bound}] may unfold up to 2^{bound}-1 times",
        why="`self` is called twice on one path",
        fix="call `self` once on each path, or lower the bound",
    ),
    "L030": Text(
        "{site} can be called without bound: {reason}",
        why="the interval of its calls is [{least}, ∞]",
        fix="bound the loop with Y[n], and give `pmap` a list of known length",
    ),
    "L031": Text(
        "the loop Y[{bound}] never ends before its bound",
        why="every path through its body calls `self`: there is no base case",
        fix="return without `self` on one path",
    ),
    "L032": Text(
        "nothing on this line is ignored by `{rule}`",
        why="{reason}",
        fix="remove the comment",
    ),
    "L033": Text(
        "the memory is kept by `{strategy}`, and ends with its session",
        why="nobody says `scope`, and a session that has no name is forgotten at its end",
        fix="write `scope: global` or `scope: user`; or `scope: session`, and name the session"
        " with `--session NAME`",
    ),
}
