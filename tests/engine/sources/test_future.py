"""Event times that are too far in the future: malformed, by a clock that a replay finds again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.cql import parse
from penstock.duration import MICROS
from penstock.engine.places.place import Place as Folder
from penstock.engine.sources import feed as feeds
from penstock.engine.sources.feed import Feed, serving_name
from penstock.engine.sources.read import read_file
from penstock.engine.state.store import Store
from penstock.errors import SourceError, SqlError
from penstock.query import DataType, Field, Source
from penstock.query.source import FUTURE
from reference import answer, sound
from support.engines.runs import Place, Runner, run_local
from support.streams.blocks import rows
from support.streams.cases import Case, canonical, random_case, write_case

SCRIPT = """
CREATE STREAM s (at {0}, k INT)
WITH (format = 'csv', path = '{1}', timestamp = 'at'{2});
SELECT s.k FROM s [RANGE 10 SECONDS]
"""


def declared(option: str, kind: str = "TIMESTAMP") -> Source:
    return parse(SCRIPT.format(kind, "in", option)).sources["s"]


def test_a_day_is_the_default_and_none_switches_it_off() -> None:
    assert declared("").future == FUTURE == 24 * 3600 * MICROS
    assert declared(", future = '5 minutes'").future == 300 * MICROS
    assert declared(", future = 'NONE'").future is None
    with pytest.raises(SqlError, match="future must be a length of time, or 'none'"):
        declared(", future = 'soon'")


def test_what_is_made_up_has_no_bound() -> None:
    made = Source("m", (Field("ts", DataType.TIMESTAMP),), "synthetic", timestamp="ts", rate=1.0)
    assert made.latest(0) is None
    assert declared("").latest(7) == FUTURE + 7
    assert declared("").latest(None) is None


@pytest.mark.parametrize("kind", ["TIMESTAMP", "BIGINT"])
def test_times_in_the_future_are_malformed(kind: str, tmp_path: Path) -> None:
    bound = 1_000 * MICROS
    shown = {1000: "1970-01-01 00:16:40", 1001: "1970-01-01 00:16:41"}
    times = shown if kind == "TIMESTAMP" else {second: str(second) for second in shown}
    path = tmp_path / "s.csv"
    path.write_text(f"at,k\n{times[1000]},1\n{times[1001]},2\n{times[1000]},3\n")
    unit = ", unit = 's'" if kind == "BIGINT" else ""
    stream = declared(unit, kind)
    with pytest.raises(SourceError) as caught:
        list(read_file(stream, path, ["at", "k"], latest=bound))
    assert "s.csv, line 3: the event time at" in caught.value.message
    assert "by future = '1 DAY' none is after 1970-01-01 00:16:40" in caught.value.message
    drops = replace(stream, malformed="drop")
    (block,) = read_file(drops, path, ["at", "k"], latest=bound)
    assert ([row[1] for row in rows([block])], block.malformed) == ([1, 3], 1)
    (block,) = read_file(drops, path, ["at", "k"])
    assert block.malformed == 0


def test_one_tuple_of_the_year_2999_makes_no_other_late(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "0.csv").write_text("at,k\n2026-01-01 00:00:00,1\n2999-01-01 00:00:00,2\n")
    option = ", malformed = 'drop', max_files = 1"
    query = parse(SCRIPT.format("TIMESTAMP", folder, option))
    place = Place(tmp_path)
    run_local(query, place, drain=False)
    (folder / "1.csv").write_text("at,k\n2026-01-01 00:00:01,3\n")
    (report,) = run_local(query, place, drain=False)
    assert sorted(place.results(query)) == [(1,), (3,)]
    assert report.late["s"] == 0


def bounded(case: Case, future: int) -> Case:
    """The case with streams whose times may be so far ahead of the clock; others are dropped."""
    inputs = tuple(
        replace(item, source=replace(item.source, future=future, malformed="drop"))
        for item in case.query.inputs
    )
    return replace(case, query=replace(case.query, inputs=inputs))


def show(clocks: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the clock show these times, one for each batch."""
    coming = iter(clocks)
    monkeypatch.setattr(feeds, "clock_now", lambda: next(coming, clocks[-1]))


def check(run: Runner, seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare a run with the reference; how many rows were in the future."""
    rng = Random(f"future {seed}")
    case = bounded(random_case(seed), rng.choice((0, 2, 5)) * MICROS)
    query = write_case(case, folder / "in")
    count = max(len(batches) for batches in case.batches.values())
    clocks = [rng.randint(-5, 5 + 10 * n) * MICROS for n in range(count)]
    show(clocks, monkeypatch)
    sane = sound(query, case.batches, [*clocks, clocks[-1]])
    place = Place(folder)
    run(query, place)
    assert canonical(place.results(query)) == canonical(answer(query, sane))

    def total(batches: Any) -> int:
        return sum(len(batch) for found in batches.values() for batch in found)

    return total(case.batches) - total(sane)


@pytest.mark.classic
def test_both_engines_drop_what_the_reference_does(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = range(2) if run is not run_local else range(40)
    dropped = [check(run, seed, tmp_path / str(seed), monkeypatch) for seed in seeds]
    assert sum(1 for count in dropped if count) >= len(seeds) // 2


def test_a_batch_that_is_run_again_has_the_clock_of_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/0.csv").write_text("at,k\n2026-01-01 00:00:00,1\n")
    source = replace(declared(""), path=str(tmp_path / "in"))
    store = Store(Folder.of(tmp_path / "checkpoint"))
    show([1, 2, 3], monkeypatch)
    first, again = (Feed([source], store).serve(0, {}) for _ in range(2))
    assert first is not None
    assert again is not None
    assert [piece.latest for piece in first.slices] == [FUTURE + 1]
    assert first.slices == again.slices
    assert (first.offsets, first.clock) == ({"s": 1}, 1)
    # What an earlier version has begun knew no clock, and dropped nothing.
    store.replace(serving_name(0), json.dumps({"s": 1}).encode())
    old = Feed([source], store).serve(0, {})
    assert old is not None
    assert [piece.latest for piece in old.slices] == [None]
