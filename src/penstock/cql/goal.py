"""Goals as they are written: `steady`, `first:1000`, `first:25%`, `first:all`, `by:5s`."""

from __future__ import annotations

from penstock.cql.expressions.literals import whole_number
from penstock.cql.reading.nearest import nearest
from penstock.duration import parse_seconds
from penstock.errors import PlanError
from penstock.query.goal import By, First, Goal, Steady

_KINDS = ("steady", "first", "by")
_HINT = (
    "a goal is steady, first:N (results, a share such as first:25%, or first:all) or by:T (a "
    "length of time, such as by:5s)"
)


def parse_goal(text: str) -> Goal:
    """The goal of a text."""
    kind, colon, rest = text.strip().partition(":")
    if kind == "steady" and not colon:
        return Steady()
    if kind == "first" and (share := _share(rest)) is not None:
        return First(0, share)
    digits = rest.replace("_", "")
    if kind == "first" and digits.isdecimal() and (count := whole_number(digits)):
        return First(count)
    if kind == "by" and colon:
        try:
            seconds = parse_seconds(rest)
        except ValueError as error:
            raise PlanError(f"--goal {text}: {error.args[0]}", hint=_HINT) from None
        if seconds > 0:
            return By(seconds)
    meant = "" if kind in _KINDS else nearest(kind, _KINDS, "")
    raise PlanError(f"{text!r} is no goal", hint=f"{meant} {_HINT}".strip())


def _share(text: str) -> float | None:
    """The part of all results that `all` or `25%` is; None for what is neither."""
    if text == "all":
        return 1.0
    try:
        share = float(text.removesuffix("%")) / 100 if text.endswith("%") else 0.0
    except ValueError:
        return None
    return share if 0 < share <= 1 else None
