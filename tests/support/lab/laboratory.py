"""Streams and plans for the laboratory."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.lab.laboratory import Outcome
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
from reference import Row, in_time
from support.streams.cases import Case, arrival, as_table

SECOND = MICROS


def tables_of(case: Case) -> dict[str, pa.Table]:
    """The tuples of a case that are not late, as the laboratory takes them."""
    tables = {}
    for item in case.query.inputs:
        rows = in_time(item, case.batches[item.alias])
        table = as_table(item.source, rows)
        table = table.append_column(TS, pa.array([row.ts for row in rows], pa.int64()))
        numbers = pa.array([row.arrival for row in rows], pa.int64())
        tables[item.alias] = table.append_column(ARRIVAL, numbers)
    return tables


def rows_of(outcome: Outcome) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in outcome.results.columns), strict=True))


def random_plan(rng: Random, query: Query) -> MultiwayJoin:
    """Any order, any method, and the new tuples at any place."""
    orders = []
    for stream in query.streams:
        targets = [alias for alias in query.aliases if alias != stream.alias]
        rng.shuffle(targets)
        probes = [Probe(target, rng.choice(("sorted", "hash", "nested"))) for target in targets]
        position = rng.choice((0, rng.randint(0, len(targets))))
        orders.append(ProbeOrder(stream.alias, tuple(probes), position))
    return MultiwayJoin(query, tuple(orders))


GLOBAL = ("A", "B", "C", "D")


def common_case(tuples: int = 60, seconds: int = 30, window: int = 6) -> Case:
    """Four streams joined on a common attribute of five values."""
    rng = Random(7)
    fields = (Field("id", DataType.BIGINT), Field("k", DataType.INT))
    inputs = tuple(
        Input(a, Source(a, fields, "parquet"), TimeWindow(window * SECOND)) for a in GLOBAL
    )
    keys = [Column(alias, "k", DataType.INT) for alias in GLOBAL]
    query = Query(
        inputs,
        outputs=tuple(Output(f"{a}_id", Column(a, "id", DataType.BIGINT)) for a in GLOBAL),
        equalities=tuple(Equality(keys[0], key) for key in keys[1:]),
    )
    batches = {}
    for alias in GLOBAL:
        times = sorted(rng.randrange(seconds * SECOND) for _ in range(tuples // 4))
        batches[alias] = [
            [Row(ts, arrival(0, n), {"id": n, "k": rng.randrange(5)}) for n, ts in enumerate(times)]
        ]
    return Case(query, batches)


def plan_of(query: Query, methods: dict[str, Method], in_place: bool = False) -> MultiwayJoin:
    """The global order for all streams, new tuples first or in their place."""
    orders = []
    for number, driver in enumerate(query.aliases):
        targets = [alias for alias in query.aliases if alias != driver]
        probes = tuple(Probe(target, methods[target]) for target in targets)
        orders.append(ProbeOrder(driver, probes, number if in_place else 0))
    return MultiwayJoin(query, tuple(orders))


NESTED: dict[str, Method] = dict.fromkeys(GLOBAL, "nested")
HASH: dict[str, Method] = dict.fromkeys(GLOBAL, "hash")
