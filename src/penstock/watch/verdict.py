"""The verdict on a run in words: whether it keeps up, and with how much to spare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf

from penstock.adapt.shedding.wish import default_delay
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import STOPPED, RunHead
from penstock.plan.explain.quantity import percent, seconds
from penstock.watch.log_view import LogView

RECENT = 10
"""Batches by which a run is judged: one alone says little."""
_FULL = 0.98
"""The busy share above which nothing is left to spare."""
_SOME = 3
"""Batches that are all late before a run is said to be: any one may wait for something."""
_ENDED = "has ended"


def verdict(log: LogView) -> str:
    """How a run stands, such as `keeps up with 38 % to spare`."""
    if log.is_running:
        return pace(log) or "no batch yet"
    ended, read = _ended(log), pace(log)
    return ended if read is None or ended != _ENDED else f"{ended}; it {read}"


def pace(log: LogView) -> str | None:
    """Whether a run keeps up, as words behind `it`; None where there is nothing to say."""
    reports = _of_this_run(log)
    if not reports:
        return None
    if log.head is not None and log.head.available_now:
        # It is busy all the time, and that is as it should be.
        tense = (
            ("reads all there is", "can") if log.is_running else ("read what was there", "could")
        )
        return f"{tense[0]} as fast as it {tense[1]}"
    if not log.is_running:
        return None
    return f"{_late(log.head, reports) or _spare(log)}{_by_shedding(reports[-1])}"


def _of_this_run(log: LogView) -> Sequence[Report]:
    """The last reports; what a run before it left behind says nothing of this one."""
    first = 0 if log.head is None else log.head.batch
    return [each for each in log.reports[-RECENT - 1 :] if each.batch >= first]


def wanted_delay(head: RunHead | None) -> float | None:
    """Seconds that the results of a run should be late at most; None where nobody has said so, or
    nothing waits."""
    return None if head is None or head.available_now else head.delay


def _late(head: RunHead | None, reports: Sequence[Report]) -> str | None:
    """Words on a run that does not keep up.

    Who reads what has waited for long is later with each batch, and yet catches up.
    """
    waiting = [float(sum(each.backlog.values())) for each in reports[-RECENT:]]
    if grows(waiting):
        return "falls behind: its backlog grows"
    delays = [each.delay for each in reports[-RECENT:] if each.delay is not None]
    wanted, longest = wanted_delay(head), _longest_delay(head)
    if min(delays[-_SOME:], default=0.0) <= longest:
        return None
    late = f"its delay is {_rounded(delays[-1])}"
    is_shrinking = grows(waiting[::-1])
    if grows(delays) and not is_shrinking:
        return f"falls behind: {late}, and grows"
    catches_up = ", and catches up" if is_shrinking or grows(delays[::-1]) else ""
    at_most = "" if wanted is None else f", and {_rounded(wanted)} are wanted"
    return f"is behind{catches_up}: {late}{at_most}"


def _longest_delay(head: RunHead | None) -> float:
    """Seconds after which results are late: those that are wanted, or else the usual ones."""
    if head is None or head.available_now:
        return inf
    return default_delay(head.trigger) if head.delay is None else head.delay


def _rounded(delay: float) -> str:
    return seconds(float(f"{delay:.2g}"))


def _spare(log: LogView) -> str:
    busy = busy_share(log)
    if busy is None:
        return "runs"
    if not busy <= _FULL:
        return "has no time to spare"
    return f"keeps up with {percent(round(1.0 - busy, 2))} to spare"


def busy_share(log: LogView) -> float | None:
    """The part of the clock that the last batches were not waiting, 0 to 1; None if not told.

    The time between two runs is of neither: only batches of this one count.
    """
    recent = _of_this_run(log)
    clocks = [max(new.at - old.at, new.seconds) for old, new in pairwise(recent)]
    known = [
        (each.busy, clock)
        for each, clock in zip(recent[1:], clocks, strict=True)
        if each.busy is not None
    ]
    clock = sum(seconds for _, seconds in known)
    if clock <= 0.0:
        return recent[-1].busy if recent else None
    return sum(busy * seconds for busy, seconds in known) / clock


def grows(values: Sequence[float]) -> bool:
    """Whether the later half of some values is above the earlier one."""
    half = len(values) // 2
    return half >= 2 and min(values[half:]) > max(values[:half])


def _by_shedding(last: Report) -> str:
    kept = {alias: each.keep for alias, each in last.inputs.items() if each.keep < 1.0}
    parts = ", ".join(f"{percent(round(keep, 3))} of {alias}" for alias, keep in kept.items())
    return f", keeping {parts}" if parts else ""


def _ended(log: LogView) -> str:
    head = log.head
    if head is None:
        return "does not run"
    if head.error == STOPPED:
        return f"was {STOPPED}"
    if head.error:
        return f"was ended by an error: {head.error}"
    return "was killed" if head.ended_at is None else _ENDED
