"""Replicated: the sums over join results from which a view is estimated where streams are shed.

Each result counts by the product of its members' weights (Horvitz-Thompson), in every replicate by
the product of their weights there. Sums over results are lanes of the table, as exact ones are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.accumulators import Columns, Groups, as_lists
from penstock.engine.rows.lanes import Lane, LaneKind, count_of, lot_of, marks_of, weight_of
from penstock.engine.rows.layout import Layout
from penstock.engine.rows.references import table_and_places
from penstock.engine.rows.sample_weights import certain, exact_values, results_quantities
from penstock.engine.rows.value_lanes import value_lanes
from penstock.kernels.compiled import read_only
from penstock.kernels.grouping import bits_by
from penstock.kernels.replicates import (
    RESULTS_WIDTH,
    marks,
    totals,
    weighed_results,
)
from penstock.query.expression import streams_of
from penstock.query.view import View

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


def result_lanes(view: View, sampled: Iterable[str]) -> dict[str, pa.DataType]:
    """The lanes of the table by name: a view's sums, and the marks of each sampled input."""
    marked = {str(marks_of(alias)): pa.int64() for alias in sorted(sampled)}
    if not marked:
        return {}
    sums = pa.list_(pa.float64(), RESULTS_WIDTH)
    return {str(quantity.estimate): sums for quantity in results_quantities(view)} | marked


def certain_lanes(rows: pa.RecordBatch, names: Iterable[str]) -> Columns:
    """Lanes of results from before an input was shed; of how many tuples they are is not known."""
    lanes: Columns = {}
    for name in names:
        lane = Lane.parse(name)
        if lane.kind is LaneKind.ESTIMATE:
            lanes[name] = certain(exact_values(rows, lane.estimated), RESULTS_WIDTH)
        else:
            lanes[name] = pa.array(np.zeros(len(rows), np.int64))
    return lanes


def replicated(layout: Layout, results: pa.RecordBatch, values: Columns, groups: Groups) -> Columns:
    """The lanes of the groups of results; `values` are the arguments not in lanes of an input."""
    view = layout.query.view
    assert view is not None, "only views are estimated"
    members = _Members(layout, results, groups)
    lanes: Columns = {str(marks_of(alias)): members.marks(alias) for alias in layout.sampled}
    read = {o.name: layout.sampled & streams_of(o.expression) for o in layout.query.outputs}
    single = _Values()
    folded: dict[str, _Values] = {}
    for quantity in results_quantities(view):
        argument = quantity.argument
        if not argument:
            single.add(quantity, members.ones, members.ones * 0.0)
        elif argument in values:
            exact = pa.RecordBatch.from_pydict(value_lanes(view, argument, values[argument]))
            told = members.unseen(read[argument]) * members.times(layout.sampled - read[argument])
            single.add(quantity, exact_values(exact, quantity), told * members.repeated)
        elif (owner := layout.owners[argument]) in layout.sampled:
            told = members.times(layout.sampled - {owner}) * members.repeated
            own = _Values().add(quantity, members.ones, told)
            lanes |= members.summed(own, members.repeated, owner)
        else:
            # A sum over folded values does not say what they are like, so no plan asks for it.
            folded.setdefault(owner, _Values()).add(
                quantity, exact_values(results, quantity), members.ones * 0.0
            )
    if single.quantities:
        lanes |= members.summed(single, members.repeated)
    for owner, sums in folded.items():
        lanes |= members.summed(sums, members.repeated_but(owner))
    return lanes


@dataclass(frozen=True)
class _Values:
    """Values of results by quantity, and of how many results that are not there they tell."""

    quantities: list[Lane] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    told: list[Floats] = field(default_factory=list)

    def add(self, quantity: Lane, values: Floats, told: Floats) -> _Values:
        """With one more."""
        self.quantities.append(quantity)
        self.values.append(values)
        self.told.append(told)
        return self


@dataclass(frozen=True)
class _Members:
    """The members of join results: tuples or folded rows of inputs, sampled or whole."""

    layout: Layout
    results: pa.RecordBatch
    groups: Groups

    @cached_property
    def ones(self) -> Floats:
        """One for each row."""
        return np.ones(len(self.groups.ids))

    @cached_property
    def repeated(self) -> Floats:
        """How many results each row stands for by the folded inputs that are not sampled."""
        return self.repeated_but("")

    def repeated_but(self, owner: str) -> Floats:
        """The same without those of one input."""
        whole = sorted(self.layout.weighted - self.layout.sampled - {owner})
        return self._product([self._column(count_of(alias)) for alias in whole])

    def times(self, aliases: frozenset[str]) -> Floats:
        """How many combinations of sampled inputs each row stands for."""
        return self._product([self._weights[alias] for alias in sorted(aliases)])

    def unseen(self, aliases: frozenset[str]) -> Floats:
        """How many of these combinations are not there."""
        folded = sorted(aliases & self.layout.weighted)
        kept = self._product([self._column(count_of(alias)) for alias in folded])
        return self.times(aliases) - kept

    @cached_property
    def _weights(self) -> Mapping[str, Floats]:
        return {
            alias: self._totals(count_of(alias).estimate)
            if alias in self.layout.weighted
            else self._column(weight_of(alias))
            for alias in self.layout.sampled
        }

    def _totals(self, lane: Lane) -> Floats:
        table, places = table_and_places(self.results.column(str(lane)))
        return totals(table)[places]

    def _product(self, factors: Sequence[NDArray[Any]]) -> Floats:
        found: Floats = reduce(np.multiply, factors, self.ones)
        return found

    def summed(self, of: _Values, repeats: Floats, owner: str = "") -> Columns:
        """The lanes of sums of values over results; the owner counts by a quantity of its own."""
        sampled, size = sorted(self.layout.sampled), len(self.groups.ids)
        folded = [alias for alias in sampled if alias in self.layout.weighted]
        tuples = [alias for alias in sampled if alias not in self.layout.weighted]
        weights = [of.quantities[0] if a == owner else count_of(a) for a in folded]
        sums = [table_and_places(self.results.column(str(each.estimate))) for each in weights]
        tickets = [self._column(lot_of(alias)) for alias in tuples]
        found = weighed_results(
            self.groups.ids,
            self.groups.count,
            np.array(of.values),
            repeats,
            self.unseen(self.layout.sampled) * self.repeated,
            np.array(of.told),
            folded.index(owner) if owner else -1,
            np.array([self._weights[alias] for alias in tuples]).reshape(len(tuples), size),
            np.array(tickets, np.int64).reshape(len(tuples), size),
            sums,
        )
        pairs = zip(of.quantities, found, strict=True)
        return {str(quantity.estimate): as_lists(rows) for quantity, rows in pairs}

    def marks(self, alias: str) -> pa.Array:
        """The marks of an input's tuples in each group."""
        is_folded = alias in self.layout.weighted
        bits = self._column(marks_of(alias)) if is_folded else marks(self._column(lot_of(alias)))
        return pa.array(bits_by(self.groups.ids, self.groups.count, read_only(bits)))

    def _column(self, lane: Lane) -> NDArray[Any]:
        values: NDArray[Any] = self.results.column(str(lane)).to_numpy()
        return values
