"""The lines of the streams as they are now: rates with their course, and what became of rows."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.plan.explain.quantity import count, figure, percent, seconds
from penstock.table import table
from penstock.watch.now import Now, StreamLine
from penstock.watch.terminal.glyphs import bar, printable, sparkline

_COURSE, _BAR = 20, 20
"""Characters of a sparkline, and of the bar of the busy share."""


def load_lines(now: Now) -> Iterator[str]:
    """How busy it is, its lag and delay, and how much work it has."""
    if now.busy is not None:
        shown = f"{bar(now.busy, _BAR)} {percent(now.busy)}"
        yield f"busy     {shown}  {sparkline(now.busies, _COURSE)}"
    late = [f"lag {seconds(now.lag)}"] if now.lag is not None else []
    late += [f"delay {seconds(now.delay)}{_wanted(now)}"] if now.delay is not None else []
    if now.work is not None:
        late.append(f"work {figure(now.work)} | {figure(now.predicted_work)} s/s")
    if late:
        yield f"         {', '.join(late)}"
    out = f"{figure(now.output_rate)} | {figure(now.predicted_output_rate)} a second"
    rate = f", {out}" if now.output_rate is not None else ""
    yield f"results  {count(now.total_results)}, {count(now.results)} in the last batch{rate}"
    if now.waiting is not None:
        yield f"         {printable(now.waiting)}"


def _wanted(now: Now) -> str:
    known = (("wanted", now.wanted_delay), ("expected", now.expected_delay))
    said = [f"{word} {seconds(t)}" for word, t in known if t is not None]
    return f" ({', '.join(said)})" if said else ""


def stream_lines(now: Now) -> list[str]:
    """A line for each input, and one for each source."""
    inputs = [_input(line) for line in now.streams]
    heading = ["input", "course", "tuples/s", "| expected", "by the clock", "shed", "kept"]
    lines = table(heading, inputs) if inputs else []
    sources = [
        [
            printable(each.name),
            count(each.read),
            count(each.late),
            count(each.malformed),
            "" if each.behind is None else seconds(each.behind),
            "" if each.backlog is None else count(each.backlog),
        ]
        for each in now.sources
    ]
    heading = ["stream", "rows", "late", "malformed", "lag", "backlog"]
    return [*lines, *([""] if lines else []), *(table(heading, sources) if sources else [])]


def _input(line: StreamLine) -> list[str]:
    return [
        printable(line.alias),
        sparkline(line.rates, _COURSE),
        figure(line.rate),
        f"| {figure(line.predicted)}",
        figure(line.arrival_rate),
        count(line.shed) if line.shed else "",
        percent(line.kept),
    ]
