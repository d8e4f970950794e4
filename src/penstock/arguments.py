"""Arguments of callers: taken in every clear spelling, else an error that says what is asked.

Python checks no types, and a wrong one would show up deep inside, or be taken for something else.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from penstock.duration import Duration
from penstock.errors import UsageError

Name = TypeVar("Name", bound=str)


def as_flag(value: object, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise _misfit(value, name, "is True or False")
    return value


def as_text(value: object, name: str, hint: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise _misfit(value, name, hint)
    return value


def as_one_of(value: object, names: Sequence[Name], name: str) -> Name:
    """One of some names."""
    for each in names:
        if each == value:
            return each
    raise _misfit(value, name, f"is {' or '.join(names)}")


def as_path(value: object, name: str) -> str:
    """The text of a path or URI; anything with a path will do."""
    try:
        path = os.fspath(value)  # type: ignore[call-overload]
    except TypeError:
        path = None
    if not isinstance(path, str) or not path.strip():
        raise _misfit(value, name, "is a path or a URI, such as 'out/results'")
    return path


def as_count(value: object, name: str) -> int:
    """A whole number from 1 on."""
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if isinstance(value, bool) or count < 1:
        raise _misfit(value, name, "is a whole number from 1 on")
    return count


def as_number(value: object, name: str, hint: str) -> float:
    """A number; what is no number at all, or written as a text, is refused."""
    if isinstance(value, bool | str | bytes) or value is None:
        raise _misfit(value, name, hint)
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise _misfit(value, name, hint) from None


def as_seconds(value: object, name: str, *, may_be_zero: bool = False) -> float:
    """Seconds above zero, or from zero on: a number of them, or a timedelta."""
    hint = "is a number of seconds"
    seconds = _seconds(value, name, hint)
    _refuse_below_zero(seconds, value, name, hint, may_be_zero)
    return seconds


def as_duration(value: object, name: str, *, may_be_zero: bool = False) -> Duration:
    """A length of time above zero, or from zero on: a text, seconds, or a timedelta."""
    hint = "is a number of seconds, or a text such as '1 second'"
    found = value if isinstance(value, Duration) else _duration(value, name, hint)
    _refuse_below_zero(found.seconds, value, name, hint, may_be_zero)
    return found


def _duration(value: object, name: str, hint: str) -> Duration:
    try:
        if isinstance(value, str):
            return Duration.parse(value)
        return Duration.of_seconds(_seconds(value, name, hint))
    except ValueError as error:
        raise UsageError(f"{name}: {error.args[0]}", hint=f"{name} {hint}") from None


def _seconds(value: object, name: str, hint: str) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    seconds = as_number(value, name, hint)
    if not math.isfinite(seconds):
        raise _misfit(value, name, hint)
    return seconds


def _refuse_below_zero(
    seconds: float, value: object, name: str, hint: str, may_be_zero: bool
) -> None:
    if seconds < 0 or not (seconds or may_be_zero):
        least = "zero or above" if may_be_zero else "above zero"
        raise UsageError(f"{name}: {value!r} is not {least}", hint=f"{name} {hint}")


def as_names(value: object, name: str) -> tuple[str, ...]:
    """Names in a list or in a text with commas."""
    if isinstance(value, str):
        return tuple(each.strip() for each in value.split(",") if each.strip())
    names = tuple(value) if isinstance(value, Iterable) and not isinstance(value, bytes) else None
    if names is None or not all(isinstance(each, str) for each in names):
        raise _misfit(value, name, "is a list of names, or a text such as 'one,two'")
    return names


def as_callback(value: object, name: str, what: str) -> Callable[..., Any]:
    """A function."""
    if not callable(value):
        raise _misfit(value, name, f"is a function of {what}")
    return value


def _misfit(value: object, name: str, hint: str) -> UsageError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return UsageError(f"{name} cannot be {shown}", hint=f"{name} {hint}")
