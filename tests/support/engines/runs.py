"""A query run on an engine, and what its sink then holds."""

from __future__ import annotations

import json
import math
import os
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, overload

import pyarrow.parquet as pq

from penstock.engine.local import open_run
from penstock.engine.places.place import Place as Folder
from penstock.engine.reports.report import Report
from penstock.engine.run.handle import Run
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink, jsonl, parquet
from penstock.engine.state.manifest import Manifest, latest
from penstock.engine.state.store import Store
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import DropBoxes
from penstock.plan.multiway import MultiwayJoin
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan
from penstock.plan.tree import Branch, Leaf, Node, TreeJoin, leaves
from penstock.query import DataType, Query
from penstock.query.expression import Value
from penstock.query.keys import KeyClass, key_classes
from reference import answer
from support.streams.cases import Case, canonical
from support.streams.expressions import cast

Rows = list[tuple[Value, ...]]
Draw = Callable[[Query, Random], Plan]
Runner = Callable[..., list[Report]]
"""A run over all there is, as the fixture `run` gives it for either engine."""


@dataclass(frozen=True)
class Place:
    """Where one run of a query keeps its state and puts its results."""

    folder: Path
    kind: str = "parquet"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def sink(self) -> Sink:
        results = self.folder / "results"
        return parquet(results) if self.kind == "parquet" else jsonl(f"{results}.jsonl")

    def results(self, query: Query) -> Rows:
        """The rows of the sink, in the query's output columns."""
        return results_in(self.sink, query)

    @property
    def store(self) -> Store:
        """The files of the checkpoint."""
        return Store(Folder.of(self.checkpoint))

    @property
    def manifest(self) -> Manifest:
        """The newest manifest of the checkpoint."""
        found = latest(self.store)
        assert found is not None
        return found


@overload
def planned(query: Query, plan: None = None) -> MultiwayJoin: ...


@overload
def planned(query: Query, plan: str | Plan | None) -> Plan: ...


def planned(query: Query, plan: str | Plan | None = None) -> Plan:
    """The plan of the order of FROM, the one that a text forces, or the one given."""
    if plan is None:
        return default_plan(query)
    return forced_plan(query, plan) if isinstance(plan, str) else plan


def run_local(
    query: Query,
    place: Place,
    *,
    plan: str | Plan | None = None,
    drain: bool = True,
    partitions: int | None = None,
    **more: Any,
) -> list[Report]:
    """Run in this process over all there is; the reports of the batches."""
    reports: list[Report] = []
    started = open_run(
        planned(query, plan),
        RunOptions(
            sink=more.pop("sink", place.sink),
            checkpoint=str(more.pop("checkpoint", place.checkpoint)),
            partitions=partitions,
            report=reports.append,
            **more,
        ),
    )
    started.available_now(drain=drain)
    return reports


def run_replanning(query: Query, place: Place, rng: Random, draw: Draw) -> None:
    """Run in this process over all there is, with another plan after each batch."""
    run = open_run(
        draw(query, rng),
        RunOptions(
            sink=place.sink,
            checkpoint=str(place.checkpoint),
            partitions=rng.randint(1, 3),
            report=lambda report: run.replan(draw(query, rng)),
        ),
    )
    run.available_now(drain=True)


def run_spark(
    spark: Any,
    query: Query,
    place: Place,
    *,
    plan: str | Plan | None = None,
    drain: bool = True,
    partitions: int | None = 2,
    **more: Any,
) -> list[Report]:
    """Run on Spark over all there is; the reports of the batches."""
    started = started_on(
        spark,
        planned(query, plan),
        RunOptions(
            sink=more.pop("sink", place.sink),
            checkpoint=str(more.pop("checkpoint", place.checkpoint)),
            available_now=True,
            drain=drain,
            partitions=partitions,
            **more,
        ),
    )
    started.await_termination()
    return list(started.reports)


def started_on(spark: Any, plan: Plan, options: RunOptions) -> Run:
    """A plan that runs on a session of either kind."""
    from penstock.engine.spark.connect.client import is_connect, start_connected
    from penstock.engine.spark.start import start

    if not is_connect(spark):
        return start(plan, spark, options)
    served = replace(options, report=None)
    # The server does not have the tests: a function of theirs comes to it as it is written here.
    return start_connected(spark, plan.query, options, lambda: (plan, served), {})


