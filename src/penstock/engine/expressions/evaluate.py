"""Expressions evaluated over Arrow batches, a column at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.expressions import decimals, text
from penstock.engine.expressions.apply import apply
from penstock.engine.expressions.arithmetic import calculate, round_off
from penstock.engine.expressions.arrow_types import arrow_type
from penstock.engine.expressions.cast import cast, to_integer
from penstock.engine.expressions.compare import compare, extreme, is_in
from penstock.errors import EvaluationError
from penstock.query import Apply, Call, Column, Condition, DataType, Expression, Literal
from penstock.query.expression import ARITHMETIC, COMPARISONS, columns_of, render

Batch: TypeAlias = "pa.RecordBatch | pa.Table"
Naming = Callable[[Column], str]

_ONE_ROW = pa.record_batch([pa.nulls(1)], names=["nothing"])

_TEXT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lower": text.lower,
    "upper": text.upper,
    "length": pc.utf8_length,
    "trim": text.trim,
    "concat": text.concat,
    "substring": text.substring,
    "starts_with": text.starts_with,
    "like": text.like,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": pc.and_kleene,
    "or": pc.or_kleene,
    "not": pc.invert,
    "is_null": pc.is_null,
    "is_not_null": pc.is_valid,
    "coalesce": pc.coalesce,
    **_TEXT_FUNCTIONS,
}


def evaluate(expression: Expression, batch: Batch, name: Naming) -> pa.Array:
    """The values of an expression, one for each row of the batch, in its Arrow type.

    The batch's column for `Column c` is called `name(c)`. Floor and ceil of a DOUBLE are DOUBLEs.
    Only CASE guards: both sides of AND are evaluated, and may overflow, on every row.
    """
    result = _value(expression, batch, name)
    if isinstance(result, pa.Scalar):
        return pa.repeat(result, len(batch))
    return result


def holds(condition: Expression, batch: Batch, name: Naming) -> pa.BooleanArray:
    """Where a condition is true; NULL is not."""
    result = evaluate(condition, batch, name).cast(pa.bool_())
    return pc.fill_null(result, False) if result.null_count else result


def passing(
    conditions: Iterable[Condition],
    batch: Batch,
    name: Naming,
    among: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Where all conditions are true, each evaluated only on the rows that passed those before.

    Rows that are not `among` the given ones, if these are given, do not pass.
    """
    passes = np.ones(len(batch), np.bool_) if among is None else among.copy()
    for condition in conditions:
        read = batch.select(sorted({name(column) for column in columns_of(condition.expression)}))
        left = read if passes.all() else read.filter(pa.array(passes))
        held = holds(condition.expression, left, name)
        passes[passes] = held.to_numpy(zero_copy_only=False)
    return passes


def _value(expression: Expression, batch: Batch, name: Naming) -> Any:
    """The values as an array, or as a scalar if the expression is a constant."""
    match expression:
        case Column():
            return _as_type(one_array(batch.column(name(expression))), expression)
        case Literal(value=value, type=type_):
            return pa.scalar(value, arrow_type(type_))
        case Call(function="case"):
            return _case(expression, batch, name)
        case Call():
            return _call(expression, batch, name)
        case Apply(function=function, arguments=arguments):
            return apply(function, [evaluate(each, batch, name) for each in arguments])
    raise AssertionError(expression)


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _as_type(values: Any, expression: Expression) -> Any:
    wanted = arrow_type(expression.type)
    if values.type == wanted:
        return values
    if pa.types.is_floating(values.type) and pa.types.is_integer(wanted):
        return to_integer(values, wanted)
    return values.cast(wanted, safe=pa.types.is_integer(wanted))


def _call(call: Call, batch: Batch, name: Naming) -> Any:
    values = [_argument(call, argument, batch, name) for argument in call.arguments]
    if isinstance(values[0], pa.Scalar):
        # With one array among the arguments the functions need not know about constants alone.
        values[0] = pa.repeat(values[0], len(batch))
    try:
        return _as_type(_apply(call, values), call)
    except pa.ArrowInvalid as error:
        raise _overflow(call) from error


