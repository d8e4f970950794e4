"""Operators over bound arguments: comparisons, arithmetic, IN, LIKE, CASE, CAST."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from penstock.cql.expressions.coercion import (
    MOVED,
    Typed,
    align,
    beside_decimals,
    cast,
    castable,
    demand,
    demand_number,
)
from penstock.cql.expressions.literals import parse_number, parse_temporal
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import INSIDE
from penstock.cql.reading.nearest import is_proposal
from penstock.cql.reading.text import Span, Text
from penstock.duration import UNITS_HINT, Duration
from penstock.query.expression import ARITHMETIC, Call, Expression, Literal
from penstock.query.families.decimal_types import computed
from penstock.query.types import DataType, decimal

# So many conditions in a row are joined as they are written.
_FEW = 32


def compare(text: Text, function: str, left: Typed, right: Typed) -> Call:
    """`left < right`, both in their common type."""
    for side in (left, right):
        if side.type is DataType.NULL:
            raise text.error(
                side.span, "nothing compares with NULL", "write IS NULL or IS NOT NULL"
            )
    return Call(function, tuple(align(text, [left, right], "compare")), DataType.BOOLEAN)


def arithmetic(text: Text, function: str, left: Typed, right: Typed) -> Call:
    """`left + right`: integers in BIGINT, DECIMALs with the digits they need, others in DOUBLE."""
    if left.type.is_temporal or right.type.is_temporal:
        raise _temporal_arithmetic(text, left, right)
    sign = ARITHMETIC[function]
    left, right = beside_decimals([left, right], whole=True)
    types = [demand_number(text, side, sign).type for side in (left, right)]
    if any(type_.is_decimal for type_ in types) and DataType.DOUBLE not in types:
        return _decimal_arithmetic(function, left, right)
    whole = function != "divide" and DataType.DOUBLE not in types
    type_ = DataType.BIGINT if whole else DataType.DOUBLE
    return Call(function, (cast(left.expression, type_), cast(right.expression, type_)), type_)


def _decimal_arithmetic(function: str, left: Typed, right: Typed) -> Call:
    """Both sides as DECIMALs; the NULL of no type is one of the other's."""
    digits = [
        (side if side.type is not DataType.NULL else other).type.digits
        for side, other in ((left, right), (right, left))
    ]
    sides = zip((left, right), digits, strict=True)
    arguments = tuple(cast(side.expression, decimal(*own)) for side, own in sides)
    return Call(function, arguments, decimal(*computed(function, *digits)))


def shift(text: Text, function: str, moment: Typed, interval: exp.Interval) -> Call:
    """A time moved by an interval; the interval becomes microseconds."""
    micros = Literal(parse_interval(text, interval), DataType.BIGINT)
    if not moment.type.is_temporal:
        message = f"an INTERVAL can be added to a time, but this is {moment.type}"
        raise text.error(moment.span, message, "write ts + INTERVAL '5' SECONDS")
    type_ = moment.type if moment.type.is_moment else DataType.TIMESTAMP
    return Call(function, (cast(moment.expression, type_), micros), type_)


def parse_interval(text: Text, node: exp.Interval) -> int:
    """The microseconds of `INTERVAL '5' SECONDS`."""
    span = node_span(node)
    number, unit = node.this, node.args.get("unit")
    written = f"{number.name} {unit.name if unit else ''}" if number else ""
    try:
        micros = Duration.parse(written).micros
    except ValueError as error:
        _, hint = error.args
        if not is_proposal(hint):
            hint = f"write it like INTERVAL '5' SECONDS; {UNITS_HINT}"
        raise text.error(span, "this interval cannot be read", hint) from None
    if micros < 0:
        raise text.error(span, "an interval cannot be negative", "subtract it instead")
    return micros


def negate(text: Text, node: exp.Neg, argument: Typed) -> Expression:
    """`-argument`; a negative number is a constant of its own."""
    value = argument.expression.value if isinstance(argument.expression, Literal) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return parse_number(text, node_span(node), str(-value))
    number = demand_number(text, argument, "-")
    return Call("negate", (number,), number.type)


def is_in(text: Text, needle: Typed, items: Sequence[Typed]) -> Expression:
    """`needle IN (items)`; items that are not constants make it a row of ORs."""
    if all(isinstance(item.expression, Literal) for item in items):
        aligned = align(text, [needle, *items], "compare")
        return Call("in", tuple(aligned), DataType.BOOLEAN)
    return connect("or", [compare(text, "eq", needle, item) for item in items])


def connect(function: str, conditions: Sequence[Expression]) -> Expression:
    """The conditions joined by AND or OR; many of them as a tree that is not deep."""

    def both(one: Expression, other: Expression) -> Call:
        return Call(function, (one, other), DataType.BOOLEAN)

    while len(conditions) > _FEW:
        conditions = [reduce(both, conditions[i : i + 2]) for i in range(0, len(conditions), 2)]
    return reduce(both, conditions)


def like(text: Text, value: Typed, pattern: Typed) -> Call:
    """`value LIKE 'pattern'`."""
    string = demand(text, value, "LIKE", DataType.STRING)
    expression = pattern.expression
    if not isinstance(expression, Literal) or not isinstance(expression.value, str):
        hint = "write the pattern as text: LIKE 'a%'"
        raise text.error(pattern.span, "the pattern of LIKE must be a constant", hint)
    return Call("like", (string, expression), DataType.BOOLEAN)


def concat(text: Text, left: Typed, right: Typed) -> Call:
    """`left || right`."""
    sides = [demand(text, side, "||", DataType.STRING) for side in (left, right)]
    return Call("concat", tuple(sides), DataType.STRING)


def case(text: Text, conditions: Sequence[Expression], values: Sequence[Typed]) -> Call:
    """CASE; `values` has one more than `conditions` if there is an ELSE."""
    aligned = align(text, values)
    if len(values) == len(conditions):
        aligned.append(Literal(None, aligned[0].type))
    pairs = [part for pair in zip(conditions, aligned, strict=False) for part in pair]
    return Call("case", (*pairs, aligned[-1]), aligned[0].type)


def convert_to(text: Text, span: Span, argument: Typed, type_: DataType) -> Expression:
    """CAST; text constants become times at once, so that a bad one is found here."""
    expression = argument.expression
    if isinstance(expression, Literal) and isinstance(expression.value, str) and type_.is_temporal:
        return parse_temporal(text, argument.span, expression.value, type_)
    if not castable(argument.type, type_):
        hint = "declare the column TIMESTAMP, if it holds times" if type_.is_temporal else MOVED
        if argument.type.is_nested or not type_.is_held:
            hint = INSIDE
        elif DataType.BINARY in (argument.type, type_):
            hint = "only text becomes BINARY, and BINARY text"
        raise text.error(span, f"cannot convert {argument.type} to {type_}", hint)
    return Call("cast", (expression,), type_)


def _temporal_arithmetic(text: Text, left: Typed, right: Typed) -> Exception:
    span = (left.span[0], right.span[1])
    if left.type.is_temporal and right.type.is_temporal:
        hint = "compare instead: a.ts <= b.ts + INTERVAL '5' SECONDS"
        return text.error(span, "the difference of two times is not in the language", hint)
    hint = "a time can be moved by an interval: ts + INTERVAL '5' SECONDS"
    return text.error(span, f"cannot compute with {left.type} and {right.type}", hint)
