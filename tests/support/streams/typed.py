"""Random queries over columns of every type, with NULLs and the oddest values that a type has.

Keys are of any two types that can be compared. Streams may be empty, come late, or have no row that
passes their filters; windows may be as short or long as can be written. Some combinations are
planted, so that most cases have results.
"""

from __future__ import annotations

import math
import os
import struct
import typing as t
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.duration import LONGEST, MICROS
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
    Window,
)
from penstock.query.expression import Value
from penstock.query.families.decimal_types import rounded
from penstock.query.types import decimal, nested
from penstock.query.view import AggregateFunction
from penstock.query.window import NOW, tumble
from reference import Row
from support.streams.cases import (
    BOOLEAN,
    Case,
    any_view,
    any_window,
    arrival,
    cast_to,
    column_of,
    compared,
    event_time,
    planted,
    split_up,
)
from support.streams.expressions import to_decimal

INTEGERS = (DataType.TINYINT, DataType.SMALLINT, DataType.INT, DataType.BIGINT)
DECIMALS = (decimal(9, 2), decimal(18, 0), decimal(38, 10))
FAMILIES = (
    (*INTEGERS, *DECIMALS, DataType.FLOAT, DataType.DOUBLE),
    (DataType.STRING,),
    (DataType.DATE, DataType.TIMESTAMP, DataType.TIMESTAMP_NTZ),
    (DataType.BOOLEAN,),
    (DataType.BINARY,),
)
TYPES = tuple(type_ for family in FAMILIES for type_ in family)
COLUMNS = ("k", "j", "g", "v")
SIZE = {1: 20, 2: 14, 3: 9, 4: 5, 5: 4}

_WHOLE = (0, 1, -1, 2, 127, -128, 32_767, 2**31 - 1, -(2**31), 2**24 + 1)
_LARGE = (2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63 - 513)
_REAL = (0.5, 0.1, -0.0, math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, 2.0**63, 2.0**53)
_TEXTS = ("", "a", "A", " a ", "é", "e\u0301", "日本", "😀", "\uffff", 'q"\\', "\n", "\0", "x" * 99)
_DAYS = (date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31), date(1970, 1, 1), date(2026, 3, 29))
_MICROSECOND = timedelta(microseconds=1)

# Where the event times of a case begin: also before the epoch, and near both ends of the calendar.
_STARTS = (0, 0, 0, -15, 1_774_746_000, -62_135_596_000, 253_402_200_000)


def typed_case(seed: int) -> Case:
    """The case of a seed."""
    return _case(Random(f"typed {seed}"))


def typed_view(seed: int) -> Case:
    """The case of a seed with a view over its join."""
    rng = Random(f"typed view {seed}")
    case = _case(rng)
    inputs = case.query.inputs
    groups = rng.sample([column_of(i, n) for i in inputs for n in COLUMNS], rng.choice((0, 1, 2)))
    asked = [_aggregate(rng, inputs) for _ in range(rng.randint(1, 3))]
    names: dict[Expression, str] = {of: f"#g{n}" for n, of in enumerate(groups)}
    for _, of in asked:
        if of is not None:
            names.setdefault(of, f"#a{len(names)}")
    aggregates = tuple(
        Aggregate(f"#{n}", function, None if of is None else Column("", names[of], of.type))
        for n, (function, of) in enumerate(asked)
    )
    view = any_view(rng, tuple(Column("", names[of], of.type) for of in groups), aggregates)
    outputs = tuple(Output(name, of) for of, name in names.items())
    return replace(case, query=replace(case.query, outputs=outputs, view=view))


def _case(rng: Random) -> Case:
    count = rng.choices(range(1, 6), weights=(2, 6, 4, 2, 2))[0]
    values = _Values(rng)
    inputs = _inputs(rng, count, values)
    equalities, thetas = _predicates(rng, inputs)
    query = Query(
        inputs=tuple(inputs),
        outputs=_outputs(rng, inputs),
        equalities=tuple(equalities),
        filters=tuple(_filter(rng, item, values) for item in inputs if rng.random() < 0.5 / count),
        thetas=tuple(thetas),
    )
    case = Case(query, _batches(rng, inputs, values))
    return case if rng.random() < 0.1 else planted(rng, case, values.matching, most=2)


# ── queries ───────────────────────────────────────────────────────────────────────────────────────


def _inputs(rng: Random, count: int, values: _Values) -> list[Input]:
    inputs: list[Input] = []
    for number, alias in enumerate("ABCDE"[:count]):
        is_table = number > 0 and rng.random() < 0.1
        source = _source(rng, f"s{number}", is_table, values)
        if inputs and rng.random() < 0.08:
            source, is_table = inputs[0].source, False
        inputs.append(Input(alias, source, None if is_table else _window(rng, count)))
    rng.shuffle(inputs)
    return inputs


