"""What every memory store must do, as tests that pytest runs; yours, too.

from lambdagent import StoreConformance

class TestMyStore(StoreConformance):
def open_store(self, name):
return MyStore(space=name)
"""

from __future__ import annotations

import threading
import time
from typing import Any

from lambdagent.effects.protocol import MemoryStore

_LARGE = 1_000_000
_WRITERS, _ENTRIES = 4, 25
_ODD_KEYS = (
    *("", " ", "a b", "a:b", "a/b", "{a}", "a*?[b]", "%41", "'; DROP TABLE entries; --", "\\"),
    *("\x00", "\n", "\r\n", "é", "e\u0301", "记忆", "🧠", "\ud800", "k" * 10_000, "None", "0"),
)
_VALUES: tuple[Any, ...] = (
    *("", "text", "two\nlines", "记忆 🧠", "\x00", "\ud800", '{"a": 1}', 0, -1.5, True, False),
    *([], {}, [1, [2, {"three": None}]], {"键": "值", "": []}, 2**60),
)


class StoreConformance:
    """The tests; a subclass whose name begins with ``Test`` says how to open a store."""

    def open_store(self, name: str) -> MemoryStore:
        """Return a new store object for the memory `name`, which is empty at the first time.

        Every object that a test opens by the same name is about the same memory.
        """
        raise NotImplementedError

    def open_sized(self, name: str, size: int) -> MemoryStore | None:  # noqa: ARG002
        """Return the same, keeping the newest `size` entries; None if the store cannot do that."""
        return None

    def wait(self, seconds: float) -> None:
        """Let time pass for the store."""
        time.sleep(seconds)

    def test_what_is_put_is_there(self) -> None:
        """`get` returns it, `list_recent` lists it."""
        store = self.open_store("put")
        assert store.get("a") is None
        assert list(store.list_recent(5)) == []
        store.put("a", "1")
        assert store.get("a") == "1"
        assert entries(store) == [("a", "1")]

    def test_entries_are_listed_oldest_first(self) -> None:
        """And the newest of them where there are more than asked for."""
        store = self.open_store("order")
        for number in range(12):
            store.put(f"k{number}", str(number))
        assert entries(store, 3) == [("k9", "9"), ("k10", "10"), ("k11", "11")]
        assert [key for key, _ in entries(store, 100)] == [f"k{n}" for n in range(12)]
        assert entries(store, 0) == []

    def test_an_entry_that_is_put_again_is_the_newest(self) -> None:
        """It is there once, with its new value."""
        store = self.open_store("again")
        store.put("a", "1")
        store.put("b", "2")
        store.put("a", "3")
        assert entries(store) == [("b", "2"), ("a", "3")]
        store.put("a", "3")
        assert entries(store) == [("b", "2"), ("a", "3")]

    def test_what_is_cleared_is_gone(self) -> None:
        """And the store goes on to be of use."""
        store = self.open_store("clear")
        store.put("a", "1")
        store.put("b", "2", 60)
        store.clear()
        assert entries(store) == []
        assert store.get("a") is None
        store.put("c", "3")
        assert entries(store) == [("c", "3")]

    def test_an_entry_is_gone_after_its_time(self) -> None:
        """`get` and `list_recent` agree about it; one without a time stays."""
        store = self.open_store("ttl")
        store.put("long", "1", 1_000)
        store.put("short", "2", 1)
        store.put("ever", "3", 0)
        assert [key for key, _ in entries(store)] == ["long", "short", "ever"]
        self.wait(1.2)
        assert store.get("short") is None
        assert entries(store) == [("long", "1"), ("ever", "3")]
        store.put("short", "4")
        assert entries(store)[-1] == ("short", "4")

    def test_an_entry_that_is_put_again_has_the_new_time(self) -> None:
        """The longer and the shorter one."""
        store = self.open_store("ttl-again")
        store.put("a", "1", 1)
        store.put("b", "1")
        store.put("a", "2")
        store.put("b", "2", 1)
        self.wait(1.2)
        assert entries(store) == [("a", "2")]

    def test_the_oldest_entries_go_first(self) -> None:
        """Where the size is limited; those whose time is over do not count."""
        store = self.open_sized("size", 2)
        if store is None:
            return
        for key in "abca":
            store.put(key, key)
        assert entries(store) == [("c", "c"), ("a", "a")]
        assert store.get("b") is None
        store.put("d", "d", 1)
        self.wait(1.2)
        store.put("e", "e")
        assert entries(store) == [("a", "a"), ("e", "e")]

    def test_odd_keys_are_keys(self) -> None:
        """Each stands for itself."""
        store = self.open_store("keys")
        for number, key in enumerate(_ODD_KEYS):
            store.put(key, str(number))
        assert entries(store) == [(key, str(n)) for n, key in enumerate(_ODD_KEYS)]
        assert [store.get(key) for key in _ODD_KEYS] == [str(n) for n in range(len(_ODD_KEYS))]

    def test_json_values_come_back_as_they_were(self) -> None:
        """Each of its kind."""
        store = self.open_store("values")
        for number, value in enumerate(_VALUES):
            store.put(str(number), value)
            found = store.get(str(number))
            assert found == value
            assert type(found) is type(value)
        assert [value for _, value in entries(store)] == list(_VALUES)

    def test_a_large_value_is_kept_whole(self) -> None:
        """A megabyte of it."""
        store = self.open_store("large")
        value = "记a" * (_LARGE // 2)
        store.put("a", value)
        assert store.get("a") == value
        assert entries(store) == [("a", value)]

    def test_two_objects_see_the_same_memory(self) -> None:
        """And memories of other names are others."""
        one, two, other = map(self.open_store, ("shared", "shared", "other"))
        one.put("a", "1")
        two.put("b", "2")
        assert entries(one) == entries(two) == [("a", "1"), ("b", "2")]
        assert entries(other) == []
        other.clear()
        assert two.get("a") == "1"

    def test_many_threads_write_at_once(self) -> None:
        """And none of what they write is lost."""
        store = self.open_store("threads")
        failures: list[Exception] = []

        def write(writer: int) -> None:
            try:
                for number in range(_ENTRIES):
                    store.put(f"{writer}-{number}", [writer, number])
                    store.list_recent(3)
            except Exception as error:  # noqa: BLE001 - told by the thread that waits
                failures.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(_WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        found = entries(store, 1_000)
        assert len(found) == _WRITERS * _ENTRIES
        for writer in range(_WRITERS):
            own = [value[1] for _, value in found if value[0] == writer]
            assert own == list(range(_ENTRIES))


def entries(store: MemoryStore, most: int = 50) -> list[tuple[str, Any]]:
    """Return the newest entries of `store` as tuples."""
    return [(key, value) for key, value in store.list_recent(most)]
