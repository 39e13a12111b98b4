"""Memories on a Redis server, for several processes and machines at once.

Of a memory with the space S there is, on the server,

    lambdagent:{S}:newest       a sorted set of the keys, by the order in which they were put
    lambdagent:{S}:entry:KEY    the entry of KEY: seconds since the epoch, a line end, and JSON

The server forgets an entry whose time is over. Each operation is one script, so nothing is ever
half done; a connection that broke, such as by a new start of the server, is made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from lambdagent.effects.leases import Leases
from lambdagent.effects.protocol import Entry, StoreError
from lambdagent.ir.url import shown_url
from lambdagent.messages import phrase

if TYPE_CHECKING:
    from redis import Redis

# The set is forgotten with the last of its entries: it lives as long as the longest of them.
_PUT: Final = """
local newest, prefix, key = KEYS[1], ARGV[1], ARGV[2]
local ttl_ms, size = tonumber(ARGV[4]), tonumber(ARGV[5])
local now = redis.call('TIME')
local entry = now[1] .. '.' .. string.format('%06d', now[2]) .. '\\n' .. ARGV[3]
local last = redis.call('ZREVRANGE', newest, 0, 0, 'WITHSCORES')
local left = redis.call('PTTL', newest)
redis.call('ZADD', newest, (tonumber(last[2]) or 0) + 1, key)
if ttl_ms > 0 then
  redis.call('SET', prefix .. key, entry, 'PX', ttl_ms)
  if left == -2 or (left >= 0 and left < ttl_ms) then
    redis.call('PEXPIRE', newest, ttl_ms)
  end
else
  redis.call('SET', prefix .. key, entry)
  redis.call('PERSIST', newest)
end
local function forget(oldest, most)
  for _, each in ipairs(redis.call('ZRANGE', newest, 0, most)) do
    if redis.call('EXISTS', prefix .. each) == 0 then
      redis.call('ZREM', newest, each)
    elseif oldest then
      return
    end
  end
end
forget(true, 99)
if size >= 0 and redis.call('ZCARD', newest) > size then
  forget(false, -1)
end
while size >= 0 and redis.call('ZCARD', newest) > size do
  local oldest = redis.call('ZRANGE', newest, 0, 0)[1]
  redis.call('DEL', prefix .. oldest)
  redis.call('ZREM', newest, oldest)
