"""Reference: seconds a second of aggregation joins, late and early (Tran and Lee, T&L).

No plan is costed by these formulas; a test compares how the planner ranks plans with them.

Each stream's new tuple updates its window (and its aggregation set, where the stream has an early
operator), looks for partners in the others' windows or sets, and updates the output set with what
it finds. T&L write this down for two streams; here any number is visited one after the other,
which for two is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

BOTH_ENDS = 2
"""Everything is done for a tuple of the window's increment and for one of its decrement (T&L)."""


@dataclass(frozen=True)
class Stream:
    """Tuples/s, tuples in the window, groups, and the fraction of the window that matches a tuple
    (T&L Table 2: λ, w, g, σ). Without a grouping attribute there is one group.
    """

    rate: float
    window: float
    groups: float
    selectivity: float


@dataclass(frozen=True)
class Tuning:
    """Seconds to probe one tuple, to update a window and to update a group (T&L Table 2: P, U, U_g,
    with one P and U for each method), and the most buckets of a hash table (B)."""

    probe: float
    update: float
    group: float
    buckets: float = 1021.0


@dataclass(frozen=True)
class Steps:
    """The seconds that a method takes for one tuple of one stream (T&L Table 1).

    `update` is for a window, `find(k, early)` for partners in stream k's window or set, `fold(k)`
    for its aggregation set, `output` for the query's.
    """

    update: float
    find: Callable[[int, bool], float]
    fold: Callable[[int], float]
    output: float


Streams = Sequence[Stream]
Early = Sequence[bool]
"""By stream, whether it has an early operator: T&L's EAP10 is (True, False), LAP all False."""


def plans(count: int) -> tuple[tuple[bool, ...], ...]:
    """The late plan and all early plans of a join of so many streams, the late one first."""
    return tuple(product((False, True), repeat=count))


def plan_cost(streams: Streams, early: Early, steps: Steps) -> float:
    """Seconds a second of one plan, whatever the method (T&L Eq. 1–4)."""
    return sum(
        stream.rate * _tuple_cost(streams, early, steps, k) for k, stream in enumerate(streams)
    )


def _tuple_cost(streams: Streams, early: Early, steps: Steps, k: int) -> float:
    """One tuple of stream k: what stands in brackets in T&L Eq. 1–4."""
    seconds = steps.update + (steps.fold(k) if early[k] else 0.0)
    found = 1.0
    for j, other in enumerate(streams):
        if j != k:
            seconds += found * steps.find(j, early[j])
            found *= set_matches(other) if early[j] else window_matches(other)
    return seconds + found * steps.output


def nested_cost(streams: Streams, early: Early, tuning: Tuning) -> float:
    """Seconds a second by nested loops (T&L Eq. 5–8).

    Eq. 6 is printed with B_g and B₂ where, as in Eq. 7, 8 and 10, B₁ and B_g belong.
    """

    def find(j: int, is_early: bool) -> float:
        size = set_size(streams[j]) if is_early else streams[j].window
        return BOTH_ENDS * size * tuning.probe

    return plan_cost(streams, early, _steps(streams, tuning, find))


def hash_cost(streams: Streams, early: Early, tuning: Tuning) -> float:
    """Seconds a second by hash tables on the join attribute (T&L Eq. 9–12)."""

    def find(j: int, is_early: bool) -> float:
        size = set_size(streams[j]) if is_early else streams[j].window
        return BOTH_ENDS * size / join_buckets(streams[j], tuning.buckets) * tuning.probe

    return plan_cost(streams, early, _steps(streams, tuning, find))


def _steps(streams: Streams, tuning: Tuning, find: Callable[[int, bool], float]) -> Steps:
    """The steps that are the same in T&L Eq. 5–12: groups are always found by hash."""
    groups = output_size(streams) / group_buckets(streams, tuning.buckets)

    def fold(k: int) -> float:
        chain = set_size(streams[k]) / join_buckets(streams[k], tuning.buckets)
        return BOTH_ENDS * chain * tuning.group

    return Steps(
        update=BOTH_ENDS * tuning.update,
        find=find,
        fold=fold,
        output=BOTH_ENDS * groups * tuning.group,
    )


def output_size(streams: Streams) -> float:
    """Groups of the query's aggregation set: α (T&L Eq. 13)."""
    return prod(min(stream.window, stream.groups) for stream in streams)


def set_size(stream: Stream) -> float:
    """Rows of a stream's aggregation set, by group and join attribute: α₁, α₂ (T&L Eq. 14–15)."""
    return min(stream.window, stream.groups / stream.selectivity)


def window_matches(stream: Stream) -> float:
    """Tuples of the window that match a tuple: m₁, m₂ (T&L Eq. 16–17)."""
    return stream.selectivity * stream.window


def set_matches(stream: Stream) -> float:
    """Rows of the aggregation set that match a tuple: n₁, n₂ (T&L Eq. 18–19)."""
    return min(stream.window * stream.selectivity, stream.groups)


def join_buckets(stream: Stream, most: float) -> float:
    """Buckets of a hash table on the join attribute: B₁, B₂ (T&L Eq. 20–21)."""
    return min(1.0 / stream.selectivity, most)


def group_buckets(streams: Streams, most: float) -> float:
    """Buckets of the output's hash table, on the first stream's groups: B_g (T&L Eq. 22)."""
    return min(streams[0].groups, most)
