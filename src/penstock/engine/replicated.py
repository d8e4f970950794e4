"""Replicated: the sums over join results from which a view is estimated where streams are shed.

Each result counts by the product of its members' weights (Horvitz-Thompson), in every replicate by
the product of their weights there. Sums over results are lanes of the calendar, as exact ones are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.lanes import Columns, Groups, as_lists, as_rows, count_of, value_lanes
from penstock.engine.layout import Layout
from penstock.engine.samples import (
    certain,
    exact_values,
    lot_of,
    marks_of,
    results_quantities,
    sum_of,
    weight_of,
)
from penstock.kernels.grouping import bits_by
from penstock.kernels.replicates import (
    FIRST,
    RESULTS_WIDTH,
    TOTAL,
    TUPLES_WIDTH,
    facts_of,
    marks,
    totals,
    weighed_results,
)
from penstock.query.expression import streams_of
from penstock.query.view import View

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


def result_lanes(view: View, sampled: Iterable[str]) -> dict[str, pa.DataType]:
    """The lanes of a calendar by name: a view's sums, and the marks of each sampled input."""
    marked = {marks_of(alias): pa.int64() for alias in sorted(sampled)}
    if not marked:
        return {}
    sums = pa.list_(pa.float64(), RESULTS_WIDTH)
    return {sum_of(name): sums for name in results_quantities(view)} | marked


def certain_lanes(rows: pa.RecordBatch, names: Iterable[str]) -> Columns:
    """Lanes of results from before an input was shed; of how many tuples they are is not known."""
    lanes: Columns = {}
    for name in names:
        kind, _, quantity = name.partition(":")
        unknown = pa.array(np.zeros(len(rows), np.int64))
        is_sum = kind == "=r"
        lanes[name] = certain(exact_values(rows, quantity), RESULTS_WIDTH) if is_sum else unknown
    return lanes


def replicated(layout: Layout, results: pa.RecordBatch, values: Columns, groups: Groups) -> Columns:
    """The lanes of the groups of results; `values` are the arguments not in lanes of an input."""
    view = layout.query.view
    assert view is not None, "only views are estimated"
    members = _Members(layout, results, groups)
    lanes: Columns = {marks_of(alias): members.marks(alias) for alias in layout.sampled}
    read = {o.name: layout.sampled & streams_of(o.expression) for o in layout.query.outputs}
    shared: dict[str, tuple[Floats, Floats]] = {}
    for quantity in results_quantities(view):
        argument = quantity.partition(":")[2]
        times = members.repeated()
        if not argument:
            shared[quantity] = times, members.facts(facts_of(np.ones(len(times))), frozenset())
        elif argument in values:
            exact = pa.RecordBatch.from_pydict(value_lanes(view, argument, values[argument]))
            single = exact_values(exact, quantity)
            shared[quantity] = single * times, members.facts(facts_of(single), read[argument])
        elif (owner := layout.owners[argument]) in layout.sampled:
            own = {quantity: (times, members.own_facts(owner, quantity))}
            lanes |= members.summed(own, {owner: quantity})
        else:
            folded = exact_values(results, quantity) * members.repeated(but=owner)
            # What such values are like is not known of folded ones, and so never told.
            shared[quantity] = folded, members.facts(facts_of(np.ones(len(times))), frozenset())
    return lanes | (members.summed(shared, {}) if shared else {})


@dataclass(frozen=True)
class _Members:
    """What join results are made of: tuples or folded rows of inputs, sampled or whole."""

    layout: Layout
    results: pa.RecordBatch
    groups: Groups

    def repeated(self, but: str = "") -> Floats:
        """How many results each row stands for by the folded inputs that are not sampled."""
        whole = self.layout.weighted - self.layout.sampled - {but}
        counts = [self._column(count_of(alias)) for alias in sorted(whole)]
        product: Floats = np.multiply.reduce([np.ones(len(self.groups.ids)), *counts])
        return product

    def facts(self, single: Floats, read: frozenset[str]) -> Floats:
        """The facts of each row, by those of its value, which is of the sampled inputs `read`."""
        unseen = self._all_but_kept(self.layout.sampled)
        told = self._all_but_kept(read) * self._all(self.layout.sampled - read)
        found: Floats = np.concatenate([unseen[np.newaxis], single[1:] * told])
        return found * self.repeated()

    def own_facts(self, owner: str, quantity: str) -> Floats:
        """The facts of each row, by those that a folded input has of its own values."""
        own = as_rows(self.results.column(sum_of(quantity)))[:, TOTAL:FIRST].T
        unseen = self._all_but_kept(self.layout.sampled)
        told = own[1:] * self._all(self.layout.sampled - {owner})
        found: Floats = np.concatenate([unseen[np.newaxis], told])
        return found * self.repeated()

    def _all(self, aliases: frozenset[str]) -> Floats:
        """How many combinations of these inputs each row stands for."""
        found: Floats = np.multiply.reduce([self._ones, *map(self._stands_for, sorted(aliases))])
        return found

    def _all_but_kept(self, aliases: frozenset[str]) -> Floats:
        folded = sorted(aliases & self.layout.weighted)
        kept = np.multiply.reduce([self._ones, *(self._column(count_of(a)) for a in folded)])
        found: Floats = self._all(aliases) - kept
        return found

    def _stands_for(self, alias: str) -> Floats:
        if alias not in self.layout.weighted:
            return self._column(weight_of(alias))
        return totals(as_rows(self.results.column(sum_of(f"n:{alias}"))))

    @property
    def _ones(self) -> Floats:
        return np.ones(len(self.groups.ids))

    def summed(
        self, values: Mapping[str, tuple[Floats, Floats]], own: Mapping[str, str]
    ) -> Columns:
        """The lanes of sums of values over results, and of their facts; `own` inputs count by a
        quantity of theirs."""
        sampled, size = sorted(self.layout.sampled), len(self.groups.ids)
        folded = [alias for alias in sampled if alias in self.layout.weighted]
        tuples = [alias for alias in sampled if alias not in self.layout.weighted]
        sums = [as_rows(self.results.column(sum_of(own.get(a, f"n:{a}")))) for a in folded]
        weights = [self._column(weight_of(alias)) for alias in tuples]
        tickets = [self._column(lot_of(alias)) for alias in tuples]
        found = weighed_results(
            self.groups.ids,
            self.groups.count,
            np.array([each for each, _ in values.values()]),
            np.array([facts for _, facts in values.values()]),
            np.array(weights).reshape(len(tuples), size),
            np.array(tickets, np.int64).reshape(len(tuples), size),
            np.array(sums).reshape(len(folded), size, TUPLES_WIDTH),
        )
        return {sum_of(name): as_lists(rows) for name, rows in zip(values, found, strict=True)}

    def marks(self, alias: str) -> pa.Array:
        """The marks of an input's tuples in each group."""
        is_folded = alias in self.layout.weighted
        bits = self._column(marks_of(alias)) if is_folded else marks(self._column(lot_of(alias)))
        return pa.array(bits_by(self.groups.ids, self.groups.count, bits))

    def _column(self, name: str) -> NDArray[Any]:
        values: NDArray[Any] = self.results.column(name).to_numpy()
        return values
