"""Shedding: the drop boxes of a plan, before its windows."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from penstock.engine.rows.columns import ARRIVAL
from penstock.kernels.drop import keeps
from penstock.plan.plan import Plan


def kept_tuples(plan: Plan, tuples: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tuples that the drop boxes of a plan let through, by alias."""
    return {alias: _kept(plan, alias, rows) for alias, rows in tuples.items()}


def _kept(plan: Plan, alias: str, rows: pa.Table) -> pa.Table:
    fraction = plan.drops.fraction(alias)
    if fraction >= 1.0:
        return rows
    numbers = rows.column(ARRIVAL).to_numpy()
    return rows.filter(pa.array(keeps(plan.drops.seed, alias, numbers, fraction)))
