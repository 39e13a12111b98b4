"""MEMORY → STORE: one class per strategy, and the table of who keeps which memory.

`Stores` gives the store of a site. It is opened before the run starts, so that one that is down is
told of before anything is called.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

import attrs

from lambdagent.effects.classes import FAULTS
from lambdagent.effects.fork_safe_lock import ForkSafeLock
from lambdagent.effects.protocol import MemoryStore, StoreError
from lambdagent.effects.redaction import Redaction
from lambdagent.effects.stores.local import LocalStore, Shelf
from lambdagent.errors import Diagnostic, EffectError, finding
from lambdagent.ir.data import Data, Record, thaw
from lambdagent.messages import phrase

# What the memories of `strategy: local` hold that outlive a session, by space.
_SHELVES: Final[dict[str, Shelf]] = {}

# In milliseconds it has as many digits as the scripts of a server can write.
_LONGEST_ON_REDIS_S: Final = 1e13

_BY_HAND: Final = phrase("remove it there, or leave it: nobody reads it")


@attrs.frozen
class Owner:
    """For whom an agent runs: whose memories it reads and writes.

    Attributes:
        user: Who asks, for memories of the scope ``user``; None if nobody is named.
        session: Which of the sessions this is, for memories of the scope ``session``; None for one
            of its own, which is forgotten when it is closed.
    """

    user: str | None = None
    session: str | None = None


NOBODY: Final = Owner()


def owner_of(environment: Mapping[str, str]) -> Owner:
    """Return the owner that `environment` names."""
    names = ("LAMBDAGENT_USER", "LAMBDAGENT_SESSION")
    return Owner(*(environment.get(name, "").strip() or None for name in names))


def redis_url(environment: Mapping[str, str]) -> str:
    """Return where memories of the strategy ``redis`` are."""
    return environment.get("LAMBDAGENT_REDIS_URL", "").strip() or "redis://localhost:6379"


class Stores:
    """The stores of the memories of a session: one for all that are the same. Safe to share."""

    def __init__(
        self,
        environment: Mapping[str, str],
        base_dir: Path | None,
        owner: Owner,
        clock: Callable[[], float],
        redaction: Redaction,
    ) -> None:
        """Open stores for `owner`.

        Args:
            environment: Where addresses and directories come from.
            base_dir: Where relative paths start.
            owner: Whose memories these are.
            clock: Seconds since the epoch.
            redaction: Takes secrets out of what foreign classes say.
        """
        self._redaction = redaction
        self._environment = environment
        self._base_dir = base_dir
        self._owner = owner
        self._clock = clock
        self._session = owner.session or secrets.token_hex(8)
        self._lock = ForkSafeLock()
        self._made: dict[Hashable, MemoryStore] = {}
        self._passing: list[tuple[str, MemoryStore]] = []
        self._refused: dict[Hashable, StoreError] = {}

    def of(self, name: str, size: int, ttl_s: float, where: Record) -> MemoryStore:
        """Return the store of the memory `name`, opened at its first use.

        Args:
            name: What it is called.
            size: Most entries that it keeps.
            ttl_s: How long at most they are kept.
            where: Its strategy, scope, place and settings.

        Raises:
            EffectError: It cannot be used, or no user is named to whom it belongs.
        """
        space = self._space(name, str(where["scope"]))
        if where["strategy"] == "redis" and ttl_s > _LONGEST_ON_REDIS_S:
            what = phrase("a server cannot keep entries for {wanted} s", wanted=f"{ttl_s:g}")
            hint = phrase("set `ttl` to {most} at most, or to 0", most=f"{_LONGEST_ON_REDIS_S:g}")
            raise store_failure(name, StoreError(what, hint))
        with self._lock:
            store = self._made.get((where, space, size))
            if store is None:
                # All memories in a file or at a server fail alike; each would wait for it anew.
                alike = (where, space) if where["strategy"] == "custom" else where
                try:
                    if alike in self._refused:
                        raise self._refused[alike]
                    store, is_its_own = self._opened(where, space, size)
                except StoreError as error:
                    self._refused[alike] = error
                    told = self._redaction.text(error.message)
                    raise store_failure(name, StoreError(told, error.hint)) from error
                self._made[where, space, size] = store
                if is_its_own and where["scope"] == "session" and self._owner.session is None:
                    self._passing.append((name, store))  # nobody can come back to it
            return store

    def close(self) -> list[Diagnostic]:
        """Forget the session, if nobody can come back to it, and close all stores.

        Returns what of it could not be forgotten.
        """
        with self._lock:
            made, passing = list(self._made.values()), self._passing
            self._made, self._passing, self._refused = {}, [], {}
        left = []
        for name, store in passing:
            try:
                store.clear()
            except FAULTS as error:
                is_ours = isinstance(error, StoreError)
                told = str(error) if is_ours else f"{type(error).__name__}: {error}"
                hint = error.hint if isinstance(error, StoreError) else _BY_HAND
                told = self._redaction.text(told)
                left.append(finding("E022", name=name, message=told, hint=hint))
        for store in made:
            close = getattr(store, "close", None)
            if callable(close):
                with suppress(*FAULTS):
                    close()
        return left

    def _space(self, name: str, scope: str) -> str:
        """Return which of the memories in a store is meant."""
        if scope == "global":
            return f"global/{_quoted(name)}"
        owner = self._owner.user if scope == "user" else self._session
        if owner is None:
            raise EffectError(finding("E021", name=name))
        return f"{scope}/{_quoted(owner)}/{_quoted(name)}"

    def _opened(self, where: Record, space: str, size: int) -> tuple[MemoryStore, bool]:
        """Return a new store, and whether what it holds is of this space alone."""
        place = where["place"]
        match where["strategy"]:
            case "local":
                shelf = _SHELVES.setdefault(space, Shelf())
                return LocalStore(size, shelf=shelf, clock=self._clock), True
            case "sqlite":
                from lambdagent.effects.stores.sqlite import SqliteStore

                return SqliteStore(self._file(place), space, size, clock=self._clock), True
            case "redis":
                from lambdagent.effects.stores.redis_server import RedisStore

                return RedisStore(redis_url(self._environment), space, size), True
        return self._custom(where, space, size)

    def _custom(self, where: Record, space: str, size: int) -> tuple[MemoryStore, bool]:
        """Return a store of a class of somebody else's that has answered, and the same."""
        from lambdagent.effects.stores.custom import make_store

        path, settings = str(where["place"]), cast(Any, thaw(where["settings"]))
        offered = {"space": space, "size": size}
        store, taken = make_store(path, settings, offered, self._base_dir)
        if where["scope"] == "user" and "space" not in taken:
            what = phrase("`{path}` cannot keep users apart", path=path)
            hint = phrase("give its constructor a parameter `space`: whose memory it is")
            raise StoreError(what, hint)
        try:
            store.list_recent(1)
        except FAULTS as error:
            hint = phrase("mend `{path}`, or what it needs", path=path)
            raise StoreError(f"{type(error).__name__}: {error}", hint) from error
        # What is not told whose memory it is may hold those of others, too.
        return store, "space" in taken

    def _file(self, place: Data) -> Path:
        """Return the file of an SQLite memory."""
        try:
            if place is not None:
                return (self._base_dir or Path()) / Path(str(place)).expanduser()
            home = Path(self._environment.get("XDG_DATA_HOME", ""))
            base = home if home.is_absolute() else Path.home() / ".local" / "share"
            directory = base / "lambdagent"
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (OSError, RuntimeError) as error:  # without a home directory
            what = str(error) if place is None else f"`{place}`: {error}"
            raise StoreError(what, phrase("name another file: `memory.path`")) from error
        return directory / "memory.db"


# How many may use a file or a server at once, by the loop on which they wait.
_turns: Final[dict[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]]] = {}


def turn(store: MemoryStore) -> AbstractAsyncContextManager[object]:
    """Return what waits until `store` can be of use: more threads would wait there themselves."""
    most, shared = getattr(store, "at_once", None), getattr(store, "shared", None)
    if not isinstance(most, int) or not isinstance(shared, str):
        return nullcontext()
    loop = asyncio.get_running_loop()
    known = _turns.get(loop)
    if known is None:
        # A semaphore at which somebody waited knows its loop, so no weak key would let it go.
        for old in [each for each in list(_turns) if each.is_closed()]:
            _turns.pop(old, None)
        known = _turns[loop] = {}
    return known.setdefault(shared, asyncio.Semaphore(most))


def store_failure(name: str, error: StoreError) -> EffectError:
    """Return what is told where the store of the memory `name` cannot do what it is asked."""
    return EffectError(finding("E009", name=name, message=error.message, hint=error.hint))


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")
