"""What several use: made once, closed after the last."""

from lambdagent.effects.leases import Leases


class Thing:
    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_it_is_made_for_the_first_and_closed_after_the_last():
    leases = Leases(Thing)
    one, two, other = leases.take("a"), leases.take("a"), leases.take("b")
    assert one is two
    assert (one.name, other.name) == ("a", "b")
    leases.give_back("a")
    assert not one.closed
    leases.give_back("a")
    assert one.closed
    assert not other.closed
    assert leases.take("a") is not one
