"""Users' functions over columns: nulls, types and failures, and the fewest calls."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.expressions.apply import apply
from penstock.engine.expressions.evaluate import evaluate, holds, passing
from penstock.engine.rows.columns import plain_name
from penstock.errors import EvaluationError
from penstock.query import (
    Apply,
    Call,
    Condition,
    DataType,
    Function,
    Literal,
)
from support.streams.functions import (
    T,
    column,
    counted,
    near,
    scaled,
)

# ── evaluated ─────────────────────────────────────────────────────────────────────────────────────


def made(returns: DataType, value: Any, **more: Any) -> Function:
    """A function `f` of a BIGINT that gives always the same."""
    call = value if callable(value) else lambda x: value
    return Function("f", (T.BIGINT,), returns, 0.0, call, **more)


def test_rows_with_a_null_are_null_without_a_call() -> None:
    seen: list[tuple[float, str]] = []

    def watched(price: float, note: str) -> bool:
        seen.append((price, note))
        return price > 1

    function = replace(near, call=watched)
    arguments = (pa.array([0.5, None, 2.0, 3.0]), pa.array(["a", "b", None, "d"]))
    found = apply(function, arguments)
    assert (found.type, found.to_pylist()) == (pa.bool_(), [False, None, None, True])
    assert seen == [(0.5, "a"), (3.0, "d")]


def test_vectorized_functions_see_no_null_and_are_not_called_for_nothing() -> None:
    sizes: list[int] = []

    def watched(x: pa.Array) -> pa.ChunkedArray:
        sizes.append(len(x))
        assert x.null_count == 0
        return pa.chunked_array([x[:1].cast(pa.int32()), x[1:].cast(pa.int32())])

    function = made(T.BIGINT, watched, is_vectorized=True)
    found = apply(function, [pa.array([1, None, 3])])
    assert (found.type, found.to_pylist()) == (pa.int64(), [1, None, 3])
    assert apply(function, [pa.array([None], pa.int64())]).to_pylist() == [None]
    assert apply(function, [pa.array([], pa.int64())]).to_pylist() == []
    assert sizes == [2]


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("returns", "value", "expected"),
    [
        (T.BOOLEAN, True, True),
        (T.BOOLEAN, np.bool_(True), True),
        (T.TINYINT, -128, -128),
        (T.INT, np.int64(5), 5),
        (T.DOUBLE, 2**60 + 1, float(2**60)),
        (T.DOUBLE, np.float32(0.5), 0.5),
        (T.STRING, "x", "x"),
        (T.STRING, None, None),
        (T.DATE, date(2026, 1, 31), date(2026, 1, 31)),
        (T.TIMESTAMP, datetime(2026, 1, 31, 12), NOON),
        (T.TIMESTAMP, NOON.astimezone(timezone(timedelta(hours=2))), NOON),
    ],
)
def test_results_get_the_declared_type(returns: DataType, value: Any, expected: Any) -> None:
    assert apply(made(returns, value), [pa.array([1])]).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("returns", "value", "shown"),
    [
        (T.BOOLEAN, 1, "1"),
        (T.INT, True, "True"),
        (T.DOUBLE, False, "False"),
        (T.TINYINT, 128, "128"),
        (T.BIGINT, 1.0, "1.0"),
        (T.DOUBLE, "1", "'1'"),
        (T.STRING, 1, "1"),
        (T.DATE, datetime(2026, 1, 1), "datetime.datetime(2026, 1, 1, 0, 0)"),
        (T.TIMESTAMP, date(2026, 1, 1), "datetime.date(2026, 1, 1)"),
    ],
)
def test_a_result_of_another_type_is_an_error(returns: DataType, value: Any, shown: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply(made(returns, value), [pa.array([7])])
    assert str(caught.value) == (
        f"f(7) gave {shown}, but is declared to give {returns}\n"
        "hint: mend f, or the type that it is declared to give"
    )


@pytest.mark.parametrize(
    ("returns", "value", "shown"),
    [
        (T.BOOLEAN, [True], "list, not an Arrow array"),
        (T.BOOLEAN, pa.array([True, False]), "2 values"),
        (T.BOOLEAN, pa.array([1]), "int64"),
        (T.STRING, pa.array([1]), "int64"),
        (T.TINYINT, pa.array([300]), "Integer value 300 not in range: -128 to 127"),
    ],
)
def test_an_array_that_does_not_fit_is_an_error(returns: DataType, value: Any, shown: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply(made(returns, value, is_vectorized=True), [pa.array([7])])
    assert caught.value.message == f"f(1 rows) gave {shown}, but is declared to give {returns}"


def fails(x: Any) -> bool:
    raise KeyError("nowhere")


@pytest.mark.parametrize(("vectorized", "arguments"), [(False, "7"), (True, "1 rows")])
def test_a_failure_names_the_function_its_arguments_and_the_reason(
    vectorized: bool, arguments: str
) -> None:
    with pytest.raises(EvaluationError) as caught:
        apply(made(T.BOOLEAN, fails, is_vectorized=vectorized), [pa.array([7])])
    assert str(caught.value) == (
        f"f({arguments}) failed: KeyError: 'nowhere'\n"
        "hint: mend f, or keep such values from it with CASE"
    )


def test_what_python_or_arrow_cannot_hold_is_an_error_too() -> None:
    with pytest.raises(EvaluationError, match="UnicodeEncodeError"):
        apply(made(T.STRING, "\ud800"), [pa.array([7])])
    with pytest.raises(EvaluationError, match="OverflowError"):
        apply(made(T.DOUBLE, 10**400), [pa.array([7])])


BATCH = pa.record_batch({"price": [5.0, None, 500.0], "note": ["some", "text", "here"]})
IS_NEAR = Apply(near, (column("price", T.DOUBLE), column("note", T.STRING)))


def test_a_condition_that_is_null_does_not_hold() -> None:
    assert evaluate(IS_NEAR, BATCH, plain_name).to_pylist() == [True, None, False]
    assert holds(IS_NEAR, BATCH, plain_name).to_pylist() == [True, False, False]


def test_constants_are_arguments_as_well() -> None:
    expression = Apply(scaled, (column("price", T.DOUBLE), Literal(2, T.INT)))
    assert evaluate(expression, BATCH, plain_name).to_pylist() == [10.0, None, 1000.0]


# ── called the least ──────────────────────────────────────────────────────────────────────────────


def test_each_condition_sees_only_what_those_before_it_left() -> None:
    x = column("x", T.BIGINT)
    first: list[int] = []
    second: list[int] = []
    conditions = [
        Condition(Call("gt", (x, Literal(2, T.BIGINT)), T.BOOLEAN)),
        Condition(Apply(counted("even", first, lambda v: v % 2 == 0), (x,))),
        Condition(Apply(counted("small", second, lambda v: v < 6), (x,))),
    ]
    batch = pa.record_batch({"x": [1, 2, 3, 4, 5, 6, None], "other": ["a"] * 7})
    for rows in (batch, pa.Table.from_batches([batch])):
        assert np.flatnonzero(passing(conditions, rows, plain_name)).tolist() == [3]
    assert (first, second) == ([3, 4, 5, 6] * 2, [4, 6] * 2)
    assert passing((), batch, plain_name).all()
