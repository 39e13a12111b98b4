"""What docs/lint.md says of each rule: a file that it is about, one that it is not, and why.

Data only. The tests run the rule on both files.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Page(NamedTuple):
    """An example of a rule.

    Attributes:
        suffix: ``yml``, or ``lam`` for rules about programs.
    """

    why: str
    bad: str
    good: str
    suffix: str = "yml"


_MODEL = "model: {provider: openai, name: gpt-4o-mini}\n"
_SIMPLE = f"type: simple\nsystemPrompt: Answer in one sentence.\n{_MODEL}"
_REACT = f"type: react\nsystemPrompt: Use your tools.\n{_MODEL}"
_ROUTER = f"type: router\nsystemPrompt: You work at the desk.\n{_MODEL}"
_CHAIN = f"type: chain\nsystemPrompt: You write.\n{_MODEL}"


def _routes(classifier: str, *routes: str) -> str:
    lines = [f"router:\n  classifier: {{prompt: What is it about?{classifier}}}\n  routes:\n"]
    lines += (f"    {name}: {{type: simple, systemPrompt: You know {name}.}}\n" for name in routes)
    return _ROUTER + "".join(lines)


_DEFAULT = "  default: {type: simple, systemPrompt: Answer the rest.}\n"
_SCRIPT = "type: simple\nname: greeter\nsystemPrompt: Greet.\n"
_LAM = 'llm{model: {provider: "openai", name: "gpt-4o-mini", max_tokens: 9}, prompt: "Go on."}'

PAGES: Final[dict[str, Page]] = {
    "L001": Page(
        "The prompt is the body of the function. Without one the model gets the input and nothing"
        " else, and what comes back is up to chance.",
        f'type: simple\nsystemPrompt: ""\n{_MODEL}',
        _SIMPLE,
    ),
    "L002": Page(
        "An agent without a model compiles, but nothing can run it unless `--model` or"
        " `LAMBDAGENT_MODEL` names one. It is told once if the whole file has none.",
        "type: simple\nsystemPrompt: Answer in one sentence.\n",
        _SIMPLE,
    ),
    "L003": Page(
        "Y₀ is the exhaustion alone. The compiler refuses it.",
        f"{_REACT}react: {{maxSteps: 0}}\nmcp: {{localTools: [search, terminate]}}\n",
        f"{_REACT}react: {{maxSteps: 5}}\nmcp: {{localTools: [search, terminate]}}\n",
    ),
    "L004": Page(
        "`terminate` is how a model says that it is done. Without it the loop ends when the bound"
        " is used up, or with a reply that happens to call nothing. `--fix` adds it, in the"
        " layout of the file; that changes the term.",
        f"{_REACT}mcp: {{localTools: [search]}}\n",
        f"{_REACT}mcp: {{localTools: [search, terminate]}}\n",
    ),
    "L005": Page(
        "No answer of the classifier leads anywhere. The compiler refuses it.",
        f"{_ROUTER}router:\n  classifier: {{prompt: What is it about?}}\n  routes: {{}}\n",
        f"{_routes('', 'code')}{_DEFAULT}",
    ),
    "L006": Page(
        "An empty chain gives back its input. The compiler refuses it, and a parallel agent"
        " without agents too.",
        f"{_CHAIN}chain: {{steps: []}}\n",
        f"{_CHAIN}chain:\n  steps:\n    - {{name: draft, prompt: Write a draft.}}\n",
    ),
    "L007": Page(
        "Above 1.5 most models wander off.",
        "type: simple\nsystemPrompt: Answer.\n"
        "model: {provider: openai, name: gpt-4o-mini, temperature: 2.0}\n",
        "type: simple\nsystemPrompt: Answer.\n"
        "model: {provider: openai, name: gpt-4o-mini, temperature: 0.8}\n",
    ),
    "L008": Page(
        "Entries stay until newer ones push them out, however old they are. That is also what"
        " a file without `ttl` says.",
        f"{_SIMPLE}memory: {{enabled: true, size: 20, ttl: 0}}\n",
        f"{_SIMPLE}memory: {{enabled: true, size: 20, ttl: 3600}}\n",
    ),
    "L009": Page(
        "Each exchange is stored and dropped at once.",
        f"{_SIMPLE}memory: {{enabled: true, size: 0, ttl: 3600}}\n",
        f"{_SIMPLE}memory: {{enabled: true, size: 20, ttl: 3600}}\n",
    ),
    "L010": Page(
        "Each round is a model call. `compile --bounds` says how many tokens that can be.",
        f"{_REACT}react: {{maxSteps: 100}}\nmcp: {{localTools: [search, terminate]}}\n",
        f"{_REACT}react: {{maxSteps: 20}}\nmcp: {{localTools: [search, terminate]}}\n",
    ),
    "L011": Page(
        "A loop without tools is a model that talks to itself. Tools may also come from outside,"
        " with `--tool` or `tools=`: then write `# lint: ignore L011` beside it.",
        f"{_REACT}mcp: {{localTools: [terminate]}}\n",
        f"{_REACT}mcp: {{localTools: [search, terminate]}}\n",
    ),
    "L012": Page(
        "What fails six times fails for a reason that asking again does not remove.",
        f"{_SIMPLE}guard: {{validator: len(x) > 20, retry: 10}}\n",
        f"{_SIMPLE}guard: {{validator: len(x) > 20, retry: 2}}\n",
    ),
    "L013": Page(
        "Models do not always answer with one of the names that they are given.",
        _routes("", "code", "math"),
        f"{_routes('', 'code', 'math')}{_DEFAULT}",
    ),
    "L014": Page(
        "For your information. Providers promise no exact repetition, even so.",
        "type: simple\nsystemPrompt: Answer.\n"
        "model: {provider: openai, name: gpt-4o-mini, temperature: 0}\n",
        _SIMPLE,
    ),
    "L015": Page(
        "For your information: the same question may get another answer later.",
        f"{_SIMPLE}memory: {{enabled: true, size: 20, ttl: 3600}}\n",
        _SIMPLE,
    ),
    "L016": Page(
        "For your information: the answer depends on what is stored there.",
        f"{_SIMPLE}rag: {{enabled: true, source: docs}}\n",
        _SIMPLE,
    ),
    "L017": Page(
        "Every try is made in vain, and then the fallback answers. This is decided for"
        " conditions without `x`, and for those that compare `len(x)`, or a text, with numbers;"
        " of others nothing is said. A text is never above a number: that comparison fails.",
        f"{_SIMPLE}guard: {{validator: len(x) > 100 and len(x) < 50, retry: 2}}\n",
        f"{_SIMPLE}guard: {{validator: 50 < len(x) < 100, retry: 2}}\n",
    ),
    "L018": Page(
        "The guard never asks again, so it only looks like one. It is decided as L017 is.",
        f"{_SIMPLE}guard: {{validator: len(x) >= 0, retry: 2}}\n",
        f"{_SIMPLE}guard: {{validator: len(x) > 0, retry: 2}}\n",
    ),
    "L019": Page(
        "An exit test without a variable ends the loop after one round of tools, or never.",
        f"{_REACT}react: {{earlyStop: 'False'}}\nmcp: {{localTools: [search, terminate]}}\n",
        f"{_REACT}react: {{earlyStop: \"'done' in observation\"}}\n"
        "mcp: {localTools: [search, terminate]}\n",
    ),
    "L020": Page(
        "The classifier is told a name that leads nowhere.",
        _routes(", categories: [code, math]", "code"),
        _routes(", categories: [code, math]", "code", "math"),
    ),
    "L021": Page(
        "The classifier is not told of this route, or another one takes its answers: they are"
        " compared without case and without spaces around them.",
        f"{_routes(', categories: [code]', 'code', 'maths')}{_DEFAULT}",
        f"{_routes(', categories: [code, maths]', 'code', 'maths')}{_DEFAULT}",
    ),
    "L022": Page(
        "A script for `writer`, or a trace that says `writer`, could mean either.",
        f"{_CHAIN}chain:\n  steps:\n    - {{name: writer, prompt: Write.}}\n"
        "    - {name: writer, prompt: Shorten.}\n",
        f"{_CHAIN}chain:\n  steps:\n    - {{name: writer, prompt: Write.}}\n"
        "    - {name: editor, prompt: Shorten.}\n",
    ),
    "L023": Page(
        "What a tool returns reaches the model in the next round, as an observation.",
        f"{_REACT}react: {{maxSteps: 1}}\nmcp: {{localTools: [search, terminate]}}\n",
        f"{_REACT}react: {{maxSteps: 5}}\nmcp: {{localTools: [search, terminate]}}\n",
    ),
    "L024": Page(
        "Settings of something that is switched off: `memory` or `checkpoint` without"
        " `enabled: true`, names in `confirm` where the policy asks for all tools or for none,"
        " the length of a history that is not kept.",
        f"{_SIMPLE}checkpoint: {{directory: runs}}\n",
        f"{_SIMPLE}checkpoint: {{enabled: true, directory: runs}}\n",
    ),
    "L025": Page(
        "A reply for a name that no agent has, or one that a rule above it takes away.",
        f"{_SCRIPT}model: {{provider: scripted, script: {{replies: {{greter: [Hi.]}}}}}}\n",
        f"{_SCRIPT}model: {{provider: scripted, script: {{replies: {{greeter: [Hi.]}}}}}}\n",
    ),
    "L026": Page(
        "Files are copied, committed and shown. Keys of models are read from the environment,"
        " such as `OPENAI_API_KEY`; addresses and headers may name variables. No output of lint"
        " shows the secret.",
        "type: simple\nsystemPrompt: Answer.\n"
        "model: {provider: openai, name: local, baseUrl: 'https://me:hunter2@llm.example/v1'}\n",
        "type: simple\nsystemPrompt: Answer.\n"
        "model: {provider: openai, name: local, baseUrl: '${LLM_URL:-https://llm.example/v1}'}\n",
    ),
    "L027": Page(
        "The name is almost one that is known, or its family belongs to another provider. Other"
        " unknown names are fine: new models appear every week.",
        "type: simple\nsystemPrompt: Answer.\nmodel: {provider: openai, name: gpt-4o-mni}\n",
        _SIMPLE,
    ),
    "L028": Page(
        "The conversation and the answer together must fit into what the model reads at a time."
        " Without `maxHistoryTokens` a conversation may have half of `contextWindow`, at most"
        " 80,000 tokens. With `conversation: token_budget(n)` it is the request that has n; what"
        " `full` sends nobody knows before the run.",
        "type: simple\nsystemPrompt: Answer.\nmodel: {provider: openai, name: gpt-4}\n",
        "type: simple\nsystemPrompt: Answer.\n"
        "model: {provider: openai, name: gpt-4, contextWindow: 8192, maxTokens: 2000}\n",
    ),
    "L029": Page(
        "Two calls of `self` on one path double the rounds at each level.",
        f"λx. Y[9] (λself q. {_LAM} (self (self q))) (λq. q) x\n",
        f"λx. Y[9] (λself q. if {_LAM} q then q else self q) (λq. q) x\n",
        "lam",
    ),
    "L030": Page(
        "Nothing in the program says how long the list is.",
        f"λx. pmap {_LAM} x\n",
        f"λx. par[2] (λ_. {_LAM} x) (λ_. {_LAM} x)\n",
        "lam",
    ),
    "L031": Page(
        "The loop always runs to its bound, so its body has no say in when it ends.",
        f"λx. Y[9] (λself q. self ({_LAM} q)) (λq. q) x\n",
        f"λx. Y[9] (λself q. if {_LAM} q then q else self q) (λq. q) x\n",
        "lam",
    ),
    "L032": Page(
        "A comment that outlives its finding would hide the next one. `--fix` removes it.",
        f"{_SIMPLE.rstrip()} # lint: ignore L014\n",
        "type: simple\nsystemPrompt: Answer.\n"
        "model: {provider: openai, name: gpt-4o-mini, temperature: 0} # lint: ignore L014\n",
    ),
    "L033": Page(
        "`sqlite` and `redis` keep entries for ever, but those of a session are found by"
        " its name: without one, the next run begins with an empty memory. Where that is meant,"
        " such as for kept runs, write `scope: session`.",
        f"name: notes\n{_SIMPLE}memory: {{strategy: sqlite, ttl: 3600}}\n",
        f"name: notes\n{_SIMPLE}memory: {{strategy: sqlite, scope: global, ttl: 3600}}\n",
    ),
}
