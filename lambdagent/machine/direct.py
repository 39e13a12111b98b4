"""Linked program → Python source in direct style: a function for each lambda.

A lambda becomes a `def`, an application a call, ``(λx.t) u`` an assignment, a branch an `if`; one
statement a line, so the line of a traceback says how far a function came. Terms nested too deep
for Python's compiler, and very large ones, are refused.

Source: semantics.md §3, read as a big-step evaluator; design.md §6.
"""

# Note [Stopping direct code]
#
# A thread that computes in direct style never looks at the clock. Another thread stops it by
# putting None where it counts β, here and in `recursive.Run`: its next increment raises a
# TypeError. No loop goes round without one.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from lambdagent.ir.core import UNIT
from lambdagent.ir.data import Record
from lambdagent.machine.direct_text import RETURN, Late, Text, Work, carry_out
from lambdagent.machine.link import Linked
from lambdagent.machine.rules import Misfit
from lambdagent.machine.state import (
    APP,
    CONST,
    LABELLED,
    LAM,
    NIL_VALUE,
    PARTIAL,
    SATURATED,
    SITE,
    VAR,
    Code,
    Value,
)
from lambdagent.machine.values import Noted

FILENAME = "<direct style>"

_AGAIN = -1  # tags the argument of a tail call of the fixpoint that is running


class Thrown(Exception):  # noqa: N818 - the error of the program, on its way to a handler
    """``fail e``."""

    @property
    def error(self) -> Record:
        """The error record."""
        record: Record = self.args[0]
        return record


@attrs.frozen
class Bound:
    """A variable in scope: a Python name, or the function that a fixpoint hands to its body."""

    name: str
    loop: int | None = None


Scope: TypeAlias = "tuple[Bound, ...]"


@attrs.frozen(eq=False)
class Direct:
    """A program in direct style.

    Attributes:
        text: Defines ``program(run)``, which returns the function of the program, one that
            returns its counters, and one that stops it.
        names: Constants of the text.
        functions: Code and scope behind each function that may become a value, by its name.
        late: By line, the β and δ that its blocks have counted and not reached: of the whole
            function, then of the innermost `try` alone.
        recurses: Functions may call each other deeper than they are nested in the text.
    """

    text: str
    names: Mapping[str, Value]
    functions: Mapping[str, tuple[Code, Scope]]
    late: Mapping[int, Late]
    recurses: bool


def write_direct(linked: Linked) -> Direct:
    """Return `linked` in direct style.

    Raises:
        NotDirectError: It is too large, or nested too deep.
    """
    writer = _Writer(linked)
    carry_out(writer.program(linked.codes[-1]))
    return writer.finished()


