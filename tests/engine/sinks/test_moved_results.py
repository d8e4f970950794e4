"""What is published is its user's: moved, rotated or removed, it does not keep a checkpoint from
going on; nor do sinks that are changed, and changed back."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.api import sql
from penstock.cql import parse
from penstock.engine.sinks.sink import Sink, jsonl, parquet
from penstock.errors import SinkError
from penstock.query import Query
from support.engines.runs import Place, Rows, first_files_only, results_in, run_local

FILES = 6


@pytest.fixture
def query(tmp_path: Path) -> Query:
    """A stream of some files, each of two tuples and a batch of its own."""
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        (tmp_path / "in" / f"{number}.csv").write_text(f"t\n{2 * number}\n{2 * number + 1}\n")
    return parse(
        f"CREATE STREAM a (t BIGINT) WITH (format='csv', path='{tmp_path}/in', timestamp='t', "
        "unit='s', max_files=1, lateness='1 hour'); SELECT t FROM a [NOW]"
    )


ALL = Counter((n,) for n in range(2 * FILES))


def some(query: Query, place: Place, files: int, **more: Any) -> None:
    """Run over the first files."""
    with first_files_only(query, files):
        run_local(query, place, drain=False, **more)


def rows_of(query: Query, *sinks: Sink) -> Counter[Any]:
    rows: Rows = []
    for sink in sinks:
        rows += results_in(sink, query)
    return Counter(rows)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_that_was_moved_away_begins_anew(
    overwrite: bool, query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path, "jsonl")
    some(query, place, 2)
    moved = jsonl(shutil.move(place.sink.place, tmp_path / "results.1"))
    some(query, place, 4, overwrite=overwrite)
    assert rows_of(query, place.sink) == Counter((n,) for n in range(4, 8))
    run_local(query, place)
    assert rows_of(query, moved, place.sink) == ALL


def test_a_file_that_is_rotated_while_the_query_runs(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path, "jsonl")
    moved: list[Sink] = []

    def rotate(_: object) -> None:
        path = shutil.move(place.sink.place, tmp_path / f"results.{len(moved)}")
        moved.append(jsonl(path))

    started = sql(query.text).local(
        sink=place.sink, checkpoint=str(place.checkpoint), report=rotate
    )
    started.available_now()
    assert len(moved) == FILES
    assert all(len(results_in(each, query)) == 2 for each in moved)
    assert rows_of(query, *moved) == ALL


def test_a_shorter_file_in_its_place_is_gone_on_with(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path, "jsonl")
    some(query, place, 3)
    Path(place.sink.place).write_text('{"t":1000}\n')
    run_local(query, place)
    assert rows_of(query, place.sink) == Counter((n,) for n in (1000, *range(6, 2 * FILES)))


def test_parts_that_were_moved_away_are_not_missed(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    some(query, place, 3)
    (tmp_path / "archive").mkdir()
    for path in Path(place.sink.place).glob("part-*"):
        shutil.move(path, tmp_path / "archive")
    run_local(query, place)
    assert rows_of(query, parquet(tmp_path / "archive"), place.sink) == ALL


@pytest.mark.parametrize("kinds", [("jsonl", "parquet"), ("parquet", "jsonl"), ("jsonl", "jsonl")])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_sink_is_changed_and_changed_back(
    kinds: tuple[str, str], overwrite: bool, query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    one, two = (Sink.named(f"{kind}:{tmp_path}/to{n}") for n, kind in enumerate(kinds))
    some(query, place, 1, sink=one)
    some(query, place, 3, sink=two, overwrite=overwrite)
    some(query, place, 5, sink=one, overwrite=overwrite)
    run_local(query, place, sink=two, overwrite=overwrite)
    assert rows_of(query, one) == Counter((n,) for n in (0, 1, 6, 7, 8, 9))
    assert rows_of(query, one, two) == ALL


@pytest.mark.parametrize("later", [2, 5])
def test_a_checkpoint_restored_from_a_copy_gives_results_once(
    later: int, query: Query, tmp_path: Path
) -> None:
    """What a run that had come further has published is replaced."""
    place = Place(tmp_path)
    some(query, place, 1)
    shutil.copytree(place.checkpoint, tmp_path / "copy")
    some(query, place, later)
    shutil.rmtree(place.checkpoint)
    (tmp_path / "copy").rename(place.checkpoint)
    # Another number of files in a batch: the parts of the one run are not those of the other.
    again = parse(query.text.replace("max_files=1", "max_files=4"))
    run_local(again, place)
    assert rows_of(query, place.sink) == ALL


def test_lines_of_a_checkpoint_restored_from_a_copy(query: Query, tmp_path: Path) -> None:
    """Lines have no names: they are cut off if they may be."""
    place = Place(tmp_path, "jsonl")
    some(query, place, 1)
    shutil.copytree(place.checkpoint, tmp_path / "copy")
    some(query, place, 3)
    shutil.rmtree(place.checkpoint)
    (tmp_path / "copy").rename(place.checkpoint)
    with pytest.raises(SinkError, match="is not as the last batch left it") as caught:
        run_local(query, place)
    assert "--overwrite" in (caught.value.hint or "")
    run_local(query, place, overwrite=True)
    assert rows_of(query, place.sink) == ALL


def test_a_folder_that_a_run_publishes_to_is_not_cleared(query: Query, tmp_path: Path) -> None:
    place = Place(tmp_path)
    running = sql(query.text).local(sink=place.sink, checkpoint=str(place.checkpoint))
    with pytest.raises(SinkError, match="is written to by another run, which is not over"):
        run_local(query, place, checkpoint=tmp_path / "other", overwrite=True)
    running.available_now()
    assert rows_of(query, place.sink) == ALL
    run_local(query, place, checkpoint=tmp_path / "other", overwrite=True)
    assert rows_of(query, place.sink) == ALL


def test_two_checkpoints_may_write_to_one_folder(query: Query, tmp_path: Path) -> None:
    """Begun at once in an empty folder, neither touches what is the other's."""
    place = Place(tmp_path)
    both = [
        sql(query.text).local(sink=place.sink, checkpoint=str(tmp_path / name)) for name in "ab"
    ]
    for running in both:
        running.available_now()
    assert rows_of(query, place.sink) == ALL + ALL


def test_a_copy_of_a_checkpoint_does_not_run_beside_it(query: Query, tmp_path: Path) -> None:
    """Its files have the same names."""
    place = Place(tmp_path)
    some(query, place, 2)
    shutil.copytree(place.checkpoint, tmp_path / "copy")
    running = sql(query.text).local(sink=place.sink, checkpoint=str(place.checkpoint))
    with pytest.raises(SinkError, match="by a run on a copy of this checkpoint"):
        run_local(query, place, checkpoint=tmp_path / "copy")
    running.available_now()
    assert rows_of(query, place.sink) == ALL
