"""Guesses from the form of a condition: what passes, and how long it takes to tell."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from penstock.figure import Figure
from penstock.query import Apply, Call, Column, Expression
from penstock.query.expression import columns_of, walk

Distinct = Callable[[Column], float | None]

# The customary fractions of System R: an equality is the most selective comparison, a range the
# least; a text pattern is thought of as an equality. NULLs are thought to be rare.
_EQUALITY = 0.1
_RANGE = 1 / 3
_NULL = 0.05
_EITHER = 0.5

# An Arrow kernel spends some nanoseconds on a value; with its share of a call, about fifty.
_OPERATION = 50e-9


def guess_selectivity(expression: Expression, distinct: Distinct) -> Figure:
    """The fraction for which a condition is true; `distinct` is what is known of columns."""
    match expression:
        case Apply(function=function) if function.selectivity is not None:
            return Figure(function.selectivity, "declared")
        case Call(function="eq" | "ne" | "in" as form):
            return _equality(form, expression, distinct)
        case Call(function="lt" | "le" | "gt" | "ge"):
            return _guess(_RANGE, "range 1/3")
        case Call(function="like" | "starts_with"):
            return _guess(_EQUALITY, "pattern 0.1")
        case Call(function="is_null"):
            return _guess(_NULL, "null 0.05")
        case Call(function="is_not_null"):
            return _guess(1 - _NULL, "not null 0.95")
        case Call(function="and" | "or" | "not" as form, arguments=arguments):
            return _connected(form, [guess_selectivity(a, distinct).value for a in arguments])
    return _guess(_EITHER, "condition 0.5")


def guess_cost(expression: Expression) -> Figure:
    """Seconds to evaluate a condition once."""
    nodes = list(walk(expression))
    operations = sum(isinstance(node, Call) for node in nodes) * _OPERATION
    functions = [node.function.cost for node in nodes if isinstance(node, Apply)]
    if functions:
        return Figure(operations + sum(functions), "declared")
    return _guess(operations or _OPERATION, "50 ns an operation")


def _equality(form: str, call: Call, distinct: Distinct) -> Figure:
    known = [d for column in columns_of(call) if (d := distinct(column)) is not None]
    one = 1 / max(known) if known else _EQUALITY
    rule = "1/distinct" if known else "equality 0.1"
    if form == "ne":
        return _guess(1 - one, f"unequal, {rule}")
    count = len(call.arguments) - 1 if form == "in" else 1
    return _guess(min(1.0, count * one), rule if count == 1 else f"{count} × {rule}")


def _connected(form: str, parts: list[float]) -> Figure:
    """As if the parts had nothing to do with each other."""
    if form == "and":
        return _guess(prod(parts), "AND of its parts")
    if form == "or":
        return _guess(1 - prod(1 - part for part in parts), "OR of its parts")
    return _guess(1 - parts[0], "NOT of its part")


def _guess(value: float, rule: str) -> Figure:
    return Figure(value, "guessed", rule=rule)
