"""Files that results go to: what is refused, what is replaced, what is written to in place."""

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from lambdagent.cli.files import check_places, fill_file, write_file
from lambdagent.errors import UsageError

LONG = "n" * 250  # a name may have 255 bytes


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def _usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


# --- places --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (".", "it is a directory"),
        ("", "it is a directory"),
        ("nowhere/a.txt", "there is no such directory"),
        ("dangling", "there is no such directory"),
        ("file/a.txt", "Not a directory"),
        ("circle", "Too many levels of symbolic links"),
        ("n" * 256, "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, reason: str
):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("circle").symlink_to("circle")
    Path("dangling").symlink_to("nowhere/a.txt")
    with pytest.raises(UsageError, match=rf"U002.*cannot be written: {reason}"):
        check_places({"--output": place})


@pytest.mark.parametrize("exists", [True, False])
def test_permissions_are_asked_of_the_file_or_else_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
):
    """Root may do anything, so the test does not ask the system."""
    path = tmp_path / "a.txt"
    if exists:
        path.touch()
    writable, asked = path if exists else tmp_path, []
    monkeypatch.setattr(os, "access", lambda place, _: asked.append(place) or place == writable)
    check_places({"--output": str(path)})
    assert asked == [writable]
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UsageError, match="Permission denied"):
        check_places({"--output": str(path)})


def test_long_names_pipes_devices_and_links_are_fine(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("target")
    for path in (tmp_path / LONG, tmp_path / "pipe", tmp_path / "link", "/dev/null"):
        check_places({"--output": str(path), "--record": None})


@pytest.mark.parametrize(
    "places",
    [
        {"--output": "a", "--trace-file": "./a"},
        {"--output": "new", "--record": "new"},
        {"--trace-file": "a", "--record": "link"},
        {"--trace-file": "a", "--record": "hard"},
        {"--output": "dangling", "--record": "new"},
    ],
)
def test_one_file_for_two_purposes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: Mapping[str, str]
):
    monkeypatch.chdir(tmp_path)
    Path("a").touch()
    Path("link").symlink_to("a")
    Path("hard").hardlink_to("a")
    Path("dangling").symlink_to("new")
    with pytest.raises(UsageError, match="U006") as caught:
        check_places(places)
    assert all(option in str(caught.value) for option in places)


def test_a_device_may_serve_two_purposes(tmp_path: Path):
    check_places({"--output": "/dev/null", "--trace-file": "/dev/null", "--record": None})


# --- writing -------------------------------------------------------------------------------------


def test_the_whole_file_is_replaced(tmp_path: Path):
    path = tmp_path / "answer.txt"
    path.write_text("a longer text than the new one")
    number = path.stat().st_ino
    write_file(path, "β\ud800\n")
    assert path.read_bytes() == "β?\n".encode()
    assert path.stat().st_ino != number
    assert list(tmp_path.iterdir()) == [path]


def test_no_rest_is_left_behind_when_it_fails(tmp_path: Path):
    with pytest.raises(OSError, match="directory"):
        write_file(tmp_path / "nowhere" / "answer.txt", "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("existing", [True, False])
def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, existing: bool):
    path = tmp_path / "answer.txt"
    if existing:
        path.write_text("before")

    def fill(place: Path) -> None:
        place.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        fill_file(path, fill)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["before"] * existing


def test_a_long_name_can_be_written(tmp_path: Path):
    write_file(tmp_path / LONG, "x")
    assert (tmp_path / LONG).read_text() == "x"


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("before", [0o600, 0o640, 0o755, 0o444, None])
def test_permissions_are_kept_and_a_private_file_is_private(
    tmp_path: Path, before: int | None, private: bool
):
    path = tmp_path / "t.json"
    if before is not None:
        path.touch()
        path.chmod(before)
    write_file(path, "x", private=private)
    assert mode(path) == (before or (0o600 if private else 0o644))


@pytest.mark.parametrize(
    "number", [errno.EACCES, errno.EBUSY, errno.EPERM, errno.EROFS, errno.EXDEV]
)
@pytest.mark.parametrize("refused", ["replace", "create"])
def test_a_file_that_may_not_be_replaced_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str, number: int
):
    path = tmp_path / "answer.txt"
    path.write_text("a longer text than the new one")
    path.chmod(0o640)
    inode = path.stat().st_ino

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(*{"replace": (Path, "replace"), "create": (os, "open")}[refused], refuse)
    write_file(path, "new")
    monkeypatch.undo()
    assert (path.read_text(), path.stat().st_ino, mode(path)) == ("new", inode, 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_what_an_earlier_process_left_is_no_obstacle(tmp_path: Path):
    (tmp_path / f".{os.getpid()}.tmp").write_text("left")
    for text in ("one", "two"):
        write_file(tmp_path / "a.txt", text, private=True)
        assert (tmp_path / "a.txt").read_text() == text
    assert mode(tmp_path / "a.txt") == 0o600


def test_both_names_of_a_file_show_what_was_written(tmp_path: Path):
    (tmp_path / "a.txt").write_text("before")
    (tmp_path / "b.txt").hardlink_to(tmp_path / "a.txt")
    (tmp_path / "c.txt").symlink_to("a.txt")
    write_file(tmp_path / "c.txt", "x")
    assert [(tmp_path / f"{name}.txt").read_text() for name in "abc"] == ["x"] * 3
    assert (tmp_path / "c.txt").is_symlink()


def test_a_pipe_is_written_to(tmp_path: Path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(path, "x\n")
        assert os.read(reader, 100) == b"x\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_an_open_pipe_is_written_to_by_its_number(folder: str):
    """``>(command)`` of a shell is such a name; the link in it leads nowhere."""
    reader, writer = os.pipe()
    try:
        check_places({"--output": f"{folder}/{writer}"})
        write_file(Path(f"{folder}/{writer}"), "x\n")
        fill_file(Path(f"{folder}/{writer}"), lambda path: path.write_text("y\n"))
        assert os.read(reader, 100) == b"x\ny\n"
    finally:
        os.close(reader)
        os.close(writer)


def test_an_open_file_keeps_what_was_written_to_it(tmp_path: Path):
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("a") as stream:
        write_file(Path(f"/dev/fd/{stream.fileno()}"), "x\n")
    assert log.read_text() == "before\nx\n"
