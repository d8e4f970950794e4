"""Expressions over Arrow batches against the same expressions on one row at a time."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.engine.expressions.arrow_types import arrow_type, schema_of
from penstock.engine.expressions.evaluate import evaluate, holds
from penstock.engine.rows.columns import plain_name
from penstock.errors import EvaluationError
from penstock.query import Call, Column, DataType, Expression, Field, Literal
from penstock.query.expression import COMPARISONS, FUNCTIONS, columns_of
from support.streams.expressions import value_of

T = DataType
BITS = {T.TINYINT: 8, T.SMALLINT: 16, T.INT: 32, T.BIGINT: 64}
NUMBERS = (T.TINYINT, T.SMALLINT, T.INT, T.BIGINT, T.FLOAT, T.DOUBLE)
TYPES = (T.BOOLEAN, *NUMBERS, T.STRING, T.DATE, T.TIMESTAMP)

TEXTS = st.one_of(
    st.text(alphabet="ab%_\\Aß 1\né😀", max_size=6),
    st.sampled_from(["12", " +7 ", "-0", "1.5", "1e3", "NaN", "-inf", "1e999", "0x10", "1e", "."]),
    st.sampled_from(["true", "F", " Yes ", "9223372036854775808", "-9223372036854775808", "000"]),
    st.sampled_from(
        ["2024-02-29", "2023-02-29", "2024-01-31 10:20", "2024-01-31T10:20:30.1234567"]
    ),
    st.sampled_from(["2024-01-31T10Z", " 2024-01-31 10:20:30+05:30", "0000-01-01", "2024-1-1"]),
    st.sampled_from(["2024-01-31 10:20:30-0100", "2024-01-31 10:20:30+24:00", "9999-12-31 23-05"]),
)


def values(type_: DataType) -> st.SearchStrategy[Any]:
    match type_:
        case T.BOOLEAN:
            return st.booleans()
        case T.FLOAT | T.DOUBLE:
            ties = st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 2.0, math.nan, math.inf])
            tiny_steps = st.sampled_from([2.675, 1.005, -1.005, 0.285, 1e15, 1234.5])
            if type_ is T.FLOAT:
                return st.one_of(ties, st.floats(width=32))
            return st.one_of(ties, st.floats(width=64), tiny_steps)
        case T.STRING:
            return TEXTS
        case T.DATE:
            return st.dates(date(1, 1, 1), date(9999, 12, 31))
        case T.TIMESTAMP:
            return st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
    bound = 1 << (BITS[type_] - 1)
    small = st.integers(-3, 3)
    return st.one_of(small, small, st.integers(-bound, bound - 1), st.sampled_from([-bound]))


def columns(type_: DataType) -> list[Column]:
    return [Column("s", f"{type_}{i}".lower(), type_) for i in range(2)]


def literals(type_: DataType) -> st.SearchStrategy[Expression]:
    return st.one_of(st.none(), values(type_)).map(lambda value: Literal(value, type_))


def leaves(type_: DataType) -> st.SearchStrategy[Expression]:
    column = st.sampled_from(columns(type_))
    return st.one_of(column, column, literals(type_))


def _same(count: int, result: DataType | None = None) -> list[tuple[Any, ...]]:
    """Signatures with `count` arguments of one type, for every type."""
    return [(*[type_] * count, result or type_) for type_ in TYPES]


B, I, D, S, M = T.BOOLEAN, T.BIGINT, T.DOUBLE, T.STRING, T.TIMESTAMP  # noqa: E741
PLACE = st.integers(-4, 4).map(lambda place: Literal(place, T.BIGINT))
DIGITS = st.sampled_from([-20, -3, -2, -1, 0, 1, 2, 3, 17, 30]).map(lambda d: Literal(d, T.INT))
MICROS = st.integers(0, 1 << 62).map(lambda micros: Literal(micros, T.BIGINT))
PATTERN = TEXTS.map(lambda text: Literal(text, T.STRING))

# The argument types (or strategies for arguments) and the result type that each function takes.
SIGNATURES: dict[str, list[tuple[Any, ...]]] = {
    **{comparison: _same(2, B) for comparison in COMPARISONS},
    **{operator: [(I, I, I), (D, D, D)] for operator in ("multiply", "modulo")},
    "add": [(I, I, I), (D, D, D), (M, MICROS, M)],
    "subtract": [(I, I, I), (D, D, D), (M, MICROS, M), (M, M, I)],
    "divide": [(D, D, D)],
    **{function: [(I, I), (D, D)] for function in ("negate", "abs", "floor", "ceil")},
    "round": [(I, I), (D, D), (I, DIGITS, I), (D, DIGITS, D), (D, DIGITS, D)],
    "sqrt": [(D, D)],
    "and": [(B, B, B)],
    "or": [(B, B, B)],
    "not": [(B, B)],
    **{function: _same(1, B) for function in ("is_null", "is_not_null")},
    "cast": [
        (source, target)
        for target in TYPES
        for source in TYPES
        if source is S or target is S or source.is_temporal == target.is_temporal
    ],
    "case": [(B, type_, B, type_, type_, type_) for type_ in TYPES],
    **{function: _same(3) for function in ("coalesce", "greatest", "least")},
    "in": [(type_, *[literals(type_)] * count, B) for type_ in TYPES for count in (1, 3)],
    "like": [(S, PATTERN, B)],
    **{function: [(S, S)] for function in ("lower", "upper", "trim")},
    "length": [(S, I)],
    "micros": [(M, I)],
    "concat": [(S, S, S)],
    "substring": [(S, PLACE, S), (S, PLACE, PLACE, S), (S, I, I, S)],
    "starts_with": [(S, S, B)],
}
BY_RESULT = {
    type_: [
        (function, signature)
        for function, signatures in SIGNATURES.items()
        for signature in signatures
        if signature[-1] is type_
    ]
    for type_ in TYPES
}


@st.composite
def calls(draw: Any, function: str, signature: tuple[Any, ...], depth: int = 0) -> Expression:
    *arguments, result = signature
    drawn = [
        draw(expressions(argument, depth) if isinstance(argument, DataType) else argument)
        for argument in arguments
    ]
    return Call(function, tuple(drawn), result)


def expressions(type_: DataType, depth: int) -> st.SearchStrategy[Expression]:
    if depth == 0:
        return leaves(type_)
    nested = st.sampled_from(BY_RESULT[type_]).flatmap(
        lambda each: calls(each[0], each[1], depth - 1)
    )
    return st.one_of(leaves(type_), nested, nested)


def rows_for(expression: Expression) -> st.SearchStrategy[list[dict[Column, Any]]]:
    used = sorted(columns_of(expression), key=lambda column: column.name)
    row = {column: st.one_of(st.none(), *[values(column.type)] * 3) for column in used}
    return st.lists(st.fixed_dictionaries(row), max_size=8)


def batch_of(expression: Expression, rows: list[dict[Column, Any]]) -> pa.RecordBatch:
    """The rows as a batch, with a column besides so that it has rows whatever is read."""
    used = columns_of(expression)
    arrays = {c.name: pa.array([row[c] for row in rows], arrow_type(c.type)) for c in used}
    return pa.record_batch({"besides": pa.nulls(len(rows)), **arrays})


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    return type(left) is type(right) and left == right


def check(expression: Expression, rows: list[dict[Column, Any]]) -> None:
    batch = batch_of(expression, rows)
    try:
        expected = [value_of(expression, row) for row in rows]
    except EvaluationError:
        with pytest.raises(EvaluationError, match="does not fit"):
            evaluate(expression, batch, plain_name)
        return
    result = evaluate(expression, batch, plain_name)
    assert result.type == arrow_type(expression.type)
    found = result.to_pylist()
    assert len(found) == len(rows)
    assert all(map(same, found, expected)), (found, expected)


def test_every_function_has_a_signature_here() -> None:
    """But for pairs, which no column holds: MAX_BY and its likes make and read them."""
    assert set(SIGNATURES) == FUNCTIONS - {"pair"}


@pytest.mark.parametrize("function", sorted(SIGNATURES))
def test_a_function_means_the_same_on_batches_and_on_rows(function: str) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        signature = data.draw(st.sampled_from(SIGNATURES[function]))
        expression = data.draw(calls(function, signature))
        check(expression, data.draw(rows_for(expression)))

    run()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_nested_expressions_mean_the_same_on_batches_and_on_rows(data: st.DataObject) -> None:
    expression = data.draw(expressions(data.draw(st.sampled_from(TYPES)), depth=2))
    check(expression, data.draw(rows_for(expression)))


X, Y = columns(T.BIGINT)


def test_an_overflow_names_the_expression() -> None:
    product = Call("multiply", (X, Literal(2, T.BIGINT)), T.BIGINT)
    batch = pa.record_batch({X.name: pa.array([1, 1 << 62])})
    with pytest.raises(EvaluationError) as caught:
        evaluate(product, batch, plain_name)
    assert str(caught.value) == (
        "a value does not fit BIGINT in s.bigint0 * 2\n"
        "hint: cast an operand to DOUBLE if an approximate result will do"
    )


def test_case_guards_its_values() -> None:
    small = Call("lt", (X, Literal(10, T.BIGINT)), T.BOOLEAN)
    square = Call("multiply", (X, X), T.BIGINT)
    guarded = Call("case", (small, square, Literal(-1, T.BIGINT)), T.BIGINT)
    batch = pa.record_batch({X.name: pa.array([3, 1 << 62, None])})
    assert evaluate(guarded, batch, plain_name).to_pylist() == [9, -1, -1]


def test_holds_takes_null_as_false_and_tables_of_several_chunks() -> None:
    condition = Call("gt", (X, Y), T.BOOLEAN)
    column = pa.chunked_array([[1, 5], [None, 7]])
    table = pa.table({"x": column, "y": pa.chunked_array([[2], [2, 2, 2]])})
    held = holds(condition, table, {X: "x", Y: "y"}.__getitem__)
    assert held.to_pylist() == [False, True, False, True]


NOTHING = Literal(None, T.NULL)
TRUE = Literal(True, T.BOOLEAN)


@pytest.mark.parametrize(
    ("function", "arguments", "type_", "expected"),
    [
        ("eq", (X, NOTHING), T.BOOLEAN, None),
        ("eq", (NOTHING, NOTHING), T.BOOLEAN, None),
        ("add", (NOTHING, X), T.BIGINT, None),
        ("is_null", (NOTHING,), T.BOOLEAN, True),
        ("and", (TRUE, NOTHING), T.BOOLEAN, None),
        ("or", (NOTHING, TRUE), T.BOOLEAN, True),
        ("not", (NOTHING,), T.BOOLEAN, None),
        ("coalesce", (NOTHING, X), T.BIGINT, 1),
        ("case", (NOTHING, X, NOTHING), T.BIGINT, None),
        ("case", (TRUE, X, NOTHING), T.BIGINT, 1),
        ("in", (X, Literal(2, T.BIGINT), NOTHING), T.BOOLEAN, None),
        ("concat", (Literal("a", T.STRING), NOTHING), T.STRING, None),
        ("length", (NOTHING,), T.BIGINT, None),
        ("cast", (NOTHING,), T.DATE, None),
    ],
)
def test_an_untyped_null_is_null_anywhere(
    function: str, arguments: tuple[Expression, ...], type_: DataType, expected: Any
) -> None:
    batch = pa.record_batch({X.name: pa.array([1])})
    found = evaluate(Call(function, arguments, type_), batch, plain_name)
    assert (found.type, found.to_pylist()) == (arrow_type(type_), [expected])


def test_a_date_has_no_number() -> None:
    (day, _) = columns(T.DATE)
    batch = pa.record_batch({day.name: pa.array([date(2024, 1, 1)])})
    with pytest.raises(EvaluationError, match="a DATE cannot be cast to INT"):
        evaluate(Call("cast", (day,), T.INT), batch, plain_name)


def test_the_schema_of_a_source_has_its_columns_in_arrow_types() -> None:
    fields = tuple(Field(str(type_), type_) for type_ in TYPES)
    schema = schema_of(fields)
    assert schema.names == [str(type_) for type_ in TYPES]
    assert schema.field("STRING").type == pa.large_string()
    assert schema.field("TIMESTAMP").type == pa.timestamp("us", tz="UTC")
    assert schema.field("INT").type == pa.int32()


def test_a_substring_that_ends_before_the_text_is_empty() -> None:
    start = Column("s", "start", DataType.BIGINT)
    far = Literal(2**40 - 1, DataType.BIGINT)
    text = Literal("11", DataType.STRING)
    check(Call("substring", (text, start, far), DataType.STRING), [{start: -(2**63)}, {start: -1}])


@pytest.mark.parametrize("value", [2_147_483_648.0, -(2.0**53), 1e16, 0.0001, 0.1, 3.4e38, 1e-45])
def test_a_float_is_written_as_a_double_of_its_digits(value: float) -> None:
    """NumPy writes a FLOAT with an exponent where it writes a DOUBLE without."""
    column = Column("s", "x", T.FLOAT)
    batch = pa.record_batch({"x": pa.array([value], pa.float32())})
    (single,) = batch.column("x").to_pylist()
    text = Call("cast", (column,), T.STRING)
    wanted = value_of(text, {column: single})
    assert evaluate(text, batch, lambda c: c.name).to_pylist() == [wanted]
