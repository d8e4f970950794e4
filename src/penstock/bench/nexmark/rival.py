"""A rival's task and what comes of it, whatever the rival."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.bench.nexmark.data import Events
from penstock.bench.nexmark.query import NexmarkQuery
from penstock.bench.nexmark.rows import Fingerprint

RivalName = Literal["penstock", "penstock_csv", "spark", "flink"]


@dataclass(frozen=True)
class Data:
    """Events and the folder that their files are in."""

    events: Events
    folder: Path


@dataclass(frozen=True)
class Task:
    """Queries to run one after another: each over a little, for its rows, then over all."""

    queries: tuple[NexmarkQuery, ...]
    little: Data
    whole: Data


@dataclass(frozen=True)
class Finish:
    """A query's measured run, from `began` to `ended` (seconds since the epoch), and the rows of
    the run over a little. None is what a rival does not tell."""

    query: str
    began: float
    ended: float
    seconds: float
    rows: Fingerprint
    results: int | None = None
    state_tuples: int | None = None
    batch_s: float | None = None


@dataclass(frozen=True)
class Failure:
    """A query that a rival did not come to the end of, and why."""

    query: str
    why: str


Ended = Finish | Failure


def each_run(
    queries: tuple[NexmarkQuery, ...], run: Callable[[NexmarkQuery], Finish]
) -> Iterator[Ended]:
    """What comes of the queries one after another; one that fails does not end the others."""
    for query in queries:
        try:
            yield run(query)
        except Exception as error:
            yield Failure(query.name, _first_line(error))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'it says nothing'}"
