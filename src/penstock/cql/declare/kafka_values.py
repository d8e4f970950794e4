"""Values of the options of Kafka, in our spellings and in Spark's.

A ValueError says what a value must be; its second argument, if there is one, is the hint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.cql.expressions.literals import parse_moment

Value = str | int | float | bool
_OURS = """write it start = '{"0": 12, "1": 7}'"""
_SPARKS = """write it startingOffsets = '{"bids": {"0": 12, "1": -1}}'"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST, EARLIEST = -1, -2
"""Offsets that stand for the end and the beginning, as Spark has them."""


def topic(value: Value) -> str:
    """The name of one topic."""
    if not isinstance(value, str) or not value or set(value) & set(", *"):
        raise ValueError("the name of one topic", "a stream reads one topic: declare more streams")
    return value


def start(value: Value) -> str:
    """Where to begin: `earliest`, `latest`, offsets by partition, or a time."""
    text = str(value).strip()
    if text.lower() in ("earliest", "latest"):
        return text.lower()
    if text.startswith("{"):
        return _offsets(text)
    try:
        parse_moment(text)
    except (ValueError, OverflowError):
        raise ValueError("a time; of Kafka also 'earliest', 'latest' or offsets") from None
    return text


def starting_offsets(value: Value) -> str:
    """Spark's startingOffsets: `earliest`, `latest`, or offsets by topic and partition."""
    text = str(value).strip()
    if text.lower() in ("earliest", "latest"):
        return text.lower()
    given = _object(text)
    is_sound = given is not None and all(
        isinstance(parts, dict) and _are_offsets(parts, EARLIEST) for parts in given.values()
    )
    if not is_sound:
        raise ValueError("'earliest', 'latest' or offsets by topic and partition", _SPARKS)
    return text


def starting_timestamp(value: Value) -> str:
    """Spark's startingTimestamp, milliseconds since 1970, as a time."""
    try:
        millis = int(value) if isinstance(value, int | str) else -1
        if isinstance(value, bool) or millis < 0:
            raise ValueError
        return (_EPOCH + timedelta(milliseconds=millis)).isoformat()
    except (ValueError, OverflowError):
        raise ValueError("milliseconds since 1970") from None


def max_offsets(value: Value) -> int:
    """Spark's maxOffsetsPerTrigger, a number that may stand in quotes."""
    try:
        most = int(value) if isinstance(value, int | str) else 0
    except ValueError:
        most = 0
    if isinstance(value, bool) or most < 1:
        raise ValueError("a whole number, 1 or more")
    return most


def fail_on_data_loss(value: Value) -> str:
    """Spark's failOnDataLoss as our data_loss."""
    match str(value).lower():
        case "true":
            return "fail"
        case "false":
            return "skip"
    raise ValueError("TRUE or FALSE")


def topics_in(offsets: str) -> list[str] | None:
    """The topics of Spark's offsets; None of ours, which are of one topic."""
    given = _object(offsets) or {}
    return list(given) if any(isinstance(parts, dict) for parts in given.values()) else None


def _offsets(text: str) -> str:
    """Offsets by partition: `{"0": 12, "1": 7}`."""
    given = _object(text)
    if given is None or not _are_offsets(given, 0):
        raise ValueError("offsets by partition as JSON", _OURS)
    return text


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _are_offsets(given: Mapping[str, Any], least: int) -> bool:
    return all(
        part.isascii() and part.isdigit() and type(at) is int and least <= at < 1 << 62
        for part, at in given.items()
    )
