"""The entries of a report log, a JSON line each: batches, answers, and runs that begin or end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.engine.reports.json_fields import as_json, from_json
from penstock.engine.reports.parts import Change
from penstock.engine.reports.report import Report

VERSION = 1
"""Of the lines' fields: some may be added under the same number, none is changed."""


@dataclass(frozen=True)
class Began:
    """A run has taken the checkpoint."""

    at: float
    batch: int
    """The number of its first batch."""

    engine: str = ""
    host: str = ""
    process: int = 0


@dataclass(frozen=True)
class Answer:
    """The answer to an order from outside, at the moment when it was obeyed or refused."""

    at: float
    order: str
    """The name of the order's file, without its ending."""

    change: Change
    is_refused: bool = False


@dataclass(frozen=True)
class Ended:
    """A run has let go of the checkpoint; one that was killed has no such entry."""

    at: float
    error: str | None = None


Entry = Report | Began | Answer | Ended

_KINDS: Mapping[str, type[Entry]] = {
    "batch": Report,
    "run": Began,
    "answer": Answer,
    "end": Ended,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, default=vars)


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry as an object of JSON; that of a batch has its lag too."""
    return {**_head(entry), **as_json(entry), **as_json(_derived(entry))}


def _head(entry: Entry) -> dict[str, Any]:
    return {"version": VERSION, "kind": _NAMES[type(entry)]}


def _derived(entry: Entry) -> dict[str, Any]:
    return {"lag": entry.lag} if isinstance(entry, Report) else {}


def written(entry: Entry) -> bytes:
    """The line of an entry, with its end.

    Nearly all are written by the encoder alone. It refuses what is no number in JSON, and types
    that it does not know: these take the longer way.
    """
    try:
        line = _ENCODER.encode({**_head(entry), **vars(entry), **_derived(entry)})
    except (ValueError, TypeError):
        line = _ENCODER.encode(entry_json(entry))
    return line.encode() + b"\n"


def read(line: bytes) -> Entry | None:
    """The entry of a line; None of a kind that is not known, and where a crash cut it off."""
    try:
        data = json.loads(line)
        kind = _KINDS[data["kind"]]
        return from_json(kind, data)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
