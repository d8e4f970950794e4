"""The lines of the last batches: how long each took, and for what."""

from __future__ import annotations

from penstock.plan.explain.quantity import count, figure, percent, seconds
from penstock.table import table
from penstock.watch.batches import BatchBar, Batches
from penstock.watch.terminal.glyphs import bar, printable

_BAR = 16
_PHASES = 3
"""Phases that are named, the longest first."""
_MODULES = 4
"""Modules that are named, the most uneven first."""


def batch_lines(view: Batches, count: int) -> list[str]:
    """The last batches, so many at most, the latest last; bars are against the trigger."""
    shown = view.batches[-count:] if count > 0 else ()
    if not shown:
        return []
    longest = max(each.seconds for each in shown)
    whole = view.trigger or longest
    against = f"of {seconds(whole)}" if view.trigger else "of the longest"
    rows = [_row(each, whole) for each in shown]
    heading = ["batch", against, "took", "read", "results", "state", "backlog", "longest phases"]
    return [*table(heading, rows), *_skews(view)]


def _skews(view: Batches) -> list[str]:
    """The modules whose largest partition keeps the others waiting the most."""
    worst = list(view.skews.items())[:_MODULES]
    said = ", ".join(f"{printable(name)} {figure(skew)} × the mean" for name, skew in worst)
    return [f"largest partitions: {said}"] if said else []


def _row(each: BatchBar, whole: float) -> list[str]:
    return [
        f"{each.batch}{' ⇄' if each.is_switch else ''}",
        bar(each.seconds / whole if whole > 0 else 0.0, _BAR),
        seconds(each.seconds),
        count(each.read),
        count(each.results),
        count(each.state_tuples),
        "" if each.backlog is None else count(each.backlog),
        _phases(each),
    ]


def _phases(each: BatchBar) -> str:
    """`round 0 41 %, feed 30 %`; to wait is no work."""
    spent = {name: took for name, took in each.phases.items() if name != "wait"}
    whole = sum(spent.values())
    longest = sorted(spent, key=lambda name: -spent[name])[:_PHASES]
    named = (
        f"{printable(n)} {percent(round(spent[n] / whole, 2))}" for n in longest if spent[n] > 0
    )
    return ", ".join(named)
