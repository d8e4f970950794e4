"""The store: a folder of immutable files, on local disk or any file system that pyarrow reaches."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from io import RawIOBase
from json.encoder import encode_basestring_ascii
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.places import disk
from penstock.engine.places.copies import copies
from penstock.engine.places.creating import create
from penstock.engine.places.fence import Fence
from penstock.engine.places.file_names import as_file_name, is_own, unique_name
from penstock.engine.places.flushing import flush_path, note
from penstock.engine.places.place import Place, open_new
from penstock.engine.rows.columns import END, SEQUENCE, TS, UNTIL, hash_name
from penstock.engine.rows.lifetimes import FOREVER
from penstock.engine.rows.sample_weights import as_now_kept
from penstock.errors import StateError


@dataclass(frozen=True, slots=True, eq=False)
class ChunkInfo:
    """An immutable piece of state, as a manifest lists it. Times are event time, microseconds.

    `first_until` is when the first row dies, where rows say that themselves. `text` are its fields
    as a list of JSON, by which it is compared: a chunk is listed many times, and always the same.
    """

    name: str
    rows: int
    size: int
    checksum: int
    first_ts: int
    last_ts: int
    tier: int = 0
    first_until: int | None = None
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        until = "null" if self.first_until is None else self.first_until
        text = (
            f"[{encode_basestring_ascii(self.name)}, {self.rows}, {self.size}, {self.checksum}, "
            f"{self.first_ts}, {self.last_ts}, {self.tier}, {until}]"
        )
        object.__setattr__(self, "text", text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChunkInfo) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def fields(self) -> dict[str, Any]:
        """Its fields by their names."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def is_of(self, data: pa.Buffer) -> bool:
        """Whether bytes are those that were written."""
        return bool(data.size == self.size and zlib.crc32(data) == self.checksum)

    def dies_before(self, time: int) -> bool:
        """Whether a row says that it will be dead by then."""
        return self.first_until is not None and self.first_until < time


class Summed(RawIOBase):
    """A stream that is told as it is written: its size and its checksum, without a copy of it."""

    def __init__(self, stream: pa.NativeFile):
        self.size, self.checksum = 0, 0
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        self.size += len(data)
        self._stream.write(data)
        return len(data)

    def tell(self) -> int:
        return self.size


