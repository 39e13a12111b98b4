"""The words of every diagnostic, in one table keyed by code.

`S` schema, `L` lint, `P` λ syntax, `U` usage, `R` run, `E` effect, `K` checkpoint, `M` machine.
"""

from __future__ import annotations

from typing import NamedTuple


class Text(NamedTuple):
    """The words of one code; ``{…}`` are filled in."""

    what: str
    why: str = ""
    fix: str = ""


MESSAGES: dict[str, Text] = {
    "S001": Text("the file is not valid YAML: {reason}"),
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
    "S010": Text("the merge key `<<` needs a mapping or a list of mappings, got {actual}"),
    "S011": Text("the file cannot be read: {reason}"),
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
    "S101": Text(
        "`{field}` is missing",
        why="{doc}",
        fix="add `{key}:`",
    ),
    "S102": Text("unknown key `{key}`", why="{known}", fix="{hint}"),
    "S103": Text("`{field}` must be {expected}, got {actual}"),
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
    "L003": Text(
        "`{field}` is 0",
        why="Y₀ never calls its body: the agent would not run",
        fix="write a number from 1, such as `maxSteps: 10`",
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
    "S204": Text(
        "there is no tool `{name}` to confirm",
        why="the agent can call: {known}",
        fix="{hint}",
    ),
    "P001": Text("{got} does not fit here: expected {expected}", fix="{hint}"),
    "P002": Text("the character {got} has no meaning here", fix="{hint}"),
    "P003": Text("the text ends too early: expected {expected}", fix="{hint}"),
    "P004": Text("`{open}` is never closed", fix="write `{close}` where it ends"),
    "P005": Text("`{close}` closes nothing", fix="remove it, or open it before"),
    "P006": Text(
        "`{close}` does not close `{open}` of line {line}",
        fix="write `{wanted}`, or open `{close}` after it",
    ),
    "P007": Text(
        "the `.` after the parameters is missing",
        why="an abstraction is `λ`, its parameters, `.`, its body",
        fix="write it as in `λx y. x y`",
    ),
    "P008": Text(
        "the {what} is never closed",
        why="it ends on the line on which it starts",
        fix="write {close} at its end; a line break in it is written `\\n`",
    ),
    "P012": Text(
        "{got} holds an escape that does not exist",
        why="texts are written as in JSON",
        fix="write a backslash as `\\\\`",
    ),
    "P013": Text(
        "the number has more than {limit} digits",
        fix="{hint}",
    ),
    "P014": Text(
        "the label `{label}` has two arms",
        why="each label of a case has exactly one branch",
        fix="remove one of them",
    ),
    "P015": Text("`{name}` does not take this index", fix="write {form}"),
    "P016": Text(
        "`church` wants one whole number from 0 to {limit}",
        fix="write it as in `church[3]`; a bare number is a native one",
    ),
    "P017": Text("the key `{key}` appears twice", fix="remove one of them"),
    "P018": Text(
        "`{name}` is a word of the language and cannot be bound",
        fix="choose another name, or put it in back-quotes: `` `{name}` ``",
    ),
    "P019": Text("`{name}` is a word of the language and stands for no term", fix="{fix}"),
    "P020": Text(
        "`{name}` is defined twice",
        why="the first definition stands at line {first}",
        fix="rename one of them",
    ),
    "P021": Text(
        "`{name}` is used in its own definition",
        why="definitions are unfolded, so this one would never end",
        fix="use Y[n], which bounds the rounds: `{name} = Y[20] (λself x. … self …) (λx. x);`",
    ),
    "P022": Text(
        "`{name}` is defined only below, at line {line}",
        why="a definition sees those above it; recursion is written with Y[n]",
        fix="move its definition up",
    ),
    "P023": Text("`{name}` is not defined", fix="{hint}"),
    "P024": Text(
        "`{label}` marks no application",
        why="an event is an application, which has at most one mark",
        fix="put the application in parentheses, as in `@llm.think (f x)`",
    ),
    "P025": Text("the site `{name}` has two rows", fix="remove one of them"),
    "P026": Text(
        "nothing says what the site `{name}` is",
        fix="add `where {{ {site} = {{…}} }}` after the term",
    ),
    "P027": Text("`{field}` of the site `{name}` must be {expected}, got {actual}"),
    "P028": Text(
        "`{field}` of the site `{name}` is missing", why="it is {expected}", fix="{hint}"
    ),
    "P029": Text("the site `{name}` has no `{key}`", why="it has {known}", fix="{hint}"),
    "P030": Text(
        "there is no term to run",
        why="the file holds definitions only",
        fix="write the term after the last `;`",
    ),
    "P031": Text(
        "a variable is bound nowhere",
        why="a program is a closed term; `^0` is the variable of the innermost binder",
        fix="count the binders around it",
    ),
    "P032": Text("the file is no program in JSON: {reason}", fix="{hint}"),
    "P033": Text("{what} is not possible with a core program", why="{why}", fix="{hint}"),
    "P036": Text(
        "the program has no pure λ form that runs: {reason}",
        why="in pure λ true, 0 and the empty list are one term, and large numbers are large terms",
        fix="give the two uses agents of their own, or count with smaller numbers",
    ),
    "P035": Text("`{field}` of the site `{name}` is no valid expression: {reason}"),
    "P037": Text(
        "`{what}` is nothing for `reduce`: it is about effects",
        why="a reduction shows a term alone: λ, literals, pairs, lists, `if`, `case`, `Y[n]`",
        fix="run it with `lambdagent run`, or put a term without effects in its place",
    ),
    "P038": Text(
        "{what} is no agent",
        why="a text with `PAR(…)`, `Guard(…)` or their like is made of agents alone",
        fix="{hint}",
    ),
    "P039": Text("`{form}` takes {expected}, got {actual}"),
    "P040": Text("the expression is not valid: {reason}"),
    "P041": Text(
        "the prompt of `{name}` is cut, and no row has all of it",
        fix="say it in the row `{site}` of the `where` table, or write all of it here",
    ),
    "P042": Text(
        "the prompt of `{name}` is not the one in its row",
        why="the row has all of a prompt, of which the term shows the beginning and `…`",
        fix="change both, or remove `prompt` from the row",
    ),
    "P043": Text("nothing refers to the row `{name}`", fix="{hint}"),
    "P044": Text(
        "`{text}` is no term",
        fix="a definition is `name = term;`, a local one `let name = term in term`",
    ),
    "P045": Text(
        "this is not what stands here in a loop",
        why="loops are `Yₙ(λself. λx. let r = f x in IF c ⟨r, step⟩ THEN r ELSE self r)` and "
        "`Yₙ(λself. λstate. let t = (f) state in CASE (classify t) […] >> λobs. "
        "IF (obs = t) THEN t ELSE self(state ⊕ format(t, obs)))`",
        fix="write one of them; only the names that they bind may be others",
    ),
    "P046": Text(
        "the pure λ form is too large: its numbers and bounds add up to more than {limit}, and "
        "the largest is `{largest}`",
        why="in pure λ a number n is a term that applies a function n times",
        fix="lower the bounds, such as `maxSteps`, or run the program without `--desugar`",
    ),
    "P050": Text(
        "the text is too large: it would have more than {limit} nodes",
        why="{why}",
        fix="{hint}",
    ),
    "P034": Text(
        "the kind `{kind}` of the site `{name}` does not exist",
        why="the kinds are {known}",
    ),
    "R001": Text("{message}", why="site `{site}`"),
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
    "E007": Text("the recording `{path}` cannot be read: {reason}"),
    "E008": Text("the tool `{name}` failed: {message}"),
    "E009": Text("the memory store `{name}` failed: {message}"),
    "E010": Text(
        "the agent `{agent}` has no model",
        why="without a model no reduction of it can be performed",
        fix="add `model: {{provider: …, name: …}}`",
    ),
    "E012": Text(
        "the memory `{name}` has no store",
        why="the site `{site}` asks a store of the caller, which a file cannot name",
        fix="pass `memory_store=` in Python, or use `mem.read` and `mem.append`",
    ),
    "E011": Text(
        "no thread can be started to wait for an answer: {reason}",
        fix="raise the limit of processes (`ulimit -u`), or end other programs",
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
        "`{path}` cannot be written: {reason}", fix="nothing is lost; mend that and resume"
    ),
    "K009": Text("`{path}` cannot be read: {reason}"),
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
        "the change cannot be forced: {called} was called already",
        why="its answers belong to what it was: {difference}",
        fix="resume the run as it was, or `--at` a step before that call",
    ),
    "K013": Text(
        "the address of the model of {sites} holds a password, which is not kept on disk",
        fix="give the agent file again: `lambdagent run FILE --resume RUN`",
    ),
    "K014": Text(
        "the program holds the value of {variable}, and would be kept on disk with it",
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
    "U001": Text("`{option}` and `{other}` exclude each other", fix="leave one of them out"),
    "U002": Text("`{path}` cannot be written: {reason}"),
    "U003": Text(
        "the run needs one input",
        fix='write it after the file, as in `lambdagent run agent.yml "hello"`, '
        "or - for standard input, or `--input FILE`",
    ),
    "U004": Text("`{path}` cannot be read: {reason}"),
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
    "U018": Text("`{option}` needs {what}", fix="without it, it would change nothing"),
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
    "U015": Text(
        "the run has no step {step}", fix="its steps at this level are {first} to {last}"
    ),
    "U016": Text(
        "the credentials in the URL of {sites} are not printed",
        fix="give the whole URL where it is run: `baseUrl: ${{LLM_URL}}` in an agent file, "
        "or `base_url` in a λ text or table that stays private",
    ),
    "U012": Text(
        "`{path}` is nothing that can be edited",
        why="a fork may change its `input`, or the answer of a step, as in `3` or `3:text`",
    ),
}
