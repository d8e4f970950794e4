"""G&O's settings: windows joined on a common attribute, their costs by the model and counted."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from penstock.duration import MICROS
from penstock.engine.rows.columns import TS
from penstock.experiments.setting.streams import Stream, tuples_of
from penstock.lab.clock import Work
from penstock.lab.laboratory import run
from penstock.lab.schedule import Eager, Lazy, Mode
from penstock.papers.multi_join import Match, Windows, common_attribute, time_window
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.query import (
    Column,
    DataType,
    Equality,
    Field,
    Input,
    Output,
    Query,
    Source,
    TimeWindow,
)

Loops = Mapping[str, Sequence[str]]
"""The loops for the new tuples of each stream, from the outermost to the innermost."""

NOT_HASHED: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Setting:
    """Streams by name: tuples/s, seconds of the window, and distinct values of the attribute."""

    streams: Mapping[str, tuple[float, float, int]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.streams)

    @property
    def windows(self) -> Windows:
        return self.hashed(NOT_HASHED)

    def hashed(self, buckets: Mapping[str, int]) -> Windows:
        """The windows with hash tables of so many buckets."""
        return {
            name: time_window(rate, time, buckets.get(name, 1))
            for name, (rate, time, _) in self.streams.items()
        }

    @property
    def match(self) -> Match:
        return common_attribute({name: values for name, (_, _, values) in self.streams.items()})

    @property
    def longest(self) -> float:
        """Seconds until all windows are full."""
        return max(time for _, time, _ in self.streams.values())

    def orders(self) -> list[tuple[str, ...]]:
        return list(itertools.permutations(self.names))


def setting_of(rows: Sequence[tuple[float, float, int]]) -> Setting:
    """Streams S1, S2, … as the rows of a table of the paper give them."""
    return Setting({f"S{n}": row for n, row in enumerate(rows, 1)})


def first(order: Sequence[str]) -> Loops:
    """New tuples outermost, then the order (eager and lazy multi-way loops)."""
    return {name: (name, *(other for other in order if other != name)) for name in order}


def in_place(order: Sequence[str]) -> Loops:
    """One order, whoever drives (naive loops)."""
    return dict.fromkeys(order, tuple(order))


def counted(setting: Setting, loops: Loops, seconds: float, tau: float = 0.0) -> float:
    """Comparisons/s of nested loops in the laboratory; see `worked`."""
    return worked(setting, loops, seconds, tau).compares / seconds


def worked(
    setting: Setting,
    loops: Loops,
    seconds: float,
    tau: float = 0.0,
    buckets: Mapping[str, int] = NOT_HASHED,
) -> Work:
    """The work of the laboratory in so many seconds, once all windows are full.

    With τ, tuples are joined and expired so often. Windows with more than one bucket are hashed,
    and cleaned bucket by bucket, the others are looked through.
    """
    start = setting.longest + tau
    tuples = _tuples(setting, start + seconds)
    mode: Mode = Lazy(round(tau * MICROS)) if tau else Eager()
    plan, early = _plan(setting, loops, buckets), pc.field(TS) < round(start * MICROS)

    def work(of: Mapping[str, pa.Table]) -> Work:
        return run(plan, of, mode, buckets=buckets, by_bucket=True).work

    before = astuple(work({name: t.filter(early) for name, t in tuples.items()}))
    whole = astuple(work(tuples))
    return Work(*(late - soon for late, soon in zip(whole, before, strict=True)))


def _tuples(setting: Setting, seconds: float) -> dict[str, pa.Table]:
    streams = {n: Stream(rate, {"k": values}) for n, (rate, _, values) in setting.streams.items()}
    return tuples_of(streams, seconds, seed=1)


def _plan(setting: Setting, loops: Loops, buckets: Mapping[str, int]) -> MultiwayJoin:
    methods: dict[str, Method] = {
        name: "hash" if buckets.get(name, 1) > 1 else "nested" for name in setting.names
    }
    orders = []
    for driver, order in loops.items():
        probes = tuple(Probe(name, methods[name]) for name in order if name != driver)
        orders.append(ProbeOrder(driver, probes, tuple(order).index(driver)))
    return MultiwayJoin(_query(setting), tuple(orders))


def _query(setting: Setting) -> Query:
    fields = (Field("id", DataType.BIGINT), Field("k", DataType.BIGINT))
    inputs = tuple(
        Input(name, Source(name, fields, "parquet"), TimeWindow(round(time * MICROS)))
        for name, (_, time, _) in setting.streams.items()
    )
    keys = [Column(name, "k", DataType.BIGINT) for name in setting.names]
    output = Output("id", Column(setting.names[0], "id", DataType.BIGINT))
    return Query(inputs, (output,), tuple(Equality(keys[0], key) for key in keys[1:]))
