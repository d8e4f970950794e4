"""Parsed slices: what one level of a script has read of text, for those that read it after it.

To cut lines into columns is most of the work of many a script. Whoever reads a slice that another
level of the same batch reads too leaves its rows in a file, which lives as long as the batch does.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from penstock.engine.places import disk
from penstock.engine.places.file_names import unique_name
from penstock.engine.places.place import Place
from penstock.engine.rows.columns import ARRIVAL
from penstock.engine.sources.derived_rows import FOLDER
from penstock.engine.sources.read import event_micros
from penstock.engine.sources.read_slice import Arrivals
from penstock.engine.state.store import storage_errors
from penstock.query.source import Source

TEXTS = frozenset({"csv", "json"})
"""Formats that take longer to be read than rows that are left by somebody."""


class ParsedWriter:
    """Leaves the rows of a slice below a local checkpoint's root, if nothing is wrong with any."""

    def __init__(self, root: Place):
        self._root = root
        self._name = f"{FOLDER}/{unique_name('.arrow')}"
        self._file: pa.NativeFile | None = None
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None
        self._is_sound = True

    def take(self, block: Arrivals) -> None:
        """Write one block of the slice."""
        has_faults = block.malformed or block.kept or block.unreadable is not None
        if has_faults or block.part is not None:
            self._is_sound = False
        if self._is_sound:
            rows = block.rows.append_column(ARRIVAL, pa.array(block.numbers))
            with storage_errors("write", (self._root / self._name).path):
                self._opened(rows.schema).write_batch(rows)

    def close(self) -> str | None:
        """The file with all rows of the slice; None if there is none."""
        with storage_errors("write", (self._root / self._name).path):
            if self._writer is not None:
                self._writer.close()
            if self._file is not None:
                self._file.close()
        return self._name if self._is_sound and self._writer is not None else None

    def _opened(self, schema: pa.Schema) -> pa.ipc.RecordBatchStreamWriter:
        if self._writer is None:
            disk.make_folders(self._root / FOLDER)
            self._file = disk.create((self._root / self._name).path)
            self._writer = pa.ipc.new_stream(self._file, schema)
        return self._writer


def read_parsed(root: Place, name: str, source: Source) -> Iterator[Arrivals]:
    """The blocks of a slice as they were read before."""
    path = (root / name).path
    with storage_errors("read", path):
        held = pa.ipc.open_stream(disk.mapped(path))
        for rows in held:
            numbers = rows.column(ARRIVAL).to_numpy()
            rows = rows.drop_columns([ARRIVAL])
            yield Arrivals(rows, event_micros(source, rows), numbers)
