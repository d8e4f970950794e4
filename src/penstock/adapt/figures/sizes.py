"""Sizes of a batch: how many tuples of each input were new, and how many were met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf

from penstock.engine.reports.parts import OperatorReport
from penstock.engine.reports.report import Report
from penstock.engine.state.modules import Module
from penstock.query import Query


@dataclass(frozen=True)
class Sizes:
    """Tuples of each stream of a batch: `new` ones, and `rows` in windows after it; `tables` have
    the same rows in all batches."""

    new: Mapping[str, float]
    rows: Mapping[str, float]
    tables: frozenset[str] = frozenset()

    @classmethod
    def of(cls, report: Report, query: Query) -> Sizes:
        """The sizes that a report tells."""
        new = {alias: float(each.tuples - each.shed) for alias, each in report.inputs.items()}
        tables = frozenset(item.alias for item in query.inputs if item.is_table)
        return cls(new, window_rows(report), tables)

    def met(self, alias: str) -> float:
        """The tuples that those of other inputs have met; of an unknown input, any number."""
        return max(self.new.get(alias, inf), self.rows.get(alias, 0.0))

    def trials(self, operator: OperatorReport, inputs: Iterable[str]) -> tuple[float, float]:
        """Independent rows of an operator that looks at some inputs, and the part that is fresh.

        Combinations that have a tuple in common pass or fail together, as if the input of the
        fewest tuples decided alone.
        """
        rows, driver = float(operator.went_in), operator.driver
        streams = [alias for alias in inputs if alias not in self.tables]
        met = (self.new.get(a, inf) if a == driver else self.met(a) for a in streams)
        trials = min((rows, *met))
        fresh = min((trials, *(self.new.get(a, inf) for a in streams)))
        return trials, fresh / trials if trials else 0.0


def window_rows(report: Report) -> dict[str, float]:
    """The rows of each input's window, and of inner joins, by name."""
    found = {kept_in(name): float(each.tuples) for name, each in report.modules.items()}
    return {name: rows for name, rows in found.items() if name is not None}


@cache
def kept_in(module: str) -> str | None:
    """The input or inner join whose rows a module holds, if it does."""
    place = Module(module).place
    return None if place is None else place[0]
