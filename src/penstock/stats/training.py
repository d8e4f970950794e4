"""Training tuples: a sample of one stream, condensed, and what operators make of them (QM)."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.query import Query

Value = float | str | None


@dataclass(frozen=True)
class Training:
    """Tuples of `driver` that stand for all of it: the parts in `weights` add up to 1.

    `values[t]` are a tuple's `attributes` (columns of the driver; a boolean is 0 or 1, a time its
    microseconds, a date its days). `yields[t]` says for each of `operators` how many rows come out
    for one that goes in: the text of a filter of the driver (the part of such tuples that pass), or
    the alias of another input (its rows in the window that match).
    """

    driver: str
    attributes: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    weights: tuple[float, ...]
    operators: tuple[str, ...]
    yields: tuple[tuple[float, ...], ...]


def operators_of(query: Query, driver: str) -> tuple[str, ...]:
    """The operators of a stream's routes: the texts of its filters, and the other inputs.

    Among the filters are those that wait for the joins.
    """
    conditions = (*query.filters, *query.thetas)
    filters = (str(c) for c in conditions if c.streams == {driver})
    return (*filters, *(alias for alias in query.aliases if alias != driver))
