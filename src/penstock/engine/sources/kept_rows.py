"""Malformed rows as they are kept: a line of JSON each, with the row's place and what is wrong."""

from __future__ import annotations

import json

from penstock.engine.sources.parsed import Located, Parsed
from penstock.query.source import Source

MOST_TEXT = 4096
"""Characters of a row that are kept."""


def kept_rows(source: Source, where: str, parsed: Parsed) -> bytes:
    """The lines for the malformed rows of a stretch of a file, or of a topic's partition; nothing
    if they are not kept."""
    if source.keeps_malformed_at is None:
        return b""
    faults = dict(sorted(parsed.faults.items()))
    places = parsed.locate(faults)
    lines = (_line(source, where, reason, places[row]) for row, reason in faults.items())
    return b"".join(lines)


def kept_file(source: Source, where: str, reason: str) -> bytes:
    """The line for a file that cannot be read; nothing if such files are not kept."""
    return b"" if source.keeps_malformed_at is None else _line(source, where, reason)


def _line(source: Source, where: str, reason: str, place: Located | None = None) -> bytes:
    kind = "partition" if source.format == "kafka" else "file"
    entry: dict[str, str | int] = {"stream": source.name, kind: where}
    if place is not None:
        entry[place.unit] = place.number
    entry["reason"] = reason
    if place is not None:
        entry["text"] = place.text[:MOST_TEXT]
        if len(place.text) > MOST_TEXT:
            entry["characters"] = len(place.text)
    return json.dumps(entry, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
