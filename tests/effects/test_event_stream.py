"""Events are found wherever the bytes are cut and however the lines end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdagent.effects.event_stream import Event, EventStream

TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8)


def heard(written: bytes, cuts: list[int]) -> list[Event]:
    stream = EventStream()
    places = sorted(cut % (len(written) + 1) for cut in cuts)
    pieces = [written[a:b] for a, b in zip([0, *places], [*places, len(written)], strict=True)]
    return [event for piece in pieces for event in stream.feed(piece)] + stream.end()


@given(st.data(), st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), max_size=4))
def test_events_are_found_however_they_are_written(
    data: st.DataObject, events: list[tuple[str, list[str]]]
):
    """With any line ends, cuts, comments and fields of others; an event may have several lines."""
    lines = []
    for name, texts in events:
        lines += [f"event:{name}", ": alive", "id: 7", *(f"data: {each}" for each in texts), ""]
    if data.draw(st.booleans()) and lines:
        lines.pop()  # what no empty line ends
    # CR and LF that end two lines would be the end of one.
    ends = st.sampled_from(data.draw(st.sampled_from([["\r"], ["\n", "\r\n"]])))
    whole = "".join(line + data.draw(ends) for line in lines)
    written = data.draw(st.sampled_from(["", "\ufeff"])).encode() + whole.encode()
    cuts = data.draw(st.lists(st.integers(0, 10_000), max_size=6))
    expected = [Event(name.removeprefix(" "), "\n".join(texts)) for name, texts in events]
    assert heard(written, cuts) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (b"data:a\n\ndata: a\n\ndata:  a\n\n", ["a", "a", " a"]),
        (b"data: a\n\r\ndata: b\r\n\ndata: c\r\r", ["a", "b", "c"]),
        (b"data\n\ndata:\n\n", ["", ""]),
        (b"event: ping\n\n\n\n: alive\n\n", []),
        (b"data: a\xc2\x85b\xe2\x80\xa8c\x0bd\n\n", ["a\x85b\u2028c\vd"]),
        (b"data: a", ["a"]),
        (b"datax: a\ndata : a\n data: a\n\n", []),
        (b"", []),
    ],
)
def test_odd_events_are_read_as_the_standard_says(written: bytes, expected: list[str]):
    for cuts in ([], list(range(len(written)))):
        assert [each.data for each in heard(written, cuts)] == expected


def test_a_long_line_in_many_pieces_is_read_once():
    """Not anew for each piece: many of them would never end."""
    stream = EventStream()
    stream.feed(b"data: ")
    for _ in range(50_000):
        assert stream.feed(b"aaaa") == []
    assert [len(each.data) for each in stream.feed(b"\n\n")] == [200_000]


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(UnicodeDecodeError):
        EventStream().feed(b"data: \xff\n\n")
