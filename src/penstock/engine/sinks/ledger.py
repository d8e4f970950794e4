"""The ledger of a sink's folder: which of the files there are Penstock's own.

Each checkpoint signs the files that it publishes with its mark, and enters the mark into the folder
before. A file is Penstock's only if it is signed with a mark of its very folder: one that was
copied there, or that merely looks alike, is somebody else's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from penstock.engine.places.file_names import is_mark, mark_of_part
from penstock.engine.places.place import Place, open_new

_FOLDER = "_penstock"
_ENDING = ".json"


@dataclass(frozen=True)
class Content:
    """The parquet files that a folder holds: Penstock's own, and those of others."""

    own: tuple[str, ...]
    foreign: tuple[str, ...]


def enter(folder: Place, mark: str) -> None:
    """Say in a folder that what is signed with a mark is Penstock's."""
    entry = folder / _FOLDER / f"{mark}{_ENDING}"
    if not entry.exists:
        with open_new(entry) as file:
            file.write(json.dumps({"written by": "penstock", "mark": mark}).encode())


def staging_in(folder: Place, mark: str) -> Place:
    """Where results that are not final wait; each checkpoint has its own folder for them."""
    return folder / _FOLDER / f"staging-{mark}"


def content_of(folder: Place) -> Content:
    """The files that a reader of the folder would find."""
    shown = (name for name, _ in folder.files() if not name.startswith((".", "_")))
    names = sorted(name for name in shown if name.endswith(".parquet"))
    marks = set(_marks(folder))
    is_own = {name: mark_of_part(name) in marks for name in names}
    return Content(
        tuple(name for name in names if is_own[name]),
        tuple(name for name in names if not is_own[name]),
    )


def clear(folder: Place, own: tuple[str, ...]) -> None:
    """Delete files that are Penstock's own, then the marks that nothing is signed with any more."""
    marks = _marks(folder)
    folder.delete(list(own))
    (folder / _FOLDER).delete([f"{mark}{_ENDING}" for mark in marks])


def _marks(folder: Place) -> list[str]:
    names = [name for name, _ in (folder / _FOLDER).files() if name.endswith(_ENDING)]
    return [mark for name in names if is_mark(mark := name.removesuffix(_ENDING))]