class _Writer(Text):
    def __init__(self, linked: Linked) -> None:
        super().__init__()
        self.linked = linked
        self.recurses = False
        self.rooms: list[int] = []
        self.names: dict[str, Value] = {
            "UNIT": UNIT,
            "NIL": NIL_VALUE,
            "Noted": Noted,
            "Misfit": Misfit,
            "Thrown": Thrown,
        }
        self.number_of: dict[int, str] = {}
        self.sites: dict[tuple[str, str], str] = {}
        self.functions: dict[str, tuple[Code, Scope]] = {}

    def constant(self, value: Value) -> str:
        if value is UNIT:
            return "UNIT"
        if value is NIL_VALUE:
            return "NIL"
        name = self.number_of.get(id(value))
        if name is None:
            name = self.number_of[id(value)] = self.fresh("c")
            self.names[name] = value
        return name

    def finished(self) -> Direct:
        if self.recurses:
            for line in self.rooms:
                self.lines[line] = self.lines[line] + "run.room()"
        text = "\n".join(self.lines) + "\n"
        return Direct(text, self.names, self.functions, self.late(), self.recurses)

    # --- the program -----------------------------------------------------------------------------

    def program(self, code: Code) -> Work:
        self.add("def program(run):")
        self.indent = 1
        self.add("b = d = m = 0.0")
        sites = len(self.lines)
        self.add("")
        yield self.define("main(v)", self.main(code))
        self.add("def counters():")
        self.add(" return b, d, m")
        self.add("def stop():")
        self.add(" nonlocal b")
        self.add(" b = None")
        self.add("return main, counters, stop")
        made = "; ".join(
            f"{name} = run.{how}({site!r})" for (how, site), name in self.sites.items()
        )
        self.lines[sites] = f" {made}"

    def main(self, code: Code) -> Work:
        if code[0] == LAM:
            self.block.beta += 1
            yield self.into(code[2], (Bound("v"),), RETURN)
        else:
            function = yield self.atom(code, ())
            self.block.beta += 1
            self.call(RETURN, f"{function}(v)")

    # --- terms -----------------------------------------------------------------------------------

    def atom(self, code: Code, scope: Scope) -> Work:
        """Evaluate `code`; return the name of its value."""
        op = code[0]
        if op == VAR and scope[code[2]].loop is None:
            return scope[code[2]].name
        if op == CONST:
            return self.const(code[2])
        if op == LAM:
            return (yield self.closure(code, scope))
        dest = self.fresh()
        yield self.into(code, scope, dest)
        return dest

    def const(self, value: Value) -> str:
        if type(value) is tuple and value[0] == SITE:
            return self.site("site_value", value[1])
        if type(value) is tuple and value[0] == PARTIAL:
            return self.partial(value)
        return self.constant(value)

    def partial(self, value: Value) -> str:
        dest = self.fresh()
        self.add(f"{dest} = run.partial({self.constant(value[1])}, ())")
        return dest

    def site(self, how: str, name: str) -> str:
        known = self.sites.get((how, name))
        if known is None:
            known = self.sites[how, name] = self.fresh("s")
        return known

    def closure(self, code: Code, scope: Scope) -> Work:
        name = self.fresh("f")
        self.functions[name] = (code, scope)
        variable = self.fresh("x")
        body = self.into(code[2], (Bound(variable), *scope), RETURN)
        yield self.define(f"{name}({variable})", body)
        return name

    def into(self, code: Code, scope: Scope, dest: str) -> Work:
        """Evaluate `code` into `dest`."""
        op = code[0]
        if op == APP:
            yield self.application(code, scope, dest)
        elif op == LABELLED:
            yield self.labelled(code, scope, dest)
        elif op == SATURATED:
            yield _FORMS.get(code[2][3], _Writer.any_form)(self, code, scope, dest)
        elif op == VAR and scope[code[2]].loop is not None:
            loop = scope[code[2]].loop
            self.assign(dest, f"v{loop}(n{loop})")
        else:
            self.assign(dest, (yield self.atom(code, scope)))

    def labelled(self, code: Code, scope: Scope, dest: str) -> Work:
        _, _, app, kind, name = code
        began = self.fresh()
        self.add(f"{began} = run.clock")
        value = self.fresh()
        yield self.into(app, scope, value)
        self.add(f"run.label({kind!r}, {name!r}, {value}, {began})")
        self.assign(dest, value)

    def application(self, code: Code, scope: Scope, dest: str) -> Work:
        fun, arg = code[2], code[3]
        op = fun[0]
        if op == LAM:
            value = yield self.atom(arg, scope)
            if arg[0] == VAR:
                self.mention([value])
            self.block.beta += 1
            yield self.into(fun[2], (Bound(value), *scope), dest)
        elif op == CONST and type(fun[2]) is tuple and fun[2][0] == SITE:
            self.perform(fun[2][1], (yield self.atom(arg, scope)), dest)
        elif op == VAR and scope[fun[2]].loop is not None:
            self.again(scope[fun[2]].loop, (yield self.atom(arg, scope)), dest)
        elif op == SATURATED and fun[2][3] == "guard":
            self.call_operands(fun[3])
            parts = yield self.atoms((*fun[3], arg), scope)
            self.call(dest, f"run.guard({self.bound(fun)}, {', '.join(parts)})")
        elif op == SATURATED and _is_loop(fun):
            loop = yield self.loop(fun, scope)
            self.call(dest, f"k{loop}({self.bound(fun)}, {(yield self.atom(arg, scope))})")
        else:
            function, value = yield self.atoms((fun, arg), scope)
            self.recurses = True
            self.block.beta += 1
            self.call(dest, f"{function}({value})")

    def atoms(self, codes: Sequence[Code], scope: Scope) -> Work:
        found = []
        for code in codes:
            found.append((yield self.atom(code, scope)))  # noqa: PERF401 - `yield` in it
        return found

    def perform(self, name: str, value: str, dest: str) -> None:
        """Ask a site: a host function in place, anything else through the run."""
        linked_site = self.linked.sites[name]
        if linked_site.host is None:
            self.call(dest, f"{self.site('asker', name)}({value})")
            return
        self.block.delta += 1
        answer = self.fresh() if dest == RETURN else dest
        self.rooms.append(len(self.lines))
        self.add("")
        self.add(f"{answer} = {self.constant(linked_site.host)}({value})")
        self.add(f"if {answer}.__class__ is Noted: {answer} = run.note({name!r}, {answer})")
        if dest == RETURN:
            self.add(f"return {answer}")

    def bound(self, code: Code) -> str:
        """Return the bound of a fixpoint or guard; it may have more digits than text can."""
        return self.constant(code[2][5][0])

    # --- fixpoints -------------------------------------------------------------------------------

    def loop(self, code: Code, scope: Scope) -> Work:
        """Write ``fix[n] (λself.λx.t) e`` as a loop around ``t``; return its number."""
        body, exhaustion = code[3]
        self.made += 1
        loop = self.made
        self.functions[f"k{loop}"] = (body, scope)
        self.call_operands([exhaustion])
        self.add(f"e{loop} = {(yield self.atom(exhaustion, scope))}")
        inner = (Bound(f"x{loop}"), Bound(f"v{loop}", loop), *scope)
        statements = self.into(body[2][2], inner, RETURN)
        yield self.define(f"g{loop}(n{loop}, x{loop})", statements, loop)
        self.lines += [
            " " * self.indent + line
            for line in (
                f"def k{loop}(n, x):",
                " nonlocal b, m",
                " while True:",
                "  m += 1.0",
                "  if not n:",
                "   b += 1.0",
                f"   return e{loop}(x)",
                "  n -= 1",
                "  b += 2.0",
                f"  x = g{loop}(n, x)",
                f"  if x.__class__ is not tuple or x[0] != {_AGAIN}: return x",
                "  x = x[1]",
                f"def v{loop}(n):",
                f" def fixed{loop}(x):",
                "  nonlocal b",
                "  b -= 1.0",
                f"  return k{loop}(n, x)",
                f" return fixed{loop}",
            )
        ]
        self.add("")
        return loop

    def again(self, loop: int | None, value: str, dest: str) -> None:
        """Call the function that the fixpoint `loop` hands to its body."""
        if dest == RETURN and self.function.loop == loop and not self.function.tries:
            self.add(f"return ({_AGAIN}, {value})")
        else:
            self.recurses = True
            self.call(dest, f"k{loop}(n{loop}, {value})")

    def fix(self, code: Code, scope: Scope, dest: str) -> Work:
        bound = self.bound(code)
        if _is_loop(code):
            loop = yield self.loop(code, scope)
            self.assign(dest, f"v{loop}({bound})")
        else:
            self.recurses = True
            parts = yield self.atoms(code[3], scope)
            self.assign(dest, f"run.fix({bound}, {', '.join(parts)})")

    def call_operands(self, operands: Iterable[Code]) -> None:
        """Note that `operands` are called, and may be anything unless their code stands here."""
        self.recurses |= any(operand[0] not in {LAM, CONST} for operand in operands)

    # --- the other forms -------------------------------------------------------------------------

    def any_form(self, code: Code, scope: Scope, dest: str) -> Work:
        """Fire the rule of the machine."""
        self.recurses = True
        parts = yield self.atoms(code[3], scope)
        self.call(dest, f"run.fire({self.constant(code[2])}, [{', '.join(parts)}])")

    def mention(self, names: Iterable[str]) -> None:
        """Have the functions around capture `names`, at no cost: readback wants them."""
        self.add(f"if 0: {', '.join(names)}")

    def fork(self, code: Code, scope: Scope, dest: str) -> Work:
        yield from ()
        names = _names_in(code, scope)
        if names:
            self.mention(sorted(names))
        self.assign(dest, "run.fork()")

    def pair(self, code: Code, scope: Scope, dest: str) -> Work:
        left, right = yield self.atoms(code[3], scope)
        self.assign(dest, f"(0, {left}, {right})")

    def cons(self, code: Code, scope: Scope, dest: str) -> Work:
        head, tail = yield self.atoms(code[3], scope)
        self.assign(dest, f"(1, {head}, {tail})")

    def tag(self, code: Code, scope: Scope, dest: str) -> Work:
        labels, index = code[2][5]
        value = yield self.atom(code[3][0], scope)
        self.assign(dest, f"(3, {self.constant(labels)}, {index}, {value})")

    def project(self, code: Code, scope: Scope, dest: str) -> Work:
        value = yield self.atom(code[3][0], scope)
        self.block.delta += 1
        self.add(f"if {value}.__class__ is not tuple or {value}[0]: raise Misfit")
        self.assign(dest, f"{value}[{1 if code[2][3] == 'fst' else 2}]")

    def succ(self, code: Code, scope: Scope, dest: str) -> Work:
        value = yield self.atom(code[3][0], scope)
        self.block.delta += 1
        self.add(f"if {value}.__class__ is not int or {value} < 0: raise Misfit")
        self.assign(dest, f"{value} + 1")

    def guarded(self, code: Code, scope: Scope, dest: str) -> Work:
        self.call_operands(code[3])
        parts = yield self.atoms(code[3], scope)
        self.assign(dest, f"run.guarded({self.bound(code)}, {', '.join(parts)})")

    def if_(self, code: Code, scope: Scope, dest: str) -> Work:
        condition = yield self.atom(code[3][0], scope)
        then, otherwise = yield self.lazily(code[3][1:], scope)
        self.block.delta += 1
        for word, value, branch in (("if", True, then), ("elif", False, otherwise)):
            self.open(f"{word} {condition} is {value}:")
            yield self.enter(branch, "UNIT", scope, dest)
            self.close()
        self.add("else: raise Misfit")

    def case(self, code: Code, scope: Scope, dest: str) -> Work:
        subject = yield self.atom(code[3][0], scope)
        branches = yield self.lazily(code[3][1:], scope)
        labels = self.constant(code[2][5][0])
        self.block.delta += 1
        self.add(f"if {subject}.__class__ is not tuple or {subject}[0] != 3: raise Misfit")
        self.add(f"if {subject}[1] is not {labels} != {subject}[1]: raise Misfit")
        payload = self.fresh("x")
        self.add(f"{payload} = {subject}[3]")
        for index, branch in enumerate(branches):
            self.open(f"{'elif' if index else 'if'} {subject}[2] == {index}:")
            yield self.enter(branch, payload, scope, dest)
            self.close()

    def catch(self, code: Code, scope: Scope, dest: str) -> Work:
        body, handler = yield self.lazily(code[3], scope)
        result = self.fresh() if dest == RETURN else dest
        error = self.fresh("x")
        self.add(f"{error} = None")
        self.open("try:", begins_try=True)
        yield self.enter(body, "UNIT", scope, result)
        self.close()
        self.add(f"except Thrown as thrown: {error} = run.caught(thrown)")
        self.open(f"if {error} is not None:")
        self.block.beta += 1
        if isinstance(handler, tuple):
            yield self.enter(handler, error, scope, result)
        else:
            self.recurses = True
            self.call(result, f"{handler}({error})")
        self.close()
        if dest == RETURN:
            self.add(f"return {result}")

    def lazily(self, codes: Sequence[Code], scope: Scope) -> Work:
        """Evaluate the operands that are no lambdas; leave those to be entered in place."""
        found: list[Code | str] = []
        for code in codes:
            part = code if code[0] == LAM else (yield self.atom(code, scope))
            found.append(part)
        return found

    def enter(self, branch: Code | str, value: str, scope: Scope, dest: str) -> Work:
        """Apply a branch: part of its form's rule, no β of its own."""
        if isinstance(branch, str):
            self.recurses = True
            self.call(dest, f"run.enter({branch}, {value})")
        else:
            yield self.into(branch[2], (Bound(value), *scope), dest)


