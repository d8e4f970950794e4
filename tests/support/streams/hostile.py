"""Streams as nobody wishes them: without a tuple, a value, a second key or a second moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from penstock.query import Input
from penstock.query.expression import Value
from reference import Row
from support.streams.cases import Case, event_time
from support.streams.typed import plain_value

Hostile = Callable[[Case], Case]


def nothing_at_all(case: Case) -> Case:
    """Batches without a tuple."""
    return replace(case, batches={a: [[] for _ in found] for a, found in case.batches.items()})


def one_key_only(case: Case) -> Case:
    """Every tuple meets every other, as far as keys go."""
    return _each_row(case, _same_keys)


def all_null(case: Case) -> Case:
    """No column has a value but the time and the number."""
    return _each_row(case, lambda item: {f.name: None for f in item.source.fields[2:]})


def one_moment(case: Case) -> Case:
    """All tuples have the same time, so that the frontier stands still from the first batch on."""
    return _each_row(case, lambda item: {"ts": event_time(item.source, 0)}, ts=0)


def _same_keys(item: Input) -> dict[str, Value]:
    keys = [field for field in item.source.fields if field.name in ("k", "j", "s")]
    return {field.name: plain_value(field.type) for field in keys}


def _each_row(
    case: Case, values_of: Callable[[Input], Mapping[str, Value]], ts: int | None = None
) -> Case:
    """The case with other values in some columns of every row, and with another time, if given."""

    def changed(row: Row, values: Mapping[str, Value]) -> Row:
        return replace(row, ts=row.ts if ts is None else ts, values={**row.values, **values})

    batches = {
        item.alias: [
            [changed(row, values_of(item)) for row in batch] for batch in case.batches[item.alias]
        ]
        for item in case.query.inputs
    }
    return replace(case, batches=batches)
