"""Names as sources spell them: as they are declared, or in another case."""

from __future__ import annotations

from collections.abc import Collection


class AmbiguousNameError(ValueError):
    """A name that a source has in several cases, none of which is the declared one."""


def spelled(name: str, present: Collection[str]) -> str | None:
    """The declared name among those that are there: itself, else in another case, else None.

    `city` of (City, zip) → City; of (City, city) → city; of (City, CITY) an AmbiguousNameError
    """
    if name in present:
        return name
    lower = name.lower()
    found = dict.fromkeys(each for each in present if each.lower() == lower)
    if len(found) > 1:
        raise AmbiguousNameError(f"{' and '.join(found)} differ in case alone, and none is {name}")
    return next(iter(found), None)
