"""Keys → screens of a run: what `trace --slow` does, without a terminal and without a clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lambdagent.api.stepping import Reach, Stepper, Walk
from lambdagent.ir.fitting import fit_end
from lambdagent.machine.state import Kind
from lambdagent.trace.page import Page
from lambdagent.trace.screen import (
    VIEWS,
    Line,
    Look,
    Size,
    body_rows,
    most_skipped,
    render,
)

# Seconds between two steps of `c`; the number of them that are taken at once.
_SPEEDS = ((2.0, 1), (1.0, 1), (0.5, 1), (0.25, 1), (0.1, 1), (0.05, 1), (0.05, 10), (0.05, 100))
_USUAL_SPEED = 3
_TITLES = {"/": "search: ", "g": "go to step: "}
_NEXT, _BACK = "going on", "going back"
_NOWHERE = {_NEXT: "this is the last step", _BACK: "this is the first step"}
_HINT = "h help  q quit  Enter next  b back  n p β  e E effect  / search"
_LONGEST = 200
# Pieces of a walk that are done at once, so that keys typed ahead do not stop short ones.
_AT_ONCE = 8
_PAGE = 10


class Viewer:
    """One person looking at one run.

    Attributes:
        view: Which of `VIEWS` is shown below the term.
        has_quit: Whether the person has had enough.
    """

    def __init__(self, stepper: Stepper) -> None:
        """Look at where `stepper` is."""
        self.stepper = stepper
        self.view = VIEWS[0]
        self.has_quit = False
        self._skipped = 0
        self._follows = True  # what is marked, until the person moves elsewhere
        self._said = ""
        self._sought = ""
        self._asked = ""  # the key that asked for a text, while it is typed
        self._typed = ""
        self._walk: Walk | None = None
        self._walk_title = ""
        self._at = 0  # where the walk is
        self._speed: int | None = None
        self._keys = self._commands()

    @property
    def is_typing(self) -> bool:
        """Whether keys are the letters of a text."""
        return bool(self._asked)

    @property
    def pause_s(self) -> float | None:
        """How long until `tick` has something to do; None if it has not."""
        if self._walk is not None:
            return 0.0
        if self._speed is not None:
            return _SPEEDS[self._speed][0]
        return None if self.stepper.history.is_whole else 0.0

    @property
    def is_walking(self) -> bool:
        """Whether something that was asked for takes its time."""
        return self._walk is not None

    def tick(self) -> None:
        """Do a piece of what takes time: a walk, the steps of `c`, going through the rest."""
        if self._walk is not None:
            self._advance(self._walk)
        elif self._speed is not None:
            self._play(_SPEEDS[self._speed][1])
        else:
            self.stepper.explore()

    def press(self, key: str) -> None:
        """Do what `key` says: a character, or the name of a key such as ``enter``."""
        if self._walk is not None:
            self._walk, self._said = None, f"stopped {self._walk_title}"
        elif self._speed is not None and key in {"+", "=", "-"}:
            self._speed = min(max(self._speed + (-1 if key == "-" else 1), 0), len(_SPEEDS) - 1)
        elif self._speed is not None:
            self._speed = None
        elif self._asked:
            self._type(key)
        else:
            self._said = ""
            command = self._keys.get(key)
            if command is None:
                self._said = "no such key: h shows them all"
            else:
                command()

    def type(self, text: str) -> None:
        """Take a text that was pasted; it is no command."""
        if self._asked:
            self._typed = (self._typed + "".join(filter(str.isprintable, text)))[:_LONGEST]

    def screen(self, size: Size, *, with_marks: bool) -> list[Line]:
        """Return what is to be seen."""
        page = self._page(size)
        status = self._status()
        if self._asked:  # the end of it is what is being typed
            status = fit_end(status, size.width)
        return render(page, size, Look(self.view, self._skipped, status, with_marks))

    def _page(self, size: Size) -> Page:
        """Return what there is here, and see to it that the rows above the screen are some."""
        rows, with_tree = body_rows(size.height), self.view == "tree"
        frames = self._skipped if self.view == "continuation" else 0
        page = self.stepper.page(Reach(rows, frames, with_tree))
        most = most_skipped(page, size, self.view)
        if page.tree and self._follows:
            marked = next((i for i, branch in enumerate(page.tree) if branch.is_marked), 0)
            self._skipped = marked - rows // 3
        self._skipped = max(min(self._skipped, most), 0)
        if frames > self._skipped:
            page = self.stepper.page(Reach(rows, self._skipped))
        return page

    def _status(self) -> str:
        if self._walk is not None:
            return f"{self._walk_title} … at {self._at:,} - any key stops"
        if self._speed is not None:
            pause_s, steps = _SPEEDS[self._speed]
            return f"{steps / pause_s:g} steps/s  + faster  - slower  any other key stops"
        if self._asked:
            return f"{_TITLES[self._asked]}{self._typed}▏"
        return self._said or _HINT

    # --- commands --------------------------------------------------------------------------------

    def _commands(self) -> Mapping[str, Callable[[], None]]:
        step = self.stepper

        def go(title: str, walk: Callable[[], Walk]) -> Callable[[], None]:
            return lambda: self._start(title, walk())

        def show(view: str) -> Callable[[], None]:
            return lambda: self._show(view)

        def ask(key: str) -> Callable[[], None]:
            return lambda: self._ask(key)

        def scroll(rows: int) -> Callable[[], None]:
            return lambda: self._scroll(rows)

        onwards = go(_NEXT, lambda: self._relative(1))
        back = go(_BACK, lambda: self._relative(-1))
        keys = {
            **dict.fromkeys(("enter", " ", "right", "l"), onwards),
            **dict.fromkeys(("b", "left", "backspace"), back),
            "n": go("looking for the next β", lambda: step.next_reduction(Kind.BETA)),
            "p": go("looking for the last β", lambda: step.last_reduction(Kind.BETA)),
            "e": go("looking for the next effect", lambda: step.next_reduction(Kind.EPSILON)),
            "E": go("looking for the last effect", lambda: step.last_reduction(Kind.EPSILON)),
            "f": go("finishing", step.finish),
            "N": lambda: self._search(back=False),
            "P": lambda: self._search(back=True),
            "home": go("going to the start", lambda: step.to(step.history.first)),
            **dict.fromkeys(("end", "G"), go("going to the end", step.to_end)),
            "/": ask("/"),
            "g": ask("g"),
            "c": self._continue,
            "k": show("continuation"),
            "v": show("environment"),
            "t": show("tree"),
            "s": show("store"),
            **dict.fromkeys(("h", "?"), show("help")),
            "escape": show("all"),
            "up": scroll(-1),
            "down": scroll(1),
            "pageup": scroll(-_PAGE),
            "pagedown": scroll(_PAGE),
            "resize": lambda: None,
        }
        return {**keys, **dict.fromkeys(("q", "c-c", "c-d"), self._quit)}

    def _relative(self, steps: int) -> Walk:
        number = yield from self.stepper.to(self.stepper.number + steps)
        return None if number == self.stepper.number else number

    def _start(self, title: str, walk: Walk) -> None:
        """Begin a walk, which often ends at once."""
        self._walk, self._walk_title, self._at = walk, title, self.stepper.number
        for _ in range(_AT_ONCE):
            if self._walk is not None:
                self._advance(walk)

    def _advance(self, walk: Walk) -> None:
        try:
            self._at = next(walk)
        except StopIteration as end:
            self._walk = None
            if end.value is None:
                self._said = _NOWHERE.get(self._walk_title, "there is none")
            else:
                self._move_to(end.value)

    def _move_to(self, number: int) -> None:
        self.stepper.move_to(number)
        self._follows = True

    def _play(self, steps: int) -> None:
        stepper = self.stepper
        stepper.ensure(stepper.number + steps)
        number = min(stepper.number + steps, stepper.history.length)
        if number == stepper.number:
            self._speed, self._said = None, "this is the last step"
        else:
            self._move_to(number)

    def _continue(self) -> None:
        self._speed = _USUAL_SPEED

    def _quit(self) -> None:
        self.has_quit = True

    def _show(self, view: str) -> None:
        self.view = VIEWS[0] if view == self.view else view
        self._skipped, self._follows = 0, True

    def _scroll(self, rows: int) -> None:
        self._skipped, self._follows = self._skipped + rows, False

    # --- texts -----------------------------------------------------------------------------------

    def _ask(self, key: str) -> None:
        self._asked, self._typed = key, ""

    def _type(self, key: str) -> None:
        if key == "enter":
            asked, text, self._asked = self._asked, self._typed.strip(), ""
            if asked == "g":
                self._go(text)
            else:
                self._sought = text or self._sought
                self._search(back=False)
        elif key in {"escape", "c-c", "c-d"} or (key == "backspace" and not self._typed):
            self._asked = ""
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif len(key) == 1:
            self.type(key)

    def _go(self, text: str) -> None:
        sign, digits = (text[:1], text[1:]) if text[:1] in {"+", "-"} else ("", text)
        digits = digits.replace(",", "").replace("_", "")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
            self._said = f"no number of a step: {text}" if text else ""
            return
        number = int(digits)
        if sign:
            number = self.stepper.number + (number if sign == "+" else -number)
        self._start(f"going to {number:,}", self.stepper.to(number))

    def _search(self, *, back: bool) -> None:
        if not self._sought:
            self._said = "nothing to search for: / asks"
            return
        title = f"searching {'back ' if back else ''}for {self._sought}"
        self._start(title, self.stepper.search(self._sought, back=back))
