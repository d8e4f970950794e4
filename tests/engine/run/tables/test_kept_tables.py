"""Tables that a stream of upserts keeps: each tuple meets the rows as they are at its time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.cql import parse
from penstock.engine.sinks.sink import noop
from penstock.errors import PlanError
from penstock.lab.clock import RealClock
from penstock.lab.experiment import run_experiment
from penstock.lab.schedule import Eager
from penstock.plan.default_plan import default_plan
from penstock.plan.drops import DropBoxes
from penstock.plan.plan import Plan
from penstock.query import Query
from reference import answer
from support.engines.runs import Place, run_local
from support.engines.viewed_runs import told_and_expected
from support.plans.every_kind import any_kind
from support.streams.cases import Case, canonical, random_case, random_view, write_case
from support.tables.kept_tables import with_kept_table

DRAWN = {seed: with_kept_table(random_case(seed), Random(seed)) for seed in range(5000, 5050)}
JOINS = [(seed, case) for seed, case in DRAWN.items() if case is not None]
VIEWED = {seed: with_kept_table(random_view(seed), Random(seed)) for seed in range(5100, 5140)}
VIEWS = [(seed, case) for seed, case in VIEWED.items() if case is not None]


@pytest.mark.parametrize(("seed", "case"), JOINS, ids=[str(seed) for seed, _ in JOINS])
def test_a_join_meets_the_rows_of_its_time(seed: int, case: Case, tmp_path: Path) -> None:
    rng = Random(f"kept {seed}")
    query, place, drain = write_case(case, tmp_path / "in"), Place(tmp_path), rng.random() < 0.5
    plan = any_kind(query, rng)
    run_local(query, place, plan=plan, drain=drain, partitions=rng.randint(1, 3))
    assert canonical(place.results(query)) == canonical(answer(query, case.batches, drain))


@pytest.mark.parametrize(("seed", "case"), VIEWS, ids=[str(seed) for seed, _ in VIEWS])
def test_a_view_sees_the_rows_of_its_time(seed: int, case: Case, tmp_path: Path) -> None:
    found, wanted = told_and_expected(case, tmp_path, Random(f"kept view {seed}"), any_kind)
    assert found == wanted


TEXT = """
CREATE STREAM bid (ts BIGINT, item BIGINT, price BIGINT)
  WITH (format = 'csv', path = '{folder}/bid', timestamp = 'ts', unit = 's', max_files = 1);
CREATE TABLE item (at BIGINT, id BIGINT, op STRING, name STRING)
  WITH (format = 'csv', path = '{folder}/item', timestamp = 'at', unit = 's', key = 'id',
        lateness = '{lateness}', delete = 'op = ''D''', max_files = 1);
"""
BIDS = "SELECT b.ts, b.price, i.name FROM bid [NOW] AS b, item AS i WHERE b.item = i.id"


def asked(folder: Path, select: str = BIDS, lateness: str = "0 seconds", **files: str) -> Query:
    """A query over files of lines, a batch each; `/` is between the batches."""
    for name, header in (("bid", "ts,item,price"), ("item", "at,id,op,name")):
        (folder / name).mkdir()
        for number, text in enumerate(files[name].split("/")):
            lines = "\n".join([header, *text.split()])
            (folder / name / f"{number}.csv").write_text(lines + "\n")
    return parse(TEXT.format(folder=folder, lateness=lateness) + select)


def rows(query: Query, folder: Path, plan: Plan | None = None) -> list[list[Any]]:
    place = Place(folder / "run", "jsonl")
    run_local(query, place, plan=plan, drain=True)
    lines = Path(place.sink.place).read_text().splitlines()
    return sorted(list(json.loads(line).values()) for line in lines)


def test_the_last_upsert_at_or_before_a_tuple_is_met(tmp_path: Path) -> None:
    query = asked(
        tmp_path, bid="1,7,10 2,7,20 5,7,30 9,7,40", item="2,7,,old 4,7,,new 6,7,D, 8,7,,back"
    )
    assert rows(query, tmp_path) == [[2, 20, "old"], [5, 30, "new"], [9, 40, "back"]]


def test_of_several_upserts_at_one_time_the_last_to_arrive_counts(tmp_path: Path) -> None:
    query = asked(tmp_path, bid="3,7,10 3,8,20", item="3,7,,one 3,7,,two 3,8,,gone 3,8,D,")
    assert rows(query, tmp_path) == [[3, 10, "two"]]


def test_upserts_out_of_order_count_by_their_times_and_late_ones_not_at_all(tmp_path: Path) -> None:
    item = "1,7,,first 9,7,,ninth/5,7,,fifth 2,7,,late"
    query = asked(tmp_path, bid="3,7,10 6,7,20 9,7,30", item=item, lateness="4 seconds")
    assert rows(query, tmp_path) == [[3, 10, "first"], [6, 20, "fifth"], [9, 30, "ninth"]]


def test_a_key_of_null_is_a_key_and_equals_nothing(tmp_path: Path) -> None:
    joined = asked(tmp_path, bid="3,,10 4,7,20", item="1,,,none 2,7,,some")
    assert rows(joined, tmp_path) == [[4, 20, "some"]]
    text = TEXT.format(folder=tmp_path, lateness="0 seconds")
    counted = parse(text + "SELECT COUNT(*) AS n, COUNT(id) AS known FROM item EVERY 1 SECOND")
    place = Place(tmp_path / "counted", "jsonl")
    run_local(counted, place, drain=True)
    last = json.loads(Path(place.sink.place).read_text().splitlines()[-1])
    assert (last["n"], last["known"]) == (2, 1)


def test_nothing_of_it_is_shed(tmp_path: Path) -> None:
    item = " ".join(f"1,{key},,name{key}" for key in range(50))
    query = asked(tmp_path, bid=" ".join(f"2,{key},{key}" for key in range(50)), item=item)
    plan = replace(default_plan(query), drops=DropBoxes((("i", 0.01),)))
    assert len(rows(query, tmp_path, plan)) == 50


def test_the_laboratory_reads_no_such_table(tmp_path: Path) -> None:
    query = asked(tmp_path, bid="3,7,10", item="1,7,,some")
    with pytest.raises(PlanError, match="the laboratory does not read i as it is"):
        run_experiment(default_plan(query), noop(), Eager(), clock=RealClock())
