"""Aggregation-join queries: the chosen plan beside Spark's own query and beside our late plan."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from penstock.bench.aggjoin.data import Answer, ensure_streams, expected, link_seconds
from penstock.bench.aggjoin.rivals import Entry, Finish, Rival, run_entries
from penstock.bench.aggjoin.workload import AggJoin, Kind
from penstock.bench.contest import apart
from penstock.bench.measurement import Measurement
from penstock.bench.native import STATE_FORMATS
from penstock.errors import PenstockError

Progress = Callable[[str], None]

TWO_STREAMS = {"keys_1000": AggJoin(keys=1_000), "keys_100": AggJoin(keys=100)}
# A tumbling window of n tuples of each of three streams gives n²/3k² results a tuple on k keys.
THREE_STREAMS = {
    "matches_100": AggJoin(keys=11_547, streams=("A", "B", "C")),
    "matches_1000": AggJoin(keys=3_651, streams=("A", "B", "C")),
}


@dataclass(frozen=True)
class Size:
    """How much is run: seconds of event time, the join results that rivals may make, how often.

    Spark's own query cannot slide. With `shares` a rival has one session for all that it runs.
    """

    seconds: int = 60
    # On two cores Spark's own makes about 1.8 million a second and our late plan some 20 million,
    # so both end within two minutes.
    most: Mapping[Rival, float] = field(
        default_factory=lambda: {"spark_native": 2e8, "late": 1.5e9}
    )
    repeat: int = 3
    formats: tuple[str, ...] = tuple(STATE_FORMATS)
    cases: Mapping[str, AggJoin] = field(default_factory=lambda: TWO_STREAMS | THREE_STREAMS)
    shares: bool = False


QUICK = Size(
    seconds=30,
    most={"spark_native": 1.6e7, "late": 1e8},
    repeat=1,
    formats=("hdfs-v2",),
    cases=TWO_STREAMS,
    shares=True,
)


@dataclass(frozen=True)
class Slot:
    """One thing to measure: a rival (by its name in the figures) on a case."""

    case: str
    name: str
    entry: Entry
    settings: Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """All slots with their runs."""

    size: Size
    runs: Sequence[tuple[Slot, Sequence[Measurement]]]


def run_apart(slots: Sequence[Slot]) -> list[Finish]:
    """Run slots of one rival one after another, in a process and a session of their own."""
    entries = [slot.entry for slot in slots]
    return apart(slots[0].name, slots[0].settings, partial(run_entries, entries))


def run_aggjoin(
    size: Size,
    data: Path,
    progress: Progress,
    run: Callable[[Sequence[Slot]], list[Finish]] = run_apart,
) -> Outcome:
    """Run every rival on every case `repeat` times, taking turns; all answers are checked."""
    with tempfile.TemporaryDirectory(dir=data, prefix="prefix-") as scratch:
        slots = list(_slots(size, data, Path(scratch), progress))
        answers = [_expected(slot.entry) for slot in slots]
        runs: list[list[Measurement]] = [[] for _ in slots]
        for number in range(1, size.repeat + 1):
            for group in _sessions(slots, shares=size.shares):
                members = [slots[n] for n in group]
                progress(f"{_shown(members)}, run {number} of {size.repeat}")
                for n, finish in zip(group, run(members), strict=True):
                    _check(slots[n], finish.answer, answers[n])
                    runs[n].append(finish.measurement)
    return Outcome(size, list(zip(slots, runs, strict=True)))


def prefix_of(workload: AggJoin, kind: Kind, most: float) -> AggJoin:
    """The longest beginning of a workload, in seconds, with so many join results at most."""
    shorter = (replace(workload, seconds=s) for s in range(workload.seconds, 1, -1))
    fitting = (each for each in shorter if each.join_results(kind) <= most)
    return next(fitting, replace(workload, seconds=1))


def _slots(size: Size, data: Path, scratch: Path, progress: Progress) -> Iterator[Slot]:
    for case, standard in size.cases.items():
        workload = replace(standard, seconds=size.seconds)
        progress(f"{case}: making {workload.tuples:,} tuples")
        folder = ensure_streams(workload, data)
        for name, rival, kind, settings in _lineup(size):
            most = size.most.get(rival)
            given = workload if most is None else prefix_of(workload, kind, most)
            place = scratch / f"{case}-{given.seconds}s"
            if given != workload and not place.exists():
                link_seconds(given, folder, place)
            entry = Entry(rival, given, kind, folder if given == workload else place)
            yield Slot(case, name, entry, settings)


def _lineup(size: Size) -> Iterator[tuple[str, Rival, Kind, Mapping[str, str]]]:
    kinds: tuple[Kind, ...] = ("tumbling", "sliding")
    for kind in kinds:
        yield "penstock", "penstock", kind, {}
        yield "late", "late", kind, {}
    for name in size.formats:
        yield name, "spark_native", "tumbling", STATE_FORMATS[name]


def _sessions(slots: Sequence[Slot], *, shares: bool) -> Iterable[list[int]]:
    """Which slots run in one session, by number."""
    if not shares:
        return [[n] for n in range(len(slots))]
    by_name = sorted(range(len(slots)), key=lambda n: slots[n].name)
    return [list(group) for _, group in groupby(by_name, key=lambda n: slots[n].name)]


def _shown(slots: Sequence[Slot]) -> str:
    first = slots[0].entry
    rival = f"Spark's own ({slots[0].name})" if first.rival == "spark_native" else slots[0].name
    if len(slots) > 1:
        return f"{rival} on all cases"
    return f"{rival} on {slots[0].case}, {first.kind}, {first.workload.seconds} s"


def _expected(entry: Entry) -> Answer:
    return expected(entry.workload, entry.folder, entry.kind)


def _check(slot: Slot, given: Answer, wanted: Answer) -> None:
    if given != wanted:
        raise PenstockError(
            f"{_shown([slot])} gave a wrong answer: {given}, not {wanted}",
            hint="this is a mistake in Penstock or its benchmark; please report it",
        )
