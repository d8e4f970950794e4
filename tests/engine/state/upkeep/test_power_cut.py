"""After a power cut files of the last batch may be empty or torn: the next run goes back to the
batch before, by itself, and the results are those of an undisturbed run."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.api import sql
from penstock.cql import parse_script
from penstock.engine.places import flushing
from penstock.engine.places.place import Place as Folder
from penstock.engine.state import manifest as manifests
from penstock.engine.state.listing.chain import Link
from penstock.engine.state.store import Store, member_store
from penstock.engine.state.upkeep.chunk_cache import opened_chunks
from penstock.errors import CheckpointError, StateError
from penstock.query import Query
from support.engines.runs import Place, first_files_only, run_local
from support.engines.script_runs import found, opened
from support.engines.soak import expected, results, script, write_input

FILES = 4


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Query, Counter[Any]]]:
    """Queries, and what each gives if nothing disturbs it."""
    folder = tmp_path_factory.mktemp("input")
    write_input(folder, FILES, Random(3))
    texts = {name: script(name, folder) for name in ("common", "chain", "view")}
    made = {name: (sql(text).query, expected(text)) for name, text in texts.items()}
    assert all(right.total() > 10 for _, right in made.values())
    return made


@pytest.fixture
def query(prepared: dict[str, tuple[Query, Counter[Any]]]) -> Query:
    return prepared["chain"][0]


def as_lines(rows: Counter[Any]) -> Counter[str]:
    """Rows with times as text, as lines have them."""
    found: Counter[str] = Counter()
    for row, count in rows.items():
        found[json.dumps([_as_text(value) for value in row])] += count
    return found


def _as_text(value: object) -> object:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if isinstance(value, datetime) else value


def newest(place: Place) -> Path:
    return Path(place.store.path(manifests.manifest_names(place.store)[-1]))


def new_chunks(place: Place) -> list[Path]:
    """The chunks that only the last batch lists."""
    old = manifests.before(place.store, place.manifest)
    known = set() if old is None else {chunk.name for chunk in old.chunks()}
    names = [chunk.name for chunk in place.manifest.chunks() if chunk.name not in known]
    assert names
    return [Path(place.store.path(name)) for name in names]


def new_parts(place: Place) -> list[Path]:
    parts = [Path(part.final or place.sink.place) for part in place.manifest.parts]
    assert parts
    return parts


def rewrite(path: Path, data: bytes) -> None:
    """Put something else in the place of a file; what this process has mapped of it stays."""
    path.unlink()
    path.write_bytes(data)
    opened_chunks.cache_clear()


def empty(path: Path) -> None:
    rewrite(path, b"")


def halve(path: Path) -> None:
    rewrite(path, path.read_bytes()[: path.stat().st_size // 2])


def zero(path: Path) -> None:
    """The length is there, and the blocks are not."""
    rewrite(path, bytes(path.stat().st_size))


def shorten(path: Path) -> None:
    rewrite(path, path.read_bytes()[:-10])


Damage = Callable[[Place], None]


def each(files: Callable[[Place], list[Path]], harm: Callable[[Path], None]) -> Damage:
    def damage(place: Place) -> None:
        for path in files(place):
            harm(path)

    return damage


DAMAGES: dict[str, tuple[str, Damage]] = {
    "empty chunks": ("parquet", each(new_chunks, empty)),
    "a torn chunk": ("jsonl", lambda place: halve(new_chunks(place)[-1])),
    "chunks of zeros": ("jsonl", each(new_chunks, zero)),
    "missing chunks": ("parquet", each(new_chunks, Path.unlink)),
    "an empty manifest": ("parquet", lambda place: empty(newest(place))),
    "a torn manifest": ("jsonl", lambda place: halve(newest(place))),
    "a manifest of zeros": ("parquet", lambda place: zero(newest(place))),
    "empty parts": ("parquet", each(new_parts, empty)),
    "a torn part": ("parquet", lambda place: halve(new_parts(place)[0])),
    "torn lines": ("jsonl", lambda place: shorten(new_parts(place)[0])),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("name", "batches"), [("common", 1), ("chain", 3), ("view", 3)])
def test_a_damaged_batch_is_run_again(
    damage: str,
    name: str,
    batches: int,
    prepared: dict[str, tuple[Query, Counter[Any]]],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    kind, harm = DAMAGES[damage]
    query, right = prepared[name]
    place = Place(tmp_path, kind)
    with first_files_only(query, batches):
        run_local(query, place, drain=False)
    last = place.manifest.batch
    harm(place)
    run_local(query, place)
    assert as_lines(results(place.sink)) == as_lines(right)
    (told,) = [record.getMessage() for record in caplog.records if "is run again" in record.message]
    assert f"batch {last} is run again" in told


def test_twice_in_a_row(prepared: dict[str, tuple[Query, Counter[Any]]], tmp_path: Path) -> None:
    """The batch that was run again is damaged too."""
    query, right = prepared["chain"]
    place = Place(tmp_path)
    for _ in range(2):
        with first_files_only(query, 3):
            run_local(query, place, drain=False)
        each(new_chunks, empty)(place)
    run_local(query, place)
    assert results(place.sink) == right


def test_what_both_manifests_need_cannot_be_gone_back_from(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 3):
        run_local(query, place, drain=False)
    old = manifests.before(place.store, place.manifest)
    assert old is not None
    both = {chunk.name for chunk in old.chunks()} & {c.name for c in place.manifest.chunks()}
    lost = sorted(both)[0]
    empty(Path(place.store.path(lost)))
    with pytest.raises(StateError, match=lost):
        run_local(query, place)
    for name in manifests.manifest_names(place.store):
        empty(Path(place.store.path(name)))
    with pytest.raises(CheckpointError, match="is damaged"):
        run_local(query, place)


def test_the_manifest_before_the_newest_is_whole_after_every_batch(
    query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    wholes: list[bool] = []

    def look(_: object) -> None:
        store = place.store
        old = manifests.before(store, place.manifest)
        there = set(store.names("state"))
        listed = {chunk.name for chunk in place.manifest.chunks()}
        before = set() if old is None else {chunk.name for chunk in old.chunks()}
        wholes.append(listed | before == there)
        assert store.exists(f"feed/{place.manifest.batch:012d}.json")

    started = sql(query.text).local(sink=place.sink, checkpoint=str(place.checkpoint), report=look)
    started.available_now()
    assert wholes == [True] * FILES


def test_all_of_a_batch_is_flushed_before_its_manifest(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is flushed after the last file was written; and what was published, at the end."""
    place = Place(tmp_path)
    done: list[str] = []
    disk, commit = flushing._flush_disk, manifests.commit

    def flushed(where: str) -> None:
        done.append("disk")
        there.update(Store(Folder.of(place.checkpoint)).names("state"))
        disk(where)

    def committed(store: Store, made: manifests.Manifest, last: Link | None = None) -> Link:
        assert {chunk.name for chunk in made.chunks()} <= there
        written = commit(store, made, last)
        done.append("manifest")
        return written

    there: set[str] = set()
    monkeypatch.setattr(flushing, "_flush_disk", flushed)
    monkeypatch.setattr(manifests, "commit", committed)
    run_local(query, place, drain=False)
    assert done == [*["disk", "manifest"] * FILES, "disk"]


