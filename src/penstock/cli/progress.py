"""Progress of a run: a live table on a terminal, plain lines elsewhere; on stderr."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.engine.pipeline import Report

# Rates are over this many of the latest batches.
_RECENT = 20


class Progress:
    """Shows each batch as it ends, and a summary when all is over.

    `above` gives results that are shown above the figures: both are then on stdout.
    """

    def __init__(self, above: Callable[[], RenderableType] | None = None) -> None:
        self._above = above
        self._console = Console(file=sys.stderr if above is None else sys.stdout)
        self._live: Live | None = None
        self._recent: deque[tuple[float, Report]] = deque(maxlen=_RECENT)
        self._started = time.monotonic()
        self._read: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        self.last: Report | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            waiting = Text("waiting for the first batch …", style="dim")
            self._live = Live(waiting, console=self._console, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        if kind is None or kind is KeyboardInterrupt:
            self._summary()

    def __call__(self, report: Report) -> None:
        """Show a batch."""
        self.last = report
        self._recent.append((time.monotonic(), report))
        self._read.update(report.read)
        for name in report.read:
            self._dropped[name] += report.late[name] + report.malformed[name]
        if self._live is not None:
            self._live.update(self._table(report))
        else:
            print(_line(report), file=sys.stderr, flush=True)

    def _table(self, report: Report) -> Group:
        table = Table(box=None, pad_edge=False)
        for heading in ("stream", "tuples", "tuples/s", "late or malformed"):
            table.add_column(heading, justify="left" if heading == "stream" else "right")
        seconds = self._span()
        for name in report.read:
            recent = sum(r.read[name] for _, r in self._recent)
            dropped = self._dropped[name]
            table.add_row(name, f"{self._read[name]:,}", f"{recent / seconds:,.0f}", f"{dropped:,}")
        results = sum(r.results for _, r in self._recent)
        table.add_row(
            Text("results", style="bold"), f"{report.total_results:,}", f"{results / seconds:,.0f}"
        )
        foot = f"batch {report.batch} took {report.seconds:.2f} s · state {_tuples(report)}"
        if report.total_shed:
            foot += f" · shed {_counts(report.total_shed)}"
        above = () if self._above is None else (self._above(),)
        return Group(*above, table, Text(foot, style="dim"))

    def _span(self) -> float:
        """Seconds that the recent batches cover."""
        first, report = self._recent[0]
        return max(time.monotonic() - first + report.seconds, 1e-9)

    def _summary(self) -> None:
        if self.last is None:
            print("nothing to read", file=sys.stderr)
            return
        seconds = time.monotonic() - self._started
        read = sum(self._read.values())
        dropped = sum(self._dropped.values())
        drops = f", {dropped:,} of them dropped as late or malformed" if dropped else ""
        print(
            f"read {read:,} tuples{drops}; {self.last.total_results:,} results; {seconds:.1f} s",
            file=sys.stderr,
        )
        if self.last.total_shed:
            print(f"shed {_counts(self.last.total_shed)}", file=sys.stderr)


def _line(report: Report) -> str:
    read = _counts(report.read)
    dropped = sum(report.late.values()) + sum(report.malformed.values())
    drops = f"  dropped {dropped:,}" if dropped else ""
    drops += f"  shed {_counts(report.shed)}" if report.shed else ""
    return (
        f"batch {report.batch}  {report.seconds:.2f} s  in {read}{drops}  "
        f"out {report.results:,}  state {_tuples(report)}"
    )


def _tuples(report: Report) -> str:
    return f"{report.state_tuples:,} tuples"


def _counts(by_name: Mapping[str, int]) -> str:
    return "  ".join(f"{name} {count:,}" for name, count in by_name.items())
