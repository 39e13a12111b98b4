"""Files of frames: a cut or zeroed end is a shorter file, all other damage is told."""

import errno
import os
import resource
import stat
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects.frames import FrameFile, create, put_file, read_frames
from lambdagent.errors import CheckpointError

MAGIC = b"lambdaT\x01"
HEAD_BYTES = 10
PAYLOADS = [b"", b"one", b"\x00\x00\x00", b"four and more", bytes(range(30))]
payload_lists = st.lists(st.binary(max_size=40), max_size=6)


def payloads_of(path: Path) -> list[bytes]:
    return [payload for _, payload in read_frames(path, MAGIC)[0]]


def small_file(path: Path, payloads: list[bytes] | None = None) -> bytes:
    create(path, MAGIC, PAYLOADS if payloads is None else payloads)
    return path.read_bytes()


def ends(payloads: list[bytes]) -> list[int]:
    """Where each beginning of `payloads` ends in a file."""
    found = [len(MAGIC)]
    for payload in payloads:
        found.append(found[-1] + HEAD_BYTES + len(payload) + 1)
    return found


def whole_before(size: int, payloads: list[bytes]) -> list[bytes]:
    return payloads[: sum(end <= size for end in ends(payloads)) - 1]


def check_told(error: CheckpointError, path: Path, size: int) -> None:
    """The error names the file, and the offset if it is damaged."""
    assert error.diagnostic.code in {"K001", "K004"}
    assert f"`{path}`" in str(error)
    if error.diagnostic.code == "K001":
        offset = int(str(error).partition("at byte ")[2].partition(":")[0])
        assert 0 <= offset < max(size, 1)


# --- round trips ---------------------------------------------------------------------------------


@given(payload_lists, payload_lists)
def test_what_is_written_is_read(tmp_path_factory, first, more):
    path = tmp_path_factory.mktemp("frames") / "file"
    end = create(path, MAGIC, first)
    file = FrameFile(path, end=end, fsync=False)
    for payload in more:
        file.append(payload)
    file.sync()
    file.close()
    frames, read_end = read_frames(path, MAGIC)
    assert [payload for _, payload in frames] == first + more
    assert read_end == file.end == path.stat().st_size == ends(first + more)[-1]
    assert [offset for offset, _ in frames] == ends(first + more)[:-1]


def test_a_file_that_is_gone_on_with_loses_what_stands_behind_its_end(tmp_path):
    path = tmp_path / "file"
    whole = small_file(path)
    path.write_bytes(whole + b"\x05\x00")
    _, end = read_frames(path, MAGIC)
    file = FrameFile(path, end=end)
    file.append(b"next")
    file.close()
    assert payloads_of(path) == [*PAYLOADS, b"next"]


