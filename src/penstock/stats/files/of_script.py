"""The stats file of a script: each table is given to the queries that have what it is of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.errors import StatsError
from penstock.query import Query
from penstock.query.script import Script
from penstock.stats.files.load import from_data, read_tables
from penstock.stats.files.predicates import Finder
from penstock.stats.statistics import Statistics

_PARTED = ("streams", "joins", "filters")


def load_script(path: str | Path, script: Script) -> dict[str, Statistics]:
    """The statistics of every query of a script, by its name; StatsError for what is of none."""
    data, file = read_tables(path), str(path)
    if "training" in data or "untrained" in data:
        hint = "leave it out; meshes are planned for scripts of one query"
        raise StatsError(
            f"{file}: training is of one query, and the script asks several", hint=hint
        )
    for kind in _PARTED:
        _check_owned(kind, data, script, file)
    return {
        member.name: from_data(_own(data, member.query, file), member.query, file)
        for member in script.members
    }


def _own(data: Mapping[str, Any], query: Query, file: str) -> dict[str, Any]:
    """What is of one query, and what is of all."""
    own = dict(data)
    for kind in _PARTED:
        if isinstance(data.get(kind), dict):
            tables = data[kind].items()
            own[kind] = {name: each for name, each in tables if _has(query, kind, name, file)}
    return own


def _check_owned(kind: str, data: Mapping[str, Any], script: Script, file: str) -> None:
    """Nothing, if every table is of a query."""
    tables = data.get(kind, {})
    for name in tables if isinstance(tables, dict) else ():
        if not any(_has(member.query, kind, name, file) for member in script.members):
            # The mistake is told as if the script had asked its last query alone.
            from_data({kind: {name: tables[name]}}, script.members[-1].query, file)


def _has(query: Query, kind: str, name: str, file: str) -> bool:
    if kind == "streams":
        names = (each for item in query.inputs for each in (item.alias, item.source.name))
        return name.lower() in map(str.lower, names)
    finder = Finder(query, file)
    try:
        finder.join(name) if kind == "joins" else finder.filter(name)
    except StatsError:
        return False
    return True
