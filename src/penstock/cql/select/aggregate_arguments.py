"""What each aggregate takes, and the aggregate of the engine that it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.cql.expressions.coercion import Typed, cast, demand, demand_number
from penstock.cql.reading.members import INSIDE
from penstock.cql.reading.text import Text
from penstock.query.expression import Expression, Literal
from penstock.query.types import DataType
from penstock.query.view import AggregateFunction

_Accept = Callable[[Text, str, Typed], Expression | None]


@dataclass(frozen=True)
class Takes:
    """An aggregate of one argument: what the engine computes, and how the argument is made fit."""

    function: AggregateFunction
    accept: _Accept


def _counted(text: Text, name: str, of: Typed) -> Expression | None:
    """Nothing of a constant that is not NULL: that counts rows."""
    return None if isinstance(of.expression, Literal) else of.expression


def _added(text: Text, name: str, of: Typed) -> Expression:
    return demand_number(text, _no_time(text, name, of), name)


def _averaged(text: Text, name: str, of: Typed) -> Expression:
    if of.type.is_decimal:
        return of.expression
    return demand(text, _no_time(text, name, of), name, DataType.DOUBLE)


def _no_time(text: Text, name: str, of: Typed) -> Typed:
    if of.type.is_temporal:
        message = f"{name} needs a number, but this is {of.type}"
        raise text.error(of.span, message, "times have COUNT, MIN and MAX")
    return of


def _ordered(text: Text, name: str, of: Typed) -> Expression:
    if of.type is DataType.BOOLEAN:
        message = f"{name} needs values in an order, but this is BOOLEAN"
        instead = "BOOL_OR" if name == "MAX" else "BOOL_AND"
        raise text.error(of.span, message, f"write {instead}(…), or convert it: CAST(… AS INT)")
    return _plain(text, name, of)


def _plain(text: Text, name: str, of: Typed) -> Expression:
    if of.type.is_nested:
        message = f"{name} needs values in an order, but this is {of.type}"
        raise text.error(of.span, message, INSIDE)
    return of.expression


def _measured(text: Text, name: str, of: Typed) -> Expression:
    return demand(text, _no_time(text, name, of), name, DataType.DOUBLE)


def _truth(text: Text, name: str, of: Typed) -> Expression:
    if of.type is not DataType.BOOLEAN:
        message = f"{name} needs a condition, but this is {of.type}"
        raise text.error(of.span, message, "compare it with something")
    return cast(of.expression, DataType.BOOLEAN)


TAKES: Mapping[str, Takes] = {
    "count": Takes("count", _counted),
    "sum": Takes("sum", _added),
    "avg": Takes("avg", _averaged),
    "min": Takes("min", _ordered),
    "max": Takes("max", _ordered),
    # FALSE is below TRUE.
    **dict.fromkeys(("bool_or", "any", "some"), Takes("max", _truth)),
    **dict.fromkeys(("bool_and", "every"), Takes("min", _truth)),
    **dict.fromkeys(("variance", "var_samp"), Takes("var_samp", _added)),
    **dict.fromkeys(("stddev", "stddev_samp"), Takes("stddev_samp", _added)),
    "var_pop": Takes("var_pop", _added),
    "stddev_pop": Takes("stddev_pop", _added),
    "approx_count_distinct": Takes("approx_count_distinct", _plain),
    "approx_percentile": Takes("approx_percentile", _measured),
}
"""The aggregates of one argument, by name."""

TAKES_DISTINCT: Mapping[str, Takes] = {
    "count": Takes("count_distinct", _plain),
    "sum": Takes("sum_distinct", _added),
    "avg": Takes("avg_distinct", _averaged),
    # The largest of all is the largest of those that differ.
    **{name: TAKES[name] for name in ("min", "max", "bool_or", "bool_and")},
}
"""Those that take DISTINCT."""
