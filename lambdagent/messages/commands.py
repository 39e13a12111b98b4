"""What is wrong with a command line: `U` usage."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "U001": Text("`{option}` and `{other}` exclude each other", fix="leave one of them out"),
    "U002": Text("`{path}` cannot be written: {reason}", fix="name another place"),
    "U003": Text(
        "the run needs one input",
        fix='write it after the file, as in `lambdagent run agent.yml "hello"`, '
        "or - for standard input, or `--input FILE`",
    ),
    "U004": Text("`{path}` cannot be read: {reason}", fix="check the path and its permissions"),
    "U005": Text("{path} is not UTF-8 text: {reason}", fix="convert it to UTF-8"),
    "U006": Text(
        "`{first}` and `{second}` name the same file, `{path}`",
        why="one of them would be lost",
        fix="give each a file of its own",
    ),
    "U007": Text(
        "`{path}` is an agent file, and `reduce` takes a λ term or a `.lam` file",
        fix="write a term, as in `lambdagent reduce '(λx. x) 1'`",
    ),
    "U008": Text(
        "a run that goes on takes no {options}",
        why="it has its own from when it began",
        fix="leave it out, or begin a new run",
    ),
    "U009": Text(
        "the run needs a file", fix="`lambdagent run agent.yml INPUT`, or `--resume RUN`"
    ),
    "U010": Text(
        "`{text}` names no step of the run",
        why="its steps are {steps}; a call can be named by its key too, as in `@3`",
        fix="`lambdagent checkpoints DIR --show RUN` lists them",
    ),
    "U011": Text("`{option}` belongs to `--resume`", fix="name the run that goes on"),
    "U017": Text(
        "`{option}` says two things of {place}",
        why="only one of them can be meant",
        fix="leave one of them out",
    ),
    "U018": Text(
        "`{option}` needs {what}",
        why="without that it would change nothing",
        fix="add that, or leave `{option}` out",
    ),
    "U026": Text("there is no rule `{rule}`", fix="{hint}"),
    "U027": Text(
        "what {rule} finds cannot be ignored",
        why="the compiler refuses it, so the agent would not run",
        fix="mend the file",
    ),
    "U028": Text(
        "`lint` needs a file, a directory or - for standard input",
        fix="name one, as in `lambdagent lint agent.yml`; `--rules` alone lists the rules",
    ),
    "U013": Text(
        "step {place} is not in doubt",
        why="what a run was answered does not change while it goes on",
        fix="begin a new run from there with `--at {place}`",
    ),
    "U014": Text(
        "no call waits to be confirmed{place}",
        why="{known}",
        fix="`lambdagent run --resume RUN` goes on, and says what waits then",
    ),
    "U015": Text("the run has no step {step}", fix="its steps at this level: {known}"),
    "U016": Text(
        "the credentials in the URL of {sites} are not printed",
        fix="give the whole URL where it is run: `baseUrl: ${{LLM_URL}}` in an agent file, "
        "or `base_url` in a λ text or table that stays private",
    ),
    "U021": Text(
        "an SVG is nothing for a terminal",
        fix="name a file, as in `lambdagent trace {run} --flamegraph run.svg`, or use a pipe",
    ),
    "U012": Text(
        "`{path}` is nothing that can be edited",
        why="a fork may change its `input`, or the answer of a step, as in `3` or `3:text`",
        fix="write `input=TEXT`, or the number of a step, as in `3=TEXT`",
    ),
    "U030": Text(
        "which type of agent?", why="it is one of {types}", fix="as in `lambdagent new simple`"
    ),
    "U031": Text(
        "nobody is known to serve the model `{model}`", fix="say who does with `--provider`"
    ),
    "U032": Text(
        "`{option}` must be one line of at most {limit}, got {actual}",
        fix="shorten it, or write it into the file afterwards",
    ),
    "U033": Text(
        "`{path}` is there already",
        why="what is in it would be lost",
        fix="name another file with `--output`, or replace it with `--force`",
    ),
    "U034": Text(
        "nothing is written: the input ended before everything was answered",
        fix="answer all that is asked, or give the answers as options",
    ),
    "U039": Text("there is no {thing} `{name}`", why="there are: {known}", fix="{hint}"),
    "U040": Text(
        "`{tool}` cannot be called with that: {reason}",
        fix="write JSON of all its arguments, or the only one as it is",
    ),
    "U035": Text(
        "`{path}` is not mended: {reason}",
        why="what others keep in it stays",
        fix="make it writable and lint it again, or see with `--diff` what to change",
    ),
}