@dataclass(frozen=True)
class Store:
    """Files under one root. Names are relative to it.

    A run that holds no lock on them has a fence, and deletes nothing once another has taken over.
    """

    root: Place
    fence: Fence | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        # A root that is still text is parsed here, once.
        object.__setattr__(self, "root", Place.of(self.root))

    @property
    def is_local(self) -> bool:
        return self.root.is_local

    def path(self, name: str) -> str:
        """Where a file lies, as its file system writes it."""
        return (self.root / name).path

    def write(self, name: str, data: pa.Buffer | bytes) -> None:
        """Write a whole new file; its folder is made if need be."""
        place = self.root / name
        with storage_errors("write", place.path), open_new(place) as stream:
            stream.write(data)
        if not name.startswith(_PASSING):
            note(place)

    def write_rows(self, name: str, rows: pa.RecordBatch) -> Summed:
        """Write rows as a whole new file, and tell of it."""
        place = self.root / name
        if not self.is_local:
            return self._write_rows_afar(name, rows)
        with storage_errors("write", place.path), open_new(place) as stream:
            summed = Summed(stream)
            with pa.PythonFile(summed, "w") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
                writer.write_batch(rows)
        return summed

    def _write_rows_afar(self, name: str, rows: pa.RecordBatch) -> Summed:
        """The same elsewhere than on local disks; who reads them next on this machine has a copy
        at hand."""
        stream = pa.BufferOutputStream()
        summed = Summed(stream)
        with pa.PythonFile(summed, "w") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_batch(rows)
        data = stream.getvalue()
        self.write(name, data)
        copies().keep(self.root / name, data)
        return summed

    def publish(self, name: str, data: bytes) -> None:
        """Write a file so that it is seen whole or not at all; it must not exist yet."""
        final = self.root / name
        try:
            with storage_errors("write", final.path):
                create(final, data)
        except FileExistsError:
            self.refuse_fenced()
            raise

    def refuse_fenced(self) -> None:
        """Stop a run that another has taken this checkpoint from."""
        if self.fence is not None:
            with storage_errors("read", self.root.path):
                self.fence.check()

    def replace(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Write a file in the place of the one that is there, if any: readers see one of both, and
        so does who comes after a power cut.

        On local disks it has these permissions, if any are given.
        """
        if not self.is_local:
            self.refuse_fenced()
            self.write(name, data)  # An object store shows a file once it is whole.
            return
        final = self.root / name
        with storage_errors("write", final.path):
            disk.make_folders(final.parent)
            draft = final.parent / f".{final.name}.{unique_name()}"
            disk.write_flushed(draft, data, mode)
            disk.replace(draft.path, final.path)

    def flush_folder(self, folder: str) -> None:
        """Have the names in a local folder on the disk."""
        place = self.root / folder
        if self.is_local:
            with storage_errors("write", place.path):
                flush_path(place.path)

    def read(self, name: str) -> pa.Buffer:
        """The bytes of a file, mapped into memory where it is local."""
        place = self.root / name
        with storage_errors("read", place.path):
            if self.is_local:
                return disk.mapped(place.path)
            with place.filesystem.open_input_file(place.path) as file:
                return file.read_buffer()

    def read_chunk(self, info: ChunkInfo) -> pa.Buffer:
        """The bytes of a chunk: of its copy on this machine's disk, if that is whole."""
        if self.is_local:
            return self.read(info.name)
        place = self.root / info.name
        found = copies().read(place)
        if found is None or not info.is_of(found):
            found = self.read(info.name)
            if info.is_of(found):
                copies().keep(place, found)
        return found

    def open(self, name: str) -> pa.NativeFile:
        """A file to be read from its beginning."""
        place = self.root / name
        return place.filesystem.open_input_stream(place.path)

    def exists(self, name: str) -> bool:
        return (self.root / name).exists

    def names(self, folder: str) -> list[str]:
        """The files anywhere under a folder, sorted; none if it does not exist."""
        below = (self.root / folder).files(recursive=True)
        return sorted(f"{folder}/{name}" for name, _ in below)

    def remove(self, names: list[str]) -> None:
        """Delete files that Penstock wrote; one that is gone is no error, and others stay."""
        own = [name for name in names if is_own(name)]
        if own:
            # Only now that it is known what to delete: no later run has a file of that name.
            self.refuse_fenced()
            with storage_errors("delete files of", self.root.path):
                self.root.delete(own)
            if not self.is_local:
                for name in own:
                    copies().drop(self.root / name)

    def write_chunk(
        self, owner: tuple[str, str], rows: pa.RecordBatch, tier: int = 0, *, lasts: bool = True
    ) -> ChunkInfo:
        """Write rows as a chunk under a name that no other attempt uses; `owner` is whose they are,
        in any words. One that no manifest will list does not last."""
        name = f"{chunk_folder(owner)}/{unique_name('.arrow')}"
        summed = self.write_rows(name, rows)
        if lasts:
            note(self.root / name)
        times = rows.column(TS).to_numpy()
        first, last = (int(times.min()), int(times.max())) if len(times) else (0, 0)
        has_ends = UNTIL in rows.schema.names and len(rows)
        until = int(rows.column(UNTIL).to_numpy().min()) if has_ends else None
        return ChunkInfo(name, len(rows), summed.size, summed.checksum, first, last, tier, until)


def chunk_folder(owner: tuple[str, str]) -> str:
    """The folder of the chunks that belong to somebody, in any words."""
    return "/".join(("state", *map(as_file_name, owner)))


def member_store(store: Store, name: str) -> Store:
    """The files of one query of a script."""
    return Store(store.root / f"{_MEMBERS}/{as_file_name(name)}", store.fence)


_MEMBERS = "queries"
_THINNED = 8
"""Bits of the number of rows that a thinned chunk has at most."""


@dataclass(frozen=True)
class Thinned:
    """Every so many rows of a chunk, a power of two: when they were born, and how they die."""

    stride: int
    bounds: Mapping[str, NDArray[np.int64]]


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

    @cached_property
    def thinned(self) -> Thinned:
        """Some rows that stand for all; a chunk that stays open is looked through for them once."""
        stride = 1 << max(0, (len(self.times) - 1).bit_length() - _THINNED)
        names = [n for n in (UNTIL, SEQUENCE, END) if n in self.rows.schema.names]
        others = {n: self.rows.column(n).to_numpy()[::stride].copy() for n in names}
        return Thinned(stride, {TS: self.times[::stride].copy(), **others})

    @classmethod
    def of(cls, rows: pa.RecordBatch, key: int | None) -> Chunk:
        """Rows that are in order already; without a key all hashes are zero."""
        times = rows.column(TS).to_numpy()
        if key is None:
            return cls(rows, np.zeros(len(times), np.int64), times)
        return cls(rows, rows.column(hash_name(key)).to_numpy(), times)


def read_rows(root: Place, info: ChunkInfo) -> pa.RecordBatch:
    """The rows of a chunk; missing or damaged is an error, never an empty chunk."""
    store = Store(root)
    path = store.path(info.name)
    try:
        data = store.read_chunk(info)
    except FileNotFoundError:
        raise StateError(f"state chunk is missing: {path}", hint=RESTORE) from None
    except (OSError, pa.ArrowInvalid) as error:
        raise StateError(f"state chunk cannot be read: {path}: {error}", hint=RESTORE) from None
    if not info.is_of(data):
        found = f"{data.size} bytes of {info.size}" if data.size != info.size else "wrong checksum"
        raise StateError(f"state chunk is damaged: {path} ({found})", hint=RESTORE)
    return as_now_kept(pa.ipc.open_file(data).get_batch(0))


_PASSING = ("derived/", "transit/")
"""Folders whose files live no longer than the batch that writes them."""
RESTORE = "restore the checkpoint from a copy, or start anew with another --checkpoint"


@contextmanager
def storage_errors(verb: str, path: str) -> Iterator[None]:
    """Say what could not be done with a file, in words for its owner."""
    try:
        yield
    except (FileExistsError, FileNotFoundError):
        raise  # These say how far others have come.
    except OSError as error:
        reason = error.strerror or str(error)
        raise StateError(
            f"cannot {verb} {path}: {reason}",
            hint="nothing is lost: free space or mend access, then run again on this checkpoint",
        ) from None
