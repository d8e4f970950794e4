"""Casts that the parser puts in, so that what is computed together has one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.cql.expressions.literals import convert, parse_temporal
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.text import Span, Text
from penstock.query.expression import Call, Expression, Literal
from penstock.query.types import DataType, common_type

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
    if DataType.STRING in (source, target) or source in (target, DataType.NULL):
        return True
    if source.is_temporal or target.is_temporal:
        return source.is_temporal and target.is_temporal
    return True


def align(text: Text, arguments: Sequence[Typed], verb: str = "combine") -> list[Expression]:
    """The arguments in their common type; text beside a time becomes a time."""
    temporal = next((argument.type for argument in arguments if argument.type.is_temporal), None)
    if temporal is not None:
        arguments = [as_time(text, argument, temporal) for argument in arguments]
    widest, *others = arguments
    for other in others:
        type_ = common(text, widest, other, verb)
        widest = Typed(cast(widest.expression, type_), widest.node)
    return [cast(argument.expression, widest.type) for argument in arguments]


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
        hint = MOVED
    raise text.error(argument.span, message, hint)


def as_time(text: Text, argument: Typed, type_: DataType) -> Typed:
    """The argument; a text constant as the time that it says."""
    expression = argument.expression
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        moment = parse_temporal(text, argument.span, expression.value, type_)
        return Typed(moment, argument.node)
    return argument


def _conversion(text: Text, left: Typed, right: Typed) -> str:
    # A constant is the user's own, so that rather the column beside it is of the wrong type.
    changed, kept = (right, left) if isinstance(left.expression, Literal) else (left, right)
    if right.type is DataType.STRING and not isinstance(right.expression, Literal):
        changed, kept = right, left
    if not castable(changed.type, kept.type):
        moment = any(side.type.is_temporal for side in (changed, kept))
        like = ", such as ts > '2026-01-31 12:00:00'" if moment else ""
        return f"compare like with like{like}; these two have no type in common"
    written = text.at(changed.span) if isinstance(changed.node, exp.Column) else "…"
    return f"convert one of them: CAST({written} AS {kept.type})"
