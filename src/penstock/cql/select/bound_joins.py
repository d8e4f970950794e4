"""The joins of a SELECT, bound: which conditions are of which join, and what may be selected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.binding import typed
from penstock.cql.select.joins import From, Joined, Kind
from penstock.cql.select.outer_checks import check_outer
from penstock.cql.select.predicates import (
    Predicates,
    bind_equality,
    bind_predicate,
    bind_predicates,
    equality_of,
)
from penstock.query.joins.outer import KIND_NAMES, JoinKind, OuterJoin
from penstock.query.query import Condition, Equality, Input, Query, as_condition
from penstock.query.view import Output, View

_KINDS: dict[Kind, JoinKind] = {
    "left": "left",
    "right": "left",
    "full": "full",
    "semi": "semi",
    "anti": "anti",
}


@dataclass(frozen=True)
class Joins:
    """The inputs of a query and all its conditions; of a semi or anti join the other side is not
    `shown`."""

    inputs: tuple[Input, ...]
    shown: tuple[Input, ...]
    predicates: Predicates
    outer: OuterJoin | None = None

    def only(self, filters: tuple[Condition, ...]) -> Joins:
        """The same joins of those tuples that pass more filters."""
        more = self.predicates._replace(filters=(*self.predicates.filters, *filters))
        return replace(self, predicates=more)

    def query(self, outputs: tuple[Output, ...], view: View | None, text: str) -> Query:
        """The query that selects these outputs."""
        return Query(self.inputs, outputs, *self.predicates, view, text, self.outer)


def bind_joins(scope: Scope, read: From, *, is_view: bool) -> Joins:
    """The conditions of a SELECT, each with the join that it belongs to.

    Those of inner joins belong to WHERE.
    """
    numbers = [n for n, each in enumerate(read.joined) if each.kind != "inner"]
    inner = [each for each in read.joined if each.kind == "inner"]
    where = [*(c for each in inner for c in each.on), *read.where]
    if not numbers:
        return Joins(scope.inputs, scope.inputs, bind_predicates(scope, where))
    if len(numbers) > 1:
        message = "a query has one join that is not an inner one"
        hint = "make the others inner joins: JOIN … ON …, or ask them in a query of their own"
        raise scope.text.error(node_span(read.joined[numbers[1]].table), message, hint)
    joined = read.joined[numbers[0]]
    if scope.scalars:
        message = f"{KIND_NAMES[_KINDS[joined.kind]]} cannot stand beside a SELECT in an expression"
        hint = "compare with it in a query that is read: FROM (SELECT …) [RANGE 10 SECONDS] AS x"
        raise scope.text.error(node_span(joined.table), message, hint)
    joins = _with_outer(scope, joined, scope.inputs[numbers[0] + 1], where)
    check_outer(scope.text, joined, joins.query((), None, ""), is_view=is_view)
    return joins


def _with_outer(scope: Scope, joined: Joined, item: Input, where: Iterable[exp.Expr]) -> Joins:
    """The joins of a SELECT, of which `joined` is not an inner one."""
    others = tuple(each for each in scope.inputs if each != item)
    is_right = joined.kind == "right"
    preserved, nullable = ((item,), others[0]) if is_right else (others, item)
    empty = OuterJoin(_KINDS[joined.kind], tuple(each.alias for each in preserved), nullable.alias)
    of_outer, of_nullable = _on(scope, joined, empty)
    shown = scope.inputs if empty.has_pairs else others
    core, after = _where(replace(scope, inputs=shown), where, empty)
    return Joins(
        scope.inputs,
        shown,
        Predicates(
            (*core.equalities, *of_outer.equalities),
            (*core.filters, *of_nullable),
            (*core.thetas, *of_outer.thetas),
        ),
        replace(of_outer, after=after),
    )


def _on(scope: Scope, joined: Joined, outer: OuterJoin) -> tuple[OuterJoin, tuple[Condition, ...]]:
    """The join with what ON says of partners, and the filters of its nullable input.

    Both sides of a full join are preserved: no condition of ON drops a tuple of either.
    """
    equalities = _asked_equal(scope, joined)
    thetas: list[Condition] = []
    alone: list[Condition] = []
    filters: list[Condition] = []
    for conjunct in joined.on:
        equality = bind_equality(scope, conjunct)
        if equality is not None and outer.nullable in equality.streams:
            equalities.append(equality)
            continue
        condition = bind_predicate(scope, conjunct) if equality is None else as_condition(equality)
        if len(condition.streams) > 1 and outer.nullable in condition.streams:
            thetas.append(condition)
        elif condition.streams == {outer.nullable} and outer.kind != "full":
            filters.append(condition)
        else:
            alone.append(condition)
    bound = replace(outer, equalities=tuple(equalities), thetas=tuple(thetas), alone=tuple(alone))
    return bound, tuple(filters)


def _asked_equal(scope: Scope, joined: Joined) -> list[Equality]:
    """The equality of `x IN (SELECT y …)`: x is of the inputs outside, y of the one inside."""
    if joined.equals is None:
        return []
    named = joined.table.args.get("alias")
    inside = scope.input(named.this if named else joined.table.this)
    outside = tuple(each for each in scope.inputs if each != inside)
    left = typed(replace(scope, inputs=outside), joined.equals[0])
    right = typed(replace(scope, inputs=(inside,)), joined.equals[1])
    equality = equality_of(scope, left, right)
    if equality is None:
        message = "IN compares one input's value with a column of its SELECT"
        hint = "write EXISTS (SELECT 1 FROM … WHERE …)"
        raise scope.text.error(node_span(joined.equals[0]), message, hint)
    return [equality]


def _where(
    scope: Scope, where: Iterable[exp.Expr], outer: OuterJoin
) -> tuple[Predicates, tuple[Condition, ...]]:
    """What of WHERE is decided before the outer join, and what comes after it."""
    nullable = {outer.nullable, *(outer.preserved if outer.kind == "full" else ())}
    before: list[exp.Expr] = []
    after: list[Condition] = []
    for conjunct in where:
        condition = bind_predicate(scope, conjunct)
        if condition.streams & nullable:
            after.append(condition)
        else:
            before.append(conjunct)
    return bind_predicates(scope, before), tuple(after)
