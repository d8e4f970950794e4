"""The table of a run as it goes on: a line a batch, with what is decided below it."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from penstock.cli.demo.site import BURST, RUSH, Site, second_of
from penstock.cli.demo.voice import width
from penstock.cli.show.decisions import decision_lines
from penstock.engine.reports.report import Report
from penstock.plan.explain.quantity import percent

_STREAMS = ("bid", "auction", "person")
_HEADINGS = (
    "second",
    *(f"{name}/s" for name in _STREAMS),
    "state",
    "took",
    "busy",
    "delay",
    "kept",
)
_WIDTHS = (6, 9, 9, 9, 11, 7, 6, 7, 6)


class BatchTable:
    """Gives the lines of each batch; what happens on the site stands before the batch that has it.

    Rates are by event time; the delay is from when data could be read until its results.
    """

    def __init__(self, site: Site):
        self._news = [
            (site.rush_at, f"{RUSH} times as many people sign in"),
            (site.burst_at, f"{BURST} times as many bids come"),
            (site.burst_ends, "as many bids as before come"),
        ]
        self._is_first = True

    def lines(self, report: Report) -> Iterator[str]:
        """The lines to print after a batch."""
        if self._is_first:
            yield _aligned(_HEADINGS)
            self._is_first = False
        second = newest_second(report)
        while self._news and second >= self._news[0][0]:
            when, what = self._news.pop(0)
            yield f"── from second {when:g} on {what} ".ljust(sum(_WIDTHS) + len(_WIDTHS) - 1, "─")
        yield _aligned(_cells(report, second))
        for line in decision_lines(report):
            yield from _folded(line)


def newest_second(report: Report) -> float:
    """How many seconds of event time have been read."""
    known = [time for time in report.newest.values() if time is not None]
    return second_of(max(known)) if known else 0.0


def kept_share(report: Report) -> float:
    """The part of the tuples of a batch that was not shed."""
    tuples = sum(each.tuples for each in report.inputs.values())
    shed = sum(each.shed for each in report.inputs.values())
    return 1.0 - shed / tuples if tuples else 1.0


def _cells(report: Report, second: float) -> tuple[str, ...]:
    rates = [report.inputs[name].rate if name in report.inputs else None for name in _STREAMS]
    return (
        f"{second:.1f}",
        *("" if rate is None else f"{rate:,.0f}" for rate in rates),
        f"{report.state_tuples:,}",
        f"{report.seconds:.2f} s",
        "" if report.busy is None else percent(round(report.busy, 2)),
        "" if report.delay is None else f"{report.delay:.1f} s",
        percent(round(kept_share(report), 2)),
    )


def _aligned(cells: tuple[str, ...]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True))


def _folded(line: str) -> list[str]:
    """A decision on lines that are not too long, set in."""
    return wrap(line, width(), initial_indent=" " * 7, subsequent_indent=" " * 9)
