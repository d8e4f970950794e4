"""Random views that the laboratory runs, and plans of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa

from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.query import Aggregate, Column, Equality, Output, Query, View
from penstock.query.view import AggregateFunction
from reference import in_time, view_at
from support.streams.cases import Case, canonical, column_of, random_case

COUNTED = ("j", "id", "s", "x")
ADDED = ("j", "id")
FUNCTIONS: tuple[AggregateFunction, ...] = ("count", "sum", "avg", "sum")


def random_aggregation(seed: int) -> Case:
    """A case of two or more inputs with any windows, joined on j, with a view over the join."""
    rng = Random(f"aggregation {seed}")
    case = random_case(rng.randrange(10**6))
    while not 2 <= len(case.query.inputs) <= 4:
        case = random_case(rng.randrange(10**6))
    return replace(case, query=_aggregating(rng, case.query))


def _aggregating(rng: Random, query: Query) -> Query:
    first, *others = query.inputs
    equalities = [Equality(column_of(first, "j"), column_of(item, "j")) for item in others]
    columns = [column_of(item, name) for item in query.inputs for name in ("k", "j", "s", "x")]
    groups = rng.sample(columns, rng.choice((0, 1, 1, 2, 3)))
    outputs = [Output(f"g{n}", column) for n, column in enumerate(groups)]
    aggregates = [Aggregate("n", "count", None)]
    for number, function in enumerate(FUNCTIONS):
        of = column_of(
            rng.choice(query.inputs), rng.choice(COUNTED if function == "count" else ADDED)
        )
        outputs.append(Output(f"a{number}", of))
        argument = Column("", f"a{number}", of.type)
        aggregates.append(Aggregate(f"#{number}", function, argument))
    keys = tuple(Column("", f"g{n}", column.type) for n, column in enumerate(groups))
    shown = [Output(c.name, c) for c in (*keys, *(each.column for each in aggregates))]
    view = View(keys, tuple(aggregates), tuple(shown))
    return replace(
        query, equalities=tuple(equalities), thetas=(), outputs=tuple(outputs), view=view
    )


def any_plan(rng: Random, query: Query) -> MultiwayJoin:
    """Any order and method of each visit, and any inputs aggregated early."""
    orders = []
    methods: tuple[Method, ...] = ("nested", "hash")
    for stream in query.streams:
        targets = [alias for alias in query.aliases if alias != stream.alias]
        rng.shuffle(targets)
        probes = tuple(Probe(target, rng.choice(methods)) for target in targets)
        orders.append(ProbeOrder(stream.alias, probes))
    early = tuple(alias for alias in query.aliases if rng.random() < 0.5)
    return MultiwayJoin(query, tuple(orders), early=early)


def up_to(tables: dict[str, pa.Table], query: Query, time: int) -> dict[str, pa.Table]:
    """The tuples of streams up to an event time, and all rows of tables."""
    return {
        i.alias: tables[i.alias]
        if i.is_table
        else tables[i.alias].filter(
            pa.array([ts <= time for ts in tables[i.alias].column("#ts").to_pylist()], pa.bool_())
        )
        for i in query.inputs
    }


def view_of_reference(case: Case, now: int) -> Counter[tuple[Any, ...]]:
    """The rows that the reference has at a moment."""
    windows = {i.alias: in_time(i, case.batches[i.alias]) for i in case.query.inputs}
    time = now + 1 if case.query.is_tumbling else now
    return canonical(view_at(case.query, windows, time).values())


def rows_of_table(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows of a table, in no order."""
    return canonical(zip(*(column.to_pylist() for column in table.columns), strict=True))
