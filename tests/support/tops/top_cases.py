"""Random views of which only the first rows are shown, and the first tuples of random joins."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from penstock.duration import MICROS
from penstock.query import Aggregate, Column, Expression, Output, View
from penstock.query.ranking import NUMBER, Order, Top
from support.streams.cases import Case, random_case, random_view

_COUNTS = (1, 1, 2, 3, 5, 2**40)


def random_top(seed: int) -> Case:
    """The random view of a seed, with its first rows, in all or of each part of them."""
    return with_first_rows(random_view(seed), Random(f"top {seed}"))


def random_tuples(seed: int) -> Case:
    """The random join of a seed, of which a view shows the first results."""
    return with_first_tuples(random_case(seed), Random(f"tuples {seed}"))


def with_first_rows(case: Case, rng: Random) -> Case:
    """A case with a view, of which the first rows are shown, in all or of each part of them."""
    view = case.query.view
    assert view is not None
    columns: list[Expression] = [*view.groups, *(each.column for each in view.aggregates)]
    parts = () if rng.random() < 0.4 else tuple(rng.sample(columns, 1))
    top = Top(rng.choice(_COUNTS), _orders(rng, columns), parts)
    outputs = view.outputs
    if rng.random() < 0.4:
        # Not all that decides the order is shown.
        outputs = tuple(rng.sample(outputs, rng.randint(1, len(outputs))))
    view = replace(view, outputs=_numbered(rng, outputs), top=top)
    return replace(case, query=replace(case.query, view=view))


def with_first_tuples(case: Case, rng: Random) -> Case:
    """A case with a join, of which a view shows the first results."""
    joined = rng.sample(case.query.outputs, rng.randint(1, len(case.query.outputs)))
    groups = [Column("", f"#g{n}", of.expression.type) for n, of in enumerate(joined)]
    counted = Aggregate("#0", "count", None)
    parts = () if rng.random() < 0.3 else tuple(rng.sample(groups, 1))
    shown = rng.sample(groups, rng.randint(1, len(groups)))
    outputs = tuple(Output(f"c{n}", column) for n, column in enumerate(shown))
    view = View(
        tuple(groups),
        (counted,),
        _numbered(rng, outputs),
        every=rng.choice((MICROS, 5 * MICROS, 30 * MICROS)),
        top=Top(rng.choice(_COUNTS), _orders(rng, groups), parts, counted.column),
    )
    named = zip(groups, joined, strict=True)
    given = tuple(Output(column.name, of.expression) for column, of in named)
    return replace(case, query=replace(case.query, outputs=given, view=view))


def _orders(rng: Random, columns: list[Expression] | list[Column]) -> tuple[Order, ...]:
    chosen = rng.sample(columns, rng.randint(1, min(2, len(columns))))
    return tuple(Order(by, rng.random() < 0.6, rng.random() < 0.5) for by in chosen)


def _numbered(rng: Random, outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    """The outputs, mostly with the number of a row among them."""
    at = rng.randint(0, len(outputs))
    number = (Output("place", NUMBER),) if rng.random() < 0.6 else ()
    return (*outputs[:at], *number, *outputs[at:])
