"""Stats files: what is known of a query's streams, in TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from penstock.cql.reading.nearest import listed, nearest
from penstock.errors import Caret, StatsError
from penstock.figure import Figure
from penstock.query import Query
from penstock.stats.costs import Costs
from penstock.stats.files.owners import figures_by_alias
from penstock.stats.files.predicates import Finder
from penstock.stats.files.schema import (
    TABLES,
    ConditionTable,
    StatsFile,
    Table,
    TrainingFile,
    TrainingTable,
    WindowCostsTable,
)
from penstock.stats.files.trained import training_by_alias, untrained_by_alias
from penstock.stats.statistics import GivenCondition, Group, Statistics

Key = TypeVar("Key")
Value = TypeVar("Value")
Checked = TypeVar("Checked", bound=Table)

_HERE = Path()

# Sampled figures are written with six digits.
_ROUNDED = 1 + 1e-5

_UNITS = {
    "capacity": "CPU-seconds per second; 1.0 is one core",
    "rows_warmup": "seconds; inf for none",
    "horizon": "seconds, or a text such as '1 hour'",
    "memory": "bytes for windows, indexes and inner results, or a text such as '64 MB'",
    "rate": "tuples per second; leave a stream that never sends out of the query",
    "cardinality": "all tuples of a finite stream; leave it out where a stream has no end",
    "distinct": "how many different values a column has",
    "cells": "how many different rows an aggregation set of the input can have",
    "variation": "standard deviation of the tuples of a second over their mean: 0.3 is 30 %",
    "unique": "keys that no two tuples have in common, such as ['id', ['shop', 'item']]",
    "selectivity": "the fraction that passes: 0.1 for one in ten",
    "cost": "seconds for one evaluation; of an equality, for each tuple that arrives at its join",
    "training": "penstock analyze writes this part: let it sample the sources again",
    "streams.costs": "seconds for one tuple at the window of this input: insert, probe, expire",
    "costs": "seconds for one tuple; join alone, or insert, probe, expire, move, hash, compare",
}


_FAULTS = {
    "missing": "is missing",
    "list_type": "must be an array",
    "string_type": "must be a text",
}


def load(path: str | Path, query: Query) -> Statistics:
    """The statistics of a file, with the training in the file beside it that it names; StatsError,
    with file and key, for what cannot be."""
    text = _read(Path(path), "penstock analyze writes one")
    return loads(text, query, str(path), Path(path).parent)


def read_tables(path: str | Path) -> dict[str, Any]:
    """The tables of a file, whatever they are of."""
    return _tables(_read(Path(path), "penstock analyze writes one"), str(path))


def loads(text: str, query: Query, file: str = "stats", folder: Path = _HERE) -> Statistics:
    """The statistics in a TOML text; `file` is how messages call it, `folder` where what it names
    lies."""
    return from_data(_tables(text, file), query, file, folder)


def from_data(
    data: Mapping[str, Any], query: Query, file: str = "stats", folder: Path = _HERE
) -> Statistics:
    """The statistics in tables as TOML gives them."""
    name, training, trained = data.get("training"), None, file
    if isinstance(name, str):
        data = {key: value for key, value in data.items() if key != "training"}
        training, trained = _apart(folder / name, file)
    given = _checked(StatsFile, data, file)
    tables = given.training if training is None else training
    _refuse_both(given, file)
    finder = Finder(query, file)
    groups, handling, thetas = _joins(given.joins, finder)
    return Statistics(
        query,
        streams=figures_by_alias(given.streams, query, file),
        groups=groups,
        handling=handling,
        conditions=thetas | _filters(given.filters, finder),
        costs=None if given.costs is None else Costs(**given.costs.model_dump()),
        capacity=given.capacity,
        rows_warmup=given.rows_warmup,
        horizon=given.horizon,
        memory=given.memory,
        training=training_by_alias(tables, query, trained),
        untrained=untrained_by_alias(given.untrained, query, file),
    )


def _refuse_both(given: StatsFile, file: str) -> None:
    """Refuse costs of single windows beside one for all that a join does."""
    name = next((name for name, table in given.streams.items() if table.costs), None)
    if name is not None and given.costs is not None and given.costs.join is not None:
        raise StatsError(
            f"{file}: streams.{name}.costs is given beside costs.join, which stands for all of it",
            hint="give insert, probe and expire under [costs] instead of join",
        )


def _apart(path: Path, file: str) -> tuple[dict[str, TrainingTable], str]:
    """The training in a file of its own, and how messages call that."""
    hint = f"put it back, take `training` out of {file}, or let penstock analyze write both"
    tables = _tables(_read(path, hint), str(path))
    return _checked(TrainingFile, tables, str(path)).training, str(path)


def _read(path: Path, hint: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError:
        raise StatsError(f"{path} is not UTF-8", hint="save it as UTF-8 text") from None


def _tables(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(text, file, str(error)) from None


def _checked(kind: type[Checked], data: Mapping[str, Any], file: str) -> Checked:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise _misfit(file, kind, error.errors()[0]) from None


def _joins(
    tables: Mapping[str, ConditionTable], finder: Finder
) -> tuple[dict[Group, Figure], dict[Group, Figure], dict[str, GivenCondition]]:
    """What is given of equalities, selectivity and handling cost, and of other predicates."""
    equal: dict[Group, GivenCondition] = {}
    thetas: dict[str, GivenCondition] = {}
    for text, table in tables.items():
        where = f"{finder.file}: [joins] '{text}'"
        given, found = GivenCondition(table.selectivity, table.cost), finder.join(text)
        if isinstance(found, str):
            _add(thetas, found, given, where)
        else:
            _add(equal, found, _something(given, where), where)
    groups = {group: each.selectivity for group, each in equal.items() if each.selectivity}
    handling = {group: each.cost for group, each in equal.items() if each.cost}
    _check_nested(groups, finder)
    return groups, handling, thetas


def _check_nested(groups: Mapping[Group, Figure], finder: Finder) -> None:
    """Nothing, if no group is equal more often than some of its members are."""
    for (small, more), (large, less) in permutations(groups.items(), 2):
        is_inside = (small.key, small.parts) == (large.key, large.parts)
        if is_inside and small.streams < large.streams and less.value > more.value * _ROUNDED:
            whole, part = finder.text(large), finder.text(small)
            message = f"{finder.file}: [joins] '{whole}' is given as more frequent than '{part}'"
            raise StatsError(message, hint="where all are equal, each two of them are")


def _filters(tables: Mapping[str, ConditionTable], finder: Finder) -> dict[str, GivenCondition]:
    filters: dict[str, GivenCondition] = {}
    for text, table in tables.items():
        given = GivenCondition(table.selectivity, table.cost)
        _add(filters, finder.filter(text), given, f"{finder.file}: [filters] '{text}'")
    return filters


def _something(given: GivenCondition, where: str) -> GivenCondition:
    """What is given of an equality, if there is anything."""
    if given.selectivity is None and given.cost is None:
        hint = "{selectivity = 0.001}, and cost = seconds for each tuple that arrives at its join"
        raise StatsError(f"{where} has neither selectivity nor cost", hint=hint)
    return given


def _add(known: dict[Key, Value], key: Key, value: Value, where: str) -> None:
    if key in known:
        raise StatsError(f"{where} is given twice", hint="keep one of them")
    known[key] = value


def _syntax_error(text: str, file: str, complaint: str) -> StatsError:
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", complaint)
    reason = complaint[: found.start()] if found else complaint
    start = len(text)
    if found and found[1]:
        lines = text.splitlines(keepends=True)
        start = sum(map(len, lines[: int(found[1]) - 1])) + int(found[2]) - 1
    place = Caret(text, start, start + 1, file)
    hint = "look for a missing quote, bracket or = there"
    return StatsError(f"this is not TOML: {reason[0].lower()}{reason[1:]}", place=place, hint=hint)


def _misfit(file: str, kind: type[Table], error: Mapping[str, Any]) -> StatsError:
    """The mistake that pydantic found, in our words."""
    where = f"{file}: {_dotted(error['loc'])}"
    match error["type"]:
        case "value_error":
            return StatsError(f"{where} {error['ctx']['error']}", hint=_unit(error["loc"]))
        case "extra_forbidden":
            return StatsError(f"{where} is not known", hint=_known_keys(kind, error["loc"]))
        case "literal_error":
            return StatsError(f"{where} must be {error['ctx']['expected']}")
        case "missing" | "list_type" | "string_type" as fault:
            return StatsError(f"{where} {_FAULTS[fault]}", hint=_UNITS["training"])
    example = "write it like [streams.A], [joins] or [costs], with its keys below it"
    return StatsError(f"{where} must be a table", hint=example)


def _unit(path: tuple[str | int, ...]) -> str | None:
    """What the figure at a place of the file is measured in."""
    if path[0] == "streams" and "costs" in path[2:]:
        return _UNITS["streams.costs"]
    return next((_UNITS[str(key)] for key in reversed(path) if str(key) in _UNITS), None)


def _known_keys(kind: type[Table], path: tuple[str, ...]) -> str | None:
    table = kind if len(path) == 1 else TABLES[path[0]]
    if path[0] == "streams" and path[2:-1] == ("costs",):
        table = WindowCostsTable
    return nearest(path[-1], table.model_fields, listed("keys", table.model_fields))


def _dotted(path: tuple[str | int, ...]) -> str:
    """`streams.A.rate`; places in arrays are counted from 1, as in `training.A.yields[1][2]`."""
    parts = [f"[{key + 1}]" if isinstance(key, int) else f".{_plain(key)}" for key in path]
    return "".join(parts).removeprefix(".")


def _plain(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else f"'{key}'"
