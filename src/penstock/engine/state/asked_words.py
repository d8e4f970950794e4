"""What two queries ask otherwise, in the words of who has written them.

A checkpoint names the groups and aggregates of a view by numbers; here they are what they stand
for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from penstock.duration import Duration
from penstock.query.ranking import NUMBER, NUMBER_TEXT

_NONE = "none"
_VIEW_PARTS = ("groups", "aggregates", "outputs", "HAVING", "EVERY", "first rows")
_NAMED = re.compile(r"'(?:[^']|'')*'|#\w+")
"""A string, in which nothing is named, or the name of a group or an aggregate."""


def first_difference(
    part: str, theirs: Mapping[str, Any], mine: Mapping[str, Any]
) -> tuple[str, str, str]:
    """The name of what differs, in one part of two queries' identities; and how it is in either."""
    if part not in ("view", "outputs") or "view" not in {**theirs, **mine}:
        return part, _text(part, theirs.get(part)), _text(part, mine.get(part))
    pairs = zip_longest(_view(theirs), _view(mine), fillvalue="")
    for name, (one, other) in zip(_VIEW_PARTS, pairs, strict=False):
        if one != other:
            return name, one or _NONE, other or _NONE
    return part, _text(part, theirs.get(part)), _text(part, mine.get(part))


def _view(identity: Mapping[str, Any]) -> list[str]:
    """A view, part by part; nothing of a query that has none."""
    if "view" not in identity:
        return []
    groups, aggregates, outputs, having, every, *first = identity["view"]
    names = dict(_named(text) for text in identity["outputs"]) | {NUMBER.name: NUMBER_TEXT}
    made = [_aggregate(text, names) for text in _split(aggregates)]
    names |= {f"#{number}": text for number, text in enumerate(made)}
    return [
        ", ".join(names.get(name, name) for name in _split(groups)),
        ", ".join(made),
        _spelled(outputs, names),
        _spelled(having, names),
        str(Duration(int(every.removesuffix(" us")))),
        *(_spelled(text.rpartition(", ")[0], names) for text in first),
    ]


def _named(text: str) -> tuple[str, str]:
    expression, _, name = text.rpartition(" AS ")
    return name, expression


def _aggregate(text: str, names: Mapping[str, str]) -> str:
    """An aggregate as it is written: `count_distinct #a0` is COUNT(DISTINCT x)."""
    function, argument, *fraction = text.split(" ")
    plain = function.removesuffix("_distinct")
    is_distinct = plain != function and plain != "approx_count"
    name = plain if is_distinct else function
    of = "*" if argument == "None" else names.get(argument, argument)
    rest = "".join(f", {float(Fraction(each)):g}" for each in fraction)
    return f"{name.upper()}({'DISTINCT ' if is_distinct else ''}{of}{rest})"


def _spelled(text: str, names: Mapping[str, str]) -> str:
    return _NAMED.sub(lambda found: names.get(found[0], found[0]), text)


def _split(text: str) -> list[str]:
    return text.split(", ") if text else []


def _text(part: str, value: Any) -> str:
    """A part that needs no names, in one line."""
    shown: dict[str, Callable[[Any], Iterable[str]]] = {
        "columns": lambda found: (f"{name} ({', '.join(of)})" for name, of in found.items()),
        "event times": lambda found: (f"{name} by {_time(*of)}" for name, of in found.items()),
    }
    if isinstance(value, list | dict):
        texts = shown.get(part, lambda found: map(str, found))(value)
        return ", ".join(text for text in texts if text) or _NONE
    return _NONE if value is None else str(value)


def _time(timestamp: str | None, unit: str | None, lateness: int) -> str:
    return f"{timestamp}{f' in {unit}' if unit else ''}, lateness {Duration(lateness)}"
