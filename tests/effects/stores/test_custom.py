"""Stores of classes of others: found, made, or told why not."""

from pathlib import Path

import pytest

from lambdagent.effects.protocol import StoreError
from lambdagent.effects.stores.custom import make_store

SOURCE = '''
"""A store beside the agent file."""

from lambdagent import MemoryStore

BROKEN = 1


class Store:
    def __init__(self, greeting="hi", *, space="", size=None):
        self.made_with = greeting, space, size

    def get(self, key): ...
    def put(self, key, value, ttl=0): ...
    def list_recent(self, n): return []
    def clear(self): ...


class Outer:
    class Plain(Store):
        def __init__(self, **more):
            self.made_with = more


class Half:
    def get(self, key): ...


class Heir(MemoryStore):
    def get(self, key): ...


class Down(Store):
    def __init__(self):
        raise ConnectionError("no database")


class Leaving(Store):
    def __init__(self):
        raise SystemExit(3)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_stores.py").write_text(SOURCE)
    (tmp_path / "my_broken_stores.py").write_text("1 / 0\n")
    (tmp_path / "my_leaving_stores.py").write_text("raise SystemExit('bye')\n")
    return tmp_path


OFFERED = {"space": "global/a", "size": 3}


def test_a_class_gets_its_settings_and_what_its_constructor_names(folder: Path):
    store, taken = make_store("my_stores:Store", {"greeting": "yo"}, OFFERED, folder)
    assert store.made_with == ("yo", "global/a", 3)
    assert taken == {"space", "size"}
    store, taken = make_store("my_stores.Store", {"size": 9}, OFFERED, folder)
    assert store.made_with == ("hi", "global/a", 9)
    assert taken == {"space"}
    store, taken = make_store("my_stores:Outer.Plain", {"k": 1}, OFFERED, folder)
    assert (store.made_with, taken) == ({"k": 1}, set())


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("Store", "`Store` is no path of a class", "write `customStore: package.module:Class`"),
        (":Store", "`:Store` is no path of a class", "write"),
        ("no_such:A", "cannot be imported: ModuleNotFoundError: No module named", "installed"),
        ("my_broken_stores:A", "cannot be imported: ZeroDivisionError", "write"),
        ("my_stores:Stores", "`my_stores` has no class `Stores`", "write"),
        ("my_stores:BROKEN", "`my_stores` has no class `BROKEN`", "write"),
        ("my_stores:Half", "has no `put`, `list_recent`, `clear`", "lambdagent.MemoryStore"),
        ("my_stores:Heir", "Can't instantiate abstract class Heir", "memory.settings"),
        ("my_leaving_stores:A", "cannot be imported: SystemExit: bye", "write"),
        ("my_stores:Leaving", "cannot be made: SystemExit: 3", "memory.settings"),
        ("my_stores:Down", "cannot be made: ConnectionError: no database", "memory.settings"),
    ],
)
def test_what_cannot_be_made_is_told(folder: Path, path: str, message: str, hint: str):
    with pytest.raises(StoreError) as caught:
        make_store(path, {}, OFFERED, folder)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_settings_that_a_class_does_not_know_are_told(folder: Path):
    with pytest.raises(StoreError, match=r"TypeError.*colour"):
        make_store("my_stores:Store", {"colour": "red"}, OFFERED, folder)
