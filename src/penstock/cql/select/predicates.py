"""WHERE and ON: one conjunction, split into equalities, filters and theta predicates."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from penstock.cql.expressions.coercion import common
from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.binding import bind_condition, typed
from penstock.query.expression import streams_of
from penstock.query.query import Condition, Equality

Predicates = tuple[tuple[Equality, ...], tuple[Condition, ...], tuple[Condition, ...]]


def bind_predicates(scope: Scope, tree: exp.Expr) -> Predicates:
    """The equalities, filters and theta predicates of a SELECT."""
    equalities: list[Equality] = []
    filters: list[Condition] = []
    thetas: list[Condition] = []
    for root in _roots(tree):
        for conjunct in _conjuncts(root):
            equality = _equality(scope, conjunct)
            if equality is not None:
                equalities.append(equality)
            else:
                condition = _condition(scope, conjunct)
                (filters if len(condition.streams) == 1 else thetas).append(condition)
    return tuple(equalities), tuple(filters), tuple(thetas)


def _roots(tree: exp.Expr) -> Iterator[exp.Expr]:
    for join in tree.args.get("joins") or ():
        if join.args.get("on"):
            yield join.args["on"]
    if tree.args.get("where"):
        yield tree.args["where"].this


def _conjuncts(root: exp.Expr) -> Iterator[exp.Expr]:
    """The conjuncts of WHERE; BETWEEN is two comparisons, so that each can be checked early."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Paren):
            pending.append(node.this)
        elif isinstance(node, exp.And):
            pending += [node.expression, node.this]
        elif isinstance(node, exp.Between) and not node.args.get("symmetric"):
            yield exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
            yield exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        else:
            yield node


def _equality(scope: Scope, conjunct: exp.Expr) -> Equality | None:
    if not isinstance(conjunct, exp.EQ):
        return None
    left, right = typed(scope, conjunct.this), typed(scope, conjunct.expression)
    sides = streams_of(left.expression), streams_of(right.expression)
    if any(len(side) != 1 for side in sides) or sides[0] == sides[1]:
        return None
    common(scope.text, left, right, "compare")
    return Equality(left.expression, right.expression)


def _condition(scope: Scope, conjunct: exp.Expr) -> Condition:
    condition = Condition(bind_condition(scope, conjunct, "WHERE"))
    if not condition.streams:
        hint = "leave it out, or compare with a column"
        raise scope.text.error(node_span(conjunct), "this condition is always the same", hint)
    return condition
