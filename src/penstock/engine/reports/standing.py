"""The standing of a query, by its checkpoint: whether it runs, its last batch and decisions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice

from penstock.engine.places.place import Place
from penstock.engine.reports.entries import Answer, Entry
from penstock.engine.reports.parts import Change
from penstock.engine.reports.reading import latest_reports
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead, is_running, read_head
from penstock.engine.reports.segments import latest_entries
from penstock.engine.state.checkpoint import is_claimed
from penstock.engine.state.pin import read_pin
from penstock.engine.state.store import Store
from penstock.errors import CheckpointError

_RECENT = 200
"""Entries in which decisions are looked for: those of the last minutes."""
_REPORTS = 20
"""Batches by which it is told how a run stands: one alone says little."""


@dataclass(frozen=True)
class Decided:
    """A decision, an answer or a remark of a run, with its batch and its time."""

    batch: int | None
    at: float
    change: Change


@dataclass(frozen=True)
class Standing:
    """A query on its checkpoint. `decisions` are the last ones, oldest first."""

    checkpoint: Place
    is_running: bool
    head: RunHead | None
    last: Report | None
    decisions: tuple[Decided, ...] = ()
    pinned: str | None = None
    """The text of the plan that it was ordered to follow."""

    recent: tuple[Report, ...] = ()
    """The reports of the last batches, oldest first."""


def store_of(checkpoint: str | os.PathLike[str] | Place) -> Store:
    """The files of a checkpoint; a CheckpointError if there is none."""
    store = Store(Place.of(checkpoint))
    # A run that is about to begin, or could not, has told of itself before it claims the folder.
    if not is_claimed(store) and read_head(store) is None:
        raise CheckpointError(
            f"{store.root} is not a checkpoint",
            hint="name the folder that was given as --checkpoint to penstock run",
        )
    return store


def standing_of(store: Store, now: float, decisions: int = 10) -> Standing:
    """How the query of a checkpoint stands, at a time in seconds since the epoch."""
    head = read_head(store)
    entries = list(islice(latest_entries(store), _RECENT))
    recent = tuple(islice(latest_reports(iter(entries)), _REPORTS))[::-1]
    return Standing(
        checkpoint=store.root,
        is_running=is_running(store, head, now),
        head=head,
        last=recent[-1] if recent else None,
        decisions=tuple(_decided(entries)[:decisions][::-1]),
        pinned=read_pin(store),
        recent=recent,
    )


def _decided(entries: list[Entry]) -> list[Decided]:
    """The decisions among entries, the latest first; answers are told apart from batches."""
    found = []
    for entry in entries:
        match entry:
            case Report(batch=batch, at=at, every_change=changes):
                made = [change for change in reversed(changes) if change.kind != "order"]
                found += [Decided(batch, at, change) for change in made]
            case Answer(at=at, change=change):
                found.append(Decided(None, at, change))
    return found
