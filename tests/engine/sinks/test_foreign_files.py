"""Penstock deletes only files that it wrote itself, wherever it is told to write."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.places.place import open_new
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import Sink
from penstock.errors import PenstockError, SinkError
from penstock.query import Query
from support.engines.runs import Place, first_files_only, planned, run_local, run_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNIQUE = "0123456789abcdef" * 2
ROWS = [(n,) for n in range(1, 5)]


@pytest.fixture
def query(tmp_path: Path) -> Query:
    """A stream of four files, each of one tuple and a batch of its own."""
    (tmp_path / "in").mkdir()
    for number in range(1, 5):
        (tmp_path / "in" / f"{number}.csv").write_text(f"t\n{number}\n")
    return parse(
        f"CREATE STREAM a (t BIGINT) WITH (format='csv', path='{tmp_path}/in', timestamp='t', "
        "unit='s', max_files=1, lateness='1 hour'); SELECT t FROM a [NOW]"
    )


@contextmanager
def foreign(folder: Path, *names: str) -> Iterator[None]:
    """Files of somebody else's in a folder; they must be as they were afterwards."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"mine: {name}")
    yield
    assert {n: (folder / n).read_text() for n in names if (folder / n).exists()} == {
        name: f"mine: {name}" for name in names
    }


def rows_of(sink: Sink) -> list[tuple[int]]:
    tables = [pq.read_table(path) for path in Path(sink.place).glob("part-*.parquet")]
    return sorted((t,) for table in tables for t in table.column("t").to_pylist())


@pytest.mark.parametrize("options", ["?use_mmap", "/?use_mmap", "?use_mmap=true&x=a%20b"])
def test_a_sink_with_options(options: str, query: Query, tmp_path: Path) -> None:
    """`_staging` was put behind the options, so that the sink itself was cleaned up."""
    folder = tmp_path / "with blank"
    sink = ps.parquet(f"{folder.as_uri()}{options}")
    with foreign(folder, "precious.txt", "deep/precious.parquet", "_staging/x"):
        with first_files_only(query, 2):
            run_local(query, Place(tmp_path), sink=sink, drain=False)
        # The same folder, written otherwise.
        run_local(query, Place(tmp_path), sink=ps.parquet(f"{folder}/../with blank"))
    assert rows_of(sink) == ROWS


def test_a_sink_with_options_on_the_command_line(query: Query, tmp_path: Path) -> None:
    folder = tmp_path / "precious"
    (tmp_path / "query.cql").write_text(query.text)
    sink = f"parquet:{folder.as_uri()}?use_mmap"
    with foreign(folder, "a.txt", "b/c.txt"):
        made = CliRunner().invoke(
            app,
            [
                "run",
                str(tmp_path / "query.cql"),
                "--engine=local",
                "--available-now",
                "--sink",
                sink,
            ],
        )
    assert made.exit_code == 0, made.output
    assert rows_of(ps.parquet(folder)) == ROWS


def test_a_checkpoint_with_options(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 2):
        run_local(query, place, checkpoint=f"{place.checkpoint.as_uri()}?use_mmap", drain=False)
    run_local(query, place, checkpoint=place.checkpoint)
    assert sorted(place.results(query)) == ROWS
    assert {path.name for path in tmp_path.iterdir()} == {"in", "checkpoint", "results"}


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_the_same_sink_written_otherwise_is_not_overwritten(
    kind: str, query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path, kind)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    again = Sink.named(f"{kind}:{Path(place.sink.place).as_uri()}?use_mmap")
    run_local(query, place, sink=again, overwrite=True)
    assert sorted(place.results(query)) == ROWS


