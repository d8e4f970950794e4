"""The report log: lines behind the commit, rotated, bounded, and never in the way."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import pytest

import penstock as ps
from penstock.engine.places.place import Place
from penstock.engine.reports.entries import Began, Ended, Entry, written
from penstock.engine.reports.log import ReportLog
from penstock.engine.reports.parts import Change
from penstock.engine.reports.reading import end_of, entries_after, read_reports
from penstock.engine.reports.report import Report
from penstock.engine.reports.run_head import RunHead, is_running, read_head
from penstock.engine.reports.segments import segments
from penstock.engine.reports.writer import Bounds, LogWriter
from penstock.engine.state.store import Store
from support.engines.reported import entries_in, made, script

LINE = len(written(made(100)))


@pytest.fixture(params=["local", "options", "mock"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """A folder on this machine, or on a file system that cannot append."""
    name = f"mock://host/{tmp_path.name}/ck?x=y"
    places = {"local": str(tmp_path), "options": f"file://{tmp_path}?use_mmap", "mock": name}
    return Store(Place.of(places[request.param]))


def bounded(lines: int, segments: int) -> Bounds:
    """Room for so many lines in a segment, and so many segments."""
    return Bounds(segment=lines * LINE + 9, remote_segment=lines * LINE + 9, segments=segments)


def batches(store: Store, last: int | None = None) -> list[int]:
    return [report.batch for report in read_reports(store.root, last)]


def write(store: Store, *entries: Entry, bounds: Bounds | None = None) -> None:
    """What one run writes."""
    LogWriter(store, bounds or Bounds()).write(entries)


def test_lines_of_several_runs_are_in_one_log(store: Store) -> None:
    write(store, *map(made, range(3)))
    write(store, *map(made, range(3, 5)))
    assert batches(store) == [0, 1, 2, 3, 4]
    assert batches(store, 2) == [3, 4]
    assert batches(store, 9) == [0, 1, 2, 3, 4]
    assert len(segments(store)) == 1


def test_there_may_be_no_log(store: Store) -> None:
    assert batches(store) == []
    assert read_head(store) is None
    assert entries_after(store, end_of(store)) == ([], ("", 0))


def test_segments_are_rotated_and_the_oldest_go(store: Store) -> None:
    bounds = bounded(2, 3)
    writer = LogWriter(store, bounds)
    for number in range(100, 113):
        writer.write([made(number)])
    assert batches(store) == [*range(108, 113)]
    assert len(segments(store)) == 3
    assert all(size <= bounds.segment for size in segments(store).values())
    write(store, *map(made, range(113, 118)), bounds=bounds)
    assert batches(store) == [*range(112, 118)]


def test_all_segments_are_bounded_in_bytes(store: Store) -> None:
    bounds = Bounds(segment=2 * LINE, remote_segment=2 * LINE, most=5 * LINE)
    write(store, *map(made, range(100, 150)), bounds=bounds)
    assert sum(segments(store).values()) <= bounds.most
    assert batches(store)[-1] == 149


def test_a_line_longer_than_a_segment_has_one_of_its_own(store: Store) -> None:
    long = made(101, plan="x" * 5 * LINE)
    write(store, made(100), long, made(102), bounds=bounded(2, 9))
    assert batches(store) == [100, 101, 102]
    assert len(segments(store)) == 3


def test_files_of_others_survive(store: Store) -> None:
    foreign = ["reports/notes.jsonl", "reports/1.jsonl", "reports/000000000000.txt", "reports/x"]
    for name in foreign:
        store.write(name, b"mine\n")
    write(store, *map(made, range(100, 120)), bounds=bounded(1, 2))
    assert {bytes(store.read(name)) for name in foreign} == {b"mine\n"}
    assert batches(store) == [118, 119]


def test_a_torn_line_is_passed_over(store: Store) -> None:
    write(store, made(0), made(1))
    (name,) = segments(store)
    data = bytes(store.read(name))
    store.write(name, data + written(made(2))[:50])
    assert batches(store) == [0, 1]
    write(store, made(2), made(3))
    assert batches(store) == [0, 1, 2, 3]
    store.write(name, b"\x00\xff" * 100 + b"\n" + bytes(store.read(name)))
    assert batches(store) == [0, 1, 2, 3]


def test_the_last_of_a_batch_counts(store: Store) -> None:
    write(store, made(0), made(1, results=7), made(1, results=9))
    assert [report.results for report in read_reports(store.root)] == [3, 9]
    # As on a checkpoint that was restored from a copy.
    write(store, *map(made, range(2, 6)), Began(9.0, 3), made(3, results=5))
    assert batches(store) == [0, 1, 2, 3]
    assert [report.results for report in read_reports(store.root, 1)] == [5]


def test_the_tail_reads_the_last_segments_only(store: Store) -> None:
    write(store, *map(made, range(100, 120)), bounds=bounded(2, 99))
    for name in list(segments(store))[:-2]:
        store.write(name, b"not to be read")
    assert batches(store, 3) == [117, 118, 119]


def test_what_comes_after_a_position(store: Store) -> None:
    bounds = bounded(2, 3)
    write(store, made(100), bounds=bounds)
    position = end_of(store)
    assert entries_after(store, position) == ([], position)
    write(store, made(101), made(102), Ended(1.0), bounds=bounds)
    found, position = entries_after(store, position)
    assert found == [made(101), made(102), Ended(1.0)]
    assert entries_after(store, position)[0] == []
    write(store, *map(made, range(103, 120)), bounds=bounds)
    # Of those that are gone by now nothing can be told.
    left = [*read_reports(store.root)]
    assert entries_after(store, position)[0] == left
    assert 4 < len(left) < 7


def head(**more: object) -> RunHead:
    return RunHead("SELECT 1", "local", "noop", started_at=5.0, **more)  # type: ignore[arg-type]


def test_a_log_says_what_runs_and_how_it_ended(store: Store) -> None:
    log = ReportLog(store)
    log.begin(head(batch=3))
    log.tell(made(3))
    log.close("it broke")
    log.tell(made(4))
    log.close()
    found = [type(entry) for entry in entries_in(store.root)]  # type: ignore[arg-type]
    assert found == [Began, Report, Ended]
    seen = read_head(store)
    assert seen is not None
    assert (seen.query, seen.process, seen.error) == ("SELECT 1", os.getpid(), "it broke")
    assert seen.ended_at is not None
    assert not is_running(store, seen, seen.ended_at)


def test_no_thread_is_started_for_nothing(store: Store) -> None:
    log = ReportLog(store)
    log.close()
    assert log._thread is None
    assert not (store.root / "reports").exists


def test_the_time_is_told_where_a_report_has_none(store: Store) -> None:
    log = ReportLog(store)
    log.tell(made(0, at=0.0))
    log.close()
    (report,) = read_reports(store.root)
    assert report.at > 0


def test_signs_of_life_tell_where_there_is_no_lock(tmp_path: Path) -> None:
    store = Store(Place.of(f"mock://host/{tmp_path.name}"))
    assert not is_running(store, None, 100.0)
    assert not is_running(store, head(), 100.0)
    assert is_running(store, head(seen_at=90.0), 100.0)
    assert is_running(store, head(seen_at=90.0, host="elsewhere", process=1), 100.0)
    assert not is_running(store, head(seen_at=60.0), 100.0)
    assert not is_running(store, head(seen_at=90.0, ended_at=95.0), 100.0)
    assert not is_running(store, head(seen_at=90.0, process=2**22 + 1), 100.0)
    log = ReportLog(store)
    log.begin(head())
    log.close()
    seen = read_head(store)
    assert seen is not None
    assert seen.seen_at is not None


def test_a_head_that_is_damaged_is_none(store: Store) -> None:
    for damage in (b"", b"{", b"[]", b'{"query": 7}'):
        store.write("reports/run.json", damage)
        assert read_head(store) is None


def test_drafts_that_a_crash_left_are_removed(tmp_path: Path) -> None:
    store = Store(Place.of(tmp_path))
    left = f"reports/.run.json.{'0123456789abcdef' * 2}"
    store.write(left, b"{")
    store.write("reports/.mine", b"x")
    write(store, made(0))
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == [
        ".mine",
        "000000000000.jsonl",
    ]


def test_a_log_that_cannot_be_written_is_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "reports").write_text("in the way")
    log = ReportLog(Store(Place.of(tmp_path)))
    with caplog.at_level(logging.WARNING):
        log.begin(head())
        for number in range(5):
            log.tell(made(number))
        log.close()
    (record,) = caplog.records
    assert f"the report log in {tmp_path} is incomplete" in record.getMessage()


def test_a_run_goes_on_without_its_log(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    query = ps.sql(script(tmp_path), engine="local")
    query.local(sink="noop", checkpoint=checkpoint).stop()
    shutil.rmtree(checkpoint / "reports", ignore_errors=True)
    (checkpoint / "reports").write_text("in the way")
    with query.local(sink="noop", checkpoint=checkpoint, available_now=True) as run:
        run.await_termination()
    assert run.last_report is not None
    assert run.last_report.total_results == 9


def test_what_is_wrong_with_one_entry_does_not_end_the_log(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    log = ReportLog(store)
    log.tell(made(0))
    log.close()
    log = ReportLog(store)
    with caplog.at_level(logging.WARNING):
        log.tell(made(1, stats={"odd": object()}))
        log.close()
    assert "object has no form in JSON" in caplog.text
    log = ReportLog(store)
    log.tell(made(2))
    log.close()
    assert batches(store) == [0, 2]


def test_a_run_leaves_a_line_for_each_batch(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    query = ps.sql(script(tmp_path), engine="local")
    for _ in range(2):
        with query.local(sink="noop", checkpoint=checkpoint, available_now=True) as run:
            run.pipeline.note(Change("drift", "something moved"))
            run.await_termination()
    reports = [*read_reports(checkpoint)]
    assert [report.batch for report in reports] == [0, 1, 2]
    assert [report.total_results for report in reports] == [1, 4, 9]
    assert reports[0].changes == (Change("drift", "something moved"),)
    assert reports[1].changes == ()
    kinds = [type(entry) for entry in entries_in(checkpoint)]
    assert kinds == [Began, Report, Report, Report, Ended, Began, Ended]
    seen = read_head(Store(Place.of(checkpoint)))
    assert seen is not None
    assert (seen.engine, seen.sink, seen.batch, seen.available_now) == ("local", "noop", 3, True)
    assert seen.query == query.query.text
    assert not is_running(Store(Place.of(checkpoint)), seen, 0.0)


def test_a_run_that_fails_says_so_in_its_log(tmp_path: Path) -> None:
    query = ps.sql(script(tmp_path), engine="local")
    (tmp_path / "a" / "4.csv").write_text("ts,k\nten,1\n")
    with (
        pytest.raises(ps.PenstockError),
        query.local(sink="noop", checkpoint=tmp_path / "checkpoint", available_now=True) as run,
    ):
        run.await_termination()
    last = entries_in(tmp_path / "checkpoint")[-1]
    assert isinstance(last, Ended)
    assert last.error is not None
    assert "'ten' in column ts" in last.error
