"""The segments of a report log: files of lines, numbered in the order in which they were begun."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.engine.places.file_names import is_own
from penstock.engine.reports.entries import Entry, read
from penstock.engine.state.store import Store

FOLDER = "reports"
_ENDING = ".jsonl"


def segment_name(number: int) -> str:
    """The name of a segment; names in order are segments in order."""
    return f"{FOLDER}/{number:012d}{_ENDING}"


def segment_number(name: str) -> int:
    return int(name.removeprefix(f"{FOLDER}/").removesuffix(_ENDING))


def segments(store: Store) -> dict[str, int]:
    """The bytes of each segment by its name, oldest first; files of others are none."""
    found = ((f"{FOLDER}/{name}", info.size or 0) for name, info in (store.root / FOLDER).files())
    return dict(sorted((n, size) for n, size in found if n.endswith(_ENDING) and is_own(n)))


def lines_of(store: Store, name: str, offset: int = 0) -> list[bytes]:
    """The lines of a segment from a byte on, each with its end; the last one may lack it."""
    try:
        with store.open(name) as file:
            data: bytes = file.read()
    except FileNotFoundError:  # It was the oldest, and there were too many.
        return []
    return data[offset:].splitlines(keepends=True)


def latest_entries(store: Store) -> Iterator[Entry]:
    """The entries of the log, the latest first. As many segments are read as are asked for."""
    for name in reversed(segments(store)):
        for line in reversed(lines_of(store, name)):
            entry = read(line)
            if entry is not None:
                yield entry
