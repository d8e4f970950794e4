"""SELECT: its windows, inputs, conditions and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from penstock.cql.reading.dialect import Token, node_span
from penstock.cql.reading.scope import Scope
from penstock.cql.reading.text import Text
from penstock.cql.select.aggregates import asks_for_view
from penstock.cql.select.clauses import parse_clauses
from penstock.cql.select.inputs import bind_inputs, one_rows
from penstock.cql.select.joins import read_from
from penstock.cql.select.outer.bound_joins import bind_joins
from penstock.cql.select.outputs import bind_outputs
from penstock.cql.select.ranking.ranking import ranking_of
from penstock.cql.select.relations.presence import of_rows_there
from penstock.cql.select.view import bind_view
from penstock.cql.select.windows import cut_windows
from penstock.errors import SqlError
from penstock.query.function import Function
from penstock.query.members import with_members
from penstock.query.query import Query
from penstock.query.source import Source

_CLAUSES = {
    *("distinct", "expressions", "from_", "joins", "where", "group", "having"),
    *("qualify", "order", "limit", "offset"),
}


def parse_select(
    text: Text,
    tokens: Sequence[Token],
    sources: Mapping[str, Source],
    functions: Mapping[str, Function],
    scalars: Sequence[Source] = (),
) -> Query:
    """The query of a SELECT statement over sources; `scalars` are views of one row that are in its
    expressions, and inputs like those of FROM."""
    text = replace(text, marks={})
    rest, brackets = cut_windows(text, tokens)
    tree, every = parse_clauses(text, rest, _names(sources))
    _check_clauses(text, tree)
    read, ranking = read_from(text, tree), None
    unranked: SqlError | None = None
    try:
        ranking = ranking_of(text, tree)
    except SqlError as error:
        text.note(error)
        unranked = error
    is_view = asks_for_view(tree) or ranking is not None
    inputs = bind_inputs(text, read.tables, brackets, sources, is_view=is_view)
    inner = one_rows(text, tree, inputs, scalars)
    names = tuple(item.alias for item in inner)
    scope = Scope(text, (*inputs, *inner), functions, scalars=names)
    joins = bind_joins(scope, read, is_view=is_view).only(of_rows_there(scope))
    scope = replace(scope, inputs=joins.shown)
    if unranked is not None:
        raise unranked
    if is_view:
        joined, view = bind_view(scope, tree, every, joins.inputs, ranking)
        return with_members(joins.query(joined, view, text))
    if every is not None and not tree.args.get("order"):
        hint = "leave it out; the results of a join come as they arise"
        text.note(text.error(every.span, "EVERY needs groups or aggregates", hint))
    outputs = bind_outputs(scope, tree.expressions)
    return with_members(joins.query(outputs, None, text))


def _names(sources: Mapping[str, Source]) -> frozenset[str]:
    """The names of sources and of their columns, in lower case."""
    columns = {field.name.lower() for source in sources.values() for field in source.fields}
    return frozenset({*sources, *columns})


def _check_clauses(text: Text, tree: exp.Expr) -> None:
    for name, clause in tree.args.items():
        if clause and name not in _CLAUSES:
            part = clause[0] if isinstance(clause, list) else clause
            span = node_span(part if isinstance(part, exp.Expr) else tree)
            text.note(text.error(span, "this clause is not in the language", "leave it out"))
    if not tree.expressions:
        raise text.error(node_span(tree), "SELECT lists no columns", "write SELECT * for all")
    if not tree.args.get("from_"):
        raise text.error(
            node_span(tree), "SELECT has no FROM", "add FROM stream [RANGE 10 SECONDS]"
        )
