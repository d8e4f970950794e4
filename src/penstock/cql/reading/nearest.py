"""Hints that name what the user may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str], otherwise: str | None = None) -> str | None:
    """`did you mean X?` for the known name closest to this one, else the other hint."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean {by_lower[close[0]]}?" if close else otherwise


def is_proposal(hint: str) -> bool:
    """Whether a hint names what may have been meant."""
    return hint.startswith("did you mean")


def listed(what: str, names: Iterable[str]) -> str:
    """A hint that lists all there is: `the columns are a, b and c`."""
    *most, last = names
    return f"the {what} are {', '.join(most)} and {last}" if most else f"there is only {last}"
