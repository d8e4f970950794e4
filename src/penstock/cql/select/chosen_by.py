"""MAX_BY, MIN_BY, FIRST and LAST: pairs of a value and of what it is chosen by."""

from __future__ import annotations

from sqlglot import exp

from penstock.cql.expressions.coercion import Typed
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.members import INSIDE
from penstock.cql.reading.scope import Scope
from penstock.errors import FollowingError
from penstock.query.expression import Call, Column, Expression, Literal
from penstock.query.query import Input
from penstock.query.types import DataType
from penstock.query.view import paired

_MICROS = {"us": 1, "ms": 1_000, "s": 1_000_000}


def where(condition: Expression, value: Expression) -> Expression:
    """A value where a condition holds, else NULL, which every aggregate leaves out."""
    return Call("case", (condition, value, Literal(None, value.type)), value.type)


def by_value(scope: Scope, name: str, value: Typed, by: Typed) -> Call:
    """What `MAX_BY(value, by)` is of."""
    return paired(*(_plain(scope, name, each) for each in (by, value)))


def by_time(scope: Scope, name: str, value: Typed, node: exp.Expr) -> Call:
    """What `FIRST(value)` is of: chosen by when the combination came, where it is not NULL."""
    plain = _plain(scope, name, value)
    known = Call("is_not_null", (plain,), DataType.BOOLEAN)
    return paired(where(known, _event_time(scope, name, node)), plain)


def pair_where(condition: Expression, pair: Call) -> Call:
    """The same of those pairs of which a condition holds."""
    by, value = pair.arguments
    return paired(where(condition, by), where(condition, value))


def _plain(scope: Scope, name: str, of: Typed) -> Expression:
    if of.type.is_nested:
        message = f"{name} needs values in an order, but this is {of.type}"
        raise scope.text.error(of.span, message, INSIDE)
    return of.expression


def _event_time(scope: Scope, name: str, node: exp.Expr) -> Expression:
    """The event time of a combination: that of the last of its tuples."""
    streams = [item for item in scope.inputs if not item.is_table]
    times = [_column(scope, name, item, node) for item in streams]
    if any(time.type is not DataType.TIMESTAMP for time in times):
        pairs = zip(streams, times, strict=True)
        return _last([_micros(item, time) for item, time in pairs])
    return _last(times)


def _last(times: list[Expression]) -> Expression:
    return times[0] if len(times) == 1 else Call("greatest", tuple(times), times[0].type)


def _column(scope: Scope, name: str, item: Input, node: exp.Expr) -> Expression:
    field = item.source.field(item.source.timestamp or "")
    if field is None and scope.text.found:
        # Every stream has one: its declaration is what is wrong.
        message = f"the event time of {item.alias} is not known"
        raise FollowingError(message, place=scope.text.place(node_span(node)))
    if field is None:
        message = f"{name} needs event times, and {item.alias} has no column of them"
        hint = "name one: WITH (timestamp = 'ts'); or write MAX_BY(value, by)"
        raise scope.text.error(node_span(node), message, hint)
    return Column(item.alias, field.name, field.type)


def _micros(item: Input, time: Expression) -> Expression:
    if time.type is DataType.TIMESTAMP:
        return Call("micros", (time,), DataType.BIGINT)
    unit = Literal(_MICROS[item.source.unit or "us"], DataType.BIGINT)
    return Call("multiply", (time, unit), DataType.BIGINT)
