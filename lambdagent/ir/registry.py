"""Host objects by key: injected tools, providers and stores.

Terms are data; where one needs a Python object it holds a key of this table. The same object
always gets the same key, so building an agent twice does not grow the table.
"""

from typing import Any

_objects: dict[str, Any] = {}
_keys: dict[tuple[int, ...], str] = {}


def register(host_object: object) -> str:
    """Return the key of `host_object`, entering it when it is new."""
    identity = _identity(host_object)
    known = _keys.get(identity)
    if known is not None:
        return known
    name = getattr(host_object, "__qualname__", type(host_object).__qualname__)
    key = f"{name}#{len(_objects)}"
    _objects[key] = host_object
    _keys[identity] = key
    return key


def _identity(host_object: object) -> tuple[int, ...]:
    """Return what tells an object from all others; a method is made anew at each look."""
    owner, function = (getattr(host_object, name, None) for name in ("__self__", "__func__"))
    return (id(host_object),) if function is None else (id(owner), id(function))


def lookup(key: str) -> Any:
    """Return the object registered as `key`.

    Raises:
        KeyError: No such object in this process.
    """
    return _objects[key]
