"""The ledger of a sink's folder: which of the files there are Penstock's own.

Each checkpoint signs the files that it publishes with its mark, and enters the mark into the folder
before. A file is Penstock's only if it is signed with a mark of its very folder: one that was
copied there, or that merely looks alike, is somebody else's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from penstock.engine.places import disk
from penstock.engine.places.file_names import is_mark, mark_of_part
from penstock.engine.places.place import Place, open_new
from penstock.errors import SinkError

FOLDER = "_penstock"
_ENDING = ".json"


@dataclass(frozen=True)
class Content:
    """The parquet files that a folder holds: Penstock's own, and those of others."""

    own: tuple[str, ...]
    foreign: tuple[str, ...]


def enter(folder: Place, mark: str) -> None:
    """Say in a folder that what is signed with a mark is Penstock's."""
    entry = folder / FOLDER / f"{mark}{_ENDING}"
    if not entry.exists:
        with open_new(entry) as file:
            file.write(json.dumps({"written by": "penstock", "mark": mark}).encode())


def is_taken(folder: Place, mark: str) -> bool:
    """Whether others have cleared a folder, of what was signed with a mark too, and write there."""
    marks = _marks(folder)
    return bool(marks) and mark not in marks


def staging_in(folder: Place, mark: str) -> Place:
    """Where results that are not final wait; each checkpoint has its own folder for them."""
    return folder / FOLDER / f"staging-{mark}"


def content_of(folder: Place, mark: str | None = None) -> Content:
    """The files that a reader of the folder would find, beside those that are signed with a
    mark."""
    shown = (name for name, _ in folder.files() if not name.startswith((".", "_")))
    names = sorted(name for name in shown if name.endswith(".parquet"))
    marks = set(_marks(folder))
    signs = {name: mark_of_part(name) for name in names}
    names = [name for name in names if mark is None or signs[name] != mark]
    is_own = {name: signs[name] in marks for name in names}
    return Content(
        tuple(name for name in names if is_own[name]),
        tuple(name for name in names if not is_own[name]),
    )


def clear(folder: Place, own: tuple[str, ...], mark: str) -> None:
    """Delete files that are Penstock's own, then the marks that nothing is signed with any more:
    all but one."""
    marks = [each for each in _marks(folder) if each != mark]
    folder.delete(list(own))
    (folder / FOLDER).delete([f"{each}{_ENDING}" for each in marks])


class SinkHold:
    """A local folder that a run publishes to: none other may clear it, nor sign with its mark."""

    def __init__(self, folder: Place, mark: str):
        self._lock: int | None = None
        entry = folder / FOLDER / f"{mark}{_ENDING}"
        if not entry.is_local:
            return
        try:
            self._lock = disk.open_lock(entry.path)
        except OSError as error:
            raise _unusable(folder, error) from None
        if not _is_locked(self._lock):
            self.close()
            raise _written_to(folder, "by a run on a copy of this checkpoint")

    def close(self) -> None:
        """Let others have the folder."""
        lock, self._lock = self._lock, None
        if lock is not None:
            disk.close_lock(lock)

    def __del__(self) -> None:
        self.close()


def refuse_writers(folder: Place, mark: str | None) -> None:
    """Refuse to clear a local folder that a run of another checkpoint publishes to."""
    for each in _marks(folder) if folder.is_local else ():
        if each != mark:
            lock = disk.open_lock((folder / FOLDER / f"{each}{_ENDING}").path)
            try:
                if not _is_locked(lock):
                    raise _written_to(folder, "by another run, which is not over")
            finally:
                disk.close_lock(lock)


def _is_locked(handle: int) -> bool:
    try:
        disk.take_lock(handle)
    except BlockingIOError:
        return False
    except OSError:
        return True  # Some file systems know no locks.
    return True


def _unusable(folder: Place, error: OSError) -> SinkError:
    return SinkError(
        f"cannot use {folder} as a sink: {error.strerror or error}",
        hint="nothing is lost: mend the sink, then run again on this checkpoint",
    )


def _written_to(folder: Place, by: str) -> SinkError:
    return SinkError(
        f"{folder} is written to {by}", hint="stop that run first, or choose another place"
    )


def _marks(folder: Place) -> list[str]:
    names = [name for name, _ in (folder / FOLDER).files() if name.endswith(_ENDING)]
    return [mark for name in names if is_mark(mark := name.removesuffix(_ENDING))]
