"""A frame: all that a terminal shows of a run at one time, as lines that fit it."""

from __future__ import annotations

from penstock.errors import without_passwords
from penstock.plan.explain.quantity import seconds
from penstock.watch.batches import batches_view
from penstock.watch.log_view import LogView
from penstock.watch.now import now_view
from penstock.watch.plan_live import plan_view
from penstock.watch.terminal.batch_lines import batch_lines
from penstock.watch.terminal.glyphs import cut, printable
from penstock.watch.terminal.plan_lines import plan_lines
from penstock.watch.terminal.stream_lines import load_lines, stream_lines

_FEW, _MANY = 3, 12
"""Batches that are shown at least, and at most."""
_HEADING = 4
"""Lines of a block of batches beside the batches."""


def frame(log: LogView, now: float, width: int, height: int | None = None) -> list[str]:
    """The lines at a time in seconds since the epoch; without a height, as many as there are.

    Where the height does not do, batches go first, then the end of the plan.
    """
    blocks = [_head(log, now), [*load_lines(now_view(log))], stream_lines(now_view(log))]
    blocks.append(plan_lines(plan_view(log)) if not log.queries else _queries(log))
    above = [line for block in blocks if block for line in ("", *block)][1:]
    if log.last is None:
        above = _head(log, now)
    free = _MANY if height is None else height - len(above) - _HEADING
    below = batch_lines(batches_view(log), min(max(free, _FEW), _MANY))
    if height is not None:
        above = _without_bare_heading(above[: max(height - len(below) - 1, 1)])
    lines = [*above, *([""] if below else []), *below]
    return [cut(line.rstrip(), width) for line in lines[:height]]


def _without_bare_heading(lines: list[str]) -> list[str]:
    """Lines whose end was cut off, without the heading of a table that has lost all its rows."""
    is_rule = len(lines) > 2 and lines[-1].startswith("─")
    return lines[:-3] if is_rule else lines


def last_line(log: LogView) -> str:
    """How it stood when nobody looked any more."""
    batch = "no batch yet" if log.last is None else f"batch {log.last.batch}"
    goes_on = "; it goes on" if log.is_running else ""
    return f"{printable(log.checkpoint)}: {said(log)}, {batch}{goes_on}"


def said(log: LogView) -> str:
    """The verdict on one line."""
    return printable(without_passwords(" ".join(now_view(log).verdict.split())))


def _head(log: LogView, now: float) -> list[str]:
    name = log.checkpoint if log.query is None else f"{log.checkpoint}, {log.query}"
    lines = [f"{printable(name)}: {said(log)}"]
    last, head = log.last, log.head
    ran = "" if head is None else f"on {head.engine}, into {head.sink}"
    if last is not None:
        ago = f", {seconds(max(0.0, now - last.at))} ago" if last.at else ""
        lines.append(printable(f"batch {last.batch}{ago}{'; ' + ran if ran else ''}"))
    elif ran:
        lines.append(printable(ran))
    if log.pinned is not None:
        lines.append(printable(f"pinned to {log.pinned}"))
    return lines


def _queries(log: LogView) -> list[str]:
    """Of a script, the plan of each query in a line."""
    reports = {} if log.last is None else log.last.members
    lines = [printable(f"  {name}: {each.plan}") for name, each in reports.items()]
    return ["queries, of which --query NAME shows one:", *lines]
