"""The disk: the one door through which the engine changes local files.

Until something is flushed, a power cut may take it away, whole or in part: the bytes of a file
until the file is flushed, its name until its folder is. Whoever counts on a file has it flushed
first. Since all goes through here, tests can put a disk in its place that fails and forgets.

Call these by the module, `disk.link(…)`, so that they can be replaced in one place.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import pyarrow as pa
from pyarrow import fs

# Reading


def mapped(path: str) -> pa.Buffer:
    """The bytes of a file, mapped into memory."""
    with pa.memory_map(path) as file:
        return file.read_buffer()


def entries(folder: str) -> AbstractContextManager[Iterable[os.DirEntry[str]]]:
    """The names in a folder, with what is at hand of each."""
    return os.scandir(folder)


# Writing


def make_folders(path: str | os.PathLike[str], mode: int = 0o777) -> None:
    """Have a folder, and those above it."""
    os.makedirs(path, mode, exist_ok=True)


def create(path: str, compression: str | None = None) -> pa.NativeFile:
    """A new file to write to, in the place of one that is there."""
    return fs.LocalFileSystem().open_output_stream(path, compression=compression)


def write_flushed(path: str | os.PathLike[str], data: bytes, mode: int | None = None) -> None:
    """Write a whole new file and flush it; with these permissions, if any are given."""
    with open(path, "wb") as file:
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_from(path: str, start: int, parts: Iterable[AbstractContextManager[Any]]) -> None:
    """Have a file hold what open files hold, from so many bytes on and to its end, and flush it."""
    with open(path, "r+b" if os.path.exists(path) else "w+b") as file:
        file.truncate(start)
        file.seek(start)
        for part in parts:
            with part as opened:
                shutil.copyfileobj(opened, file)
        file.flush()
        os.fsync(file.fileno())


def append(path: str, data: bytes) -> None:
    """Write to the end of a file."""
    with open(path, "ab") as file:
        file.write(data)


def truncate(path: str, length: int) -> None:
    """Cut a file off."""
    os.truncate(path, length)


def link(path: str, name: str) -> None:
    """Give a file another name, which must be free."""
    os.link(path, name)


def replace(path: str, name: str) -> None:
    """Give a file another name in the place of its own, and of the file that has it, if any."""
    os.replace(path, name)


def unlink(path: str) -> None:
    """Take a file's name away."""
    os.unlink(path)


def remove_folder(path: str) -> None:
    """Remove a folder that nothing is in."""
    os.rmdir(path)


# Flushing


def flush(path: str) -> None:
    """Have the bytes of a file, or the names in a folder, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_all(path: str) -> None:
    """Have all on its disk that was written to the file system of a file or folder, by whichever
    process of this machine."""
    flush_system = _syncfs()
    if flush_system is None:
        os.sync()
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        if flush_system(handle):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
    finally:
        os.close(handle)


@cache
def _syncfs() -> Callable[[int], int] | None:
    """The system's call that flushes one file system; None where there is none."""
    return getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)


# Locking: a lock goes with the process that has it, however that ends


def open_lock(path: str, *, create: bool = False) -> int:
    """A handle of a file to lock, which is made if need be."""
    flags = os.O_CREAT | os.O_RDWR if create else os.O_RDONLY
    return os.open(path, flags, 0o600)


def take_lock(handle: int, *, shared: bool = False) -> None:
    """Have the lock at once, alone or with others who share it; BlockingIOError if somebody has it,
    another OSError where there are no locks."""
    fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def close_lock(handle: int) -> None:
    """Let go of a handle, and of its lock."""
    os.close(handle)
