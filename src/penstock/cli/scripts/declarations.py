"""CREATE statements for data files, with a comment on each guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.cli.scripts.column_types import (
    Guess,
    guess_arrow,
    guess_json,
    guess_nearly_time,
    guess_text,
)
from penstock.cli.scripts.event_times import (
    EventTime,
    date_of_another_order,
    event_time,
    is_in_nanoseconds,
    is_in_parts_of_seconds,
    rounded,
)
from penstock.cli.scripts.input_files import Group, to_utf8
from penstock.cql.reading.quoting import quoted_name, quoted_text
from penstock.duration import Duration
from penstock.query.source import FUTURE
from penstock.query.types import DataType

# What is quoted of a value.
_LONGEST_EXAMPLE = 40


@dataclass(frozen=True)
class Declaration:
    """A CREATE statement, and of what; of neither if there is nothing to declare."""

    name: str
    text: str
    is_stream: bool = False
    is_table: bool = False


def declarations(groups: Sequence[Group], now: int) -> list[Declaration]:
    """The statements for files, each under a name of its own; `now` in microseconds since 1970."""
    made: list[Declaration] = []
    taken: set[str] = set()
    for group in groups:
        name = _unique(group.name, taken)
        taken.add(name)
        made.append(_declaration(name, group, now + FUTURE))
    return made


def script(made: Sequence[Declaration], files: int) -> str:
    """The statements, and a query to begin with."""
    parts = [f"-- From {files} file{'s' if files > 1 else ''}; each guess has its comment.\n"]
    parts += [each.text for each in made]
    streams = [each.name for each in made if each.is_stream]
    if streams:
        name = quoted_name(streams[0])
        parts.append(
            f"-- All tuples as they come; put your own query here.\nSELECT * FROM {name} [NOW];\n"
        )
    else:
        parts.append(_incomplete([each.name for each in made if each.is_table]))
    return "\n".join(parts)


def _incomplete(tables: Sequence[str]) -> str:
    """What is missing where there is no stream, which `penstock check` would say less kindly."""
    if not tables:
        return (
            "-- Not complete: penstock check fails, as no file has rows to declare a stream of.\n"
        )
    return (
        "-- A query reads a stream. Which column is the event time? Name it among the options,\n"
        "-- timestamp = '…', write CREATE STREAM instead of CREATE TABLE, and ask:\n"
        f"-- SELECT * FROM {quoted_name(tables[0])} [NOW];\n"
        "-- Not complete: penstock check fails until there are a stream and a SELECT.\n"
    )


def _unique(name: str, taken: Iterable[str]) -> str:
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "stream"
    plain = f"s_{plain}" if plain[0].isdigit() else plain
    names = [plain, *(f"{plain}_{n}" for n in range(2, len(list(taken)) + 3))]
    return next(each for each in names if each not in taken)


def _declaration(name: str, group: Group, latest: int) -> Declaration:
    values = {
        c: [each.columns[c] for each in group.samples if c in each.columns] for c in _all(group)
    }
    guesses = {column: _guess(group, column, parts) for column, parts in values.items()}
    readable = {c: g for c, g in guesses.items() if g.type is not None and quoted_name(c)}
    nearly = _nearly_times(group, values, guesses)
    candidates = readable | {c: guess for c, (guess, _) in nearly.items()}
    time = event_time(values, candidates, {c: strays for c, (_, strays) in nearly.items()}, latest)
    if time is not None:
        known = candidates[time.name]
        why = (
            "a day, declared so to be the event time" if known.type is DataType.DATE else known.why
        )
        is_day = known.type is DataType.DATE
        readable[time.name] = replace(
            known, type=time.type, why=why, lacks_zone=known.lacks_zone or is_day
        )
    lines = [*_head(name, group, time, values), *_other_dates(values), *_zones(readable)]
    lines += _left_out(group, guesses, readable)
    kind = "TABLE" if time is None else "STREAM"
    if not readable:
        lines.append(f"-- {name}: no column to declare, so it is left out.")
        return Declaration(name, "\n".join(lines) + "\n")
    lines.append(f"CREATE {kind} {quoted_name(name)} (")
    lines += _columns(readable)
    lines.append(") WITH (")
    lines += _options(group, time)
    lines.append(");")
    return Declaration(name, "\n".join(lines) + "\n", time is not None, time is None)


def _all(group: Group) -> list[str]:
    """The columns of all files, each once whatever its case, as the first file has them."""
    names: dict[str, str] = {}
    for each in group.samples:
        for name in each.columns:
            names.setdefault(name.lower(), name)
    return list(names.values())


def _guess(group: Group, column: str, parts: Sequence[Sequence[Any]]) -> Guess:
    first = group.samples[0]
    if first.schema is not None:
        types = {
            each.schema.field(column).type for each in group.samples if each.schema is not None
        }
        guesses = {guess_arrow(type_) for type_ in types}
        return guesses.pop() if len(guesses) == 1 else Guess(None, "of several types")
    values = [value for part in parts for value in part]
    return guess_text(values) if first.format == "csv" else guess_json(values)


def _nearly_times(
    group: Group, values: Mapping[str, Sequence[Sequence[Any]]], guesses: Mapping[str, Guess]
) -> dict[str, tuple[Guess, list[Any]]]:
    """The columns that would be times but for a few values, and these values."""
    format_ = group.samples[0].format
    if format_ == "parquet":  # It says its types.
        return {}
    found = {
        column: guess_nearly_time(
            (value for part in values[column] for value in part), is_json=format_ == "json"
        )
        for column, guess in guesses.items()
        if guess.type in (DataType.STRING, None) and quoted_name(column)
    }
    return {column: each for column, each in found.items() if each is not None and each[1]}


def _head(
    name: str, group: Group, time: EventTime | None, values: Mapping[str, Sequence[Sequence[Any]]]
) -> list[str]:
    count = sum(each.rows for each in group.samples)
    looked = f"{_count(count, 'row')} {'was' if count == 1 else 'were'} looked at"
    lines = [f"-- {name}: {_count(len(group.samples), 'file')}, of which {looked}."]
    if time is None:
        lines.append("-- No column looks like a time without a doubt, so it is a table.")
        nanos = [column for column, parts in values.items() if _is_nanos(parts)]
        lines += [
            f"-- {_shown(c)} seems to be in nanoseconds: write it in microseconds." for c in nanos
        ]
        parts = [column for column, found in values.items() if is_in_parts_of_seconds(found)]
        lines += [
            f"-- {_shown(c)} seems to be seconds with a fraction: write whole milliseconds."
            for c in parts
        ]
        return lines
    unit = "" if time.unit is None else f", counted in {time.unit} since 1970 (UTC)"
    lines.append(f"-- Event time: {_shown(time.name)}{unit}.")
    if time.nulls:
        lines.append(f"-- {_count(time.nulls, 'row')} without a time: these are dropped.")
    return [*lines, *_wrong(time), *_disorder(time)]


def _wrong(time: EventTime) -> list[str]:
    """What is said of times that are not right, or not yet."""
    lines = []
    if time.strays:
        kind = "is no time" if len(time.strays) == 1 else "are no times"
        example = _shown(str(time.strays[0])[:_LONGEST_EXAMPLE])
        count = _count(len(time.strays), "value")
        lines.append(f"-- {count} of {_shown(time.name)} {kind}, such as {example}: dropped.")
    if time.ahead:
        count = _count(len(time.ahead), "row")
        lines.append(
            f"-- {count} more than a day in the future, as of {_day(max(time.ahead))}: dropped, "
            "unless future = 'none'."
        )
    if time.is_of_future:
        lines.append(
            f"-- Most times are in the future, up to {_day(max(time.micros))}: future = 'none' "
            "lets them pass."
        )
    return lines


def _day(micros: int) -> str:
    return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)).date())


def _other_dates(values: Mapping[str, Sequence[Sequence[Any]]]) -> list[str]:
    """What to do with dates that are written in an order that is not read."""
    found = {c: date for c, parts in values.items() if (date := date_of_another_order(parts))}
    lines = [
        f"-- {_shown(column)} has dates such as {_shown(date[:_LONGEST_EXAMPLE])}, which are no "
        "times here: write 2026-12-31 10:00:00."
        for column, date in found.items()
    ]
    if any(date[2] == "/" for date in found.values()):
        lines += [
            r"-- Where the month is first: sed -E 's#(..)/(..)/(....)#\3-\1-\2#g' FILE > NEW",
            r"-- and with \3-\2-\1 where the day is.",
        ]
    return lines


def _zones(readable: Mapping[str, Guess]) -> list[str]:
    """Where the clocks are taken to be, if times do not say it."""
    lacking = [_shown(name) for name, guess in readable.items() if guess.lacks_zone]
    if not lacking:
        return []
    return [
        f"-- Time zone: {', '.join(lacking)} without one {'is' if len(lacking) == 1 else 'are'} "
        "read as UTC. If that is wrong, say where",
        "-- the clocks are: timezone = 'Europe/Vienna', among the options.",
    ]


def _disorder(time: EventTime) -> list[str]:
    behind, furthest = time.behind
    late, least, most = time.too_late
    stand = "stands" if behind == 1 else "stand"
    lines = [
        f"-- Lateness: {_count(behind, 'row')} of {len(time.micros):,} {stand} behind a later one, "
        f"by {Duration(furthest).about} at most."
        if behind
        else f"-- Lateness: none, the {'other ' if late else ''}rows are in the order of their "
        "times."
    ]
    if late:
        shortest, longest = Duration(least).about, Duration(most).about
        far = longest if shortest == longest else f"{shortest} to {longest}"
        lines.append(
            f"-- {_count(late, 'row')} of {len(time.micros):,} further behind, by {far}: not "
            "waited for, and dropped if late."
        )
    return lines


def _is_nanos(parts: Sequence[Sequence[Any]]) -> bool:
    try:
        return is_in_nanoseconds(parts)
    except (TypeError, ValueError):
        return False


def _left_out(group: Group, guesses: Mapping[str, Guess], readable: Iterable[str]) -> list[str]:
    lines = [
        f"-- Left out: {_shown(name)}, {guess.why or 'a name that cannot be written'}."
        for name, guess in guesses.items()
        if name not in readable
    ]
    twice = dict.fromkeys(name for each in group.samples for name in each.twice)
    lines += [f"-- Left out: {_shown(name)}, there are several of that name." for name in twice]
    malformed = sum(each.malformed for each in group.samples)
    if malformed:
        lines.append(f"-- {_count(malformed, 'line')} cannot be read as rows: these are dropped.")
    foreign = [each for each in group.samples if each.not_utf8]
    if foreign:
        count = sum(each.not_utf8 for each in foreign)
        lines.append(
            f"-- {count:,} of them {'is' if count == 1 else 'are'} not UTF-8, but perhaps latin-1. "
            f"To convert a file: {_shown(to_utf8(foreign[0].path))}"
        )
    if malformed and group.samples[0].format == "json" and not guesses:
        lines.append("-- JSON is read as one object a line: jq -c '.[]' makes that of an array.")
    return lines


def _columns(readable: Mapping[str, Guess]) -> list[str]:
    written = [f"  {quoted_name(name)} {guess.type}" for name, guess in readable.items()]
    lines = [f"{each}," for each in written[:-1]] + written[-1:]
    whys = [guess.why for guess in readable.values()]
    return [f"{line}  -- {why}" if why else line for line, why in zip(lines, whys, strict=True)]


def _options(group: Group, time: EventTime | None) -> list[str]:
    first = group.samples[0]
    options = [f"format = '{first.format}'", f"path = {quoted_text(group.path)}"]
    if first.format == "csv" and first.delimiter != ",":
        sign = "\\t" if first.delimiter == "\t" else first.delimiter
        options.append(f"delimiter = '{sign}'")
    if not first.has_header:
        options.append("header = FALSE")
    if time is not None:
        options.append(f"timestamp = {quoted_text(time.name)}")
    if time is not None and time.unit is not None:
        options.append(f"unit = '{time.unit}'")
    if time is not None and time.behind[1]:
        options.append(f"lateness = '{rounded(time.behind[1])}'")
    if time is not None and time.is_of_future:
        options.append("future = 'none'")
    if any(each.malformed for each in group.samples) or (time is not None and time.lacking):
        options.append("malformed = 'drop'")
    return [f"  {each}," for each in options[:-1]] + [f"  {options[-1]}"]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _shown(name: str) -> str:
    """A name in a comment, which ends with its line."""
    return re.sub(r"[^ -~\xa1-\U0010ffff]", "?", name) or "a column without a name"
