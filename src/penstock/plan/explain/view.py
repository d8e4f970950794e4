"""A view explained: its groups and aggregates, in the words of the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.duration import Duration
from penstock.query import Aggregate, Call, Column, Expression, Query, View
from penstock.query.expression import render, substitute
from penstock.query.intervals import ENDS, end_name
from penstock.query.ranking import NUMBER, NUMBER_TEXT, Top
from penstock.query.types import DataType
from penstock.query.view import DISTINCT, EAGER


@dataclass(frozen=True)
class ViewFigures:
    """A view as SQL; `every` is None where it is evaluated whenever a window changes."""

    groups: tuple[str, ...]
    aggregates: tuple[str, ...]
    having: str | None
    every: str | None
    top: str | None = None
    """Which rows are shown, where these are the first alone."""

    @property
    def when(self) -> str:
        """`every 10 SECONDS`, or whenever a window changes."""
        return f"every {self.every}" if self.every else "whenever a window changes"

    def __str__(self) -> str:
        by = f" by {', '.join(self.groups)}" if self.groups else " in total"
        having = f", having {self.having}" if self.having else ""
        top = f", {self.top}" if self.top else ""
        return f"{', '.join(self.aggregates) or 'groups'}{by}{having}{top}, {self.when}"


def view_of(query: Query) -> ViewFigures | None:
    """The view of a query, if it has one."""
    view = query.view
    if view is None:
        return None
    meanings = _meanings(query, view)
    return ViewFigures(
        groups=tuple(render(meanings[group]) for group in view.groups),
        aggregates=tuple(render(meanings[each.column]) for each in view.aggregates),
        having=None if view.having is None else render(substitute(view.having, meanings)),
        every=None if view.every == EAGER else str(Duration(view.every)),
        top=None if view.top is None else str(_explained(view.top, meanings)),
    )


def _explained(top: Top, meanings: Mapping[Expression, Expression]) -> Top:
    """The first rows in the words of the query."""
    order = tuple(replace(each, by=substitute(each.by, meanings)) for each in top.order)
    parts = tuple(substitute(each, meanings) for each in top.parts)
    return replace(top, order=order, parts=parts)


def outputs_of(query: Query) -> tuple[tuple[str, str], ...]:
    """The columns of the results by name, with what they are in the words of the query."""
    meanings = {} if query.view is None else _meanings(query, query.view)
    return tuple((o.name, render(substitute(o.expression, meanings))) for o in query.results)


def _meanings(query: Query, view: View) -> dict[Expression, Expression]:
    """The expressions that the columns of the join and of the view stand for."""
    joined: dict[Expression, Expression] = {
        Column("", output.name, output.expression.type): output.expression
        for output in query.outputs
    }
    aggregates: dict[Expression, Expression] = {NUMBER: Column("", NUMBER_TEXT, NUMBER.type)}
    for each in view.aggregates:
        text = _render_aggregate(each, joined)
        aggregates[each.column] = Column("", text, each.type)
        for end in ENDS:
            bound = Column("", end_name(each, end), DataType.DOUBLE)
            aggregates[bound] = Column("", f"{end} end of {text}", DataType.DOUBLE)
    return joined | aggregates


def _render_aggregate(aggregate: Aggregate, joined: dict[Expression, Expression]) -> str:
    of = "*" if aggregate.argument is None else render(joined[aggregate.argument])
    if aggregate.argument is not None and aggregate.function in ("min_by", "max_by"):
        pair = joined[aggregate.argument]
        assert isinstance(pair, Call), "they are of pairs"
        of = ", ".join(map(render, reversed(pair.arguments)))
    if aggregate.function in DISTINCT:
        of = f"DISTINCT {of}"
    if aggregate.fraction is not None:
        of = f"{of}, {float(aggregate.fraction):g}"
    return f"{aggregate.written}({of})"