def _source(rng: Random, name: str, is_table: bool, values: _Values) -> Source:
    in_millis = rng.random() < 0.2
    kinds = {"k": rng.choice(values.families["k"]), "j": rng.choice(values.families["j"])}
    kinds |= {"g": rng.choice(TYPES), "v": rng.choice(TYPES)}
    times = Field("ts", DataType.BIGINT if in_millis else DataType.TIMESTAMP)
    own = (Field(n, type_) for n, type_ in kinds.items())
    fields = (times, Field("id", DataType.BIGINT), *own)
    if is_table:
        return Source(name, fields, "parquet", is_table=True)
    unit: t.Literal["ms"] | None = "ms" if in_millis else None
    lateness = rng.choice((0, 0, 0, 3, 100)) * MICROS
    # Of all times that there are, most are in the future.
    return Source(
        name, fields, "parquet", timestamp="ts", unit=unit, lateness=lateness, future=None
    )


def _window(rng: Random, count: int) -> Window:
    by = tuple(rng.sample(COLUMNS, rng.choice((1, 2))))
    if rng.random() < 0.75:
        window = any_window(rng, count)
        if isinstance(window, RowsWindow) and window.partition_by:
            return replace(window, partition_by=by)
        return window
    return rng.choice(
        (
            TimeWindow(1),
            TimeWindow(LONGEST),
            TimeWindow(LONGEST, slide=LONGEST),
            TimeWindow(1, slide=LONGEST),
            tumble(1),
            tumble(LONGEST),
            RowsWindow(1),
            RowsWindow(2**63 - 1),
            RowsWindow(rng.choice((1, 2, 2**63 - 1)), by),
            NOW,
        )
    )


def _predicates(rng: Random, inputs: list[Input]) -> tuple[list[Equality], list[Condition]]:
    equalities: list[Equality] = []
    thetas: list[Condition] = []
    for number in range(1, len(inputs)):
        here, other = inputs[number], inputs[rng.choice((0, number - 1))]
        for name in rng.choice((("k",), ("k",), ("j",), ("k", "j"), ())):
            sides = column_of(other, name), column_of(here, name)
            match rng.randrange(8):
                case 0:
                    # The same as a key and as a theta: both must agree on what is equal.
                    thetas.append(compared("eq", *sides))
                case 1:
                    given = (sides[0], Literal(plain_value(sides[0].type), sides[0].type))
                    equalities.append(Equality(Call("coalesce", given, sides[0].type), sides[1]))
                case 2:
                    equalities.append(Equality(*sides))
                    thetas.append(compared("eq", *sides))
                case _:
                    equalities.append(Equality(*sides))
        if rng.random() < 0.3 / len(inputs):
            operator = rng.choice(("lt", "le", "gt", "ge", "ne"))
            thetas.append(compared(operator, column_of(other, "k"), column_of(here, "k")))
    return equalities, thetas


def _filter(rng: Random, item: Input, values: _Values) -> Condition:
    column = column_of(item, rng.choice(COLUMNS))
    match rng.randrange(5):
        case 0:
            return compared("lt", column_of(item, "id"), Literal(0, DataType.BIGINT))
        case 1:
            return Condition(Call("is_null", (column,), BOOLEAN))
        case 2:
            return Condition(Call("is_not_null", (column,), BOOLEAN))
    operator = rng.choice(("lt", "le", "gt", "ge", "ne"))
    return compared(operator, column, Literal(values.extreme(column.type), column.type))


def _outputs(rng: Random, inputs: list[Input]) -> tuple[Output, ...]:
    """The number of every member, a few columns as they are, and something made of them."""
    chosen = [column_of(item, "id") for item in inputs]
    chosen += [column_of(rng.choice(inputs), name) for name in rng.sample(COLUMNS, 2)]
    made = [_made(rng, inputs) for _ in range(2)]
    return tuple(Output(f"c{n}", each) for n, each in enumerate((*chosen, *made)))


