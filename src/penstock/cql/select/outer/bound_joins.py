"""The joins of a SELECT, bound: which conditions are of which join, and what may be selected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.reading.text import Text
from penstock.cql.select.binding import typed
from penstock.cql.select.joins import From, Joined, Kind
from penstock.cql.select.outer.join_order import in_making_order
from penstock.cql.select.outer.outer_checks import check_outer, refuse_places
from penstock.cql.select.predicates import (
    Predicates,
    bind_equality,
    bind_predicate,
    bind_predicates,
    equality_of,
)
from penstock.query.joins.outer import KIND_NAMES, JoinKind, OuterJoin, OuterJoins
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
    outer: OuterJoins | None = None

    def only(self, filters: tuple[Condition, ...]) -> Joins:
        """The same joins of those tuples that pass more filters."""
        more = self.predicates._replace(filters=(*self.predicates.filters, *filters))
        return replace(self, predicates=more)

    def query(self, outputs: tuple[Output, ...], view: View | None, text: Text) -> Query:
        """The query that selects these outputs."""
        places = dict(text.marks)
        return Query(self.inputs, outputs, *self.predicates, view, text.content, self.outer, places)


def bind_joins(scope: Scope, read: From, *, is_view: bool) -> Joins:
    """The conditions of a SELECT, each with the join that it belongs to.

    Those of inner joins belong to WHERE.
    """
    inner = [each for each in read.joined if each.kind == "inner"]
    where = [*(c for each in inner for c in each.on), *read.where]
    # Views inside of expressions are inputs too, and come behind those of FROM.
    named = zip(read.joined, scope.inputs[1:], strict=False)
    others = [(joined, item) for joined, item in named if joined.kind != "inner"]
    if not others:
        return Joins(scope.inputs, scope.inputs, bind_predicates(scope, where))
    with scope.text.forgiving():
        return _bind_others(scope, read, others, where, is_view=is_view)
    # Where all mistakes are looked for, conditions are read all the same.
    ons = [conjunct for joined, _ in others for conjunct in joined.on]
    bind_predicates(scope, ons)
    hidden = [item for joined, item in others if joined.kind in ("semi", "anti")]
    shown = tuple(item for item in scope.inputs if item not in hidden)
    return Joins(scope.inputs, shown, bind_predicates(replace(scope, inputs=shown), where))


def _bind_others(
    scope: Scope,
    read: From,
    others: Sequence[tuple[Joined, Input]],
    where: Sequence[exp.Expr],
    *,
    is_view: bool,
) -> Joins:
    """The conditions of a SELECT of which some joins, the `others`, are not inner ones."""
    tally = scope.text.tally
    if scope.scalars:
        joined = others[0][0]
        message = f"{KIND_NAMES[_KINDS[joined.kind]]} cannot stand beside a SELECT in an expression"
        hint = "compare with it in a query that is read: FROM (SELECT …) [RANGE 10 SECONDS] AS x"
        raise scope.text.error(node_span(joined.table), message, hint)
    refuse_places(scope.text, read.joined)
    made = in_making_order(scope, read)
    joins = _with_outer(scope, made, where)
    if scope.text.tally == tally:
        query = joins.query((), None, scope.text)
        check_outer(scope.text, [joined for joined, _ in made], query, is_view)
    return joins


def _with_outer(
    scope: Scope, made: Sequence[tuple[Joined, Input]], where: Iterable[exp.Expr]
) -> Joins:
    """The joins of a SELECT, of which some are not inner ones, each with its nullable input."""
    chosen = [item for joined, item in made if joined.kind in ("semi", "anti")]
    nullable = [item for _, item in made]
    known = [item for item in scope.inputs if item not in nullable]
    bound: list[OuterJoin] = []
    filters: list[Condition] = []
    for joined, item in made:
        preserved = tuple(each.alias for each in scope.inputs if each in known)
        empty = OuterJoin(_KINDS[joined.kind], preserved, item.alias)
        visible = tuple(each for each in scope.inputs if each in known or each == item)
        join, of_nullable = _on(replace(scope, inputs=visible), joined, empty)
        bound.append(join)
        filters += of_nullable
        if empty.has_pairs:
            known.append(item)
    shown = tuple(item for item in scope.inputs if item not in chosen)
    outer = OuterJoins(tuple(bound))
    core, after = _where(replace(scope, inputs=shown), where, outer)
    predicates = Predicates(
        (*core.equalities, *outer.equalities),
        (*core.filters, *filters),
        (*core.thetas, *outer.thetas),
    )
    return Joins(scope.inputs, shown, predicates, replace(outer, after=after))


def _on(scope: Scope, joined: Joined, outer: OuterJoin) -> tuple[OuterJoin, tuple[Condition, ...]]:
    """The join with what ON says of partners, and the filters of its nullable input.

    Both sides of a full join are preserved: no condition of ON drops a tuple of either.
    """
    equalities = list[Equality]()
    with scope.text.forgiving():
        equalities += _asked_equal(scope, joined)
    thetas: list[Condition] = []
    alone: list[Condition] = []
    filters: list[Condition] = []
    for conjunct in joined.on:
        equality = condition = None
        with scope.text.forgiving():
            equality = bind_equality(scope, conjunct)
            condition = (
                bind_predicate(scope, conjunct) if equality is None else as_condition(equality)
            )
        if condition is None:
            continue
        if equality is not None and outer.nullable in equality.streams:
            equalities.append(equality)
            continue
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
    scope: Scope, where: Iterable[exp.Expr], outer: OuterJoins
) -> tuple[Predicates, tuple[Condition, ...]]:
    """What of WHERE is decided before the outer joins, and what comes after them."""
    nullable = outer.nullables
    before: list[exp.Expr] = []
    after: list[Condition] = []
    for conjunct in where:
        with scope.text.forgiving():
            condition = bind_predicate(scope, conjunct)
            if condition.streams & nullable:
                after.append(condition)
            else:
                before.append(conjunct)
    return bind_predicates(scope, before), tuple(after)
