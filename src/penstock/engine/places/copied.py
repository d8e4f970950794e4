"""Copied files: read from where the copy lies, and named as the file that users know."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.places.place import Place


@dataclass(frozen=True, eq=False, repr=False)
class Copied(Place):
    """The place of a copy, which messages call by the name of what it is a copy of."""

    name_for_users: str = ""

    @classmethod
    def of_file(cls, copy: str, original: str) -> Copied:
        """The copy of a file; both as paths or URIs."""
        at = Place.of(copy)
        return cls(at.scheme, at.authority, at.names, at.options, str(Place.of(original)))

    def __str__(self) -> str:
        return self.name_for_users
