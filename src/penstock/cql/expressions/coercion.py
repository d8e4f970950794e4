"""Casts that the parser puts in, so that what is computed together has one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.cql.expressions.literals import convert, exact_number, parse_temporal
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import INSIDE
from penstock.cql.reading.text import Span, Text
from penstock.query.expression import Call, Expression, Literal
from penstock.query.types import DataType, common_type

NUMBERS = (DataType.BIGINT, DataType.DOUBLE)
MOVED = "a time can be compared, and moved by an interval: ts + INTERVAL '5' SECONDS"


@dataclass(frozen=True)
class Typed:
    """An expression and where it stands in the text."""

    expression: Expression
    node: exp.Expr

    @property
    def type(self) -> DataType:
        return self.expression.type

    @property
    def span(self) -> Span:
        return node_span(self.node)


def cast(expression: Expression, type_: DataType) -> Expression:
    """The expression in another type; constants are converted at once."""
    if expression.type is type_:
        return expression
    if isinstance(expression, Literal):
        return convert(expression, type_)
    return Call("cast", (expression,), type_)


def castable(source: DataType, target: DataType) -> bool:
    """Whether CAST converts from one type to the other."""
    if source.is_nested or target.is_nested:
        return False
    if DataType.STRING in (source, target) or source in (target, DataType.NULL):
        return True
    if DataType.BINARY in (source, target):
        return False
    if source.is_temporal or target.is_temporal:
        return source.is_temporal and target.is_temporal
    return True


def align(text: Text, arguments: Sequence[Typed], verb: str = "combine") -> list[Expression]:
    """The arguments in their common type; text beside a time becomes a time."""
    temporal = next((argument.type for argument in arguments if argument.type.is_temporal), None)
    if temporal is not None:
        arguments = [as_time(text, argument, temporal) for argument in arguments]
    arguments = beside_decimals(arguments, whole=verb == "compare")
    widest, *others = arguments
    for other in others:
        type_ = common(text, widest, other, verb)
        widest = Typed(cast(widest.expression, type_), widest.node)
    return [cast(argument.expression, widest.type) for argument in arguments]


def beside_decimals(arguments: Sequence[Typed], *, whole: bool) -> Sequence[Typed]:
    """The arguments; if one is a DECIMAL, constants with a point are too, as they are written.

    So are whole ones if `whole`, with no more digits than they have.
    """
    if not any(argument.type.is_decimal for argument in arguments):
        return arguments
    if any(argument.type.is_floating and not _is_number(argument) for argument in arguments):
        return arguments
    return [_exact(argument, whole) for argument in arguments]


def _is_number(argument: Typed) -> bool:
    value = argument.expression.value if isinstance(argument.expression, Literal) else None
    return isinstance(value, int | float) and not isinstance(value, bool)


def _exact(argument: Typed, whole: bool) -> Typed:
    if not _is_number(argument) or (argument.type.is_integer and not whole):
        return argument
    node = argument.node
    while isinstance(node, exp.Paren):
        node = node.this
    sign, number = ("-", node.this) if isinstance(node, exp.Neg) else ("", node)
    is_written = isinstance(number, exp.Literal) and not number.is_string
    exact = exact_number(sign + number.name) if is_written else None
    return argument if exact is None else Typed(exact, argument.node)


def common(text: Text, left: Typed, right: Typed, verb: str) -> DataType:
    """The type in which two things can be compared."""
    type_ = common_type(left.type, right.type)
    if type_ is None:
        span = (min(left.span[0], right.span[0]), max(left.span[1], right.span[1]))
        message = f"cannot {verb} {left.type} with {right.type}"
        raise text.error(span, message, _conversion(text, left, right))
    return type_


def demand(text: Text, argument: Typed, what: str, *types: DataType) -> Expression:
    """The argument in the first of the types that it fits; else an error that names `what`."""
    for type_ in types:
        if common_type(argument.type, type_) is type_:
            return cast(argument.expression, type_)
    needed = " or ".join(types)
    message = f"{what} needs {needed}, but this is {argument.type}"
    hint = f"convert it: CAST(… AS {types[-1]})"
    if not castable(argument.type, types[-1]):
        hint = INSIDE if argument.type.is_nested else MOVED
    raise text.error(argument.span, message, hint)


def demand_number(text: Text, argument: Typed, what: str) -> Expression:
    """The argument as a BIGINT, a DECIMAL or a DOUBLE; else an error that names `what`."""
    if argument.type.is_decimal:
        return argument.expression
    return demand(text, argument, what, *NUMBERS)


def as_time(text: Text, argument: Typed, type_: DataType) -> Typed:
    """The argument; a text constant as the time that it says."""
    expression = argument.expression
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        moment = parse_temporal(text, argument.span, expression.value, type_)
        return Typed(moment, argument.node)
    return argument


def _conversion(text: Text, left: Typed, right: Typed) -> str:
    # A constant is the user's own, so that rather the column beside it is of the wrong type.
    if left.type.is_nested or right.type.is_nested:
        return INSIDE
    if left.type.is_decimal and right.type.is_decimal:
        return "38 digits do not hold those of both: take some off, CAST(… AS DECIMAL(19, 0))"
    changed, kept = (right, left) if isinstance(left.expression, Literal) else (left, right)
    if right.type is DataType.STRING and not isinstance(right.expression, Literal):
        changed, kept = right, left
    if not castable(changed.type, kept.type):
        moment = any(side.type.is_temporal for side in (changed, kept))
        like = ", such as ts > '2026-01-31 12:00:00'" if moment else ""
        return f"compare like with like{like}; these two have no type in common"
    written = text.at(changed.span) if isinstance(changed.node, exp.Column) else "…"
    return f"convert one of them: CAST({written} AS {kept.type})"
