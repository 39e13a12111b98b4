"""States and transitions → texts for people, with known names folded back.

Texts are bounded: terms are read back briefly, and only the frames next to the redex are shown.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from lambdagent.ir.core import Lam, Lit, Term, Var
from lambdagent.ir.exchange import key_text
from lambdagent.ir.folding import Folding, Key, Numbering, alpha_key
from lambdagent.ir.labels import UNSHOWN
from lambdagent.ir.printer import View, print_marked
from lambdagent.ir.walk import children, nodes, rebuild
from lambdagent.machine.brief import ELIDED, MARK, BriefReadback
from lambdagent.machine.crowd import in_order
from lambdagent.machine.link import Linked
from lambdagent.machine.readback import HOLE
from lambdagent.machine.state import (
    LABEL,
    Eval,
    Fail,
    Halt,
    Join,
    Kont,
    Machine,
    Path,
    Suspend,
    Thread,
    Value,
)
from lambdagent.machine.text import cut, text_of_value
from lambdagent.trace.transition import Transition
from lambdagent.trace.tree import Branch, tree

# Frames around the redex that a term shows.
_AROUND = 3
# Variables and frames that a screen has use for.
_MOST = 40
_SHOWN = 100
# Nodes unlike each other whose texts are kept.
_REMEMBERED = 200_000
_MARKS: Mapping[int, str] = {id(ELIDED): MARK, id(HOLE): "□"}

Parts = tuple[str, str, str]


class Binding(NamedTuple):
    """A name and what it stands for."""

    name: str
    text: str


class Sight:
    """Prints what a program does."""

    def __init__(self, linked: Linked, known: Mapping[str, Term] | None = None) -> None:
        """Know the terms of `known` by name."""
        self.linked = linked
        self.readback = BriefReadback.of(linked)
        self._folding = Folding(known) if known else None
        self._shapes = Numbering(_shape)
        self._printed: dict[int, Parts] = {}

    def term(self, term: Term) -> str:
        """Return `term` as text."""
        return "".join(self._marked(term, None))

    def before(self, made: Transition) -> Parts:
        """Return the term before a transition: what stands before the redex, it, and the rest."""
        return self._around(made.redex, made.around)

    def after(self, made: Transition) -> Parts:
        """Return the term after a transition, around what the redex became."""
        return self._around(made.result, made.around)

    def standing(self, thread: Thread) -> Parts:
        """Return the term that a thread is at: what stands before its focus, it, and the rest."""
        return self._around(self.readback.focus(thread, {}), thread.kont)

    def tree(self, focus: Term, around: Kont) -> list[Branch]:
        """Return `focus`, which is marked, and what is around it as a tree."""
        term, marked, rest = self._plugged(focus, around)
        texts, _ = self._texts(term, marked)
        branches = tree(term, marked, texts)
        return [Branch("", MARK), *branches] if rest else branches

    def _around(self, focus: Term, kont: Kont) -> Parts:
        term, marked, rest = self._plugged(focus, kont)
        before, middle, after = self._marked(term, marked)
        return (f"{MARK} {before}", middle, f"{after} {MARK}") if rest else (before, middle, after)

    def _plugged(self, focus: Term, kont: Kont) -> tuple[Term, Term, Kont]:
        """Return `focus` in the frames next to it, itself in there, and the frames left out."""
        marked = focus = copy.copy(focus)  # a node that stands nowhere else
        shown = 0
        while kont and shown < _AROUND:
            if kont[0] != LABEL:
                focus = self.readback.plug(focus, kont, kont[1])
                shown += 1
            kont = kont[1]
        return focus, marked, kont

    def _marked(self, term: Term, marked: Term | None) -> Parts:
        """Return `term` as text; most terms of a run are like one that was printed before."""
        if len(self._shapes) > _REMEMBERED:
            self._forget()
        shape = self._shapes.numbered(nodes(term), marked)[id(term)]
        parts = self._printed.get(shape)
        if parts is None:
            texts, reserved = self._texts(term, marked)
            parts = self._printed[shape] = print_marked(term, View(texts, marked), reserved)
        return parts

    def _forget(self) -> None:
        self._shapes = Numbering(_shape)
        self._printed.clear()

    def _texts(self, term: Term, marked: Term | None) -> tuple[Mapping[int, str], tuple[str, ...]]:
        """Return what is written for known terms, by identity, and names that are taken."""
        if self._folding is None:
            return _MARKS, ()
        kept = set() if marked is None else _way(term, marked)
        return {**self._folding.folded(term, kept), **_MARKS}, self._folding.names

    def frames(self, kont: Kont, most: int | None = _MOST) -> list[str]:
        """Return the frames of a continuation, innermost first; they wait for ``□``."""
        return [self.term(frame) for frame in self.readback.stack(kont, most)]

    def frame(self, kont: Kont) -> Parts:
        """Return the innermost frame of `kont`: what is before its hole, the hole, the rest."""
        hole = Lit("□")  # marked; a constant would be taken for the head of a form
        before, _, after = self._marked(self.readback.plug(hole, kont, kont[1]), hole)
        return before, "□", after

    def environment(self, thread: Thread) -> list[Binding]:
        """Return the variables that the control of a thread can see, the innermost first."""
        state = thread.state
        if not isinstance(state, Eval):
            return []
        names = _names(self.readback.nodes[state.control[1]])
        found: list[Binding] = []
        env = state.env
        for index in range(max(names, default=-1) + 1):
            if index in names and len(found) < _MOST:
                found.append(Binding(names[index], self.value(env[0])))
            env = env[1]
        return found

    def value(self, value: Value) -> str:
        """Return a value as text."""
        return self.term(self.readback.term(value))

    def store(self, thread: Thread) -> list[Binding]:
        """Return the cells of the store as a thread sees them."""
        cells = sorted(thread.store)[:_MOST]
        return [Binding(cell, self.value(thread.store[cell])) for cell in cells]

    def threads(self, machine: Machine, path: Path) -> list[Binding]:
        """Return where the other threads stand."""
        shown, rest = self.others(machine, path)
        return [*(Binding(path_text(each.path), stands(each)) for each in shown), *rest]

    def others(self, machine: Machine, path: Path) -> tuple[list[Thread], list[Binding]]:
        """Return the first threads besides the one at `path`, and how many more there are."""
        threads = machine.threads
        paths = islice((each for each in in_order(threads) if each != path), _MOST)
        shown = [threads[each] for each in paths]
        left = len(threads) - 1 - len(shown) if len(shown) == _MOST else 0
        return shown, [Binding(MARK, f"{left:,} more")] if left else []


def depth(kont: Kont, most: int) -> int:
    """Return the number of frames that wait, counted up to `most`."""
    found = 0
    while kont and found < most:
        found += kont[0] != LABEL
        kont = kont[1]
    return found


def outwards(kont: Kont, frames: int) -> Kont:
    """Return a continuation without its innermost `frames`."""
    while kont and (frames or kont[0] == LABEL):
        frames -= kont[0] != LABEL
        kont = kont[1]
    return kont


def within(thread: Thread, most: int) -> tuple[str, str, Path] | None:
    """Return kind and name of the step of the agent that a thread is in, and when it began.

    Args:
        thread: Any thread.
        most: How many frames are looked through.
    """
    kont = thread.kont
    for _ in range(most):
        if not kont:
            break
        if kont[0] == LABEL and kont[2] not in UNSHOWN:
            return kont[2], kont[3], (*thread.path, kont[4])
        kont = kont[1]
    return None


def _shape(term: Term, known: Mapping[int, int]) -> Key:
    """Return what tells `term` from all that are printed otherwise."""
    if id(term) in _MARKS:
        return (_MARKS[id(term)],)
    return (term.name, *alpha_key(term, known)) if type(term) is Lam else alpha_key(term, known)


def _names(node: Term) -> dict[int, str]:
    """Return the names of the free variables of `node`, by how many binders they look outwards."""
    names: dict[int, str] = {}

    def note(var: Var, depth: int) -> Term:
        if var.index >= depth:
            names.setdefault(var.index - depth, var.name or "x")
        return var

    rebuild(node, note)
    return names


def _way(root: Term, marked: Term) -> set[int]:
    """Return the nodes from `root` to `marked`: they are shown as they are."""
    above = {id(child): term for term in nodes(root) for child in children(term)}
    way = {id(marked)}
    while id(marked) in above:
        marked = above[id(marked)]
        way.add(id(marked))
    return way


def path_text(path: Path) -> str:
    """Return which thread a path is, as keys are written.

    >>> path_text(()), path_text((4, 0))
    ('the run', 'branch @4.0')
    """
    return f"branch {key_text(path)}" if path else "the run"


def stands(thread: Thread) -> str:
    """Return where a thread stands."""
    match thread.state:
        case Suspend(site, argument):
            key = key_text((*thread.path, thread.clock))
            return f"asks {site} ({key}): {cut(text_of_value(argument), _SHOWN)}"
        case Join(_, _, count, pending):
            return f"waits for {pending} of its {count} branches"
        case Halt(value):
            return f"has come to {cut(text_of_value(value), _SHOWN)}"
        case Fail(error):
            return f"has failed: {cut(str(error['message']), _SHOWN)}"
    return "can go on"