def _made(rng: Random, inputs: list[Input]) -> Expression:
    one, other = rng.choice(inputs), rng.choice(inputs)
    sides = column_of(one, "k"), column_of(other, "k")
    column = column_of(one, rng.choice(COLUMNS))
    match rng.randrange(7):
        case 0:
            return Call("cast", (column,), DataType.STRING)
        case 1 | 2:
            call = compared("eq", *sides).expression
            assert isinstance(call, Call)
            function = rng.choice(("greatest", "least", "coalesce"))
            return Call(function, call.arguments, call.arguments[0].type)
        case 3:
            null = Call("is_null", (column,), BOOLEAN)
            given = Literal(plain_value(column.type), column.type)
            return Call("case", (null, given, column), column.type)
        case 4 if column.type.is_temporal:
            moment = column.type if column.type.is_moment else DataType.TIMESTAMP
            both = (cast_to(column, moment), Literal(0, DataType.BIGINT))
            return Call("add", both, moment)
        case 5 if column.type.is_numeric:
            return Call("cast", (column,), rng.choice((*INTEGERS, *DECIMALS, DataType.FLOAT)))
        case 6 if column.type.is_decimal:
            made = decimal(*rounded(column.type.digits, 1))
            return Call("round", (column, Literal(1, DataType.INT)), made)
        case 6 if column.type.is_numeric:
            return Call("round", (column, Literal(1, DataType.INT)), column.type)
    return compared(rng.choice(("eq", "lt", "ge")), *sides).expression


def plain_value(type_: DataType) -> Value:
    """A value that there is nothing odd about."""
    match type_:
        case DataType.BOOLEAN:
            return True
        case DataType.STRING:
            return "a"
        case DataType.DATE:
            return date(1970, 1, 1)
        case DataType.TIMESTAMP:
            return datetime(1970, 1, 1, tzinfo=UTC)
        case DataType.TIMESTAMP_NTZ:
            return datetime(1970, 1, 1)
        case DataType.BINARY:
            return b"a"
    if type_.is_decimal:
        return Decimal(1)
    return 1 if type_.is_integer else 1.0


def _aggregate(rng: Random, inputs: Sequence[Input]) -> tuple[AggregateFunction, Expression | None]:
    column = column_of(rng.choice(inputs), rng.choice(COLUMNS))
    extremes: tuple[AggregateFunction, ...] = ("min", "max")
    match rng.randrange(6):
        case 0:
            return "count", None
        case 1:
            return "count", column
        case 2 if column.type in (DataType.TINYINT, DataType.SMALLINT, DataType.INT):
            return "sum", cast_to(column, DataType.BIGINT)
        case 3 if column.type in (DataType.TINYINT, DataType.SMALLINT, DataType.INT):
            return "avg", cast_to(column, DataType.DOUBLE)
        case 2 if column.type in DECIMALS[:2]:
            return "sum", column
        case 3 if column.type in DECIMALS[:2]:
            return "avg", column
    if column.type is DataType.BOOLEAN:
        return "sum", cast_to(column_of(rng.choice(inputs), "id"), DataType.BIGINT)
    return rng.choice(extremes), column


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────


