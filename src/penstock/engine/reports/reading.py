"""Reading a report log, that of a run under way too: reports, and entries as they come."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice

from penstock.engine.places.place import Place
from penstock.engine.reports.entries import Entry, read
from penstock.engine.reports.report import Report
from penstock.engine.reports.segments import latest_entries, lines_of, segments
from penstock.engine.state.store import Store

Position = tuple[str, int]
"""The name of a segment, and how many bytes of it have been read."""


def read_reports(
    checkpoint: str | os.PathLike[str] | Place, last: int | None = None
) -> Iterator[Report]:
    """The reports in a checkpoint's log, or the last so many, the oldest first; one a batch."""
    latest = latest_reports(latest_entries(Store(Place.of(checkpoint))))
    return reversed(list(islice(latest, last)))


def latest_reports(entries: Iterator[Entry]) -> Iterator[Report]:
    """The reports among entries, the latest first.

    A batch that was run again, after a crash or on a restored checkpoint, takes the place of all
    that were told of it and of later ones before.
    """
    lowest: int | None = None
    for entry in entries:
        if isinstance(entry, Report) and (lowest is None or entry.batch < lowest):
            lowest = entry.batch
            yield entry


def end_of(store: Store) -> Position:
    """The end of the log as it is now."""
    return next(reversed(segments(store).items()), ("", 0))


def entries_after(store: Store, position: Position) -> tuple[list[Entry], Position]:
    """The entries that were written after a position, and the position after them."""
    name, offset = position
    found: list[Entry] = []
    for segment in segments(store):
        if segment < name:
            continue
        start = offset if segment == name else 0
        lines = [line for line in lines_of(store, segment, start) if line.endswith(b"\n")]
        found += [entry for line in lines if (entry := read(line)) is not None]
        position = segment, start + sum(map(len, lines))
    return found, position


def follow(store: Store, position: Position, pace: float) -> Iterator[list[Entry]]:
    """The entries after a position as they come: what is new every `pace` seconds, for ever."""
    while True:
        found, position = entries_after(store, position)
        yield found
        time.sleep(pace)
