"""The hold of a run on a checkpoint's folder: a lock, from before it is ready until its end."""

from __future__ import annotations

import os
import time

from penstock.engine.places import disk
from penstock.engine.places.fence import Fence
from penstock.engine.places.file_names import is_own
from penstock.engine.places.objects import is_object_store, refuse_unreachable
from penstock.engine.places.place import Place
from penstock.engine.state.manifest import manifest_names
from penstock.engine.state.store import Store, storage_errors
from penstock.errors import CheckpointError, PlaceError

IDENTITY = "query.json"
"""The file that says whose a checkpoint is."""
SCRIPT = "script.json"
"""What a script's checkpoint has in its place; each of its queries has a folder of its own."""
MARK = "mark"
"""The file with the mark of all that comes from a checkpoint."""
_LOCK = "lock"
# What may be there before it is known whose a checkpoint is: a run tells of itself first, and has
# orders; and of what a first run wrote before a power cut any part may be left.
_QUERIES = "queries"
_FOLDERS = {
    *("reports", "control", "decisions", "epochs", "manifests", "feed", "plans", "training"),
    *("state", "transit", "derived", "spool", "malformed", "tables", "sources", "spark", _QUERIES),
}
_FILES = {_LOCK, "results.json", "sinks.json"}
_HEAD = "reports/run.json"
# What is in the topmost folder of a disk that is otherwise empty.
_OF_THE_DISK = "lost+found"
_SHOWN = 3
# How often, and after how many seconds, a lock is tried that somebody has.
_LOOKS = 3
_LOOK = 0.02


class Hold:
    """A folder that no other run may use: on local disks by a lock, elsewhere by a fence that a
    later run may raise before this one, by `take_over`.

    `orders` are the files of orders that lay there before: they were meant for another run.
    """

    def __init__(self, root: str):
        self.store = Store(Place.of(root))
        check_reach(self.store)
        _refuse_foreign(self.store)
        self._lock = _lock(self.store)
        try:
            self.orders: tuple[str, ...] = tuple(self.store.names("control"))
        except BaseException:
            self.close()
            raise

    def take_over(self) -> None:
        """Fence off the runs before, where there is no lock; a run calls this once it knows that
        the folder is its own, and before it reads what others may change."""
        if not self.store.is_local:
            with storage_errors("write", self.store.root.path):
                self.store = Store(self.store.root, Fence.raised(self.store.root))

    def close(self) -> None:
        """Let another run use the folder."""
        if self._lock is not None:
            disk.close_lock(self._lock)
            self._lock = None


class PartHold(Hold):
    """The folder of one query of a script, inside of the one that the run holds."""

    def __init__(self, store: Store):
        self.store = store
        self._lock = None
        self.orders = ()

    def take_over(self) -> None:
        """The run has it with the whole."""


def check_reach(store: Store) -> None:
    """Refuse a store that does not answer, or does not know us."""
    if is_object_store(store.root):
        try:
            refuse_unreachable(store.root)
        except PlaceError as error:
            raise CheckpointError(
                error.message.replace("cannot use", "cannot use as a checkpoint"), hint=error.hint
            ) from None


def check_folder(store: Store) -> None:
    """Refuse a folder that cannot be a checkpoint; one that is not there yet will be made."""
    check_reach(store)
    _refuse_foreign(store)
    if store.is_local and os.path.lexists(store.root):
        handle = _lock(store)
        if handle is not None:
            disk.close_lock(handle)


def _refuse_foreign(store: Store) -> None:
    """Refuse a folder with files of others, unless it is a checkpoint by now: those of the state
    would lie among them. Hidden ones do not matter."""
    try:
        names = {name for name, _ in store.root.entries() if not name.startswith(".")}
    except OSError:
        return  # Whoever uses the folder will say what is wrong with it.
    names.discard(_OF_THE_DISK)
    if names & {IDENTITY, SCRIPT, MARK} or manifest_names(store):
        return
    foreign = sorted(name for name in names if name not in _FILES and not _is_begun(store, name))
    if foreign:
        shown, more = ", ".join(foreign[:_SHOWN]), len(foreign) - _SHOWN
        raise CheckpointError(
            f"{store.root} holds files that are not a checkpoint's: "
            f"{shown}{f' and {more} more' if more > 0 else ''}",
            hint="name another folder with --checkpoint; a new one is made",
        )


def _is_begun(store: Store, name: str) -> bool:
    """Whether a folder is one of a checkpoint's, and holds nothing but what runs, or those who
    order something, have put there."""
    if name not in _FOLDERS:
        return False
    try:
        below = store.names(name)
    except OSError:
        return False  # It is no folder.
    if name == _QUERIES:
        below = [each.split("/", 2)[-1] for each in below]
        return all(is_own(each) or each in (*_FILES, IDENTITY, MARK) for each in below)
    return all(is_own(each) or each == _HEAD for each in below)


def _lock(store: Store) -> int | None:
    """Hold a lock on a local checkpoint; it goes with the process, however that ends."""
    if not store.is_local:
        return None
    try:
        # Nobody else gets at what is below; a folder that was there before stays as it is.
        disk.make_folders(store.root, 0o700)
        handle = disk.open_lock(store.path(_LOCK), create=True)
    except OSError as error:
        raise _unusable(store, error) from None
    if not _is_locked(store, handle):
        disk.close_lock(handle)
        raise CheckpointError(
            f"checkpoint {store.root} is in use by another run",
            hint="stop that run first, or use another --checkpoint",
        )
    return handle


def _unusable(store: Store, error: OSError) -> CheckpointError:
    return CheckpointError(
        f"cannot use {store.root} as a checkpoint: {error.strerror}",
        hint="name a folder that can be written and locked with --checkpoint",
    )


def _is_locked(store: Store, handle: int) -> bool:
    """Take the lock, if no run has it: those who only look whether one does are soon gone."""
    for _ in range(_LOOKS):
        try:
            disk.take_lock(handle)
        except BlockingIOError:
            time.sleep(_LOOK)
        except OSError as error:
            disk.close_lock(handle)
            raise _unusable(store, error) from None
        else:
            return True
    return False


def is_held(store: Store) -> bool:
    """Whether a run has a local checkpoint, this process's own among them."""
    try:
        handle = disk.open_lock(store.path(_LOCK))
    except OSError:
        return False
    try:
        disk.take_lock(handle, shared=True)
    except BlockingIOError:
        return True
    finally:
        disk.close_lock(handle)
    return False