def _batches(rng: Random, inputs: list[Input], values: _Values) -> dict[str, list[list[Row]]]:
    count = rng.choice((1, 2, 3))
    start = rng.choice(_STARTS) * MICROS
    size = SIZE[len(inputs)]
    by_source: dict[str, list[list[Row]]] = {}
    for item in inputs:
        name = item.source.name
        if name not in by_source:
            total = 0 if rng.random() < 0.06 else rng.randint(size // 2, size)
            sizes = split_up(rng, total, 1 if item.is_table else count)
            if rng.random() < 0.1:
                # A stream that is silent until the end.
                sizes = [0] * (len(sizes) - 1) + [total]
            by_source[name] = _rows(rng, item.source, sizes, start, values)
    return {item.alias: by_source[item.source.name] for item in inputs}


def _rows(
    rng: Random, source: Source, sizes: list[int], start: int, values: _Values
) -> list[list[Row]]:
    empty = {name for name in COLUMNS if rng.random() < 0.04}
    batches = []
    for n, size in enumerate(sizes):
        rows = []
        for position in range(size):
            ts = start + (10 * n + rng.randrange(10)) * MICROS + rng.choice((0, 0, 1_000, 500_000))
            given = {"ts": event_time(source, ts), "id": n * 1_000 + position}
            drawn = {
                f.name: None if f.name in empty else values.value(f)
                for f in source.fields
                if f.name in COLUMNS
            }
            rows.append(Row(ts, arrival(n, position), given | drawn))
        batches.append(rows)
    return batches


class _Values:
    """Few distinct values for each column, from the oddest that there are."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.families = {name: rng.choice(FAMILIES) for name in ("k", "j")}
        self.nulls = rng.choice((0.0, 0.15, 0.15, 0.5))
        self.numbers = [rng.choice((*_WHOLE, *_LARGE, *_REAL)) for _ in range(rng.randint(1, 3))]
        self.texts = rng.sample(_TEXTS, rng.randint(1, 3))
        self.days = rng.sample(_DAYS, rng.randint(1, 2))

    def value(self, field: Field) -> Value:
        """A value of a column, often NULL."""
        return None if self.rng.random() < self.nulls else self._any(field.type)

    def extreme(self, type_: DataType) -> Value:
        """A constant to compare with."""
        return self._any(type_)

    def matching(self, rng: Random, source: Source, shared: int) -> dict[str, Value]:
        """A row that matches those of other sources: equal keys in types that hold the same."""
        shares = Random(shared)
        number = shares.choice((0, 1, *self.numbers))
        text, day = shares.choice(self.texts), shares.choice(self.days)
        drawn: dict[str, Value] = {}
        for field in source.fields:
            if field.name in ("k", "j"):
                drawn[field.name] = _fitted(number, field.type, text, day, is_midnight=True)
            elif field.name in COLUMNS:
                drawn[field.name] = self.value(field)
        return drawn

    def _any(self, type_: DataType) -> Value:
        rng = self.rng
        number = rng.choice((*self.numbers, *self.numbers, rng.choice((0, 1))))
        return _fitted(number, type_, rng.choice(self.texts), rng.choice(self.days), rng=rng)


def _fitted(
    number: float,
    type_: DataType,
    text: str,
    day: date,
    *,
    is_midnight: bool = False,
    rng: Random | None = None,
) -> Value:
    """One of these in the type; a number that it does not hold is another that it does."""
    match type_:
        case DataType.STRING:
            return text
        case DataType.BINARY:
            return b"\xff" if text == "A" else text.encode()
        case DataType.BOOLEAN:
            return number == number and number > 0
        case DataType.DATE:
            return day
        case DataType.TIMESTAMP | DataType.TIMESTAMP_NTZ:
            midnight = datetime.combine(day, time(), UTC if type_ is DataType.TIMESTAMP else None)
            odd = rng is not None and not is_midnight and rng.random() < 0.3
            return _beside(midnight) if odd else midnight
        case DataType.FLOAT:
            return _single(float(number))
        case DataType.DOUBLE:
            return float(number)
    if type_.is_decimal:
        return _in_digits(number, type_)
    bound = 1 << {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}[type_]
    if not math.isfinite(number):
        return 1
    whole = int(number)
    return whole if -bound <= whole < bound else (bound - 1 if whole > 0 else -bound)


def _in_digits(number: float, type_: DataType) -> Decimal:
    """The number as a DECIMAL, or the largest or least that there is."""
    exact = to_decimal(number if number == number else 1, type_)
    if exact is not None:
        return exact
    precision, scale = type_.digits
    return Decimal(10**precision - 1).scaleb(-scale, Context(prec=60)).copy_sign(Decimal(number))


def _beside(moment: datetime) -> datetime:
    """A microsecond off, within the calendar."""
    return moment + _MICROSECOND if moment.year < 2000 else moment - _MICROSECOND


def _single(value: float) -> float:
    try:
        single: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return single


def emptied(rng: Random, case: Case) -> Case:
    """The case with a filter that drops every row of one stream, over a ROWS window more often."""
    item = rng.choice(case.query.streams)
    window = rng.choice((item.window, RowsWindow(rng.choice((1, 5))), RowsWindow(3, ("k",))))
    nothing = compared("lt", column_of(item, "id"), Literal(0, DataType.BIGINT))
    inputs = tuple(replace(i, window=window) if i is item else i for i in case.query.inputs)
    filters = (*case.query.filters, nothing)
    return replace(case, query=replace(case.query, inputs=inputs, filters=filters))


def boxed(query: Query) -> Query:
    """The written query with its columns moved into a STRUCT of the files, and read from there."""
    sources: dict[str, Source] = {}
    for item in query.inputs:
        if item.source.name not in sources:
            sources[item.source.name] = _boxed(item.source)
    inputs = tuple(replace(i, source=sources[i.source.name]) for i in query.inputs)
    return replace(query, inputs=inputs)


def _boxed(source: Source) -> Source:
    inside = [field for field in source.fields if field.name in COLUMNS]
    assert source.path is not None
    for path in Path(source.path).glob("*.parquet"):
        table = pq.read_table(path)
        columns = [table.column(field.name).combine_chunks() for field in inside]
        box = pa.StructArray.from_arrays(columns, [field.name for field in inside])
        times = path.stat()
        pq.write_table(table.select(["ts", "id"]).append_column("box", box), path)
        os.utime(path, (times.st_atime, times.st_mtime))
    box_type = nested("STRUCT", [(field.name, field.type) for field in inside])
    moved = [replace(f, path=(("column", "box"), ("member", f.name))) for f in inside]
    others = [field for field in source.fields if field not in inside]
    return replace(source, fields=(*others, Field("box", box_type), *moved))
