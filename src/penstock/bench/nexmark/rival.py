"""A rival's task and what comes of it, whatever the rival."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penstock.bench.nexmark.data import Events
from penstock.bench.nexmark.queries import NexmarkQuery
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
