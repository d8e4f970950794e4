"""Chunks on S3 have copies on the machine's disk: fetched once, bounded, and checked."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.api import sql
from penstock.engine.places.copies import FOLDER, Copies, copies
from penstock.engine.places.place import Place
from penstock.engine.rows.columns import TS
from penstock.engine.sinks.sink import noop
from penstock.engine.state.store import Store, read_rows
from penstock.engine.state.upkeep.chunk_cache import opened_chunks
from penstock.errors import StateError
from support.stores.s3_server import S3Server
from support.stores.stored_runs import script_over, stored_input

CHUNK = re.compile(r"/checkpoint/state/.*\.arrow")


def fetched(server: S3Server, bucket: str, since: int = 0) -> Counter[str]:
    """How often each chunk was read from the store."""
    asked = server.requests()[since:]
    of_bucket = [path for method, path in asked if method == "GET" and bucket in path]
    return Counter(path for path in of_bucket if CHUNK.search(path))


def test_a_machine_fetches_a_chunk_once(
    bucket: str, server: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = script_over("common", stored_input(tmp_path / "in", bucket, files=8))
    checkpoint = f"s3://{bucket}/checkpoint"
    done = []

    def stop(report: Any) -> None:
        done.append(report.batch)
        if len(done) == 3:
            run.stop()

    run = sql(text).local(sink=noop(), checkpoint=checkpoint, report=stop)
    run.available_now()
    # Whoever writes a chunk has a copy of it.
    assert fetched(server, bucket).total() == 0
    # Another machine has none.
    monkeypatch.setenv(FOLDER, str(tmp_path / "elsewhere"))
    copies.cache_clear()
    opened_chunks.cache_clear()
    reports: list[Any] = []
    later = sql(text).local(sink=noop(), checkpoint=checkpoint, report=reports.append)

    later.available_now()
    assert len(reports) >= 4
    found = fetched(server, bucket)
    assert found.total() > 0
    assert set(found.values()) == {1}


def rows_of(*times: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({TS: pa.array(times, pa.int64())})


def test_a_damaged_copy_is_fetched_again(bucket: str, tmp_path: Path) -> None:
    root = Place.of(f"s3://{bucket}/checkpoint")
    info = Store(root).write_chunk(("a", "0"), rows_of(1, 2, 3))
    (copy,) = (tmp_path / "copies").iterdir()
    copy.write_bytes(b"\0" * info.size)
    assert read_rows(root, info).column(TS).to_pylist() == [1, 2, 3]
    assert copy.read_bytes() != b"\0" * info.size
    copy.unlink()
    root.delete([info.name])
    with pytest.raises(StateError, match="state chunk is missing"):
        read_rows(root, info)


def test_copies_are_bounded_by_bytes(tmp_path: Path) -> None:
    kept, data = Copies(tmp_path, 1_000), pa.py_buffer(b"x" * 300)
    places = [Place.of(f"s3://bucket/{number}") for number in range(40)]
    for place in places:
        kept.keep(place, data)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1_000
    assert kept.has(places[-1])
    kept.keep(places[0], pa.py_buffer(b"x" * 2_000))
    assert not kept.has(places[0])


def test_what_is_swept_has_no_copy(bucket: str, tmp_path: Path) -> None:
    store = Store(Place.of(f"s3://{bucket}/checkpoint"))
    info = store.write_chunk(("a", "0"), rows_of(1))
    store.remove([info.name])
    assert not list((tmp_path / "copies").iterdir())
