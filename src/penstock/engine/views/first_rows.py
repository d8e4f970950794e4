"""Top-N: of the changes of all rows of a view, those of the rows that are shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.rows.accumulators import Columns
from penstock.engine.rows.columns import TS
from penstock.engine.views.interval_table import Versions, shown_name, with_change
from penstock.kernels.grouping import number_groups, order_keys
from penstock.kernels.ranking.first_rows import Asked, Events, Listed, Ranked, first_rows
from penstock.query.expression import Expression
from penstock.query.ranking import NUMBER, Order, Top
from penstock.query.view import Output, View

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class FirstChanges:
    """The results of the evaluations, and the rows that are shown after them."""

    results: pa.RecordBatch
    shown: pa.RecordBatch


def with_all_rows(view: View) -> View:
    """The view with all its rows, and with what they are ordered by among its outputs."""
    if view.top is None:
        return view
    outputs = [output for output in view.outputs if output.expression != NUMBER]
    known = {output.expression for output in outputs}
    # No output has a name as long as these.
    name = max((output.name for output in outputs), key=len, default="")
    more = [each for each in dict.fromkeys(_needed(view, view.top)) if each not in known]
    outputs += [Output(f"{name}#{n}", each) for n, each in enumerate(more)]
    return replace(view, outputs=tuple(outputs), top=None)


def _needed(view: View, top: Top) -> list[Expression]:
    orders = [order.by for order in top.orders(view.groups)]
    return [*view.groups, *top.parts, *orders, *([top.copies] if top.copies else [])]


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a view, by how all its rows change; those that `stay` do not.

    The versions are those of the view with all its rows.
    """

    view: View
    versions: Versions
    stay: pa.RecordBatch

    def changes(self, last: int) -> FirstChanges:
        """What changes among the first rows, and which there are after the tick `last`."""
        place, count = np.empty(self._size, np.int64), len(self._order)
        place[self._order] = np.arange(count)
        told = self.versions
        order = np.argsort(told.times, kind="stable")
        come, gone = (np.where(at >= 0, place[at], -1)[order] for at in (told.now, told.before))
        events = Events(told.times[order], come, gone)
        changed, shown = first_rows(self._ranked, events, self._there[self._order], self._asked)
        results = with_change(self._columns(changed), changed.times, changed.is_there)
        kept: Columns = {TS: pa.array(np.full(len(shown.rows), last))}
        kept |= {shown_name(name): values for name, values in self._columns(shown).items()}
        return FirstChanges(results, pa.RecordBatch.from_pydict(kept))

    @property
    def _top(self) -> Top:
        assert self.view.top is not None, "only views with a top are ranked"
        return self.view.top

    @property
    def _asked(self) -> Asked:
        is_numbered = any(output.expression == NUMBER for output in self.view.outputs)
        # No more than there are, so that it fits wherever it is counted.
        count = min(self._top.count, int(self._copies.sum()))
        return Asked(count, is_numbered, self._top.copies is not None)

    # Values

    @cached_property
    def _values(self) -> dict[Expression, pa.Array]:
        """What there is of all rows, by expression."""
        outputs = with_all_rows(self.view).outputs
        stay = (self.stay.column(shown_name(output.name)) for output in outputs)
        pairs = zip(outputs, self.versions.values, stay, strict=True)
        return {o.expression: pa.concat_arrays([told, stays]) for o, told, stays in pairs}

    @cached_property
    def _size(self) -> int:
        return len(next(iter(self._values.values())))

    @cached_property
    def _there(self) -> Bools:
        """Which rows are there before the ticks."""
        there = np.zeros(self._size, np.bool_)
        there[: self.versions.shown] = True
        there[self._size - len(self.stay) :] = True
        return there

    @cached_property
    def _copies(self) -> Int64s:
        copies = self._top.copies
        if copies is None:
            return np.ones(self._size, np.int64)
        found: Int64s = self._values[copies].to_numpy()
        return found

    def _columns(self, listed: Listed) -> Columns:
        """The outputs of some rows."""
        rows = pa.array(self._order[listed.rows])
        return {
            output.name: pa.array(listed.numbers)
            if output.expression == NUMBER
            else self._values[output.expression].take(rows)
            for output in self.view.outputs
        }

    # Order

    @cached_property
    def _parts(self) -> Int64s:
        return self._ids(list(self._top.parts))

    @cached_property
    def _order(self) -> Int64s:
        """The rows part by part, in the order of each."""
        keys: list[Int64s] = [self._parts]
        for order in self._top.orders(self.view.groups):
            keys += sort_keys(order, self._values[order.by])
        return np.lexsort(keys[::-1])

    @property
    def _ranked(self) -> Ranked:
        parts = self._parts[self._order]
        count = int(parts[-1]) + 1 if len(parts) else 0
        outputs = [o.expression for o in self.view.outputs if o.expression != NUMBER]
        return Ranked(
            parts,
            np.searchsorted(parts, np.arange(count + 1)),
            self._ids(list(self.view.groups))[self._order],
            self._ids(outputs)[self._order],
            self._copies[self._order],
        )

    def _ids(self, expressions: list[Expression]) -> Int64s:
        """A number for each row, equal for rows that are equal in these."""
        return number_groups([self._values[each] for each in expressions], self._size)[0]


def sort_keys(order: Order, column: pa.Array) -> list[Int64s]:
    """Whole numbers by which rows are ordered, the first of them first."""
    keys = order_keys(column)
    # The complement has the opposite order, also of the least number.
    keys = ~keys if order.descending else keys
    if not column.null_count:
        return [keys]
    is_null = column.is_null().to_numpy(zero_copy_only=False)
    is_last = is_null != order.nulls_first
    return [is_last.astype(np.int64), np.where(is_null, 0, keys)]
