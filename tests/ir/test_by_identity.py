import subprocess
import sys

from lambdagent.ir.by_identity import ByIdentity


class Owner:
    """Equal to all others."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def test_equal_owners_have_their_own_values_until_they_go():
    gone: list[str] = []
    values = ByIdentity[str](gone.append)
    one, other = Owner(), Owner()
    values.put(one, "first")
    values.put(one, "one")
    values.put(other, "other")
    assert (values.get(one), values.get(other), values.get(Owner())) == ("one", "other", None)
    del one
    assert gone == ["one"]
    assert values.get(other) == "other"


def test_nothing_is_told_when_the_interpreter_ends():
    code = (
        "import lambdagent\n"
        "lambdagent.__dict__['kept_to_the_last'] = term = lambdagent.Tool('t', str.upper)\n"
        "assert term('a') == lambdagent.run(term, 'a').value == 'A'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
