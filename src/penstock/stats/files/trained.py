"""`[training.NAME]` tables and `[untrained]`, given to the streams they are of, by alias."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.cql.reading.nearest import listed, nearest
from penstock.errors import StatsError
from penstock.query import Query
from penstock.query.query import Input
from penstock.stats.files.schema import TrainingTable
from penstock.stats.training import Training


def training_by_alias(
    tables: Mapping[str, TrainingTable], query: Query, file: str
) -> dict[str, Training]:
    """The training of each stream; whether its operators are still the query's is left open."""
    trained = {}
    for name, table in tables.items():
        item = _stream(query, name, f"{file}: training.{name}")
        trained[item.alias] = _read(item, f"{file}: training.{name}", table)
    return trained


def untrained_by_alias(reasons: Mapping[str, str], query: Query, file: str) -> dict[str, str]:
    """Why streams have no training."""
    return {
        _stream(query, name, f"{file}: untrained.{name}").alias: reason
        for name, reason in reasons.items()
    }


def _stream(query: Query, name: str, where: str) -> Input:
    for item in query.streams:
        if item.alias.lower() == name.lower():
            return item
    known = [stream.alias for stream in query.streams]
    hint = nearest(name, known, listed("streams", known))
    raise StatsError(f"{where} is no stream of the query", hint=hint)


def _read(item: Input, where: str, table: TrainingTable) -> Training:
    names = [field.name for field in item.source.fields]
    strange = next((each for each in table.attributes if each not in names), None)
    if strange is not None:
        raise StatsError(
            f"{where}.attributes: {item.alias} has no column {strange}",
            hint=nearest(strange, names, listed("columns", names)),
        )
    return Training(
        item.alias,
        tuple(table.attributes),
        tuple(map(tuple, table.values)),
        tuple(table.weights),
        tuple(table.operators),
        tuple(map(tuple, table.yields)),
    )
