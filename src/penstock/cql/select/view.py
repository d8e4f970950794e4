"""GROUP BY, HAVING and aggregates: what the join must give, and the view over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.cql.reading.dialect import node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.select.aggregates import (
    Asked,
    asks_for_view,
    bind_aggregate,
    find_aggregates,
    is_aggregate,
)
from penstock.cql.select.binding import UNKNOWN, bind, bind_condition
from penstock.cql.select.distinct import bind_distinct, check_group, view_outputs
from penstock.cql.select.every import Every, period
from penstock.cql.select.ranking.bound_order import bind_top, refuse_number
from penstock.cql.select.ranking.ranking import Ranking, aliases_of
from penstock.cql.select.ranking.tuples import bind_tuples
from penstock.errors import FollowingError, SqlError
from penstock.query.expression import Column, Expression, Literal, columns_of, render, substitute
from penstock.query.query import Input
from penstock.query.ranking import NUMBER, Top
from penstock.query.types import DataType
from penstock.query.view import Aggregate, Output, View

_OTHER_GROUPINGS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)


def bind_view(
    scope: Scope,
    tree: exp.Expr,
    every: Every | None,
    inputs: tuple[Input, ...],
    ranking: Ranking | None = None,
) -> tuple[tuple[Output, ...], View]:
    """The outputs of the join (each group and argument once), and the view that is made of them.

    The windows of all `inputs` say when it is evaluated, also of those that show no columns. Of a
    `ranking`, only the first rows are shown.
    """
    ranked = () if ranking is None else ranking.nodes
    if tree.args.get("distinct"):
        _refuse_ranking(scope, ranking)
        return bind_distinct(scope, tree, every, inputs)
    if ranking is not None and not asks_for_view(tree) and not any(find_aggregates(ranked)):
        return bind_tuples(scope, tree, every, inputs, ranking)
    items = _unstarred(scope, tree)
    aliases = aliases_of(tree)
    groups = dict.fromkeys(_groups(replace(scope, aliases=aliases), tree))
    parts = _parts(scope, tree, groups, ranked)
    if not groups and not parts.aggregates and tree.args.get("having"):
        message = "HAVING has no groups and no aggregates to choose from"
        hint = "put conditions on tuples into WHERE"
        scope.text.note(scope.text.error(node_span(tree.args["having"]), message, hint))
    numbers = () if ranking is None else ranking.numbers
    by_node = {**parts.by_node, **{id(node): NUMBER for node in numbers}}
    selecting = replace(scope, aggregates=by_node)
    naming = replace(selecting, aliases=aliases)
    by_group = {group: parts.columns[group] for group in groups}
    view = View(
        groups=tuple(by_group.values()),
        aggregates=parts.aggregates,
        outputs=_outputs(selecting, items, by_group),
        having=_having(naming, tree, by_group),
        every=period(scope.text, inputs, every, node_span(tree.args["from_"])),
        top=None if ranking is None else _top(naming, ranking, by_group),
    )
    joined = tuple(Output(column.name, expression) for expression, column in parts.columns.items())
    return joined, view


@dataclass(frozen=True)
class _Parts:
    """The join's columns by what they hold, and the aggregates; `by_node` finds their columns."""

    columns: Mapping[Expression, Column]
    aggregates: tuple[Aggregate, ...]
    by_node: Mapping[int, Column | Literal]


def _parts(
    scope: Scope, tree: exp.Expr, groups: Iterable[Expression], ranked: Iterable[exp.Expr]
) -> _Parts:
    having = [tree.args["having"]] if tree.args.get("having") else []
    nodes = list(find_aggregates([*tree.expressions, *having, *ranked]))
    asked_by = [(node, _asked(scope, node)) for node in nodes]
    bound = [asked for _, asked in asked_by if asked is not None]
    columns = {group: Column("", f"#g{n}", group.type) for n, group in enumerate(groups)}
    asked = [each.argument for each in bound if each.argument is not None]
    arguments = dict.fromkeys(of for of in asked if of not in columns)
    columns |= {of: Column("", f"#a{n}", of.type) for n, of in enumerate(arguments)}
    aggregates = {
        each: Aggregate(
            f"#{n}",
            each.function,
            None if each.argument is None else columns[each.argument],
            each.fraction,
        )
        for n, each in enumerate(dict.fromkeys(bound))
    }
    by_node = {id(node): aggregates[of].column if of else UNKNOWN for node, of in asked_by}
    return _Parts(columns, tuple(aggregates.values()), by_node)


