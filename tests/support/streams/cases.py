"""Random queries with random input, small enough for the reference, and as files for the engines.

A case is drawn from a seed alone, so that a failure is repeated by its seed.
"""

from __future__ import annotations

import math
import os
import typing as t
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.duration import MICROS
from penstock.query import (
    Aggregate,
    Call,
    Column,
    Condition,
    DataType,
    Equality,
    Expression,
    Field,
    Input,
    Literal,
    Output,
    Query,
    RowsWindow,
    Source,
    TimeWindow,
    View,
    Window,
)
from penstock.query.expression import Value
from penstock.query.types import common_type
from penstock.query.view import EAGER, AggregateFunction
from penstock.query.window import NOW, UNBOUNDED, tumble
from reference import Columns, Row, columns, equal
from support.streams.expressions import value_of

BIGINT, BOOLEAN, DOUBLE, STRING = (
    DataType.BIGINT,
    DataType.BOOLEAN,
    DataType.DOUBLE,
    DataType.STRING,
)
ARROW = {
    DataType.BOOLEAN: pa.bool_(),
    DataType.TINYINT: pa.int8(),
    DataType.SMALLINT: pa.int16(),
    DataType.INT: pa.int32(),
    DataType.BIGINT: pa.int64(),
    DataType.FLOAT: pa.float32(),
    DataType.DOUBLE: pa.float64(),
    DataType.STRING: pa.string(),
    DataType.DATE: pa.date32(),
    DataType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    DataType.TIMESTAMP_NTZ: pa.timestamp("us"),
    DataType.BINARY: pa.binary(),
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Tuples a stream by the number of inputs: with equalities, and for products and thetas alone.
KEYED_SIZE = {1: 40, 2: 40, 3: 20, 4: 10, 5: 7}
LOOSE_SIZE = {1: 40, 2: 30, 3: 12, 4: 7, 5: 5}


@dataclass(frozen=True)
class Case:
    """A query and what its inputs bring in each batch; a table has one batch."""

    query: Query
    batches: dict[str, list[list[Row]]]


def random_case(seed: int) -> Case:
    """The case of a seed."""
    rng = Random(seed)
    count = rng.choices(range(1, 6), weights=(1, 6, 6, 3, 2))[0]
    inputs = _inputs(rng, count)
    equalities, thetas = _predicates(rng, inputs)
    size = (KEYED_SIZE if equalities else LOOSE_SIZE)[count]
    query = Query(
        inputs=tuple(inputs),
        outputs=_outputs(rng, inputs),
        equalities=tuple(equalities),
        filters=tuple(_filter(rng, item) for item in inputs if rng.random() < 0.4 / count),
        thetas=tuple(thetas),
    )
    case = Case(query, any_batches(rng, inputs, size))
    # By chance alone hardly one join of so many has a result.
    return case if count < 4 else planted(Random(f"planted {seed}"), case, matching)


def random_view(seed: int) -> Case:
    """The case of a seed, with a view over its join."""
    case = random_case(seed)
    rng = Random(f"view {seed}")
    inputs = case.query.inputs
    columns = [column_of(item, name) for item in inputs for name in ("k", "j", "s", "x")]
    groups = rng.sample(columns, rng.choice((0, 1, 1, 2)))
    asked = [_aggregate(rng, inputs) for _ in range(rng.randint(1, 3))]
    arguments = [of for _, of in asked if of is not None]
    names: dict[Expression, str] = {of: f"#g{n}" for n, of in enumerate(groups)}
    for of in arguments:
        names.setdefault(of, f"#a{len(names) - len(groups)}")
    aggregates = tuple(
        Aggregate(f"#{n}", function, None if of is None else Column("", names[of], of.type))
        for n, (function, of) in enumerate(asked)
    )
    view = any_view(rng, tuple(Column("", names[of], of.type) for of in groups), aggregates)
    outputs = tuple(Output(name, of) for of, name in names.items())
    return replace(case, query=replace(case.query, outputs=outputs, view=view))


# ── inputs ────────────────────────────────────────────────────────────────────────────────────────


def _inputs(rng: Random, count: int) -> list[Input]:
    key_types = (STRING,) if rng.random() < 0.2 else (DataType.INT, BIGINT, DOUBLE)
    first = _source(rng, "s0", False, rng.choice(key_types))
    inputs = [Input("A", first, any_window(rng, count))]
    for number, alias in enumerate("BCDE"[: count - 1], start=1):
        is_table = rng.random() < 0.12
        source = _source(rng, f"s{number}", is_table, rng.choice(key_types))
        if rng.random() < 0.12:
            source, is_table = first, False
        inputs.append(Input(alias, source, None if is_table else any_window(rng, count)))
    rng.shuffle(inputs)
    return inputs


def _source(rng: Random, name: str, is_table: bool, key: DataType) -> Source:
    in_millis = rng.random() < 0.2
    fields = (
        Field("ts", BIGINT if in_millis else DataType.TIMESTAMP),
        Field("id", BIGINT),
        Field("k", key),
        Field("j", DataType.INT),
        Field("s", STRING),
        Field("x", DOUBLE),
    )
    if is_table:
        return Source(name, fields, "parquet", is_table=True)
    lateness = rng.choice((0, 0, 2, 10, 100)) * MICROS
    unit: t.Literal["ms"] | None = "ms" if in_millis else None
    return Source(name, fields, "parquet", timestamp="ts", unit=unit, lateness=lateness)


def any_window(rng: Random, inputs: int) -> Window:
    # Many narrow windows hardly ever meet.
    if inputs > 2 and rng.random() < 0.16 * inputs:
        return TimeWindow(rng.choice((60, 600)) * MICROS)
    match rng.randrange(14):
        case 0 | 1 | 2 | 3:
            return TimeWindow(rng.choice((3, 10, 30, 60, 600)) * MICROS)
        case 4 | 5:
            return TimeWindow(rng.choice((0, 8, 40)) * MICROS, slide=rng.choice((3, 14)) * MICROS)
        case 6 | 7:
            return RowsWindow(rng.choice((1, 3, 7, 20)))
        case 8 | 9:
            by = rng.choice((("k",), ("j",), ("s", "j"), ("x",)))
            return RowsWindow(rng.choice((1, 2, 4)), by)
        case 10 | 11:
            return tumble(rng.choice((7, 30, 90)) * MICROS)
        case 12:
            return NOW
    return UNBOUNDED


# ── predicates ────────────────────────────────────────────────────────────────────────────────────


def _predicates(rng: Random, inputs: list[Input]) -> tuple[list[Equality], list[Condition]]:
    """Equalities and thetas of one shape of join graph, or of several mixed."""
    shape = rng.choice(("common", "chain", "star", "composite", "odd", "loose", "mixed", "mixed"))
    equalities: list[Equality] = []
    thetas: list[Condition] = []
    for number in range(1, len(inputs)):
        here, before, hub = inputs[number], inputs[number - 1], inputs[0]
        match rng.choice(_SHAPES) if shape == "mixed" else shape:
            case "common":
                equalities.append(Equality(column_of(hub, "k"), column_of(here, "k")))
            case "chain":
                name = "kjs"[number % 3]
                equalities.append(Equality(column_of(before, name), column_of(here, name)))
            case "star":
                name = rng.choice("kjsx")
                equalities.append(Equality(column_of(hub, name), column_of(here, name)))
            case "composite":
                pairs = [(column_of(before, name), column_of(here, name)) for name in "kj"]
                equalities += [Equality(*pair) for pair in pairs]
            case "odd":
                equalities += _odd_equalities(rng, before, here)
            case "loose":
                thetas += [_theta(rng, before, here)] if rng.random() < 0.7 else []
        if rng.random() < 0.3 / len(inputs):
            thetas.append(_theta(rng, hub, here))
    if len(inputs) > 2 and rng.random() < 0.15:
        thetas.append(_three_way(inputs))
    if len(inputs) > 2 and rng.random() < 0.15:
        equalities.append(Equality(column_of(inputs[-1], "s"), column_of(inputs[0], "s")))
    return equalities, thetas


_SHAPES = ("common", "chain", "star", "composite", "odd", "loose")


def _odd_equalities(rng: Random, one: Input, other: Input) -> list[Equality]:
    """Equalities that are more than a column on each side, or crosswise."""
    j, j2 = column_of(one, "j"), column_of(other, "j")
    match rng.randrange(4):
        case 0:
            plus = Call("add", (cast_to(j, BIGINT), Literal(1, BIGINT)), BIGINT)
            return [Equality(plus, j2)]
        case 1:
            lower = [Call("lower", (column_of(item, "s"),), STRING) for item in (one, other)]
            return [Equality(lower[0], lower[1])]
        case 2:
            return [Equality(j, column_of(other, "x"))]
    return [Equality(j, j2), Equality(column_of(one, "x"), j2)]


def _theta(rng: Random, one: Input, other: Input) -> Condition:
    match rng.randrange(5):
        case 0:
            operator = rng.choice(("lt", "le", "gt", "ge"))
            return compared(operator, column_of(one, "x"), column_of(other, "x"))
        case 1:
            return compared("ne", column_of(one, "j"), column_of(other, "j"))
        case 2:
            return compared(rng.choice(("lt", "le")), column_of(one, "j"), column_of(other, "id"))
        case 3:
            return compared("ge", column_of(one, "s"), column_of(other, "s"))
    apart = Call("subtract", (column_of(one, "x"), column_of(other, "x")), DOUBLE)
    return compared("lt", Call("abs", (apart,), DOUBLE), Literal(1.0, DOUBLE))


def _three_way(inputs: list[Input]) -> Condition:
    one, two, three = (cast_to(column_of(item, "j"), BIGINT) for item in inputs[:3])
    return compared("le", Call("add", (one, two), BIGINT), three)


def _filter(rng: Random, item: Input) -> Condition:
    match rng.randrange(4):
        case 0:
            return compared("gt", column_of(item, "x"), Literal(0.5, DOUBLE))
        case 1:
            return Condition(Call("is_not_null", (column_of(item, "s"),), BOOLEAN))
        case 2:
            return compared("ne", column_of(item, "j"), Literal(2, DataType.INT))
    small = compared("lt", column_of(item, "j"), Literal(2, DataType.INT)).expression
    missing = Call("is_null", (column_of(item, "x"),), BOOLEAN)
    return Condition(Call("or", (small, missing), BOOLEAN))


def _outputs(rng: Random, inputs: list[Input]) -> tuple[Output, ...]:
    """The number of every member, so that results differ, and a few more columns."""
    names = [(item, name) for item in inputs for name in ("ts", "k", "j", "s", "x")]
    chosen = [(item, "id") for item in inputs] + rng.sample(names, 2)
    outputs = [Output(f"{item.alias}_{name}", column_of(item, name)) for item, name in chosen]
    first = cast_to(column_of(inputs[0], "j"), BIGINT)
    double = Call("multiply", (first, Literal(2, BIGINT)), BIGINT)
    return (*outputs, Output("double", double))


def column_of(item: Input, name: str = "k") -> Column:
    """A column of an input."""
    field = item.source.field(name)
    assert field is not None
    return Column(item.alias, name, field.type)


def cast_to(expression: Expression, type_: DataType) -> Expression:
    return expression if expression.type == type_ else Call("cast", (expression,), type_)


def compared(operator: str, left: Expression, right: Expression) -> Condition:
    type_ = common_type(left.type, right.type)
    assert type_ is not None
    return Condition(Call(operator, (cast_to(left, type_), cast_to(right, type_)), BOOLEAN))


# ── views ─────────────────────────────────────────────────────────────────────────────────────────


def _aggregate(rng: Random, inputs: Sequence[Input]) -> tuple[AggregateFunction, Expression | None]:
    """A function and what it is of, in a type that it takes."""
    item = rng.choice(inputs)
    whole = cast_to(column_of(item, rng.choice(("id", "j"))), BIGINT)
    real = column_of(item, "x")
    match rng.randrange(6):
        case 0:
            return "count", None
        case 1:
            return "count", column_of(item, rng.choice(("k", "s", "x")))
        case 2:
            product = (real, cast_to(column_of(rng.choice(inputs), "j"), DOUBLE))
            return "sum", rng.choice((whole, real, Call("multiply", product, DOUBLE)))
        case 3:
            return "avg", rng.choice((real, cast_to(column_of(item, "j"), DOUBLE)))
    extremes: tuple[AggregateFunction, ...] = ("min", "max")
    return rng.choice(extremes), column_of(item, rng.choice(("j", "s", "x", "ts")))


def any_view(rng: Random, groups: tuple[Column, ...], aggregates: tuple[Aggregate, ...]) -> View:
    columns = (*groups, *(each.column for each in aggregates))
    count = next((each.column for each in aggregates if each.function == "count"), None)
    having = None
    if count is not None and rng.random() < 0.5:
        having = compared("gt", count, Literal(rng.choice((0, 2)), BIGINT)).expression
    return View(
        groups,
        aggregates,
        outputs=tuple(Output(f"c{n}", column) for n, column in enumerate(columns)),
        having=having,
        every=rng.choice((EAGER, EAGER, MICROS, 5 * MICROS, 30 * MICROS)),
    )


# ── input data ────────────────────────────────────────────────────────────────────────────────────


def any_batches(rng: Random, inputs: Sequence[Input], size: int) -> dict[str, list[list[Row]]]:
    """What each source brings; two inputs of one source see the same."""
    count = rng.choice((1, 2, 3, 5))
    spans = (10,) if rng.random() < 0.7 else (10, 100, 600)
    quantum = rng.choice((1, 1_000, 1_000_000, 2_000_000, 5_000_000))
    values = _Values(rng, most={1: 8, 2: 8, 3: 3}.get(len(inputs), 2))
    by_source: dict[str, list[list[Row]]] = {}
    for item in inputs:
        if item.source.name not in by_source:
            total = 0 if rng.random() < 0.03 else rng.randint(size // 2, size)
            sizes = split_up(rng, total, 1 if item.is_table else count)
            pace = (
                rng.choice(spans) * MICROS,
                max(quantum, 1_000) if item.source.unit else quantum,
            )
            by_source[item.source.name] = _draw(rng, item.source, sizes, pace, values)
    return {item.alias: by_source[item.source.name] for item in inputs}


def split_up(rng: Random, total: int, batches: int) -> list[int]:
    """A total spread over batches, some of them empty."""
    weights = [0.0 if rng.random() < 0.15 else rng.random() for _ in range(batches)]
    if not any(weights):
        weights[0] = 1.0
    counts = Counter(rng.choices(range(batches), weights=weights, k=total))
    return [counts[n] for n in range(batches)]


def _draw(
    rng: Random, source: Source, sizes: list[int], pace: tuple[int, int], values: _Values
) -> list[list[Row]]:
    span, quantum = pace
    start = rng.choice((0, 0, -15, 5)) * MICROS
    batches = []
    for n, size in enumerate(sizes):
        rows = []
        for position in range(size):
            ts = start + n * span + rng.randrange(span)
            if rng.random() < 0.15:
                ts -= rng.randrange(2 * source.lateness + 5 * MICROS)
            ts = ts // quantum * quantum
            rows.append(Row(ts, arrival(n, position), values.row(source, ts, n * 1_000 + position)))
        batches.append(rows)
    return batches


def arrival(file: int, position: int) -> int:
    """The arrival number of a row: the file it came in, then its place there."""
    return (file << 36) | position


# ── results that are sure to be there ─────────────────────────────────────────────────────────────

Draw = Callable[[Random, Source, int], dict[str, Value]]
"""Values for a row of a source that match those of other sources with the same number."""


def planted(rng: Random, case: Case, draw: Draw, most: int = 3) -> Case:
    """The case with a few more rows: combinations that come at one time and meet all predicates."""
    batches = {source: [list(b) for b in found] for source, found in _by_source(case).items()}
    sources = case.query.sources
    for _ in range(rng.randint(1, most)):
        drawn = _combination(rng, case.query, sources, draw)
        if drawn is None:
            continue
        last = max(map(len, batches.values())) - 1
        number = rng.choice((last, last, rng.randint(0, last)))
        time = _after_all(case.query, batches, number)
        for name, source in sources.items():
            place = 0 if source.is_table else number
            batch = batches[name][place]
            id_ = place * 1_000 + len(batch)
            given = {"ts": event_time(source, time), "id": id_}
            batch.append(Row(time, arrival(place, len(batch)), {**drawn[name], **given}))
    return replace(case, batches={i.alias: batches[i.source.name] for i in case.query.inputs})


def _by_source(case: Case) -> dict[str, list[list[Row]]]:
    return {item.source.name: case.batches[item.alias] for item in case.query.inputs}


def _combination(
    rng: Random, query: Query, sources: Mapping[str, Source], draw: Draw
) -> dict[str, dict[str, Value]] | None:
    """Values of a row of each source that together are a result, if some are found."""
    for attempt in range(60):
        shared = rng.randrange(1 << 30)
        drawn = {name: draw(rng, source, shared) for name, source in sources.items()}
        known: Columns = {}
        for item in query.inputs:
            values = {"ts": event_time(item.source, 0), "id": attempt, **drawn[item.source.name]}
            known |= columns(item, Row(0, 0, values))
        conditions = (*query.filters, *query.thetas)
        if all(equal(e, known) for e in query.equalities) and all(
            value_of(c.expression, known) is True for c in conditions
        ):
            return drawn
    return None


def _after_all(query: Query, batches: dict[str, list[list[Row]]], number: int) -> int:
    """A time that no row of a batch or of an earlier one is after, in whole seconds."""
    streams = set(query.stream_sources)
    rows = [row for name in streams for batch in batches[name][: number + 1] for row in batch]
    return -(-max((row.ts for row in rows), default=0) // MICROS) * MICROS


def event_time(source: Source, time: int) -> Value:
    """An event time as the source has it."""
    if source.fields[0].type is BIGINT:
        return time // 1_000
    return EPOCH + timedelta(microseconds=time)


def matching(rng: Random, source: Source, shared: int) -> dict[str, Value]:
    """A row of plain values that mostly equal those of other rows with the same number."""
    number = shared % 3
    near = {f.name: number + (rng.random() < 0.25) for f in source.fields}
    return {
        f.name: f"v{number}" if f.type is STRING else float(n) if f.type is DOUBLE else n
        for f, n in zip(source.fields, near.values(), strict=True)
    }


class _Values:
    """Column values from few distinct ones, evenly or skewed, with nulls and NaN among them."""

    def __init__(self, rng: Random, most: int) -> None:
        self.rng = rng
        self.distinct = rng.randint(2, most)
        self.skew = rng.choice((0.0, 0.0, 2.0))
        self.nulls = rng.choice((0.0, 0.1))

    def row(self, source: Source, ts: int, number: int) -> dict[str, Value]:
        given = {"ts": event_time(source, ts), "id": number}
        return {f.name: given.get(f.name, self.value(f.type)) for f in source.fields}

    def value(self, type_: DataType) -> Value:
        if self.rng.random() < self.nulls:
            return None
        weights = [1 / (n + 1) ** self.skew for n in range(self.distinct)]
        number = self.rng.choices(range(self.distinct), weights=weights)[0]
        if type_ is STRING:
            return self.rng.choice(("v",) * 8 + ("V", "é")) + str(number)
        if type_ is DOUBLE:
            odd = self.rng.random() < self.nulls
            return self.rng.choice((math.nan, -0.0)) if odd else float(number)
        return number


# ── as files ──────────────────────────────────────────────────────────────────────────────────────


def write_case(case: Case, directory: Path) -> Query:
    """Write one parquet file a source and batch; the query that reads them, a file a batch."""
    sources: dict[str, Source] = {}
    for item in case.query.inputs:
        if item.source.name not in sources:
            sources[item.source.name] = write_source(
                item.source, case.batches[item.alias], directory / item.source.name
            )
    inputs = tuple(replace(i, source=sources[i.source.name]) for i in case.query.inputs)
    return replace(case.query, inputs=inputs)


def write_source(source: Source, batches: Sequence[Sequence[Row]], directory: Path) -> Source:
    """Write one parquet file a batch; the source that reads them, a file a batch."""
    directory.mkdir(parents=True)
    for n, rows in enumerate(batches):
        path = directory / f"{n:04}.parquet"
        pq.write_table(as_table(source, rows), path)
        os.utime(path, (1_000_000_000 + n, 1_000_000_000 + n))
    options = source.options if source.is_table else (*source.options, ("max_files", 1))
    return replace(source, path=str(directory), options=options)


def as_table(source: Source, rows: Sequence[Row]) -> pa.Table:
    """Rows as an Arrow table of the source's columns."""
    schema = pa.schema([(field.name, arrow_of(field.type)) for field in source.fields])
    return pa.Table.from_pylist([dict(row.values) for row in rows], schema=schema)


def arrow_of(type_: DataType) -> pa.DataType:
    """The Arrow type in which a column is written."""
    return pa.decimal128(*type_.digits) if type_.is_decimal else ARROW[type_]


def canonical(rows: Iterable[Sequence[Value]]) -> Counter[tuple[t.Any, ...]]:
    """The rows as a multiset that can be compared: NaN is NaN."""
    return Counter(tuple(math.nan if v != v else v for v in row) for row in rows)
