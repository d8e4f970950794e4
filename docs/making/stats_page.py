"""The page of the stats file: every table and key that is read, and what it may be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, get_origin

from pydantic import TypeAdapter, ValidationError

from documented import fields_of, first_line, table
from penstock.stats.costs import Costs
from penstock.stats.files import schema

_HEAD = """\
# The stats file

What a stats file may say, as the code reads it; [the planner](../planner.md#what-it-goes-by) says
what it makes of that, and has an example. Everything may be left out. A figure is a number, which
is then *declared*, or a table of its `value`, its `origin` (`declared`, `sampled`, `measured`) and
its `error`. Keys that are not listed here are refused.
"""
_TITLES: Mapping[type[schema.Table], str] = {
    schema.StatsFile: "At the top",
    schema.StreamTable: "[streams.A]",
    schema.WindowCostsTable: "costs of [streams.A]",
    schema.ConditionTable: "[joins] and [filters]",
    schema.CostsTable: "[costs]",
    schema.TrainingTable: "[training.A]",
}
_NO_NUMBER = {dict: "a table", list: "a list", str: "a text"}


def stats_page() -> str:
    """All of it."""
    return "\n\n".join([_HEAD, *(_section(title, kind) for kind, title in _TITLES.items())]) + "\n"


def _section(title: str, kind: type[schema.Table]) -> str:
    costs = {each.name: each.text for each in fields_of(Costs)}
    texts = {each.name: each.text or costs.get(each.name, "") for each in fields_of(kind)}
    rows = [
        (f"`{name}`", _demand(field.annotation, field.metadata), texts[name])
        for name, field in kind.model_fields.items()
    ]
    text = first_line(kind) if first_line(kind).strip("`") != title else ""
    return "\n\n".join([f"## {title}", text, table(("key", "is", ""), rows)])


def _demand(kind: Any, metadata: list[Any]) -> str:
    """What a number must be, as the error says that one gets for a number that no figure can be."""
    checked: TypeAdapter[Any] = TypeAdapter(kind)
    for check in metadata:
        checked = TypeAdapter(Annotated[kind, check])
    try:
        checked.validate_python(-1.0)
    except ValidationError as error:
        if found := re.search(r"is -1(?:\.0)?, but must be ([^\[\n]*)", str(error)):
            return found[1].strip()
    return _NO_NUMBER.get(get_origin(kind) or kind, "a table" if "Table" in str(kind) else "a text")
