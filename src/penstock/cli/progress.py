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
        self._late: Counter[str] = Counter()
        self._malformed: Counter[str] = Counter()
        self._unreadable = 0
        self._shed = 0
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
        self._late.update(report.late)
        self._malformed.update(report.malformed)
        self._unreadable += sum(report.unreadable.values())
        self._shed += sum(report.shed.values())
        if self._live is not None:
            self._live.update(self._table(report))
        else:
            print(_line(report), file=sys.stderr, flush=True)

    def _table(self, report: Report) -> Group:
        table = Table(box=None, pad_edge=False)
        for heading in ("stream", "tuples", "tuples/s", "late", "malformed"):
            table.add_column(heading, justify="left" if heading == "stream" else "right")
        seconds = self._span()
        for name in report.read:
            recent = sum(r.read.get(name, 0) for _, r in self._recent)
            rate = f"{recent / seconds:,.0f}"
            dropped = (f"{self._late[name]:,}", f"{self._malformed[name]:,}")
            table.add_row(name, f"{self._read[name]:,}", rate, *dropped)
        results = sum(r.results for _, r in self._recent)
        table.add_row(
            Text("results", style="bold"), f"{report.total_results:,}", f"{results / seconds:,.0f}"
        )
        foot = f"batch {report.batch} took {report.seconds:.2f} s · state {_tuples(report)}"
        if self._unreadable:
            foot += f" · {_files(self._unreadable)}"
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
        late, malformed = sum(self._late.values()), sum(self._malformed.values())
        drops = _drops(late, malformed, self._unreadable, self._shed)
        print(
            f"read {read:,} tuples{drops}; {self.last.total_results:,} results; {seconds:.1f} s",
            file=sys.stderr,
        )
        if self.last.total_shed:
            print(f"shed {_counts(self.last.total_shed)}", file=sys.stderr)


def _line(report: Report) -> str:
    read = _counts(report.read)
    late, malformed = sum(report.late.values()), sum(report.malformed.values())
    drops = f"  late {late:,}" if late else ""
    drops += f"  malformed {malformed:,}" if malformed else ""
    unreadable = sum(report.unreadable.values())
    drops += f"  {_files(unreadable)}" if unreadable else ""
    drops += f"  shed {_counts(report.shed)}" if report.shed else ""
    return (
        f"batch {report.batch}  {report.seconds:.2f} s  in {read}{drops}  "
        f"out {report.results:,}  state {_tuples(report)}"
    )


def _drops(late: int, malformed: int, unreadable: int, shed: int) -> str:
    """What became of the tuples read that did not go on: `, of which 2 late, 3 malformed`."""
    counts = {"late": late, "malformed": malformed, "shed": shed}
    gone = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    return (f", of which {gone}" if gone else "") + (
        f"; {_files(unreadable)}" if unreadable else ""
    )


def _files(unreadable: int) -> str:
    return f"{unreadable:,} {'file' if unreadable == 1 else 'files'} unreadable"


def _tuples(report: Report) -> str:
    return f"{report.state_tuples:,} tuples"


def _counts(by_name: Mapping[str, int]) -> str:
    return "  ".join(f"{name} {count:,}" for name, count in by_name.items())
