"""Surface term → one line: how an agent is put together, as lint tells it.

Source: specification 8.2.
"""

from __future__ import annotations

from lambdagent.ir import surface

# What is deeper, or further to the right, is left out.
_DEEPEST, _LONGEST, _MOST = 20, 160, 8


def summary(term: surface.Term) -> str:
    """Return the structure of `term`, such as ``Memory(Loop(…, max_steps=20), redis)``.

    >>> summary(surface.Guard(surface.Lam("writer") >> surface.Lam("editor"), "len(x) > 3", 2))
    'Guard(writer >> editor, retry=2)'
    """
    text = _text(term, _DEEPEST)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _text(term: surface.Term, depth: int) -> str:
    if depth == 0:
        return "…"
    match term:
        case surface.Memory(agent, strategy=strategy):
            return f"Memory({_text(agent, depth - 1)}, {strategy})"
        case surface.Guard(agent, _, retry):
            return f"Guard({_text(agent, depth - 1)}, retry={retry})"
        case surface.Loop(surface.ReActStep(), max_steps=bound):
            return f"Loop(think >> act >> observe, max_steps={bound})"
        case surface.Loop(body, max_steps=bound):
            return f"Loop({_text(body, depth - 1)}, max_steps={bound})"
        case surface.Compose(stages) if stages:
            return " >> ".join(_shown(stages, depth))
        case surface.Par(branches):
            return f"Par({', '.join(_shown(branches, depth))})"
        case surface.Route(_, routes, default):
            names = [*list(routes)[:_MOST], *(["…"] if len(routes) > _MOST else [])]
            other = "" if default is None else ", default"
            return f"Route({{{', '.join(names)}}}{other})"
        case surface.Lam(name) | surface.Tool(name):
            return name
    return type(term).__name__


def _shown(terms: tuple[surface.Term, ...], depth: int) -> list[str]:
    shown = [_text(term, depth - 1) for term in terms[:_MOST]]
    return [*shown, "…"] if len(terms) > _MOST else shown