def _argument(call: Call, argument: Expression, batch: Batch, name: Naming) -> Any:
    """The values of an argument; an untyped NULL gets the type in which the function works."""
    if argument.type is not DataType.NULL or call.function == "cast":
        return _value(argument, batch, name)
    if call.function in ("and", "or", "not"):
        return pa.scalar(None, pa.bool_())
    if call.function in _TEXT_FUNCTIONS:
        return pa.scalar(None, pa.large_string())
    typed = (other.type for other in call.arguments if other.type is not DataType.NULL)
    return pa.scalar(None, arrow_type(next(typed, DataType.BIGINT)))


def _apply(call: Call, values: list[Any]) -> Any:
    match call.function:
        case comparison if comparison in COMPARISONS:
            return compare(comparison, *values)
        case "cast":
            return cast(values[0], call.arguments[0].type, call.type)
        case "in":
            return is_in(values[0], _constants(call.arguments[1:], values[0].type))
        case operator if operator in ARITHMETIC and call.type.is_decimal:
            return decimals.calculate(operator, arrow_type(call.type), *values)
        case operator if operator in ARITHMETIC or operator in ("negate", "abs"):
            return calculate(operator, *values)
        case "floor" | "ceil" if call.type.is_decimal:
            return decimals.whole(call.function, values[0], arrow_type(call.type))
        case "floor" | "ceil":
            whole = pa.types.is_integer(values[0].type)
            return values[0] if whole else getattr(pc, call.function)(values[0])
        case "round":
            places = values[1].as_py() if len(values) > 1 else 0
            if call.type.is_decimal:
                return decimals.rounded(values[0], places, arrow_type(call.type))
            return round_off(values[0], places)
        case "sqrt":
            return pc.sqrt(values[0].cast(pa.float64(), safe=False))
        case "greatest":
            return extreme("gt", values)
        case "least":
            return extreme("lt", values)
        case "micros":
            return values[0].cast(pa.int64())
        case "pair":
            return _pairs(values[0], values[1], arrow_type(call.type))
    return _FUNCTIONS[call.function](*values)


def _pairs(by: pa.Array, values: Any, wanted: pa.StructType) -> pa.StructArray:
    if isinstance(values, pa.Scalar):
        values = pa.repeat(values, len(by))
    return pa.StructArray.from_arrays([by, values], fields=list(wanted), mask=by.is_null())


def _constants(expressions: tuple[Expression, ...], type_: pa.DataType) -> pa.Array:
    values = [evaluate(each, _ONE_ROW, lambda column: column.name) for each in expressions]
    return pa.concat_arrays([value.cast(type_) for value in values])


def _case(call: Call, batch: Batch, name: Naming) -> pa.Array:
    """The value of the first branch whose condition holds, evaluated on the rows that take it."""
    whens, thens, default = call.arguments[:-1:2], call.arguments[1:-1:2], call.arguments[-1]
    result = pa.nulls(len(batch), arrow_type(call.type))
    open_ = pa.repeat(True, len(batch))
    for when, then in zip((*whens, None), (*thens, default), strict=True):
        taken = open_
        if when is not None:
            met = holds(when, batch.filter(open_), name)
            taken = pc.replace_with_mask(open_, open_, met)
        values = _as_type(evaluate(then, batch.filter(taken), name), call)
        result = pc.replace_with_mask(result, taken, values)
        open_ = pc.and_not(open_, taken)
    return result


def _overflow(call: Call) -> EvaluationError:
    hint = "cast an operand to DOUBLE if an approximate result will do"
    if call.type.is_temporal:
        hint = "times are of the years 1 to 9999"
    return EvaluationError(f"a value does not fit {call.type} in {render(call)}", hint=hint)
