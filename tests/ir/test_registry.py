import pytest

from lambdagent.ir import registry


def test_an_object_keeps_its_key():
    def tool():
        return 1

    key = registry.register(tool)
    assert registry.register(tool) == key
    assert registry.lookup(key) is tool


def test_objects_that_are_equal_have_keys_of_their_own():
    left, right = [1], [1]
    keys = registry.register(left), registry.register(right)
    assert keys[0] != keys[1]
    assert registry.lookup(keys[0]) is left


def test_an_unknown_key_is_refused():
    with pytest.raises(KeyError):
        registry.lookup("nothing#0")
