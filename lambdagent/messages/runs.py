"""What goes wrong in runs: `R` run, `E` effect, `M` machine, `K` checkpoint, `T` trace."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
    "R001": Text("{message}", why="site `{site}`", fix="see with `--trace` what led there"),
    "R002": Text(
        "no answer passed the guard: {message}; the last was {got}",
        fix="raise `guard.retry`, or set `guard.fallback`",
    ),
    "R003": Text(
        "no route for {message}",
        why="CASE has no branch for it and no default",
        fix="add `router.default`",
    ),
    "R004": Text("{message}", why="the bound of Yₙ is used up", fix="raise `maxSteps`"),
    "R005": Text(
        "the machine was still moving after {limit} transitions",
        fix="raise the transition limit",
    ),
    "R012": Text(
        "a value that leaves the machine would have more than {limit} parts",
        why="it shares its parts, as `let y = ⟨x, x⟩ in ⟨y, y⟩` does; outside each stands alone",
        fix="give models, tools and the answer a smaller part of it, such as `fst`",
    ),
    "R006": Text("the run took longer than {limit} s", fix="raise `--timeout`"),
    "R013": Text(
        "the budget of the run is used up: `budget.{name}` is {limit}",
        why="spent so far: {spent}; no further call of a model is begun",
        fix="raise it in the file, or with `--budget {name}=…`;"
        " a run that is kept (`--checkpoint-dir DIR`, in Python `Run`) goes on from here",
    ),
    "R014": Text(
        "the run may need more than its budget: up to {most}, and `budget.{name}` is {limit}",
        why="`compile --bounds` says how often each model can be called",
        fix="raise `budget.{name}`, or lower the bounds, such as `maxSteps`",
    ),
    "R015": Text(
        "what `{model}` costs is not known, so `budget.usd` could not be kept",
        why="docs/providers.md lists the prices that are known, each at its host",
        fix="say it under `runtime.prices`, or limit `budget.tokens` instead",
    ),
    "R016": Text(
        "`budget.{name}` cannot be kept: an answer of `{model}` does not say what it took",
        why="the number is never guessed, and no further call of a model is begun",
        fix="limit `budget.calls` instead;"
        " a run that is kept (`--checkpoint-dir DIR`, in Python `Run`) goes on from here",
    ),
    "R007": Text(
        "{whence} is no {wanted}: {got}",
        why="this program in pure λ takes it apart, and only encodings have parts",
        fix="give it a {wanted}, or run the program without `--desugar`",
    ),
    "R008": Text(
        "the run waits until somebody confirms the call of `{tool}` at {key}, with: {call}",
        why="nothing that came before will run again, however long that takes",
        fix="`lambdagent run --resume {path} {approve}` makes the call,"
        ' `--deny "{deny}"` tells the agent why not',
    ),
    "R009": Text(
        "the run needs somebody to confirm the call of `{tool}` with: {call}",
        why="nobody is there to be asked, and the run is not kept, so it is lost",
        fix="run it in a terminal, or keep it with `--checkpoint-dir DIR`;"
        " in Python use `Run`, or pass `confirm=`",
    ),
    "R010": Text(
        "the term is stuck: no rule applies to {message}",
        why="it is no value, so the run cannot go on",
        fix="`lambdagent reduce` shows how a pure term gets there",
    ),
    "R017": Text(
        "the answer does not fit its schema, and neither did its repair: {got}",
        fix="say in the prompt what the answer must be, or loosen `outputSchema`",
    ),
    "R018": Text(
        "the answer of `{site}` cannot be read: {message}; it was {got}",
        why="an output parser reads the one answer there is, and a guard sees what it has read",
        fix="say in the prompt what to answer with, or write an `outputSchema`, such as"
        " `{{type: number}}`: then an answer that does not fit is asked for once more",
    ),
    "R011": Text(
        "`{site}` cannot be asked with {got}",
        why="it takes {expected}",
        fix="give it that, or print what a file of agents compiles to: `lambdagent lambda FILE`",
    ),
    "E001": Text(
        "`{provider}` needs a key: the environment variable `{variable}` is not set",
        fix="export {variable}=…, or use `provider: scripted`",
    ),
    "E002": Text("`{provider}` failed: {message}", why="site `{site}`", fix="{hint}"),
    "E003": Text("`{site}` gave no answer within {limit} s", fix="raise `{setting}`"),
    "E004": Text(
        "the script of `{site}` has no reply {number}: {message}",
        fix="add a reply or a rule to `model.script`",
    ),
    "E005": Text(
        "`{provider}` cannot be used here: {message}",
        fix="{hint}",
    ),
    "E006": Text("the command of tool `{name}` is refused: {reason}", fix="{hint}"),
    "E007": Text(
        "the recording `{path}` cannot be read: {reason}",
        fix="name the right file, or record it again with `--record`",
    ),
    "E009": Text("the memory store `{name}` failed: {message}", fix="{hint}"),
    "E010": Text(
        "the agent `{agent}` has no model",
        why="without a model no reduction of it can be performed",
        fix="add `model: {{provider: …, name: …}}`",
    ),
    "E012": Text(
        "the memory `{name}` has no store",
        why="the site `{site}` asks a store, and nothing says which",
        fix="name one in the file (`memory.strategy`, `memory.customStore`), or pass"
        " `memory_store=` in Python",
    ),
    "E021": Text(
        "the memory `{name}` is kept for each user, and no user is named",
        why="without a name all users would read what each of them said",
        fix="pass `--user NAME`, set LAMBDAGENT_USER, or pass `owner=Owner(user=…)` in Python",
    ),
    "E022": Text(
        "the memory `{name}` of this session is not forgotten: {message}",
        why="what it holds is of a session that nobody can come back to",
        fix="{hint}",
    ),
    "E024": Text("the MCP server `{name}` cannot be used: {message}", fix="{hint}"),
    "E023": Text(
        "nothing says where the server `{server}` of the tool `{name}` is",
        why="a program names its servers; how they are reached stands in the agent file",
        fix="give the agent file: `lambdagent run FILE …`, or pass `tools=` in Python",
    ),
    "E011": Text(
        "no thread can be started to wait for an answer: {reason}",
        fix="raise the limit of processes (`ulimit -u`), or end other programs",
    ),
    "E015": Text(
        "what `{site}` is to be asked is about {size} tokens", why="{reason}", fix="{hint}"
    ),
    "K001": Text(
        "`{path}` is corrupt at byte {offset}: {reason}",
        why="what it says cannot be trusted, and to guess could call something twice",
        fix="put back a copy of the file",
    ),
    "K002": Text("there is no run in `{path}`", fix="`lambdagent checkpoints DIR` lists the runs"),
    "K003": Text(
        "the run `{run}` is under way in another process",
        why="two that go on with it would call everything twice",
        fix="wait for it, or end it",
    ),
    "K004": Text(
        "`{path}` is of format {found}, and this version reads {known}",
        fix="use the version that wrote it",
    ),
    "K005": Text(
        "the program is not the one that the run began with: {difference}",
        why="what was answered belongs to other questions",
        fix="resume it as it was, or start a new run; `--force` takes the change where nothing"
        " that is changed was called yet",
    ),
    "K006": Text(
        "the run asks `{site}` something else at {key} than its journal says",
        why="the same program, input and answers always ask the same",
        fix="start a new run; and please report this",
    ),
    "K007": Text(
        "nobody knows whether the call of `{site}` at {key} was carried out",
        why="it went out, its answer did not come, and to call it twice may do harm",
        fix="`--in-doubt retry` calls it again; `--answer {key}=TEXT` says what came of it",
    ),
    "K008": Text(
        "`{path}` cannot be written: {reason}",
        fix="nothing is lost; mend that, and go on or begin again",
    ),
    "K009": Text("`{path}` cannot be read: {reason}", fix="check the path and its permissions"),
    "K010": Text(
        "`{path}` holds {count} runs that could go on: {runs}",
        fix="name one of them",
    ),
    "K011": Text(
        "the run made no call at {key}",
        why="its calls are: {known}",
        fix="name one of them; `lambdagent checkpoints DIR --show RUN` lists them",
    ),
    "K012": Text(
        "the change cannot be forced, since what differs was called already: {called}",
        why="its answers belong to what it was: {difference}",
        fix="resume the run as it was, or begin a new run with `--at` a step before that call",
    ),
    "K013": Text(
        "the address of the model of {sites} holds a password, which is not kept on disk",
        fix="give the agent file again: `lambdagent run FILE --resume RUN`",
    ),
    "K014": Text(
        "the program holds the value of `{variable}`, and would be kept on disk with it",
        fix="take it out of the prompt, the tool or `--env`; tools can read a file that has it",
    ),
    "K015": Text(
        "a run that is as this one until {key} but for what is changed does not get there",
        why="with that change it asks other things before: {reason}",
        fix="begin it at the first step that is changed",
    ),
    "K016": Text(
        "the run `{run}` was given another program meanwhile", fix="load it again, and look at it"
    ),
    "K017": Text(
        "the states of the run are not used: {finding}",
        why="its journal says all that is needed to go on; the next states take their place",
        fix="nothing has to be done",
    ),
    "K019": Text(
        "the run began in `{path}`, which is not there",
        why="its commands run, and its relative paths start, in the working directory instead",
        fix="go on with it from where its files are",
    ),
    "K018": Text(
        "`{path}` holds a state that the program cannot come to",
        why="it fits its checksum, so it was not written by a run of this program",
        fix="remove it: the journal is enough to go on",
    ),
    "M001": Text(
        "no rule applies to {message}",
        why="a lowered program never gets here: this is a fault of lambdagent",
        fix="please report it together with the file",
    ),
    "T001": Text(
        "`{path}` is no recorded run: {reason}",
        fix="`lambdagent run FILE INPUT --trace-file run.json` records one",
    ),
    "T002": Text(
        "`{path}` is a recorded run of format {found}, and this version reads {known}",
        fix="use the version that wrote it",
    ),
}
