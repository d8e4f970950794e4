"""Outer joins that are killed, that wait for silent streams, and on Spark."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from support.engines.crashes import Crash, Run, exit_code
from support.engines.runs import Place, expected, planned, run_spark
from support.outer.outer_text import asked_case
from support.streams.cases import canonical
from support.streams.views import expected as expected_view
from support.streams.views import told
from support.waiting import let_hours_pass

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THREE = (
    "SELECT a.ts AS t, c.ts AS u, b.x FROM a [RANGE 9 SECONDS] JOIN c [RANGE 8 SECONDS] "
    "ON a.k = c.k LEFT JOIN b [RANGE 6 SECONDS] ON a.k = b.k AND a.x > b.x"
)
SEMI = (
    "SELECT a.ts, a.x FROM a [RANGE 9 SECONDS] "
    "WHERE EXISTS (SELECT 1 FROM b [RANGE 6 SECONDS] WHERE b.k = a.k AND a.x > b.x)"
)
FULL = (
    "SELECT a.x AS x, b.x AS y FROM a [TUMBLE 10 SECONDS] FULL JOIN b [RANGE 6 SECONDS] "
    "ON a.k = b.k AND a.x > b.x"
)
VIEW = (
    "SELECT a.k, COUNT(*) AS n, COUNT(b.x) AS m, SUM(b.x) AS s FROM a [RANGE 9 SECONDS] "
    "LEFT JOIN b [RANGE 6 SECONDS] ON a.k = b.k GROUP BY a.k EVERY 3 SECONDS"
)
CHAIN = (
    "SELECT a.ts AS t, b.x, c.x AS y FROM a [RANGE 9 SECONDS] LEFT JOIN b [RANGE 6 SECONDS] "
    "ON a.k = b.k AND a.x > b.x LEFT JOIN c [RANGE 3 SECONDS] ON a.k = c.k"
)
RIGHT = (
    "SELECT a.ts AS t, b.x, c.x AS y FROM a [RANGE 9 SECONDS] LEFT JOIN b [RANGE 6 SECONDS] "
    "ON a.k = b.k AND a.x > b.x RIGHT JOIN c [RANGE 3 SECONDS] ON a.x = c.x"
)
CHOOSY = (
    "SELECT a.ts AS t, a.x, c.x AS y FROM a [RANGE 9 SECONDS] LEFT JOIN c [RANGE 3 SECONDS] "
    "ON a.k = c.k WHERE a.x IN (SELECT x FROM b [RANGE 6 SECONDS])"
)
CRASHES = [
    Crash("in a chunk", 3),
    Crash("after the results are staged", 2),
    Crash("before the commit", 4),
    Crash("after the commit", 3),
    Crash("in publishing files", 1),
    Crash("after the commit", 0, in_drain=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("crash", CRASHES, ids=lambda crash: f"{crash.point} {crash.call}")
def test_a_killed_join_goes_on_exactly(crash: Crash, tmp_path: Path) -> None:
    text = (THREE, SEMI, CHAIN, CHOOSY)[crash.call % 4]
    case = asked_case(text, tmp_path / "in")
    place = Place(tmp_path)
    has_trees = text in (THREE, CHAIN)
    shapes = (None, (("a", "b"), "c"), ("a", ("b", "c"))) if has_trees else ()
    checkpoint, sink = str(place.checkpoint), place.sink.name
    run = Run(case.query.text, checkpoint, sink, crash, shapes)
    assert exit_code(run) == -9
    assert exit_code(replace(run, crash=None)) == 0
    assert canonical(place.results(case.query)) == expected(case, case.query, place.kind)


SILENT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{0}/a', timestamp='ts', unit='s', max_files=1, idle='1 h');
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{0}/b', timestamp='ts', unit='s', max_files=1, idle='1 h');
SELECT a.ts AS one, b.ts AS other
FROM a [RANGE 10 SECONDS] LEFT JOIN b [RANGE 10 SECONDS] ON a.k = b.k
"""


def bring(folder: Path, name: str, number: int, second: int) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / f"{number:04}.csv").write_text(f"ts,k\n{second},7\n")


def test_a_silent_stream_is_not_waited_for(tmp_path: Path) -> None:
    bring(tmp_path, "a", 0, 100)
    bring(tmp_path, "b", 0, 50)
    query, place = parse(SILENT.format(tmp_path)), Place(tmp_path)
    run = open_run(planned(query), RunOptions(sink=place.sink, checkpoint=str(place.checkpoint)))
    run._step()
    assert not place.results(query)
    let_hours_pass(run)
    bring(tmp_path, "a", 1, 500)
    run._step()
    assert canonical(place.results(query)) == Counter({(100, None): 1})
    bring(tmp_path, "b", 1, 505)
    run.available_now(drain=True)
    assert canonical(place.results(query)) == Counter({(100, None): 1, (500, 505): 1})


@pytest.mark.spark
def test_both_engines_give_the_same(spark: SparkSession, tmp_path: Path) -> None:
    texts = {"three": THREE, "semi": SEMI, "full": FULL, "chain": CHAIN, "choosy": CHOOSY}
    texts["right"] = RIGHT
    for name, text in texts.items():
        case = asked_case(text, tmp_path / name / "in", batches=3)
        place = Place(tmp_path / name)
        run_spark(spark, case.query, place, drain=name != "full")
        wanted = expected(case, case.query, place.kind, name != "full")
        assert canonical(place.results(case.query)) == wanted
        assert wanted


@pytest.mark.spark
def test_a_view_is_the_same_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    case = asked_case(VIEW, tmp_path / "in", batches=3)
    place = Place(tmp_path)
    run_spark(spark, case.query, place)
    assert told(place, case.query) == expected_view(case, case.query)
