"""Tables that change while a query runs: the results are those of the version of each batch."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import jsonl
from penstock.plan.default_plan import default_plan
from penstock.query import Query
from reference_tables import answer_by_versions, changes_by_versions
from support.engines.runs import Place
from support.plans.every_kind import any_kind
from support.streams.cases import EPOCH, canonical, random_case, random_view
from support.streams.views import Told, told
from support.tables.changing_tables import (
    ChangingCase,
    changing_cases,
    write_changing,
    write_versions,
)

JOINS = changing_cases(random_case, range(3000, 3100), 60)
VIEWS = changing_cases(random_view, range(4000, 4100), 60)


def run_changing(case: ChangingCase, place: Place, rng: Random, drain: bool) -> Query:
    """Run any plan over a case, and change its tables after each batch."""
    query = write_changing(case, place.folder / "in")
    reports: list[Report] = []

    def report(each: Report) -> None:
        reports.append(each)
        write_versions(case, query, each.batch + 1)

    options = RunOptions(
        sink=place.sink,
        checkpoint=str(place.checkpoint),
        partitions=rng.randint(1, 3),
        rebuilt_at_once=rng.choice((0, 1 << 16)),
        report=report,
    )
    open_run(any_kind(query, rng), options).available_now(drain=drain)
    return query


def expected_view(case: ChangingCase, drain: bool) -> Told:
    changes = changes_by_versions(case.query, case.case.batches, case.versions, drain)
    return canonical((EPOCH + timedelta(microseconds=c.time), c.kind, *c.values) for c in changes)


@pytest.mark.parametrize(("seed", "case"), JOINS, ids=[str(seed) for seed, _ in JOINS])
def test_a_join_meets_the_version_of_its_batch(
    seed: int, case: ChangingCase, tmp_path: Path
) -> None:
    rng = Random(f"join {seed}")
    place, drain = Place(tmp_path), rng.random() < 0.5
    query = run_changing(case, place, rng, drain)
    wanted = answer_by_versions(query, case.case.batches, case.versions, drain)
    assert canonical(place.results(query)) == canonical(wanted)


@pytest.mark.parametrize(("seed", "case"), VIEWS, ids=[str(seed) for seed, _ in VIEWS])
def test_a_view_is_evaluated_with_the_version_of_its_batch(
    seed: int, case: ChangingCase, tmp_path: Path
) -> None:
    rng = Random(f"view {seed}")
    place, drain = Place(tmp_path), rng.random() < 0.6
    query = run_changing(case, place, rng, drain)
    assert told(place, query) == expected_view(case, drain)


TRACED = """
CREATE STREAM a (ts BIGINT, k BIGINT)
  WITH (format = 'csv', path = '{folder}/a', timestamp = 'ts', unit = 's', max_files = 1);
CREATE TABLE t (k BIGINT, v BIGINT)
  WITH (format = 'csv', path = '{folder}/t.csv', refresh = '0 seconds');
SELECT a.k AS k, SUM(t.v) AS v FROM a [PARTITION BY k ROWS 1], t WHERE a.k = t.k
GROUP BY a.k EVERY 10 SECONDS
"""


def test_a_key_that_only_the_table_has_lost_is_gone(tmp_path: Path) -> None:
    """A view over ROWS windows looks at changed keys alone; no tuple has changed this one."""
    (tmp_path / "a").mkdir()
    for number, rows in enumerate(("1,1 2,2 11,3", "12,3 21,3", "22,3 31,3")):
        (tmp_path / "a" / f"{number}.csv").write_text("\n".join(["ts,k", *rows.split()]) + "\n")
    table = tmp_path / "t.csv"
    table.write_text("k,v\n1,10\n2,20\n3,30\n")

    def lose() -> None:
        table.write_text("k,v\n2,20\n3,30\n")

    options = RunOptions(
        sink=jsonl(tmp_path / "out.jsonl"),
        checkpoint=str(tmp_path / "checkpoint"),
        report=lambda report: lose(),
    )
    open_run(default_plan(parse(TRACED.format(folder=tmp_path))), options).available_now()
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    told = [(line["_time"][17:19], line["_change"], line["k"], line["v"]) for line in lines]
    assert told[:2] == [("10", "upsert", 1, 10), ("10", "upsert", 2, 20)]
    assert sorted(told[2:]) == [("20", "delete", 1, 10), ("20", "upsert", 3, 30)]
