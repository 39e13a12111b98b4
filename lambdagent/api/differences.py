"""How two programs differ, in words that people read: site by site, what it was and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lambdagent.ir.data import Record
from lambdagent.ir.data_text import data_text
from lambdagent.ir.program import Program, site_row, without_credentials
from lambdagent.machine.text import cut
from lambdagent.messages import phrase

# Fields that are told of one site, and sites.
_FIELDS, _SITES = 3, 5
# How much is told of a value, and of what is the same in both before they differ.
_SHOWN, _SAME = 40, 10
_ABSENT = "nothing"


def difference(before: Program, after: Program, redact: Callable[[str], str]) -> str:
    """Return in a few words how two programs differ."""
    return in_words(list(changes(before, after, redact).values())) or phrase(
        "its term is another one"
    )


def in_words(changed: list[str]) -> str:
    """Return what is told of `changed` sites, of many only the first."""
    more = (
        [phrase("and {count} more", count=len(changed) - _SITES)] if len(changed) > _SITES else []
    )
    told = (changed[:_SITES] + more)[0] if changed else ""
    for each in (changed[:_SITES] + more)[1:]:
        told = phrase("{words}; {last}", words=told, last=each)
    return told


def changes(before: Program, after: Program, redact: Callable[[str], str]) -> dict[str, str]:
    """Return the sites in which two programs differ, each with a few words on how.

    Args:
        before: What there was.
        after: What there is.
        redact: Takes secrets out of a text.
    """
    old, new = without_credentials(before)[0].sites, without_credentials(after)[0].sites
    words: dict[str, str] = {
        name: phrase("`{name}` is gone", name=name) for name in sorted(old.keys() - new.keys())
    }
    words |= {
        name: phrase("`{name}` is new", name=name) for name in sorted(new.keys() - old.keys())
    }
    for name in sorted(old.keys() & new.keys()):
        was, now = dict(_fields(site_row(old[name]))), dict(_fields(site_row(new[name])))
        paths = [path for path in {**was, **now} if was.get(path) != now.get(path)]
        told = []
        for path in paths[:_FIELDS]:
            first, second = redact(was.get(path, _ABSENT)), redact(now.get(path, _ABSENT))
            told.append(f"`{path}`: {_was_and_is(first, second)}")
        if len(paths) > _FIELDS:
            told.append(phrase("{count} more", count=len(paths) - _FIELDS))
        if told:
            words[name] = phrase(
                "`{name}` has another {fields}", name=name, fields=", ".join(told)
            )
    return words


def _fields(row: Record, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the parts of a site by their paths; what is static stands for itself."""
    for key, value in row.items():
        path = f"{above}{key}"
        if isinstance(value, Record):
            yield from _fields(value, "" if path == "static" else f"{path}.")
        else:
            yield path, data_text(value)


def _was_and_is(was: str, now: str) -> str:
    """Return two texts, of long ones from shortly before where they differ."""
    pairs = enumerate(zip(was, now, strict=False))
    differ = next((place for place, (a, b) in pairs if a != b), min(len(was), len(now)))
    same = max(0, differ - _SAME)
    if same and max(len(was), len(now)) > _SHOWN:
        was, now = f"…{was[same:]}", f"…{now[same:]}"
    return f"{cut(was, _SHOWN)} → {cut(now, _SHOWN)}"
