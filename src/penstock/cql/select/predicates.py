"""WHERE and ON: conjunctions, split into equalities, filters and theta predicates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlglot import exp

from penstock.cql.expressions.coercion import Typed, common
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.binding import bind_condition, typed
from penstock.query.expression import streams_of
from penstock.query.query import Condition, Equality


class Predicates(NamedTuple):
    """The conjuncts of a condition by kind."""

    equalities: tuple[Equality, ...] = ()
    filters: tuple[Condition, ...] = ()
    thetas: tuple[Condition, ...] = ()


def bind_predicates(scope: Scope, conjuncts: Iterable[exp.Expr]) -> Predicates:
    """The equalities, filters and theta predicates of a conjunction."""
    equalities: list[Equality] = []
    filters: list[Condition] = []
    thetas: list[Condition] = []
    for conjunct in conjuncts:
        with scope.text.forgiving():
            equality = bind_equality(scope, conjunct)
            if equality is not None:
                equalities.append(equality)
            else:
                condition = bind_predicate(scope, conjunct)
                (filters if len(condition.streams) == 1 else thetas).append(condition)
    return Predicates(tuple(equalities), tuple(filters), tuple(thetas))


def bind_equality(scope: Scope, conjunct: exp.Expr) -> Equality | None:
    """The equality of two inputs that a conjunct is, if it is one."""
    if not isinstance(conjunct, exp.EQ):
        return None
    return equality_of(scope, typed(scope, conjunct.this), typed(scope, conjunct.expression))


def equality_of(scope: Scope, left: Typed, right: Typed) -> Equality | None:
    """The equality of two sides, if each reads one input, and not the same."""
    sides = streams_of(left.expression), streams_of(right.expression)
    if any(len(side) != 1 for side in sides) or sides[0] == sides[1]:
        return None
    common(scope.text, left, right, "compare")
    equality = Equality(left.expression, right.expression)
    _mark(scope, equality, (left.node, right.node))
    return equality


def bind_predicate(scope: Scope, conjunct: exp.Expr) -> Condition:
    """The condition that a conjunct is; one that reads nothing is refused."""
    condition = Condition(bind_condition(scope, conjunct, "WHERE"))
    if not condition.streams:
        hint = "leave it out, or compare with a column"
        raise scope.text.error(node_span(conjunct), "this condition is always the same", hint)
    _mark(scope, condition, (conjunct,))
    return condition


def _mark(scope: Scope, condition: Equality | Condition, nodes: Iterable[exp.Expr]) -> None:
    """Remember where a condition stands."""
    starts, ends = zip(*(node_span(node) for node in nodes), strict=True)
    scope.text.marks[str(condition)] = (min(starts), max(ends))
