"""What is wrong with a λ text or a table of terms: `P`."""

from __future__ import annotations

from lambdagent.messages.text import Text

MESSAGES: dict[str, Text] = {
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
    "P027": Text(
        "`{field}` of the site `{name}` must be {expected}, got {actual}", fix="write {expected}"
    ),
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
    "P035": Text(
        "`{field}` of the site `{name}` is no valid expression: {reason}",
        fix="docs/language.md lists what may be used",
    ),
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
    "P039": Text(
        "`{form}` takes {expected}, got {actual}", fix="docs/language.md shows what it takes"
    ),
    "P040": Text(
        "the expression is not valid: {reason}", fix="docs/language.md lists what may be used"
    ),
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
        fix="write one of them",
    ),
}