def results_in(sink: Sink, query: Query) -> Rows:
    """What a parquet or jsonl sink holds; of a folder only what is published."""
    names = [output.name for output in query.outputs]
    if sink.kind == "jsonl":
        types = [output.expression.type for output in query.outputs]
        with open(sink.place, encoding="utf-8") as file:
            lines = [json.loads(line, parse_float=Decimal) for line in file]
        return [tuple(map(_from_json, (line[n] for n in names), types)) for line in lines]
    rows: Rows = []
    for path in sorted(Path(sink.place).glob("*.parquet")):
        rows += [tuple(row[n] for n in names) for row in pq.read_table(path).to_pylist()]
    return rows


def _from_json(value: Any, type_: DataType) -> Value:
    if value is None:
        return None
    match type_:
        case DataType.TIMESTAMP:
            return datetime.fromisoformat(value).astimezone(UTC)
        case DataType.TIMESTAMP_NTZ:
            return datetime.fromisoformat(value)
        case DataType.BINARY:
            return b64decode(value)
        case DataType.DATE:
            return date.fromisoformat(value)
        case DataType.FLOAT:
            return cast(float(value), type_)
        case DataType.DOUBLE:
            return float(value)
    if type_.is_nested:
        return json.loads(json.dumps(value, default=float))  # type: ignore[no-any-return]
    return value  # type: ignore[no-any-return]


def without_nan(rows: Iterable[Sequence[Value]]) -> Rows:
    """The rows as JSON holds them: NaN and infinities are null there."""

    def is_odd(value: Value) -> bool:
        return isinstance(value, float) and not math.isfinite(value)

    return [tuple(None if is_odd(v) else v for v in row) for row in rows]


def expected(case: Case, query: Query, kind: str, drain: bool = True) -> Counter[Any]:
    """The rows that the reference gives, as a sink of a kind holds them."""
    rows = answer(query, case.batches, drain)
    return canonical(without_nan(rows) if kind == "jsonl" else rows)


def random_plan(query: Query, rng: Random) -> str:
    """A probe order for each stream, as text for `--plan`: any order of the other inputs."""
    orders = []
    for stream in query.streams:
        others = [alias for alias in query.aliases if alias != stream.alias]
        rng.shuffle(others)
        orders.append(f"{stream.alias}: {' '.join(others)}")
    return "; ".join(orders)


def random_tree(query: Query, rng: Random) -> TreeJoin:
    """Any join tree over the inputs of a query, left-deep, bushy or with products."""
    aliases = list(query.aliases)
    rng.shuffle(aliases)
    return TreeJoin(query, _random_node(key_classes(query), aliases, rng))


def _random_node(classes: tuple[KeyClass, ...], aliases: list[str], rng: Random) -> Node:
    if len(aliases) == 1:
        return Leaf(aliases[0])
    cut = rng.choice((1, len(aliases) - 1, rng.randrange(1, len(aliases))))
    sides = aliases[:cut], aliases[cut:]
    return joined(classes, *(_random_node(classes, side, rng) for side in sides))


def joined(classes: tuple[KeyClass, ...], left: Node, right: Node) -> Branch:
    """Two sub-trees joined by key if they have one in common, else by nested loops."""
    sides = set(leaves(left)), set(leaves(right))
    is_keyed = any(all(side & set(c.streams) for side in sides) for c in classes)
    return Branch(left, right, "sorted" if is_keyed else "nested")


def tree(query: Query, shape: Any) -> TreeJoin:
    """The join tree of a shape in nested pairs: `tree(query, (("a", "b"), "c"))`."""
    classes = key_classes(query)

    def node(shape: Any) -> Node:
        return Leaf(shape) if isinstance(shape, str) else joined(classes, *map(node, shape))

    return TreeJoin(query, node(shape))


@contextmanager
def first_files_only(query: Query, count: int) -> Iterator[None]:
    """Hide the later files of every stream: a name that begins with `_` is not read."""
    folders = {Path(item.source.path or "") for item in query.streams}
    hidden = [path for folder in folders for path in sorted(folder.iterdir())[count:]]
    for path in hidden:
        os.rename(path, path.with_name(f"_{path.name}"))
    try:
        yield
    finally:
        for path in hidden:
            os.rename(path.with_name(f"_{path.name}"), path)


def shown(query: Query, folder: Path, drops: DropBoxes | None, **more: Any) -> list[dict[str, Any]]:
    """What a run tells, without what it takes back."""
    place = Place(folder / "shown")
    plan = planned(query)
    run_local(query, place, plan=replace(plan, drops=drops, **more) if drops else plan)
    paths = sorted(Path(place.sink.place).glob("*.parquet"))
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    return [row for row in rows if row["_change"] == "upsert" and row["n"]]