def _names_in(root: Code, scope: Scope) -> set[str]:
    """Return the Python names of the free variables of `root`."""
    names: set[str] = set()
    seen = set()
    stack = [(root, 0)]
    while stack:
        code, inner = stack.pop()
        if (code[1], inner) in seen:
            continue
        seen.add((code[1], inner))
        op = code[0]
        if op == VAR and code[2] >= inner:
            bound = scope[code[2] - inner]
            loop = bound.loop
            names |= {bound.name} if loop is None else {f"k{loop}", f"n{loop}"}
        elif op == LAM:
            stack.append((code[2], inner + 1))
        elif op in {APP, LABELLED, SATURATED}:
            parts = code[3] if op == SATURATED else code[2:4] if op == APP else code[2:3]
            stack += [(part, inner) for part in parts]
    return names


def _is_loop(code: Code) -> bool:
    if code[2][3] != "fix":
        return False
    body = code[3][0]
    return bool(body[0] == LAM and body[2][0] == LAM)


_FORMS: Mapping[str, Any] = {
    "pair": _Writer.pair,
    "cons": _Writer.cons,
    "tag": _Writer.tag,
    "fst": _Writer.project,
    "snd": _Writer.project,
    "succ": _Writer.succ,
    "if": _Writer.if_,
    "case": _Writer.case,
    "catch": _Writer.catch,
    "fix": _Writer.fix,
    "guard": _Writer.guarded,
    "par": _Writer.fork,
    "pmap": _Writer.fork,
}