end
"""
_RECENT: Final = """
local newest, prefix, count = KEYS[1], ARGV[1], tonumber(ARGV[2])
local now = redis.call('TIME')
local found, start = {now[1] .. '.' .. string.format('%06d', now[2])}, 0
while #found <= 2 * count do
  local keys = redis.call('ZREVRANGE', newest, start, start + 99)
  if #keys == 0 then break end
  for _, each in ipairs(keys) do
    local entry = redis.call('GET', prefix .. each)
    if entry and #found <= 2 * count then
      found[#found + 1] = each
      found[#found + 1] = entry
    end
  end
  start = start + 100
end
return found
"""
_CLEAR: Final = """
for _, each in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  redis.call('DEL', ARGV[1] .. each)
end
redis.call('DEL', KEYS[1])
"""
_PATIENCE_S = 5.0
_UNLIMITED = -1
_EVERYTHING = 2**31
_INSTALL: Final = phrase("pip install 'lambdagent[redis]'")
_CHECK: Final = phrase("start the server, or set LAMBDAGENT_REDIS_URL to where it is")
_FORM: Final = phrase("set LAMBDAGENT_REDIS_URL to one such as `redis://localhost:6379`")
_ALLOW: Final = phrase("allow the user in LAMBDAGENT_REDIS_URL to write")
# What to do where the server is there and refuses: by what its words hold, the first one counts.
_REFUSALS: Final = {
    "DB index": phrase("check the number of the database in LAMBDAGENT_REDIS_URL"),
    "can't run this command": _ALLOW,
    "no permissions": _ALLOW,
    "maxmemory": phrase("give the server more room: `maxmemory`"),
    "read only": phrase("set LAMBDAGENT_REDIS_URL to a server that can be written to"),
    "WRONGTYPE": phrase(
        "remove the keys there that begin with `lambdagent:`, or use another server"
    ),
}


class RedisStore:
    """A `MemoryStore` on a server.

    Attributes:
        at_once: Most threads that ask the server at once, where there is a choice.
    """

    at_once = 8

    def __init__(self, url: str, space: str = "", size: int | None = None) -> None:
        """Connect to the server at `url`.

        Args:
            url: ``redis://``, ``rediss://`` or ``unix://``; its credentials are never told.
            space: Which of the memories on the server this is.
            size: Most entries kept, None for any number.

        Raises:
            StoreError: The SDK is not installed, or the server cannot be asked.
        """
        self._shown = shown_url(url)
        self.shared = url
        self._server = _servers.take(url)
        self._is_open = True
        base = f"lambdagent:{{{space}}}:"
        self._newest, self._prefix = f"{base}newest", f"{base}entry:".encode()
        self._size = _UNLIMITED if size is None else size
        self._put = self._server.register_script(_PUT)
        self._recent = self._server.register_script(_RECENT)
        self._clear = self._server.register_script(_CLEAR)
        try:
            with self._asking():  # can it be written to? No key is like this one
                self._server.zrem(self._newest, b"\xff")
        except BaseException:
            self.close()
            raise

    def get(self, key: str) -> Any | None:
        """Return the value of `key`, or None."""
        with self._asking():
            entry: Any = self._server.get(self._prefix + _bytes(key))
        return None if entry is None else self._read(key, entry)[1]

    def put(self, key: str, value: Any, ttl: float = 0) -> None:
        """Keep `value` for `ttl` seconds; 0 means for ever."""
        ttl_ms = max(1, round(ttl * 1000)) if ttl else 0
        values: list[Any] = [self._prefix, _bytes(key), json.dumps(value), ttl_ms, self._size]
        with self._asking():
            self._put(keys=[self._newest], args=values)

    def list_recent(self, n: int) -> list[tuple[str, Any]]:
        """Return the `n` newest entries, oldest first."""
        return [(each.key, each.value) for each in self.list_aged(n)]

    def list_aged(self, n: int) -> list[Entry]:
        """Return the `n` newest entries, oldest first, with their ages."""
        count = min(max(n, 0), _EVERYTHING)
        with self._asking():
            now, *found = self._recent(keys=[self._newest], args=[self._prefix, count])
        entries = []
        for key, entry in zip(found[::2], found[1::2], strict=True):
            name = _text(key)
            written, value = self._read(name, entry)
            entries.append(Entry(name, value, max(0.0, float(now) - written)))
        return entries[::-1]

    def clear(self) -> None:
        """Forget everything in this space."""
        with self._asking():
            self._clear(keys=[self._newest], args=[self._prefix])

    def close(self) -> None:
        """Use the server no more; its connections are closed when nobody uses it."""
        if self._is_open:
            self._is_open = False
            _servers.give_back(self.shared)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Turn what fails into a `StoreError` that names the server without credentials."""
        from redis import exceptions

        try:
            yield
        except exceptions.AuthenticationError as error:
            hint = phrase("check the user and the password in LAMBDAGENT_REDIS_URL")
            wants = phrase("it wants a password")
            reason = wants if str(error).startswith(("HELLO", "NOAUTH")) else str(error)
            raise self._failed(reason, hint) from error
        except exceptions.ResponseError as error:  # it is there, and answers
            told = str(error)
            hints = (hint for part, hint in _REFUSALS.items() if part in told)
            hint = next(hints, phrase("see what the server at LAMBDAGENT_REDIS_URL lacks"))
            raise self._failed(told, hint) from error
        except (exceptions.RedisError, OSError) as error:
            raise self._failed(str(error), _CHECK) from error

    def _failed(self, reason: str, hint: str) -> StoreError:
        reason = reason.partition(" script: ")[0].rstrip(".")
        what = phrase("the server at `{url}`: {reason}", url=self._shown, reason=reason)
        return StoreError(what, hint)

    def _read(self, key: str, entry: bytes) -> tuple[float, Any]:
        """Return when an entry was put, and its value."""
        written, _, value = entry.partition(b"\n")
        try:
            return float(written), json.loads(value)
        except ValueError as error:
            reason = phrase("the entry `{key}` is none that was put here", key=key[:60])
            raise self._failed(reason, _REFUSALS["WRONGTYPE"]) from error


def _connected(url: str) -> Redis:
    """Return what asks the server at `url`; nothing is asked yet.

    Raises:
        StoreError: The SDK is not installed, or this is no URL.
    """
    try:
        import redis
    except ImportError as error:
        what = phrase("the package `redis` is not installed")
        raise StoreError(what, _INSTALL) from error
    try:
        _check_database(url)
        server: Redis = redis.Redis.from_url(
            url, socket_timeout=_PATIENCE_S, socket_connect_timeout=_PATIENCE_S
        )
        # Keys and entries are bytes, whatever the URL says.
        server.connection_pool.connection_kwargs["decode_responses"] = False
        server.connection_pool.make_connection()  # looks at the options, asks nobody
    except (ValueError, TypeError, redis.RedisError):  # their words may hold parts of the URL
        what = phrase("this is no URL of a Redis server: `{url}`", url=shown_url(url))
        raise StoreError(what, _FORM) from None
    return server


def _check_database(url: str) -> None:
    """Check that what stands behind the host is a number: the SDK passes over anything else.

    Raises:
        ValueError: It is none.
    """
    parts = urlsplit(url)
    number = parts.path.strip("/")
    if parts.scheme != "unix" and number and not (number.isascii() and number.isdecimal()):
        raise ValueError


_servers: Final = Leases(_connected)


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _text(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")
