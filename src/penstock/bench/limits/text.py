"""The figures of `bench limits` for people."""

from __future__ import annotations

from penstock.bench.limits.run import LimitsDocument
from penstock.table import table


def limits_text(made: LimitsDocument) -> str:
    """A row for each limit, with what was promised and whether it is kept."""
    rows = [
        (
            each["name"],
            f"{each['found']:.2f}",
            each["unit"],
            f"{each['promised']:g}",
            _kept(each["is_kept"]),
        )
        for each in made["limits"]
    ]
    return "\n".join(
        (
            f"join3 on Spark, steady: {made['join3_tuples_per_s']:,} tuples/s; at its limits, "
            f"medians of {made['repeat']}:",
            "",
            *table(("limit", "found", "", "promised", ""), rows),
            "",
        )
    )


def _kept(is_kept: bool) -> str:
    return "kept" if is_kept else "NOT kept"
