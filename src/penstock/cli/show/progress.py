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

from penstock.cli.show.decisions import decision_lines
from penstock.duration import MICROS
from penstock.engine.reports.report import Report
from penstock.engine.rows.event_time import moment
from penstock.plan.explain.quantity import figure, percent, rate, seconds

# Rates are over this many of the latest batches.
_RECENT = 20
# Batches without a result, one after another, before it is said why.
_FEW = 3
# Of the decisions of a run the last ones are shown.
_DECISIONS = 3
_WIDTH = 100


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
        self._shed = Counter[str]()
        self._results = 0
        self._empty = 0
        self._decisions: deque[str] = deque(maxlen=_DECISIONS)
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
        if kind is None or (kind is KeyboardInterrupt and self.last is not None):
            self._summary()

    def __call__(self, report: Report) -> None:
        """Show a batch."""
        self.last = report
        self._results += report.results
        self._empty = 0 if report.results else self._empty + 1
        self._recent.append((time.monotonic(), report))
        self._read.update(report.read)
        self._late.update(report.late)
        self._malformed.update(report.malformed)
        self._unreadable += sum(report.unreadable.values())
        self._shed.update(report.shed)
        decisions = list(decision_lines(report))
        self._decisions.extend(decisions)
        if self._live is not None:
            self._live.update(self._table(report))
        else:
            pace = sum(report.read.values()) / self._since_last()
            print(_line(report, pace), file=sys.stderr, flush=True)
            if report.waiting is not None and _is_told(self._empty):
                print(f"  {report.waiting.reason}", file=sys.stderr, flush=True)
            for line in decisions:
                print(f"  {line}", file=sys.stderr, flush=True)

    def _table(self, report: Report) -> Group:
        table = Table(box=None, pad_edge=False)
        for heading in ("stream", "tuples", "tuples/s", "late", "malformed", "newest"):
            table.add_column(heading, justify="left" if heading == "stream" else "right")
        span = self._span()
        for name in report.read:
            recent = sum(r.read.get(name, 0) for _, r in self._recent)
            newest = report.newest.get(name)
            when = "none yet" if newest is None else moment(newest)
            table.add_row(
                name,
                f"{self._read[name]:,}",
                figure(recent / span),
                f"{self._late[name]:,}",
                f"{self._malformed[name]:,}",
                when if name in report.newest else "",
            )
        results = sum(r.results for _, r in self._recent)
        table.add_row(
            Text("results", style="bold"), f"{report.total_results:,}", figure(results / span)
        )
        foot = f"batch {report.batch} took {seconds(report.seconds)} · state {_tuples(report)}"
        if report.busy is not None:
            foot += f" · {_busy(report)}"
        if self._unreadable:
            foot += f" · {_files(self._unreadable)}"
        if any(self._shed.values()):
            foot += f" · shed {_counts(self._shed)}"
        foot += "".join(f" · {part}" for part in _frontier(report))
        above = () if self._above is None else (self._above(),)
        is_told = report.waiting is not None and self._empty >= _FEW
        below = (Text(report.waiting.reason, style="yellow"),) if is_told and report.waiting else ()
        decisions = (Text(line, style="yellow") for line in self._decisions)
        return Group(*above, table, Text(foot, style="dim"), *below, *decisions)

    def _since_last(self) -> float:
        """Seconds since the batch before the last one ended, or since the last one began."""
        if len(self._recent) == 1:
            return max(self._recent[-1][1].seconds, 1e-9)
        return max(self._recent[-1][0] - self._recent[-2][0], 1e-9)

    def _span(self) -> float:
        """Seconds that the recent batches cover."""
        first, report = self._recent[0]
        return max(time.monotonic() - first + report.seconds, 1e-9)

    def _summary(self) -> None:
        if self.last is None:
            print("nothing to read", file=sys.stderr)
            return
        took = time.monotonic() - self._started
        read = sum(self._read.values())
        late, malformed = sum(self._late.values()), sum(self._malformed.values())
        # Of a script's queries one may have shed what another keeps.
        shed = 0 if self.last.members else self._shed.total()
        drops = _drops(late, malformed, self._unreadable, shed)
        results, total = f"{self._results:,} results", self.last.total_results
        results += f" ({total:,} since the checkpoint began)" if total > self._results else ""
        print(f"read {read:,} tuples{drops}; {results}; {seconds(took)}", file=sys.stderr)
        if not self._results and self.last.waiting is not None:
            hint = f"\nhint: {self.last.waiting.hint}" if self.last.waiting.hint else ""
            print(f"no results: {self.last.waiting.reason}{hint}", file=sys.stderr)
        self._say_shed(self.last.total_shed)

    def _say_shed(self, total: Mapping[str, int]) -> None:
        """How many tuples were shed by this run, and by those before it."""
        if not any(total.values()):
            return
        mine = {alias: self._shed[alias] for alias in total}
        said = f"shed {_counts(mine)}" if any(mine.values()) else "nothing was shed in this run"
        since = f" ({_counts(total)} since the checkpoint began)" if mine != dict(total) else ""
        print(said + since, file=sys.stderr)


def _line(report: Report, pace: float) -> str:
    late, malformed = sum(report.late.values()), sum(report.malformed.values())
    unreadable = sum(report.unreadable.values())
    parts = [f"batch {report.batch}", seconds(report.seconds), f"in {_counts(report.read)}"]
    parts += [f"late {late:,}"] if late else []
    parts += [f"malformed {malformed:,}"] if malformed else []
    parts += [_files(unreadable)] if unreadable else []
    parts += [f"shed {_counts(report.shed)}"] if report.shed else []
    parts += [f"out {report.results:,}", f"state {report.state_tuples:,}", rate(pace)]
    parts += [_busy(report)] if report.busy is not None else []
    return _wrapped([*parts, *_frontier(report)])


def _busy(report: Report) -> str:
    return f"busy {percent(report.busy or 0.0)}"


def _frontier(report: Report) -> list[str]:
    """Up to when all has been seen, and how far that is behind the newest tuple."""
    if report.frontier is None:
        return ["no frontier yet"]
    return [f"frontier {moment(report.frontier)}  lag {seconds((report.lag or 0) / MICROS)}"]


def _wrapped(parts: list[str]) -> str:
    """Parts beside each other, on a second line those that would make the first too long."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 2 + len(part) > _WIDTH:
            lines.append(f"  {part}")
        else:
            lines[-1] += f"  {part}"
    return "\n".join(lines)


def _is_told(empty: int) -> bool:
    """After a few batches without a result, then less and less often."""
    times, rest = divmod(empty, _FEW)
    return not rest and times.bit_count() == 1


def _drops(late: int, malformed: int, unreadable: int, shed: int) -> str:
    """The tuples read that did not go on, and why: `, of which 2 late, 3 malformed`."""
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