def _asked(scope: Scope, node: exp.Expr) -> Asked | None:
    """The aggregate of a call; None of a mistake, where all are looked for."""
    with scope.text.forgiving():
        return bind_aggregate(scope, node)
    return None


def _unstarred(scope: Scope, tree: exp.Expr) -> list[exp.Expr]:
    """The items of SELECT, of which none may be a *."""
    items: list[exp.Expr] = []
    for node in tree.expressions:
        if isinstance(node.this if isinstance(node, exp.Column) else node, exp.Star):
            message, hint = "a * cannot be selected of groups", "list the groups and the aggregates"
            scope.text.note(scope.text.error(node_span(node), message, hint))
        else:
            items.append(node)
    return items


def _groups(scope: Scope, tree: exp.Expr) -> Iterator[Expression]:
    clause = tree.args.get("group")
    if clause is None:
        return
    extras = any(value for name, value in clause.args.items() if name != "expressions")
    if extras or any(isinstance(node, _OTHER_GROUPINGS) for node in clause.expressions):
        hint = "list what to group by: GROUP BY a.x, b.y"
        message = "this grouping is not in the language"
        scope.text.note(scope.text.error(node_span(clause), message, hint))
        yield UNKNOWN
        return
    for node in clause.expressions:
        group = bind(scope, node)
        with scope.text.forgiving():
            _check_differs(scope, node, group)
            check_group(scope, node, group)
        yield group


def _check_differs(scope: Scope, node: exp.Expr, group: Expression) -> None:
    if not columns_of(group):
        hint = "write a column, an expression, or a name of the SELECT list"
        raise scope.text.error(node_span(node), "this group is always the same", hint)


def _outputs(
    scope: Scope, items: Sequence[exp.Expr], groups: Mapping[Expression, Expression]
) -> tuple[Output, ...]:
    pairs = list(zip(items, view_outputs(scope, items), strict=True))
    return tuple(Output(o.name, _over_view(scope, n, o.expression, groups)) for n, o in pairs)


def _having(
    scope: Scope, tree: exp.Expr, groups: Mapping[Expression, Expression]
) -> Expression | None:
    clause = tree.args.get("having")
    if clause is None:
        return None
    condition: Expression = UNKNOWN
    with scope.text.forgiving():
        condition = bind_condition(scope, clause.this, "HAVING")
        refuse_number(scope, clause.this, condition)
    if not columns_of(condition):
        hint = "leave it out, or compare with a group or an aggregate"
        message = "this condition is always the same"
        scope.text.note(scope.text.error(node_span(clause), message, hint))
    return _over_view(scope, clause.this, condition, groups)


def _top(scope: Scope, ranking: Ranking, groups: Mapping[Expression, Expression]) -> Top:
    return bind_top(scope, ranking, lambda node, of: _over_view(scope, node, of, groups))


def _refuse_ranking(scope: Scope, ranking: Ranking | None) -> None:
    if ranking is not None:
        hint = "leave DISTINCT out, and group by what is selected: GROUP BY …"
        message = "SELECT DISTINCT takes no LIMIT and no QUALIFY"
        scope.text.note(scope.text.error(ranking.place, message, hint))


def _over_view(
    scope: Scope, node: exp.Expr, expression: Expression, groups: Mapping[Expression, Expression]
) -> Expression:
    """The expression over the columns of the view: `b.x + SUM(b.y)` → `#g0 + #0`."""
    over = substitute(expression, groups)
    loose = {column for column in columns_of(over) if column.stream}
    if loose and UNKNOWN not in groups:
        scope.text.note(_neither(scope, node, loose))
    return over


def _neither(scope: Scope, root: exp.Expr, loose: set[Column]) -> SqlError:
    for node in root.walk(bfs=False, prune=is_aggregate):
        is_name = isinstance(node, exp.Column) and scope.aliased(node) is None
        if is_name or isinstance(node, exp.Bracket | exp.Dot):
            column = bind(scope, node)
            if isinstance(column, Column) and column in loose:
                written = render(column)
                instead = "BOOL_OR" if column.type is DataType.BOOLEAN else "MAX"
                hint = f"add it to GROUP BY, or aggregate it: {instead}({written})"
                message = f"{written} is neither grouped nor aggregated"
                if column.stream in scope.scalars:
                    message = "a SELECT inside of a view stands in WHERE and in aggregates alone"
                    hint = "name it in FROM, and group by its column: FROM …, (SELECT …) AS x"
                return scope.text.error(node_span(node), message, hint)
    assert scope.text.found, "a loose column stands somewhere"
    # In what a name stands for, which has been told already.
    return FollowingError("this is not known", place=scope.text.place(node_span(root)))
