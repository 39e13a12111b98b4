"""A few of the files of `make fuzz`, in this process; time and memory are looked at there."""

from pathlib import Path

import pytest

from tests.fuzz.files import KINDS, file
from tests.fuzz.fuzz import harm_of, told

_SHARE = 12


# Some take longer than 0.25 s, and run in `make check` all the same: that is what they are for.
@pytest.mark.parametrize("first", range(0, 25 * _SHARE, _SHARE))
def test_each_file_is_read_or_refused(first: int, tmp_path: Path):
    found = [harm_of(number, tmp_path, measured=False) for number in range(first, first + _SHARE)]
    assert [told(harm) for harm in found if harm is not None] == []


def test_a_file_can_be_made_again():
    assert [file(number) for number in range(40)] == [file(number) for number in range(40)]


def test_there_are_files_of_every_kind():
    assert len({make.__name__ for make in KINDS}) == len(KINDS)
