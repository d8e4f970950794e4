"""A disk that fails, tears and forgets, in the place of the engine's door to local files.

Readers see real files, as any process would that runs on. Beside them it is kept what a power cut
would leave: of a file the bytes that were flushed, and perhaps some of the others; of a folder the
names that were flushed, and perhaps some of the changes since then. Which ones is drawn.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from io import RawIOBase
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Literal
from zlib import crc32

import pyarrow as pa

from penstock.engine.places import disk

DOORS = (
    "mapped",
    "entries",
    "make_folders",
    "create",
    "write_flushed",
    "write_from",
    "append",
    "truncate",
    "link",
    "replace",
    "unlink",
    "remove_folder",
    "flush",
    "flush_all",
    "open_lock",
    "take_lock",
    "close_lock",
)
REAL = {name: getattr(disk, name) for name in DOORS}
_GROWS = frozenset(("folder", "create", "write", "append", "link", "replace"))
"""Operations that a full disk refuses."""


_FIRST_HANDLE = 1_000_000
"""Above those that a system gives."""


class Death(BaseException):
    """The end of a driver: whatever it still tries to do to the disk, it is dead."""


@dataclass
class Node:
    """A file: its bytes now, and those that a power cut leaves at least."""

    now: bytes = b""
    kept: bytes = b""

    def after_cut(self, rng: Random) -> bytes:
        """What is left of it."""
        if self.now == self.kept or rng.random() < 0.25:
            return self.kept
        if not self.now.startswith(self.kept):
            return self.now
        tail = self.now[len(self.kept) :]
        # Not by `randrange`: how much that draws depends on the length, and so on the clock.
        whole = int(rng.random() * (len(tail) + 1))
        torn = tail[:whole]
        zeros = torn + bytes(len(tail) - whole)
        return self.kept + rng.choice((tail, torn, zeros))


class Folder:
    """A folder; what is in it is known by the names."""


Entry = Node | Folder
Names = dict[str, Entry]


@dataclass(frozen=True)
class Change:
    """Names that came, changed or went in one step, in one folder or two.

    A folder that is `emptied` before it is removed counts too: no file system removes it earlier.
    """

    names: Mapping[str, Entry | None]
    emptied: str | None = None

    @property
    def folders(self) -> frozenset[str]:
        above = frozenset(map(os.path.dirname, self.names))
        return above if self.emptied is None else above | {self.emptied}

    def apply(self, names: Names) -> None:
        for name, entry in self.names.items():
            if entry is None:
                names.pop(name, None)
            else:
                names[name] = entry


@dataclass(frozen=True)
class Fault:
    """What goes wrong at an operation, counted within the life of a driver.

    `kill` ends the driver, `cut` all of them and what was not flushed; `full` and `io` are errors
    of some operations from there on.
    """

    at: int
    kind: Literal["kill", "cut", "full", "io"]
    when: Literal["before", "torn", "after"] = "before"
    length: int = 1


@dataclass
class Driver:
    """A process that runs a query, as the disk knows it."""

    name: str
    faults: list[Fault] = field(default_factory=list)
    operations: int = 0
    is_dead: bool = False

    def fault(self, kind: str) -> Fault | None:
        """The fault of its next operation, if there is one."""
        self.operations += 1
        due = [f for f in self.faults if f.at <= self.operations]
        for fault in due:
            is_over = fault.length <= self.operations - fault.at
            if fault.kind in ("full", "io") and is_over:
                self.faults.remove(fault)
            elif fault.kind != "full" or kind in _GROWS:
                return fault
        return None


class SimulatedDisk:
    """The files below a root, and what has become of them.

    `is_ordered` is a file system with a journal: of the changes of names that were not flushed, the
    first so many survive. Otherwise each folder is by itself.
    """

    def __init__(self, root: Path, rng: Random, *, is_ordered: bool):
        self.root = str(root)
        self.rng = rng
        self.is_ordered = is_ordered
        self.driver = Driver("nobody")
        self.drivers: list[Driver] = []
        self.turn: Callable[[], None] = lambda: None
        self.is_hidden: Callable[[str], bool] = lambda path: False
        self.on_link: Callable[[str, bytes], None] = lambda path, data: None
        self.digest = 0
        self.operations = 0
        self.log: list[str] | None = None
        self._names: Names = {self.root: Folder()}
        self._kept: Names = {self.root: Folder()}
        self._pending: list[Change] = []
        self._handles = count(_FIRST_HANDLE)
        self._locks: dict[int, tuple[Driver, str, bool]] = {}

    # Going wrong

    def _do(
        self,
        kind: str,
        path: str,
        act: Callable[[], None],
        torn: Callable[[], None] | None = None,
    ) -> None:
        """Do an operation, or what becomes of it."""
        self.turn()
        driver = self.driver
        if driver.is_dead:
            raise Death(driver.name)
        self._note(f"{driver.name} {kind} {path.removeprefix(os.path.dirname(self.root))}")
        fault = driver.fault(kind)
        if fault is None:
            act()
            return
        self._note(f"{driver.name} {fault.kind} {fault.when}")
        if fault.kind in ("full", "io"):
            if torn is not None and fault.when == "torn":
                torn()
            number = errno.ENOSPC if fault.kind == "full" else errno.EIO
            raise OSError(number, os.strerror(number), path)
        if fault.when == "after":
            act()
        elif fault.when == "torn" and torn is not None:
            torn()
        self._end(driver) if fault.kind == "kill" else self.cut()
        raise Death(driver.name)

    def _note(self, what: str) -> None:
        self.operations += 1
        self.digest = crc32(what.encode(), self.digest)
        if self.log is not None:
            self.log.append(what)

    def _end(self, driver: Driver) -> None:
        driver.is_dead = True
        mine = [handle for handle, (owner, _, _) in self._locks.items() if owner is driver]
        for handle in mine:
            del self._locks[handle]

    def cut(self) -> None:
        """Take the power away: every driver ends, and what was not flushed is lost, or is not."""
        for driver in self.drivers:
            self._end(driver)
        for change in self._survivors():
            change.apply(self._kept)
        kept = {name: e for name, e in self._kept.items() if self._is_reached(name)}
        for node in {id(e): e for e in kept.values() if isinstance(e, Node)}.values():
            node.now = node.kept = node.after_cut(self.rng)
        self._pending = []
        self._kept, self._names = kept, dict(kept)
        self._write_all()

    def damage(self, path: str) -> None:
        """Have a file be torn, although it was flushed: some disks say that they have, and have
        not."""
        node = self._node(path)
        node.now = node.kept = node.now[: int(self.rng.random() * len(node.now))]
        os.unlink(path)
        Path(path).write_bytes(node.now)
        self._note(f"damaged {path.removeprefix(os.path.dirname(self.root))}")

    def _survivors(self) -> Iterator[Change]:
        """The changes that have come to the disk by themselves."""
        if self.is_ordered:
            yield from self._pending[: self.rng.randrange(len(self._pending) + 1)]
            return
        ends: dict[str, float] = {}
        share = self.rng.random()
        for change in self._pending:
            for folder in change.folders:
                ends.setdefault(folder, 1.0)
            if all(ends[f] for f in change.folders) and self.rng.random() < share:
                yield change
            else:
                ends |= dict.fromkeys(change.folders, 0.0)

    def _is_reached(self, name: str) -> bool:
        while name != self.root:
            name = os.path.dirname(name)
            if not isinstance(self._kept.get(name), Folder):
                return False
        return True

    def _write_all(self) -> None:
        """Have the real files be what is left; whoever has mapped one keeps what it was."""
        shutil.rmtree(self.root)
        for name, entry in sorted(self._names.items()):
            if isinstance(entry, Folder):
                os.makedirs(name, exist_ok=True)
        first: dict[int, str] = {}
        for name, entry in self._names.items():
            if isinstance(entry, Node) and first.setdefault(id(entry), name) == name:
                Path(name).write_bytes(entry.now)
            elif isinstance(entry, Node):
                os.link(first[id(entry)], name)

    # Names

    def _apply(self, names: Mapping[str, Entry | None], emptied: str | None = None) -> None:
        change = Change(names, emptied)
        change.apply(self._names)
        self._pending.append(change)

    def _node(self, path: str) -> Node:
        node = self._names.get(path)
        if not isinstance(node, Node):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return node

    def _is_mine(self, path: str) -> bool:
        return path == self.root or path.startswith(f"{self.root}/")

    # The doors

    def mapped(self, path: str) -> pa.Buffer:
        self._do("read", path, lambda: None)
        return REAL["mapped"](path)

    def entries(self, folder: str) -> AbstractContextManager[Iterable[os.DirEntry[str]]]:
        self._do("list", folder, lambda: None)
        return self._shown(folder)

    @contextmanager
    def _shown(self, folder: str) -> Iterator[Iterable[os.DirEntry[str]]]:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if not self.is_hidden(entry.path)]
        yield self.rng.sample(sorted(found, key=lambda entry: entry.name), len(found))

    def make_folders(self, path: str | os.PathLike[str], mode: int = 0o777) -> None:
        missing = [os.fspath(path)]
        while missing[-1] not in self._names and self._is_mine(missing[-1]):
            missing.append(os.path.dirname(missing[-1]))
        for folder in missing[-2::-1]:
            self._do("folder", folder, lambda folder=folder: self._make(folder))  # type: ignore[misc]

    def _make(self, folder: str) -> None:
        if folder not in self._names:
            os.mkdir(folder)
            self._apply({folder: Folder()})

    def create(self, path: str, compression: str | None = None) -> SimulatedFile:
        self._do("create", path, lambda: self._create(path))
        return SimulatedFile(self, path, self._node(path))

    def _create(self, path: str) -> None:
        Path(path).open("wb").close()
        if path in self._names:
            self._node(path).now = b""
        else:
            self._apply({path: Node()})

    def write(self, path: str, node: Node, data: bytes) -> None:
        """Write to the end of a file that somebody has opened, whatever its name is by now."""
        half = data[: int(self.rng.random() * len(data))]
        self._do(
            "write",
            path,
            lambda: self._grow(path, node, data),
            lambda: self._grow(path, node, half),
        )

    def _grow(self, path: str, node: Node, data: bytes) -> None:
        node.now += data
        if self._names.get(path) is node:
            with open(path, "ab") as file:
                file.write(data)

    def write_flushed(
        self, path: str | os.PathLike[str], data: bytes, mode: int | None = None
    ) -> None:
        file = self.create(os.fspath(path))
        file.write(data)
        file.close()
        self.flush(os.fspath(path))

    def write_from(
        self, path: str, start: int, parts: Iterable[AbstractContextManager[Any]]
    ) -> None:
        if path not in self._names:
            self._do("create", path, lambda: self._create(path))
        self.truncate(path, start)
        for part in parts:
            with part as opened:
                self.write(path, self._node(path), bytes(opened.read()))
        self.flush(path)

    def append(self, path: str, data: bytes) -> None:
        if path not in self._names:
            self._do("create", path, lambda: self._create(path))
        self.write(path, self._node(path), data)

    def truncate(self, path: str, length: int) -> None:
        self._do("truncate", path, lambda: self._truncate(path, length))

    def _truncate(self, path: str, length: int) -> None:
        node = self._node(path)
        node.now = node.now[:length] + bytes(max(0, length - len(node.now)))
        os.truncate(path, length)

    def link(self, path: str, name: str) -> None:
        self._do("link", name, lambda: self._link(path, name))

    def _link(self, path: str, name: str) -> None:
        node = self._node(path)
        os.link(path, name)
        self._apply({name: node})
        self.on_link(name, node.now)

    def replace(self, path: str, name: str) -> None:
        self._do("replace", name, lambda: self._replace(path, name))

    def _replace(self, path: str, name: str) -> None:
        node = self._node(path)
        os.replace(path, name)
        self._apply({path: None, name: node})

    def unlink(self, path: str) -> None:
        self._do("unlink", path, lambda: self._unlink(path))

    def _unlink(self, path: str) -> None:
        os.unlink(path)
        self._apply({path: None})

    def remove_folder(self, path: str) -> None:
        self._do("remove", path, lambda: self._remove(path))

    def _remove(self, path: str) -> None:
        os.rmdir(path)
        self._apply({path: None}, emptied=path)

    def flush(self, path: str) -> None:
        if not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._do("flush", path, lambda: self._flush(path))

    def _flush(self, path: str) -> None:
        entry = self._names[path]
        if isinstance(entry, Node):
            entry.kept = entry.now
            return
        wanted = {path}
        left: list[Change] = []
        flushed: list[Change] = []
        for change in reversed(self._pending):
            # What was done before in the same folders has come to the disk with it.
            is_wanted = not wanted.isdisjoint(change.folders)
            (flushed if is_wanted else left).append(change)
            wanted |= change.folders if is_wanted else frozenset()
        for change in reversed(flushed):
            change.apply(self._kept)
        self._pending = left[::-1]

    def flush_all(self, path: str) -> None:
        self._do("flush all", path, self._flush_all)

    def _flush_all(self) -> None:
        for entry in self._names.values():
            if isinstance(entry, Node):
                entry.kept = entry.now
        self._kept, self._pending = dict(self._names), []

    # Locks

    def open_lock(self, path: str, *, create: bool = False) -> int:
        if create and path not in self._names:
            self._do("create", path, lambda: self._create(path))
        if not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._do("open", path, lambda: None)
        handle = next(self._handles)
        self._locks[handle] = (self.driver, path, False)
        return handle

    def take_lock(self, handle: int, *, shared: bool = False) -> None:
        owner, path, _ = self._locks[handle]
        self._do("lock", path, lambda: None)
        others = [each for each, (_, at, has) in self._locks.items() if at == path and has]
        if others and others != [handle]:
            raise BlockingIOError(errno.EWOULDBLOCK, os.strerror(errno.EWOULDBLOCK), path)
        self._locks[handle] = (owner, path, not shared)

    def close_lock(self, handle: int) -> None:
        self._locks.pop(handle, None)


class SimulatedFile(RawIOBase):
    """A new file of a simulated disk; what is written comes to it when it is closed."""

    def __init__(self, disk: SimulatedDisk, path: str, node: Node):
        self._disk, self._path, self._node = disk, path, node
        self._data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._data += bytes(data)
        return len(data)

    def tell(self) -> int:
        return len(self._data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._data:
                self._disk.write(self._path, self._node, bytes(self._data))

    def __del__(self) -> None:
        """Nothing: who has died closes nothing."""


@contextmanager
def in_place(chosen: SimulatedDisk) -> Iterator[None]:
    """Have the engine use a simulated disk."""
    for name in DOORS:
        setattr(disk, name, getattr(chosen, name))
    try:
        yield
    finally:
        for name, real in REAL.items():
            setattr(disk, name, real)
        disk.close_lock = _close_lock


def _close_lock(handle: int) -> None:
    """Let go of a real lock; objects that are found to be garbage later may have simulated ones."""
    if handle < _FIRST_HANDLE:
        REAL["close_lock"](handle)
