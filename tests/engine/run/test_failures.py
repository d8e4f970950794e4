"""What can go wrong outside: a clear error that names the thing, and nothing lost once mended."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from penstock.api import ContinuousQuery, sql
from penstock.engine.sinks.sink import jsonl, parquet
from penstock.engine.state.manifest import newest
from penstock.engine.wire.packets import Packet, unpack_facts
from penstock.engine.wire.task_errors import errors_as_facts, raise_error
from penstock.errors import (
    CheckpointError,
    PenstockError,
    SinkError,
    SourceError,
    StateError,
)
from penstock.query import Query
from penstock.stats.guess import complete
from support.engines.runs import Place, Runner, first_files_only, run_local, run_spark
from support.engines.soak import script, write_input
from support.streams.cases import canonical

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def query(tmp_path: Path) -> Query:
    write_input(tmp_path / "in", 4, Random(3))
    return sql(script("common", tmp_path / "in")).query


def right_results(query: Query, folder: Path) -> Counter[tuple[object, ...]]:
    """What an undisturbed run gives."""
    place = Place(folder / "undisturbed")
    run_local(query, place)
    found = canonical(place.results(query))
    assert found.total() > 100
    return found


def assert_no_trace(error: PenstockError) -> None:
    """The error is for people: what, a hint, and no stack trace of Spark's."""
    assert error.hint
    assert "Traceback" not in str(error)
    assert "org.apache" not in str(error)
    assert error.__suppress_context__ or error.__context__ is None


