"""Arrivals: how many tuples of each stream came in how much event time, by the reports of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from penstock.duration import MICROS
from penstock.engine.reports.report import Report


def arrivals(reports: Iterable[Report]) -> dict[str, tuple[int, float]]:
    """Tuples, and seconds of event time, by stream; only batches that moved a stream on count."""
    tuples: Counter[str] = Counter()
    micros: Counter[str] = Counter()
    for before, after in pairwise(reports):
        for name, newest in after.newest.items():
            old = before.newest.get(name)
            if after.batch == before.batch + 1 and old is not None and newest is not None:
                tuples[name] += after.read.get(name, 0) - _lost(after, name)
                micros[name] += newest - old
    known = [name for name in tuples if tuples[name] > 0 and micros[name] > 0]
    return {name: (tuples[name], micros[name] / MICROS) for name in known}


def _lost(report: Report, name: str) -> int:
    """Rows that were met and went on to no input."""
    return report.late.get(name, 0) + report.malformed.get(name, 0)