def test_a_damaged_batch_of_a_script_is_run_again(tmp_path: Path) -> None:
    """One manifest is that of all queries: all of them go back."""
    write_input(tmp_path / "in", FILES, Random(5))
    text = script("pair", tmp_path / "in").replace("SELECT", "CREATE STREAM pairs AS SELECT")
    text = text.replace("a.s AS s", "a.s AS s, a.ts AS ts", 1)
    asked = parse_script(
        f"{text}; SELECT s, COUNT(*) AS n INTO counts FROM pairs [RANGE 2 s] GROUP BY s EVERY 1 s;"
        "SELECT a, b INTO all_pairs FROM pairs [NOW];"
    )
    opened(asked, tmp_path / "right").available_now(drain=True)
    right = found(asked, tmp_path / "right")
    assert all(rows.total() > 5 for rows in right.values())
    folder = tmp_path / "damaged"
    for name in ("counts", "pairs"):
        shutil.rmtree(folder, ignore_errors=True)
        with first_files_only(asked.member("pairs").query, 3):
            opened(asked, folder).available_now()
        store = Store(Folder.of(folder / "checkpoint"))
        made = manifests.latest(store)
        assert made is not None
        harmed = member_store(store, name)
        new = {chunk.name for chunk in made.members[name].chunks()} - old_chunks(store, made, name)
        assert new
        for chunk in new:
            empty(Path(harmed.path(chunk)))
        opened(asked, folder).available_now(drain=True)
        assert found(asked, folder) == right


def old_chunks(store: Store, made: manifests.Manifest, name: str) -> set[str]:
    old = manifests.before(store, made)
    assert old is not None
    return {chunk.name for chunk in old.members[name].chunks()}
