"""The figures of `bench intervals` as text for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.table import table


def intervals_text(made: Mapping[str, Any]) -> str:
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


def _cell(found: Mapping[str, Any]) -> str:
    if not found["given"]:
        return "none"
    told = f"{found['given_where_tellable']:.0%}" if found["tellable"] else "-"
    return f"{found['coverage']:.1%}, {told}"


def _sums(found: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, str]:
    kinds = ("without_width", "below_zero")
    one, other = (str(sum(found[name][kind] for name in names)) for kind in kinds)
    return one, other