def test_nobody_else_may_read_it(tmp_path):
    path = tmp_path / "file"
    before = os.umask(0)
    try:
        small_file(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_frame_of_several_megabytes_comes_back(tmp_path):
    payload = bytes(range(256)) * 20_000
    small_file(tmp_path / "file", [payload, b"next"])
    assert payloads_of(tmp_path / "file") == [payload, b"next"]


# --- ends that a crash leaves --------------------------------------------------------------------


def test_a_file_cut_at_any_byte_holds_a_beginning(tmp_path):
    path = tmp_path / "file"
    whole = small_file(path)
    for size in range(len(MAGIC), len(whole)):
        path.write_bytes(whole[:size])
        frames, end = read_frames(path, MAGIC)
        assert [payload for _, payload in frames] == whole_before(size, PAYLOADS)
        assert end == ends(PAYLOADS)[len(frames)]


@given(payload_lists.filter(bool), st.data())
def test_any_file_cut_anywhere_holds_a_beginning(tmp_path_factory, payloads, draw):
    path = tmp_path_factory.mktemp("frames") / "file"
    whole = small_file(path, payloads)
    size = draw.draw(st.integers(len(MAGIC), len(whole)))
    path.write_bytes(whole[:size])
    assert payloads_of(path) == whole_before(size, payloads)


@pytest.mark.parametrize("zeros", [1, 9, 10, 11, 4096])
def test_zeros_behind_the_last_frame_are_cut_off(tmp_path, zeros):
    path = tmp_path / "file"
    whole = small_file(path)
    path.write_bytes(whole + bytes(zeros))
    assert read_frames(path, MAGIC)[1] == len(whole)
    assert payloads_of(path) == PAYLOADS


# Some file systems know the size of a file before its content: from any byte on there are zeros.
def test_a_file_with_zeros_from_any_byte_on_holds_a_beginning(tmp_path):
    path = tmp_path / "file"
    payloads = [b"one", b"second", b"third record"]
    whole = small_file(path, payloads)
    for size in range(len(MAGIC), len(whole)):
        for more in (0, 100):
            path.write_bytes(whole[:size] + bytes(len(whole) - size + more))
            found = payloads_of(path)
            assert found == whole_before(size, payloads)


# --- damage --------------------------------------------------------------------------------------


def check_damage(path: Path, whole: bytes, changed: bytes, payloads: list[bytes]) -> None:
    path.write_bytes(changed)
    try:
        found = payloads_of(path)
    except CheckpointError as error:
        check_told(error, path, len(changed))
        return
    # Only an end that looks as a crash leaves it may be cut off.
    assert found == payloads[: len(found)]
    assert found == payloads[:-1]
    assert changed[-1] == 0
    assert whole[-1] != 0


def test_every_flipped_bit_is_told(tmp_path):
    path = tmp_path / "file"
    whole = small_file(path, [b"", b"\x00\x00", b"last"])
    for place in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            with pytest.raises(CheckpointError) as caught:
                read_frames(path, MAGIC)
            check_told(caught.value, path, len(changed))


def test_every_overwritten_byte_is_told(tmp_path):
    path = tmp_path / "file"
    payloads = [b"one", b"\x00", b"last"]
    whole = small_file(path, payloads)
    for place in range(len(whole)):
        for value in (0, 1, 0x7F, 0xA7, 0xFF):
            if value != whole[place]:
                changed = bytearray(whole)
                changed[place] = value
                check_damage(path, whole, bytes(changed), payloads)


def test_bytes_that_are_missing_in_the_middle_are_told(tmp_path):
    path = tmp_path / "file"
    payloads = [b"one", b"second", b"last"]
    whole = small_file(path, payloads)
    begin, end = ends(payloads)[:2]
    for place in range(begin, end):
        path.write_bytes(whole[:place] + whole[place + 1 :])
        with pytest.raises(CheckpointError) as caught:
            read_frames(path, MAGIC)
        check_told(caught.value, path, len(whole))


@pytest.mark.parametrize("junk", [b"x", b"\x01" * 10, b"hello, this is no frame", b"\xff" * 4096])
def test_what_stands_behind_the_last_frame_and_is_no_frame(tmp_path, junk):
    path = tmp_path / "file"
    whole = small_file(path)
    path.write_bytes(whole + junk)
    if len(junk) < HEAD_BYTES:  # the beginning of a frame, for all anybody knows
        assert payloads_of(path) == PAYLOADS
    else:
        with pytest.raises(CheckpointError, match=f"at byte {len(whole)}:"):
            read_frames(path, MAGIC)


@pytest.mark.parametrize("content", [b"", b"lam", b"another file", bytes(100)])
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        read_frames(path, MAGIC)
    check_told(caught.value, path, len(content))


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "file"
    whole = small_file(path)
    path.write_bytes(MAGIC[:-1] + b"\x07" + whole[len(MAGIC) :])
    with pytest.raises(CheckpointError, match=r"K004.*is of format 7, and this version reads 1"):
        read_frames(path, MAGIC)


def test_messages_name_the_path_as_people_write_it(tmp_path):
    with pytest.raises(CheckpointError) as caught:
        read_frames(Path("runs/one/journal"), MAGIC)
    assert "`runs/one/journal` cannot be read: No such file" in str(caught.value)


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(CheckpointError, match="K009"):
        read_frames(tmp_path, MAGIC)
    with pytest.raises(CheckpointError, match="K008"):
        FrameFile(tmp_path, end=8)


# --- writes that fail ----------------------------------------------------------------------------


@contextmanager
def files_of_at_most(size: int):
    """No file of this process grows beyond `size` inside, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_fails_half_way_leaves_the_file_whole(tmp_path):
    path = tmp_path / "file"
    whole = small_file(path)
    file = FrameFile(path, end=len(whole))
    for room in range(HEAD_BYTES + 20):
        with files_of_at_most(len(whole) + room), pytest.raises(CheckpointError) as caught:
            file.append(b"x" * 30)
        assert caught.value.diagnostic.code == "K008"
        assert path.read_bytes() == whole
        assert file.end == len(whole)
    file.append(b"after there is room again")
    file.sync()
    file.close()
    assert payloads_of(path) == [*PAYLOADS, b"after there is room again"]


def test_a_new_file_that_does_not_fit_leaves_the_old_one(tmp_path):
    path = tmp_path / "file"
    whole = small_file(path)
    with files_of_at_most(5), pytest.raises(CheckpointError, match="K008"):
        create(path, MAGIC, [b"another content"])
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_in_no_directory_cannot_be_written(tmp_path):
    with pytest.raises(CheckpointError, match="K008"):
        put_file(tmp_path / "no" / "file", b"")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CheckpointError, match="K008"):
        put_file(tmp_path / "file" / "file", b"")


def test_a_disk_that_refuses_to_sync_is_told(tmp_path, monkeypatch):
    path = tmp_path / "file"
    file = FrameFile(path, end=len(small_file(path)))
    file.append(b"x")

    def refuse(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fdatasync", refuse)
    with pytest.raises(CheckpointError, match="K008"):
        file.sync()
    file.close()


def test_nothing_new_is_no_reason_to_wait_for_the_disk(tmp_path, monkeypatch):
    path = tmp_path / "file"
    waited = []
    monkeypatch.setattr(os, "fdatasync", waited.append)
    file = FrameFile(path, end=len(small_file(path)))
    file.sync()
    file.append(b"x")
    file.append(b"y")
    file.sync()
    file.sync()
    assert len(waited) == 1
    file.close()
    file = FrameFile(path, end=file.end, fsync=False)
    file.append(b"z")
    file.sync()
    assert len(waited) == 1
    file.close()


def test_a_disk_that_has_refused_once_is_not_believed_again(tmp_path, monkeypatch):
    """What could not be written may be taken for written by then."""
    path = tmp_path / "frames"
    file = FrameFile(path, end=create(path, MAGIC, []))
    file.append(b"lost")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", refused)
        with pytest.raises(CheckpointError, match=r"K008.*Input/output error"):
            file.sync()
    for use in (file.sync, lambda: file.append(b"more"), file.sync):
        with pytest.raises(CheckpointError, match=r"K008.*Input/output error"):
            use()
    file.close()


def refused(_file: int) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))
