"""The store: a folder of immutable files, on local disk or any file system that pyarrow reaches."""

from __future__ import annotations

import errno
import os
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import fs

from penstock.engine.layout import TS, UNTIL, hash_name
from penstock.engine.lifetimes import FOREVER
from penstock.engine.samples import as_now_kept
from penstock.errors import StateError


@dataclass(frozen=True)
class ChunkInfo:
    """An immutable piece of state, as a manifest lists it. Times are event time, microseconds.

    `first_until` is when the first row dies, where rows say that themselves.
    """

    name: str
    rows: int
    size: int
    checksum: int
    first_ts: int
    last_ts: int
    tier: int = 0
    first_until: int | None = None

    def dies_before(self, time: int) -> bool:
        """Whether a row says that it will be dead by then."""
        return self.first_until is not None and self.first_until < time


@dataclass(frozen=True)
class Store:
    """Files under one root, which is a path or a URI. Names are relative to it."""

    root: str

    @cached_property
    def _place(self) -> tuple[fs.FileSystem, str]:
        return open_filesystem(self.root)

    @property
    def is_local(self) -> bool:
        return isinstance(self._place[0], fs.LocalFileSystem)

    def path(self, name: str) -> str:
        """Where a file lies, as its file system writes it."""
        return f"{self._place[1]}/{name}"

    def write(self, name: str, data: pa.Buffer | bytes) -> None:
        """Write a whole new file; its folder is made if need be."""
        filesystem, _ = self._place
        path = self.path(name)
        with storage_errors("write", path):
            try:
                stream = filesystem.open_output_stream(path)
            except FileNotFoundError:
                filesystem.create_dir(os.path.dirname(path), recursive=True)
                stream = filesystem.open_output_stream(path)
            with stream:
                stream.write(data)

    def publish(self, name: str, data: bytes) -> None:
        """Write a file so that it is seen whole or not at all; it must not exist yet."""
        if not self.is_local:
            if self.exists(name):
                raise FileExistsError(name)
            self.write(name, data)
            return
        final = Path(self.path(name))
        draft = final.with_name(f".{final.name}.{uuid.uuid4().hex}")
        with storage_errors("write", str(final)):
            draft.parent.mkdir(parents=True, exist_ok=True)
            with open(draft, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(draft, final)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if final.exists():
                    raise FileExistsError(final) from None
                os.replace(draft, final)
            finally:
                draft.unlink(missing_ok=True)

    def read(self, name: str) -> pa.Buffer:
        """The bytes of a file, mapped into memory where it is local."""
        filesystem, _ = self._place
        path = self.path(name)
        if self.is_local:
            with pa.memory_map(path) as file:
                return file.read_buffer()
        with filesystem.open_input_file(path) as file:
            return file.read_buffer()

    def exists(self, name: str) -> bool:
        filesystem, _ = self._place
        return bool(filesystem.get_file_info(self.path(name)).type != fs.FileType.NotFound)

    def names(self, folder: str) -> list[str]:
        """The files anywhere under a folder, sorted; none if it does not exist."""
        filesystem, root = self._place
        selector = fs.FileSelector(self.path(folder), recursive=True, allow_not_found=True)
        infos = filesystem.get_file_info(selector)
        return sorted(i.path[len(root) + 1 :] for i in infos if i.type == fs.FileType.File)

    def remove(self, names: list[str]) -> None:
        """Delete files; one that is gone already is no error."""
        filesystem, _ = self._place
        for name in names:
            try:
                filesystem.delete_file(self.path(name))
            except FileNotFoundError:
                continue

    def write_chunk(self, folder: str, rows: pa.RecordBatch, tier: int = 0) -> ChunkInfo:
        """Write rows as a chunk under a name that no other attempt uses."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_batch(rows)
        data = sink.getvalue()
        name = f"{folder}/{uuid.uuid4().hex}.arrow"
        self.write(name, data)
        times = rows.column(TS).to_numpy()
        first, last = (int(times.min()), int(times.max())) if len(times) else (0, 0)
        has_ends = UNTIL in rows.schema.names and len(rows)
        until = int(rows.column(UNTIL).to_numpy().min()) if has_ends else None
        return ChunkInfo(name, len(rows), data.size, zlib.crc32(data), first, last, tier, until)


@dataclass(frozen=True)
class Chunk:
    """State in memory, sorted by (hash of the key, event time)."""

    rows: pa.RecordBatch
    hashes: NDArray[np.int64]
    times: NDArray[np.int64]

    @cached_property
    def longest(self) -> int | None:
        """The longest life of a row, if rows say when they die and all do."""
        if UNTIL not in self.rows.schema.names or not len(self.rows):
            return None
        until = self.rows.column(UNTIL).to_numpy()
        return None if until.max() >= FOREVER else int((until - self.times).max())

    @classmethod
    def of(cls, rows: pa.RecordBatch, key: int | None) -> Chunk:
        """Rows that are in order already; without a key all hashes are zero."""
        times = rows.column(TS).to_numpy()
        if key is None:
            return cls(rows, np.zeros(len(times), np.int64), times)
        return cls(rows, rows.column(hash_name(key)).to_numpy(), times)


@lru_cache(maxsize=1024)
def open_chunk(root: str, info: ChunkInfo, key: int | None) -> Chunk:
    """A chunk that a manifest lists, checked against its checksum the first time it is opened."""
    return Chunk.of(read_rows(root, info), key)


def read_rows(root: str, info: ChunkInfo) -> pa.RecordBatch:
    """The rows of a chunk; missing or damaged is an error, never an empty chunk."""
    store = Store(root)
    path = store.path(info.name)
    try:
        data = store.read(info.name)
    except FileNotFoundError:
        raise StateError(f"state chunk is missing: {path}", hint=_RESTORE) from None
    except (OSError, pa.ArrowInvalid) as error:
        raise StateError(f"state chunk cannot be read: {path}: {error}", hint=_RESTORE) from None
    if data.size != info.size or zlib.crc32(data) != info.checksum:
        found = f"{data.size} bytes of {info.size}" if data.size != info.size else "wrong checksum"
        raise StateError(f"state chunk is damaged: {path} ({found})", hint=_RESTORE)
    return as_now_kept(pa.ipc.open_file(data).get_batch(0))


def open_filesystem(root: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and the path in it."""
    if "://" in root:
        filesystem, path = fs.FileSystem.from_uri(root)
        return filesystem, path.rstrip("/")
    return fs.LocalFileSystem(), os.path.abspath(root)


def absolute_root(root: str) -> str:
    """A path that means the same to every process, wherever it was started; URIs stay."""
    return root if "://" in root else os.path.abspath(root)


# File systems without hard links (some network mounts) answer with one of these.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
_RESTORE = "restore the checkpoint from a copy, or start anew with another --checkpoint"


@contextmanager
def storage_errors(verb: str, path: str) -> Iterator[None]:
    """Say what could not be done with a file, in words for its owner."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise StateError(
            f"cannot {verb} {path}: {reason}",
            hint="nothing is lost: free space or mend access, then run again on this checkpoint",
        ) from None
