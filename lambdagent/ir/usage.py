"""Which binders of a term are used, and which of its abstractions are closed."""

from lambdagent.ir.core import App, Lam, Term, Var
from lambdagent.ir.walk import children, nodes


class Usage:
    """Which abstractions use their variable, and which have no free variable, by identity."""

    def __init__(self, root: Term) -> None:
        self.using: set[int] = set()
        self.closed: set[int] = set()
        order = list(nodes(root))
        self._last = sum(1 for term in order if type(term) is Lam)
        users: dict[int, int] = {}
        for term in order:
            for child in children(term):
                users[id(child)] = users.get(id(child), 0) + 1
        free: dict[int, int] = {}  # sets of indices as bits; dropped after the last user
        for term in order:
            free[id(term)] = self._free(term, free)
            for child in children(term):
                users[id(child)] -= 1
                if not users[id(child)]:
                    del free[id(child)]

    def _free(self, term: Term, free: dict[int, int]) -> int:
        if type(term) is Var:
            # No path has more binders than there are abstractions: beyond them all are alike.
            return 1 << (min(term.index, self._last) if term.index >= 0 else self._last)
        if type(term) is App:
            return free[id(term.fun)] | free[id(term.arg)]
        if type(term) is not Lam:
            return 0
        inside = free[id(term.body)]
        if inside & 1:
            self.using.add(id(term))
        if not inside >> 1:
            self.closed.add(id(term))
        return inside >> 1
