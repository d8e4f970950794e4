"""The spool: rows get their places once, and are read again from there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.places.place import Place
from penstock.engine.sources.read_slice import Arrivals, read_slice
from penstock.engine.sources.slices import Slice
from penstock.engine.sources.spool import Spool, slices_of, spool_rows
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import SpooledRows
from penstock.errors import CheckpointError, SourceError, StateError
from penstock.query import DataType, Field, Source

BID = Source(
    "bid",
    (Field("ts", DataType.TIMESTAMP), Field("note", DataType.STRING), Field("d", DataType.DATE)),
    "dataframe",
    timestamp="ts",
)


def rows(first: int, count: int) -> pa.RecordBatch:
    """Rows as Spark gives them in a session with another zone than ours."""
    zone = pa.timestamp("us", tz="America/New_York")
    times = pa.array(np.arange(first, first + count) * 1_000_000, pa.int64()).cast(zone)
    notes = pa.array([None if n % 3 == 0 else f"n{n}" for n in range(first, first + count)])
    days = pa.array([date(2026, 1, 1)] * count)
    return pa.record_batch([times, notes, days], names=["ts", "note", "d"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(Place.of(tmp_path / "checkpoint"))


def arrivals(store: Store, piece: Slice, source: Source = BID) -> list[Arrivals]:
    return list(read_slice(source, ("ts", "note"), Slice.of(piece.packet(0)), root=store.root))


def spooled(store: Store, *batches: pa.RecordBatch) -> list[SpooledRows]:
    return list(spool_rows(store.root, BID, batches))


def test_tables_are_kept_for_the_first_batch(store: Store) -> None:
    spool, old, new = Spool(store), spooled(store, rows(0, 2)), spooled(store, rows(0, 3))
    assert spool.tables() == ()
    spool.enter_tables(old)
    spool.enter_tables(new)
    spool.sweep(-1)
    assert spool.tables() == tuple(new)
    assert store.names("spool") == sorted([new[0].name, "spool/tables.json"])
    spool.enter(0, new)
    spool.sweep(-1)
    assert store.exists(new[0].name)
    spool.sweep(0)
    assert store.names("spool") == []


def test_rows_come_back_with_numbers_that_go_on(store: Store) -> None:
    files = [*spooled(store, rows(0, 5), rows(5, 0), rows(5, 2)), *spooled(store, rows(7, 3))]
    assert [file.rows for file in files] == [7, 3]
    slices, after = slices_of(files, {"bid": 100}, tasks=2)
    assert after == {"bid": 110}
    found = [block for piece in slices for block in arrivals(store, piece)]
    assert np.concatenate([b.numbers for b in found]).tolist() == list(range(100, 110))
    assert np.concatenate([b.times for b in found]).tolist() == [n * 1_000_000 for n in range(10)]
    notes = [note for b in found for note in b.rows.column("note").to_pylist()]
    assert notes == [None if n % 3 == 0 else f"n{n}" for n in range(10)]


def test_large_files_are_split_for_the_tasks(store: Store) -> None:
    files = spooled(store, rows(0, 50_000))
    slices, _ = slices_of(files, {}, tasks=3)
    assert len(slices) == 3
    assert [(piece.number, piece.first) for piece in slices] == [
        (0, 0),
        (16667, 16667),
        (33334, 33334),
    ]
    numbers = [n for piece in slices for b in arrivals(store, piece) for n in b.numbers.tolist()]
    assert numbers == list(range(50_000))
    few, _ = slices_of(spooled(store, rows(0, 100)), {}, tasks=8)
    assert len(few) == 1


def test_what_is_listed_is_what_a_batch_reads(store: Store) -> None:
    spool = Spool(store)
    assert spool.listed(3) is None
    files = spooled(store, rows(0, 4))
    spool.enter(3, files)
    assert spool.listed(3) == tuple(files)
    with pytest.raises(FileExistsError):
        spool.enter(3, [])


def test_only_what_the_next_batch_reads_is_kept(store: Store) -> None:
    spool = Spool(store)
    done, orphans, next_ = (spooled(store, rows(0, 4)) for _ in range(3))
    spool.enter(3, done)
    spool.enter(4, next_)
    foreign = "spool/notes.txt"
    store.write(foreign, b"mine")
    spool.sweep(3)
    assert store.names("spool") == sorted(["spool/000000000004.json", next_[0].name, foreign])
    assert orphans[0].name not in store.names("spool")
    spool.sweep(4)
    assert store.names("spool") == [foreign]


def test_a_damaged_file_is_no_empty_one(store: Store) -> None:
    (file,) = spooled(store, rows(0, 4))
    (piece,), _ = slices_of([file], {}, tasks=1)
    path = Path(store.path(file.name))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StateError, match="spooled rows are damaged"):
        arrivals(store, piece)
    path.unlink()
    with pytest.raises(StateError, match="spooled rows cannot be read"):
        arrivals(store, piece)


def test_a_damaged_list_is_an_error(store: Store) -> None:
    store.write("spool/000000000000.json", b'[{"rows": 1}]')
    with pytest.raises(CheckpointError, match="is damaged"):
        Spool(store).listed(0)


def odd() -> pa.RecordBatch:
    """Rows of which the second has no event time, and the third one beyond our calendar."""
    times = pa.array([1, None, 253_402_300_800_000_000], pa.int64()).cast(pa.timestamp("us", "UTC"))
    notes = pa.array(["a", "b", "c"])
    return pa.record_batch([times, notes, pa.nulls(3, pa.date32())], names=["ts", "note", "d"])


def test_a_row_without_event_time_is_named(store: Store) -> None:
    (piece,), _ = slices_of(spooled(store, odd()), {"bid": 40}, tasks=1)
    with pytest.raises(SourceError, match=r"of bid, row 42: .* ts is NULL") as caught:
        arrivals(store, piece)
    assert caught.value.hint == "skip such records with malformed = 'drop'"


def test_malformed_rows_are_left_out_and_the_others_keep_their_numbers(store: Store) -> None:
    (piece,), _ = slices_of(spooled(store, odd()), {"bid": 40}, tasks=1)
    dropping = Source(BID.name, BID.fields, "dataframe", timestamp="ts", malformed="drop")
    (block,) = arrivals(store, piece, dropping)
    assert (block.numbers.tolist(), block.malformed) == ([40], 2)
    assert block.rows.column("ts").to_pylist() == [datetime(1970, 1, 1, 0, 0, 0, 1, UTC)]


def test_members_have_the_names_that_were_declared_whatever_their_case(store: Store) -> None:
    """Spark takes names in any case, and gives them as the DataFrame has them."""
    declared = Field("meta", DataType("STRUCT<city: STRING, zip: INT>"))
    source = replace(BID, fields=(BID.fields[0], declared))
    held = pa.array([{"City": "Graz", "ZIP": 8010}, None])
    [file] = spool_rows(
        store.root, source, [pa.record_batch([rows(0, 2).column(0), held], ["ts", "meta"])]
    )
    [piece] = slices_of([file], {}, tasks=1)[0]
    [block] = read_slice(source, ("ts", "meta"), Slice.of(piece.packet(0)), root=store.root)
    assert block.rows.column("meta").to_pylist() == [{"city": "Graz", "zip": 8010}, None]