def test_a_source_with_options_is_read_once(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    folder = tmp_path / "in"
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    for written in (f"{folder.as_uri()}?use_mmap", f"file:{folder}/", f"{folder}/*.csv"):
        again = parse(query.text.replace(f"'{folder}'", f"'{written}'"))
        run_local(again, place, drain=False)
    assert sorted(place.results(query)) == ROWS


def test_overwrite_replaces_results_and_nothing_else(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    folder = Path(place.sink.place)
    names = (
        "notes.txt",
        "_SUCCESS",
        "_penstock/notes",
        ".hidden.parquet",
        "old/part-00000000-0000.parquet",
    )
    with foreign(folder, *names):
        with first_files_only(query, 2):
            run_local(query, place, checkpoint=tmp_path / "one")
        old = set(folder.glob("part-*.parquet"))
        run_local(query, place, checkpoint=tmp_path / "two", overwrite=True)
        assert not old & set(folder.glob("part-*.parquet"))
    assert rows_of(place.sink) == ROWS


@pytest.mark.parametrize(
    "name",
    [
        "mine.parquet",
        "part-00000000-0000.parquet",
        f"part-00000-{UNIQUE[:8]}-0123-4567-89ab-{UNIQUE[:12]}-c000.snappy.parquet",
        f"part-00000000-0000-{UNIQUE[:16]}.parquet",
    ],
)
def test_overwrite_refuses_to_mix_with_files_of_others(
    name: str, query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    run_local(query, place, checkpoint=tmp_path / "one")
    folder = Path(place.sink.place)
    before = set(folder.iterdir())
    with foreign(folder, name):
        for overwrite, wrong in ((False, "already holds results"), (True, f"not delete: {name}")):
            with pytest.raises(SinkError, match=wrong):
                run_local(query, place, checkpoint=tmp_path / "two", overwrite=overwrite)
    assert set(folder.iterdir()) == before | {folder / name}
    (folder / name).unlink()
    assert sorted(place.results(query)) == ROWS


def test_results_that_were_copied_from_elsewhere_are_foreign(query: Query, tmp_path: Path) -> None:
    place, other = Place(tmp_path / "here"), Place(tmp_path / "there")
    run_local(query, other)
    run_local(query, place)
    copied = next(Path(other.sink.place).glob("*.parquet"))
    shutil.copy(copied, place.sink.place)
    with pytest.raises(SinkError, match=f"not delete: {copied.name}"):
        run_local(query, place, checkpoint=tmp_path / "new", overwrite=True)


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "console"])
def test_what_others_put_beside_staged_results_stays(
    kind: str, query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path, kind)
    sink = ps.console() if kind == "console" else place.sink
    run = open_run(planned(query), RunOptions(sink=sink, checkpoint=str(place.checkpoint)))
    assert run.pipeline.staging is not None
    staging = Path(run.pipeline.staging.folder)
    staging.mkdir(parents=True)
    (staging / f"{UNIQUE}.{run.pipeline.staging.format}").write_text("left by a crash")
    with foreign(staging, "mine.parquet", f"{UNIQUE}.txt", "deep/x.jsonl"):
        run.available_now(drain=True)
    assert sorted(path.name for path in staging.iterdir()) == [
        f"{UNIQUE}.txt",
        "deep",
        "mine.parquet",
    ]


def test_two_runs_into_one_folder_spare_each_other(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    plan = planned(query)
    one, two = (
        open_run(plan, RunOptions(sink=place.sink, checkpoint=str(tmp_path / name)))
        for name in ("one", "two")
    )
    assert one.pipeline.staging is not None
    staged = Path(one.pipeline.staging.folder) / f"{UNIQUE}.parquet"
    staged.parent.mkdir(parents=True)
    staged.write_text("under way")
    two.available_now(drain=True)
    assert staged.read_text() == "under way"
    one.available_now(drain=True)
    assert sorted(place.results(query)) == sorted(ROWS * 2)


def test_files_of_others_in_a_checkpoint(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    with first_files_only(query, 1):
        run_local(query, place, drain=False)
    names = (
        "state/mine.arrow",
        "state/a@0/0/mine.arrow",
        f"state/{UNIQUE}.arrow",
        "transit/mine",
        "transit/0/mine",
        "feed/000.json",
        "feed/rss.xml",
        "manifests/.gitignore",
        "decisions/mine.json",
        "sources/a/readme.txt",
        "staging/mine.jsonl",
        "notes.txt",
    )
    with foreign(place.checkpoint, *names):
        with first_files_only(query, 2):
            run_local(query, place, drain=False)
        run_local(query, place)
    assert sorted(place.results(query)) == ROWS


FOREIGN = (b"a,b\n1,2\n", b"\x00\xff", b"[1]\n", b'{"a": 1', b'{"t": 7}\n{"t": 8}\n')


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("content", FOREIGN)
def test_jsonl_never_replaces_a_file_of_others(
    content: bytes, overwrite: bool, query: Query, tmp_path: Path
) -> None:
    """Lines of JSON were taken for results, with the columns of the query or with others."""
    place = Place(tmp_path, "jsonl")
    path = Path(place.sink.place)
    path.write_bytes(content)
    with pytest.raises(SinkError, match="holds data that Penstock did not write") as caught:
        run_local(query, place, overwrite=overwrite)
    assert caught.value.hint == "name another file, or move it away"
    assert path.read_bytes() == content


def test_jsonl_replaces_results_whose_checkpoint_is_gone(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path, "jsonl")
    with first_files_only(query, 2):
        run_local(query, place)
    shutil.rmtree(place.checkpoint)
    with pytest.raises(SinkError, match="already holds results"):
        run_local(query, place)
    run_local(query, place, overwrite=True)
    assert sorted(place.results(query)) == ROWS


def test_jsonl_does_not_replace_what_was_put_in_the_place_of_results(
    query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path, "jsonl")
    path = Path(place.sink.place)
    run_local(query, place)
    path.write_text('{"t": 7}\n')
    with pytest.raises(SinkError, match="holds data that Penstock did not write"):
        run_local(query, place, checkpoint=tmp_path / "other", overwrite=True)
    assert path.read_text() == '{"t": 7}\n'


def test_jsonl_does_not_cut_what_was_put_in_the_place_of_results(
    query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path, "jsonl")
    path = Path(place.sink.place)
    with first_files_only(query, 2):
        run_local(query, place, drain=False)
    mine = '{"t": 7}\n' * 10
    path.write_text(mine)
    with pytest.raises(SinkError, match="holds data that Penstock did not write"):
        run_local(query, place, overwrite=True)
    assert path.read_text() == mine


@pytest.mark.parametrize("secret", ["SECRET", "SECRET/SECRET"])
@pytest.mark.parametrize("role", ["sink", "checkpoint", "source"])
def test_a_place_that_cannot_be_reached_keeps_its_secret(
    role: str, secret: str, query: Query, tmp_path: Path
) -> None:
    uri = f"nosuch://KEY:{secret}@bucket/x"
    text = query.text.replace(f"'{tmp_path}/in'", f"'{uri}'") if role == "source" else query.text
    places = {"sink": str(tmp_path / "results"), "checkpoint": str(tmp_path / "state"), role: uri}

    def run() -> None:
        sink = ps.parquet(places["sink"])
        run_local(parse(text), Place(tmp_path), sink=sink, checkpoint=places["checkpoint"])

    with pytest.raises(PenstockError, match=r"nosuch://KEY:\*\*\*") as caught:
        run()
    assert "SECRET" not in str(caught.value)


def test_state_and_results_on_another_file_system(query: Query, tmp_path: Path) -> None:
    """One that is no local disk, in memory, with a host and options in its URIs."""
    sink = ps.parquet("mock://host/out%20put?x=y")
    theirs = sink.place / "precious.txt"
    with open_new(theirs) as file:
        file.write(b"mine")
    with first_files_only(query, 2):
        run_local(query, Place(tmp_path), sink=sink, checkpoint="mock://host/ck?x=y", drain=False)
    run_local(query, Place(tmp_path), sink=sink, checkpoint="mock://host/ck/?x=y")
    for checkpoint in ("mock://host/two?x=y", "mock://host/three?x=y"):
        with pytest.raises(SinkError, match="already holds results"):
            run_local(query, Place(tmp_path), sink=sink, checkpoint=checkpoint)
        run_local(query, Place(tmp_path), sink=sink, checkpoint=checkpoint, overwrite=True)
    found = [name for name, _ in sink.place.files() if name.endswith(".parquet")]
    parts = [pq.read_table((sink.place / n).path, filesystem=theirs.filesystem) for n in found]
    assert sorted((t,) for part in parts for t in part.column("t").to_pylist()) == ROWS
    assert theirs.is_file
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


@pytest.mark.classic
@pytest.mark.spark
def test_a_checkpoint_with_options_and_strange_names_on_spark(
    spark: SparkSession, query: Query, tmp_path: Path
) -> None:
    """Spark's own folder lies in it, and Spark reads what was staged there."""
    folder = tmp_path / "a b[1]{c}%20é*"
    uri = f"{folder.as_uri()}?use_mmap"
    seen: list[int] = []

    def look(frame: DataFrame, batch: int) -> None:
        seen.extend(row.t for row in frame.collect())

    sink = ps.foreach_batch(look)
    with first_files_only(query, 2):
        run_spark(spark, query, Place(tmp_path), checkpoint=uri, sink=sink, drain=False)
    run_spark(spark, query, Place(tmp_path), checkpoint=folder, sink=sink)
    assert sorted(seen) == [1, 2, 3, 4]
    assert {path.name for path in tmp_path.iterdir()} == {"in", folder.name}
    assert (folder / "spark" / "offsets").is_dir()