# ── state ─────────────────────────────────────────────────────────────────────────────────────────


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [(flip, "wrong checksum"), (cut, "bytes of"), (Path.unlink, "is missing")],
    ids=["flipped", "cut", "gone"],
)
def test_damaged_state_is_never_taken_for_less_state(
    damage: Callable[[Path], object], reason: str, query: Query, run: Runner, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run(query, place, drain=False)
    # Damage a copy: the original is the mended checkpoint.
    damaged = tmp_path / "damaged"
    shutil.copytree(place.checkpoint, damaged)
    # One of both manifests: there is none to go back to.
    one, other = (set(made.chunks()) for made in newest(place.store, 2))
    chunk = sorted(one & other, key=lambda chunk: chunk.last_ts)[-1]
    damage(damaged / chunk.name)
    before = canonical(place.results(query))
    with pytest.raises(StateError, match=reason) as caught:
        run(query, place, checkpoint=damaged)
    assert chunk.name in caught.value.message
    assert_no_trace(caught.value)
    assert canonical(place.results(query)) == before
    run(query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


@pytest.mark.parametrize("kind", ["pending", "ring"])
def test_damage_to_what_the_sequencer_keeps_is_seen(kind: str, tmp_path: Path) -> None:
    write_input(tmp_path / "in", 4, Random(3))
    query = sql(script("chain", tmp_path / "in")).query
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    # Those of both manifests: there is none to go back to.
    paths = list((place.checkpoint / "state" / kind).rglob("*.arrow"))
    wholes = [path.read_bytes() for path in paths]
    for path in paths:
        flip(path)
    with pytest.raises(StateError, match="wrong checksum"):
        run_local(query, place)
    for path, whole in zip(paths, wholes, strict=True):
        path.write_bytes(whole)
    run_local(query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


def digit(path: Path) -> None:
    """Change one digit: it is still good JSON."""
    text = path.read_text()
    at = text.index('"results": ') + len('"results": ')
    path.write_text(f"{text[:at]}{9 - int(text[at])}{text[at + 1 :]}")


@pytest.mark.parametrize("damage", [cut, digit, lambda path: path.write_text("null")])
def test_damaged_manifests_are_refused(
    damage: Callable[[Path], object], query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    paths = sorted((place.checkpoint / "manifests").iterdir())
    wholes = [path.read_bytes() for path in paths]
    for path in paths:
        damage(path)
    with pytest.raises(CheckpointError, match=f"{paths[-1]} is damaged"):
        run_local(query, place)
    for path, whole in zip(paths, wholes, strict=True):
        path.write_bytes(whole)
    run_local(query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


@pytest.mark.parametrize("name", ["query.json", "sources/a"])
def test_the_rest_of_a_checkpoint_is_checked_too(name: str, query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    path = place.checkpoint / name
    path = path if path.is_file() else sorted(path.iterdir())[0]
    whole = path.read_bytes()
    cut(path)
    with pytest.raises(CheckpointError, match=f"{path} is damaged"):
        run_local(query, place)
    path.write_bytes(whole)
    run_local(query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


# ── disk ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk of a few kilobytes, where one may be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={request.param}", "tmpfs", str(disk)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs to mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)


@pytest.mark.parametrize("small_disk", ["16k", "48k"], indirect=True)
@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_a_full_disk_under_the_checkpoint(
    kind: str, query: Query, small_disk: Path, tmp_path: Path
) -> None:
    place = Place(tmp_path, kind)
    checkpoint = small_disk / "checkpoint"
    with pytest.raises(StateError, match=r"cannot write .*No space left on device") as caught:
        run_local(query, place, checkpoint=checkpoint)
    assert str(checkpoint) in caught.value.message
    assert_no_trace(caught.value)
    enlarge(small_disk)
    run_local(query, place, checkpoint=checkpoint)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("small_disk", ["28k", "60k"], indirect=True)
def test_a_full_disk_on_spark(
    query: Query, small_disk: Path, spark: SparkSession, tmp_path: Path
) -> None:
    """On the smaller one Spark's own log is the first that finds no space."""
    place = Place(tmp_path)
    checkpoint = small_disk / "checkpoint"
    with pytest.raises(StateError, match="No space left on device") as caught:
        run_spark(spark, query, place, checkpoint=checkpoint)
    assert str(checkpoint) in caught.value.message
    assert_no_trace(caught.value)
    enlarge(small_disk)
    run_spark(spark, query, place, checkpoint=checkpoint)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


@pytest.mark.parametrize(
    ("kind", "small_disk"),
    [("parquet", "4k"), ("parquet", "12k"), ("jsonl", "8k"), ("jsonl", "64k"), ("jsonl", "80k")],
    indirect=["small_disk"],
)
def test_a_full_disk_under_the_sink(
    kind: str, query: Query, small_disk: Path, tmp_path: Path
) -> None:
    place = Place(small_disk, kind)
    checkpoint = tmp_path / "checkpoint"
    with pytest.raises(SinkError, match="No space left on device") as caught:
        run_local(query, place, checkpoint=checkpoint)
    assert str(small_disk) in caught.value.message
    assert_no_trace(caught.value)
    enlarge(small_disk)
    run_local(query, place, checkpoint=checkpoint)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


LIMITED = """
import json, resource, signal, sys
from penstock.api import sql
from penstock.engine.sinks.sink import Sink
from penstock.errors import PenstockError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for text, sink, limit, checkpoint in json.loads(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        sql(text).local(sink=Sink.named(sink), checkpoint=checkpoint).available_now(drain=True)
        said = ""
    except PenstockError as error:
        said = f"{type(error).__name__} {error}"
    print(json.dumps(said))
"""
LIMITS = [("parquet", 500), ("parquet", 3_000), ("jsonl", 2_000), ("jsonl", 40_000)]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], tuple[Path, str]]:
    """The folder of a run under each limit, and what it said; one process has them all."""
    folders = {case: tmp_path_factory.mktemp("limited") for case in LIMITS}
    jobs = []
    for (kind, limit), folder in folders.items():
        write_input(folder / "in", 4, Random(3))
        place = Place(folder, kind)
        text = script("common", folder / "in")
        jobs.append((text, place.sink.name, limit, str(place.checkpoint)))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, json.dumps(jobs)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # The report log is worth a warning, and no more.
    said = [line for line in done.stderr.splitlines() if not line.startswith("the report log in ")]
    assert said == []
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return {case: (folders[case], text) for case, text in zip(folders, said, strict=True)}


@pytest.mark.parametrize(("kind", "limit"), LIMITS)
def test_files_that_may_not_grow(
    kind: str, limit: int, limited: dict[tuple[str, int], tuple[Path, str]]
) -> None:
    """A limit on the size of files stops the run here or there; what was written before stays."""
    folder, said = limited[kind, limit]
    assert said.startswith(("StateError cannot", "SinkError cannot"))
    assert "File too large" in said
    assert "hint: nothing is lost" in said
    place = Place(folder, kind)
    query = sql(script("common", folder / "in")).query
    run_local(query, place)
    assert canonical(place.results(query)) == right_results(query, folder)


def test_a_checkpoint_that_cannot_be_a_folder(query: Query, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"cannot use .* as a checkpoint"):
        run_local(query, Place(tmp_path), checkpoint=tmp_path / "file")


# ── input ─────────────────────────────────────────────────────────────────────────────────────────


def planned(query: Query) -> ContinuousQuery:
    return ContinuousQuery(query, complete(query))


def test_a_vanished_input_file(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    started = planned(query).local(sink=place.sink, checkpoint=str(place.checkpoint))
    started._feed.freeze()
    lost = tmp_path / "in" / "b" / "0002.parquet"
    elsewhere = lost.rename(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match=f"{lost} of b has vanished"):
        started.available_now()
    with pytest.raises(SourceError, match=f"{lost} of b has vanished"):
        run_local(query, place)
    elsewhere.rename(lost)
    run_local(query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


@pytest.mark.classic
@pytest.mark.spark
def test_a_vanished_input_file_on_spark(query: Query, spark: SparkSession, tmp_path: Path) -> None:
    place = Place(tmp_path)
    lost = tmp_path / "in" / "b" / "0003.parquet"
    started = planned(query).start(
        spark, sink=place.sink, checkpoint=str(place.checkpoint), available_now=True
    )
    elsewhere = lost.rename(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match=f"{lost} of b has vanished") as caught:
        started.await_termination()
    assert_no_trace(caught.value)
    elsewhere.rename(lost)
    run_spark(spark, query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


CSV = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1{more});
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1{more});
SELECT a.ts AS a, b.ts AS b FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE a.k = b.k
"""


def write_csv(folder: Path) -> Path:
    """Two files a stream; in a's second one row is malformed and one is late."""
    for name in "ab":
        (folder / name).mkdir()
        (folder / name / "1.csv").write_text("ts,k\n1,1\n2,2\n")
        (folder / name / "2.csv").write_text("ts,k\n3,1\n4,2\n")
    bad = folder / "a" / "2.csv"
    bad.write_text("ts,k\n3,1\n5,one\n1,1\n4,2\n")
    return bad


GOOD = [(1, 1), (1, 3), (2, 2), (2, 4), (3, 1), (3, 3), (4, 2), (4, 4)]


def test_a_malformed_row_fails_with_its_place(run: Runner, tmp_path: Path) -> None:
    bad = write_csv(tmp_path)
    query = sql(CSV.format(folder=tmp_path, more="")).query
    place = Place(tmp_path)
    with pytest.raises(SourceError, match="'one' in column k is not an INT") as caught:
        run(query, place)
    assert f"{bad}" in str(caught.value)
    assert "3" in str(caught.value)
    assert_no_trace(caught.value)
    bad.write_text("ts,k\n3,1\n1,1\n4,2\n")
    run(query, place)
    assert sorted(place.results(query)) == GOOD


def test_a_malformed_row_is_dropped_and_counted(run: Runner, tmp_path: Path) -> None:
    write_csv(tmp_path)
    query = sql(CSV.format(folder=tmp_path, more=", malformed='drop'")).query
    place = Place(tmp_path)
    reports = run(query, place)
    assert [report.malformed["a"] for report in reports[:2]] == [0, 1]
    assert [report.late["a"] for report in reports[:2]] == [0, 1]
    assert sum(report.malformed["b"] + report.late["b"] for report in reports) == 0
    assert sorted(place.results(query)) == GOOD


# ── checkpoints ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("RANGE 3 SECONDS], b", "RANGE 4 SECONDS], b", "inputs"),
        ("a.s AS s", "a.k AS s", "outputs"),
        ("b.k = c.k", "b.k = c.j", "equalities"),
        ("b.k = c.k", "b.k = c.k AND a.id > 5", "filters"),
        ("b.k = c.k", "b.k = c.k AND a.id < b.id", "other predicates"),
        ("s STRING", "s STRING, t STRING", "columns"),
        ("lateness='100 ms'", "lateness='99 ms'", "event times"),
    ],
)
def test_a_checkpoint_of_another_query_is_refused(
    old: str, new: str, part: str, query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    run_local(query, place, drain=False)
    text = script("common", tmp_path / "in")
    assert old in text
    other = sql(text.replace(old, new)).query
    with pytest.raises(CheckpointError, match=f"its {part} differ") as caught:
        run_local(other, place)
    assert str(place.checkpoint) in caught.value.message
    assert "this query: " in caught.value.message
    run_local(query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


def test_a_checkpoint_keeps_its_partitions(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run_local(query, place, partitions=3, drain=False)
    for change in (False, True):
        with pytest.raises(CheckpointError, match="has 3 partitions, not 2"):
            run_local(query, place, partitions=2, change=change)
    run_local(query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


def test_a_checkpoint_keeps_its_engine(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    path = place.checkpoint / "query.json"
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found | {"engine": "spark"}))
    with pytest.raises(CheckpointError, match=r"query.json is damaged: wrong checksum"):
        run_local(query, place)
    del found["checksum"]  # As earlier versions wrote it.
    path.write_text(json.dumps(found | {"engine": "spark"}))
    with pytest.raises(CheckpointError, match="made by --engine spark"):
        run_local(query, place)


@pytest.mark.parametrize("taken", ["checkpoint", "source"])
def test_results_among_other_files_are_refused(query: Query, taken: str, tmp_path: Path) -> None:
    place, source = Place(tmp_path), next(iter(query.sources.values()))
    folder = place.checkpoint if taken == "checkpoint" else Path(str(source.path))
    with pytest.raises((CheckpointError, SinkError), match=str(folder)):
        planned(query).check(sink=parquet(folder), checkpoint=str(place.checkpoint))


def test_a_checkpoint_in_use_is_refused(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    holder = planned(query).local(sink=place.sink, checkpoint=str(place.checkpoint))
    with pytest.raises(CheckpointError, match=f"{place.checkpoint} is in use by another run"):
        run_local(query, place)
    holder.available_now(drain=True)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


def test_a_drained_checkpoint_is_closed(query: Query, run: Runner, tmp_path: Path) -> None:
    place = Place(tmp_path)
    run(query, place)
    before = canonical(place.results(query))
    with pytest.raises(CheckpointError, match=f"{place.checkpoint} is closed"):
        run(query, place)
    assert canonical(place.results(query)) == before


@pytest.mark.spark
def test_spark_may_count_batches_as_it_likes(
    query: Query, spark: SparkSession, tmp_path: Path
) -> None:
    """What has been read is in our manifest: Spark's own log may have gaps, or be lost."""
    place = Place(tmp_path)
    with first_files_only(query, 2):
        for _ in range(3):
            run_spark(spark, query, place, drain=False)
    with first_files_only(query, 3):
        run_spark(spark, query, place, drain=False)
    shutil.rmtree(place.checkpoint / "spark")
    run_spark(spark, query, place)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


# ── sinks ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_a_sink_that_holds_results_is_not_mixed(kind: str, query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path, kind)
    with first_files_only(query, 2):
        run_local(query, place, checkpoint=tmp_path / "other")
    held = canonical(place.results(query))
    with pytest.raises(SinkError, match=f"{place.sink.place} already holds results"):
        run_local(query, place)
    assert canonical(place.results(query)) == held
    run_local(query, place, overwrite=True)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


def test_overwrite_spares_what_a_checkpoint_has_written(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path, "jsonl")
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    run_local(query, place, overwrite=True)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


@pytest.mark.parametrize("kinds", [("parquet", "jsonl"), ("jsonl", "parquet"), ("jsonl", "jsonl")])
def test_another_sink_takes_over_where_the_first_ended(
    kinds: tuple[str, ...], query: Query, tmp_path: Path
) -> None:
    first, second = Place(tmp_path / "1", kinds[0]), Place(tmp_path / "2", kinds[1])
    with first_files_only(query, 2):
        run_local(query, first, checkpoint=tmp_path / "checkpoint", drain=False)
    run_local(query, second, checkpoint=tmp_path / "checkpoint")
    one, two = canonical(first.results(query)), canonical(second.results(query))
    assert one
    assert two
    assert one + two == right_results(query, tmp_path)


def test_lines_that_are_too_many_are_left_alone(query: Query, tmp_path: Path) -> None:
    """They may be results of a run that had come further: only who says so has them cut off."""
    place = Place(tmp_path, "jsonl")
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    path = Path(place.sink.place)
    changed = path.read_bytes() + b"mine\n"
    path.write_bytes(changed)
    with pytest.raises(SinkError, match=f"{path} is not as the last batch left it") as caught:
        run_local(query, place)
    assert_no_trace(caught.value)
    assert path.read_bytes() == changed
    run_local(query, place, overwrite=True)
    assert canonical(place.results(query)) == right_results(query, tmp_path)


def test_a_jsonl_sink_in_a_folder_that_is_not_there_yet(query: Query, tmp_path: Path) -> None:
    sink = jsonl(tmp_path / "new" / "folder" / "results.jsonl")
    with first_files_only(query, 0):
        run_local(query, Place(tmp_path), sink=sink, drain=True)
    assert Path(sink.place).read_bytes() == b""


def test_a_sink_that_cannot_be_written(query: Query, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for sink in (parquet(tmp_path / "file" / "out"), jsonl(tmp_path / "file" / "out.jsonl")):
        with pytest.raises(SinkError, match=str(tmp_path / "file")) as caught:
            run_local(query, Place(tmp_path / sink.kind), sink=sink)
        assert_no_trace(caught.value)


def test_a_batch_that_does_not_fit_into_memory_is_an_error() -> None:
    def work() -> Iterator[Packet]:
        yield from ()
        np.empty(1 << 55)

    facts = unpack_facts(errors_as_facts(work()))
    with pytest.raises(StateError, match="does not fit into memory") as raised:
        raise_error(facts)
    assert "max_files" in (raised.value.hint or "")
