"""The figures of `bench intervals` as text for people."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.bench.intervals.run import AggregateFigures, IntervalsDocument
from penstock.table import table


def intervals_text(made: IntervalsDocument) -> str:
    """A row for each setting, two columns for each aggregate, then what was missed."""
    setting = made["setting"]
    names = setting["aggregates"]
    heading = ("coverage, given where the truth can be told", *names.values(), "no width", "< 0")
    rows = [
        (name, *(_cell(found[each]) for each in names), *_sums(found, names))
        for name, found in made["settings"].items()
    ]
    promise = f"at least {setting['least_coverage']:.0%} and {setting['least_given']:.0%}"
    missed = [f"missed: {what}" for what in made["missed"]] or ["nothing is missed"]
    return "\n".join(
        [
            f"95 % intervals of shed views, each setting shed {setting['seeds']} times at each of "
            f"{len(setting['kept'])} fractions; promised are {promise}",
            "",
            *table(heading, rows),
            "",
            *missed,
        ]
    ) + "\n"  # fmt: skip


def _cell(found: AggregateFigures) -> str:
    if not found["given"]:
        return "none"
    told = f"{found['given_where_tellable']:.0%}" if found["tellable"] else "-"
    return f"{found['coverage']:.1%}, {told}"


def _sums(found: Mapping[str, AggregateFigures], names: Mapping[str, str]) -> tuple[str, str]:
    return (
        str(sum(found[name]["without_width"] for name in names)),
        str(sum(found[name]["below_zero"] for name in names)),
    )
