"""What is published is its user's: moved, rotated or removed, it does not keep a checkpoint from
going on; nor do sinks that are changed, and changed back."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.api import sql
from penstock.cql import parse
from penstock.engine.sinks.sink import Sink, jsonl, parquet
from penstock.errors import CheckpointError, SinkError, SourceError
from penstock.query import Query
from support.engines.crashes import Crash, Run, exit_code
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


def test_a_run_says_that_its_results_are_split(
    query: Query, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, other, place = jsonl(tmp_path / "one"), parquet(tmp_path / "other"), Place(tmp_path)

    def told(sink: Sink, files: int) -> list[str]:
        caplog.clear()
        some(query, place, files, sink=sink)
        return [each.getMessage() for each in caplog.records if "results up to" in each.msg]

    assert told(one, 1) == []
    assert told(one, 2) == []
    told_of = "results up to batch {} are in {}; from now on they go to {}".format
    last = place.manifest.batch
    assert told(other, 3) == [told_of(last, one, other)]
    last = place.manifest.batch
    assert told(one, 4) == [told_of(last, other, one)]
    assert told(one, 4) == []
    last = place.manifest.batch
    assert told(Sink("noop"), 4) == [told_of(last, one, "noop")]


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


@pytest.mark.parametrize("point", ["in publishing lines", "after publishing"])
def test_a_file_that_is_moved_while_a_batch_is_published_gets_all_of_it(
    point: str, query: Query, tmp_path: Path
) -> None:
    """It is found by the other name that it had meanwhile, wherever it is."""
    place = Place(tmp_path, "jsonl")
    run = Run(query.text, str(place.checkpoint), place.sink.name, Crash(point, 2))
    assert exit_code(run) == -signal.SIGKILL
    moved = jsonl(shutil.move(place.sink.place, tmp_path / "elsewhere"))
    run_local(query, place)
    assert len(results_in(moved, query)) == 6
    assert rows_of(query, moved, place.sink) == ALL


def test_a_file_that_is_deleted_while_a_batch_is_published(query: Query, tmp_path: Path) -> None:
    """What its user has deleted is gone, and the batch under way is not."""
    place = Place(tmp_path, "jsonl")
    run = Run(query.text, str(place.checkpoint), place.sink.name, Crash("in publishing lines", 2))
    assert exit_code(run) == -signal.SIGKILL
    Path(place.sink.place).unlink()
    run_local(query, place)
    assert rows_of(query, place.sink) == Counter((n,) for n in range(4, 2 * FILES))


def test_lines_of_a_copy_that_was_made_after_sinks_were_changed(
    query: Query, tmp_path: Path
) -> None:
    """The copy knows how long each file was."""
    place = Place(tmp_path)
    one, two = (jsonl(tmp_path / name) for name in ("one", "two"))
    for count, sink in ((1, one), (2, two), (3, one)):
        some(query, place, count, sink=sink)
    shutil.copytree(place.checkpoint, tmp_path / "copy")
    some(query, place, 5, sink=two)
    shutil.rmtree(place.checkpoint)
    (tmp_path / "copy").rename(place.checkpoint)
    with pytest.raises(SinkError, match="two is not as the last batch left it"):
        run_local(query, place, sink=two)
    run_local(query, place, sink=two, overwrite=True)
    assert rows_of(query, one, two) == ALL


def test_a_folder_that_another_checkpoint_has_overwritten(query: Query, tmp_path: Path) -> None:
    """The one that was there before does not go on there, unless it overwrites in turn."""
    place = Place(tmp_path)
    some(query, place, 2)
    run_local(query, place, checkpoint=tmp_path / "other", overwrite=True)
    with pytest.raises(SinkError, match="were overwritten by another one"):
        run_local(query, place)
    assert rows_of(query, place.sink) == ALL
    run_local(query, place, overwrite=True)
    assert rows_of(query, place.sink) == Counter((n,) for n in range(4, 2 * FILES))


@pytest.mark.parametrize("name", ["mark", "query.json"])
def test_a_checkpoint_that_does_not_know_whose_it_is(
    name: str, query: Query, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    some(query, place, 1)
    (place.checkpoint / name).unlink()
    with pytest.raises(CheckpointError, match=f"{name} is missing, and there are batches"):
        run_local(query, place)


def test_a_file_that_stopped_a_run_and_is_gone_has_a_way_out(query: Query, tmp_path: Path) -> None:
    place, bad = Place(tmp_path), tmp_path / "in" / "2.csv"
    bad.write_text("t\nx\n")
    with pytest.raises(SourceError, match="malformed row"):
        run_local(query, place)
    bad.unlink()
    with pytest.raises(SourceError, match="has vanished") as caught:
        run_local(query, place)
    assert "a file without rows in its place" in (caught.value.hint or "")
    bad.write_text("")
    run_local(query, place)
    assert rows_of(query, place.sink) == ALL - Counter([(4,), (5,)])


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
