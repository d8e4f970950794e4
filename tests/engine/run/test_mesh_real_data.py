"""Query meshes on streams as they are: road sensors whose lanes differ, and orders by key alone."""

from __future__ import annotations

import csv
import re
from datetime import datetime
from pathlib import Path
from random import Random

import duckdb
import pytest

import penstock as ps
from penstock.api import temporary_checkpoint
from penstock.cql import parse
from penstock.plan.mesh import MeshJoin
from penstock.sampling.analyze import analyze
from penstock.stats.files.dump import dump
from support.paths import ROOT

DATA = ROOT / "examples" / "data"

SPEED_UP = 60_000
"""A report a minute of each lane becomes one a millisecond: nineteen lanes stand for a country."""

ROAD = """
CREATE STREAM flow (site STRING, lane STRING, ts TIMESTAMP, num_lanes INT, flow INT)
WITH (format = 'csv', path = 'flow.csv', timestamp = 'ts', lateness = '1 second');
CREATE STREAM speed (site STRING, lane STRING, ts TIMESTAMP, speed DOUBLE)
WITH (format = 'csv', path = 'speed.csv', timestamp = 'ts', lateness = '1 second');
SELECT f.site, f.lane, f.flow, s.speed
FROM speed [RANGE 5 MILLISECONDS] AS s, flow [NOW] AS f
WHERE f.site = s.site AND f.lane = s.lane AND s.speed < 90.0 AND is_busy(f.flow, f.num_lanes)
"""

STOCK = """
CREATE STREAM sb (key BIGINT, eventTime BIGINT)
WITH (format = 'csv', path = '{sb}', timestamp = 'eventTime', unit = 'ms', lateness = '1 second');
CREATE STREAM cj (key BIGINT, eventTime BIGINT)
WITH (format = 'csv', path = '{cj}', timestamp = 'eventTime', unit = 'ms', lateness = '1 second');
SELECT s.key, s.eventTime AS sold, c.eventTime AS bought
FROM sb [RANGE 20 MILLISECONDS] AS s, cj [RANGE 20 MILLISECONDS] AS c WHERE s.key = c.key
"""


@ps.function(cost="5 us")
def is_busy(flow: int, lanes: int) -> bool:
    """Whether a lane carries more than roads of so many lanes mostly do."""
    return sum(flow > 900 + 100 * lanes + step for step in range(21)) > 10


def sped_up(name: str) -> None:
    """Write a file of the road sensors with less time between the reports."""
    rows: list[dict[str, str]] = []
    for path in sorted((DATA / name).glob("*.csv")):
        with path.open(newline="") as file:
            rows += csv.DictReader(file)
    begin = datetime.fromisoformat(rows[0]["ts"])
    for row in rows:
        later = datetime.fromisoformat(row["ts"]) - begin
        row["ts"] = (begin + later / SPEED_UP).isoformat(" ", "microseconds")
    with Path(f"{name}.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_lanes_of_a_road_take_different_routes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sped_up("flow")
    sped_up("speed")
    stats = Path("road.toml")
    # What filters take is measured by the clock; no plan is to depend on that here.
    sampled = dump(analyze(parse(ROAD, functions=[is_busy])))
    stats.write_text(re.sub(r", cost = \{[^}]*\}", "", sampled))
    query = ps.sql(ROAD, stats=stats, functions=[is_busy], engine="local")
    assert isinstance(query.plan, MeshJoin)
    assert len(query.plan.mesh("f").routes) == 2
    with temporary_checkpoint() as checkpoint:
        query.local(sink=ps.jsonl("out.jsonl"), checkpoint=checkpoint).available_now()
    asked = duckdb.sql(
        "SELECT f.site, f.lane, f.flow, s.speed FROM 'flow.csv' AS f, 'speed.csv' AS s "
        "WHERE f.site = s.site AND f.lane = s.lane AND s.speed < 90 AND s.ts <= f.ts "
        "AND s.ts >= f.ts - INTERVAL 5 MILLISECONDS AND f.flow > 910 + 100 * f.num_lanes"
    )
    found = duckdb.sql("SELECT site, lane, flow, speed FROM 'out.jsonl'")
    assert found is not None
    assert asked is not None
    assert sorted(found.fetchall()) == sorted(asked.fetchall())
    assert len(found) > 300


def orders(path: Path, rng: Random, count: int = 5_000) -> None:
    """Write orders of a stock exchange: of few papers mostly, and some come out of order."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("key", "value", "eventTime"))
        for number in range(count):
            out.writerow(
                (int(rng.paretovariate(1.0)) % 900, 1, 1_000 + number // 8 - rng.randint(0, 40))
            )


def test_orders_with_a_key_alone_leave_nothing_to_choose(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.csv" for name in ("sb", "cj")}
    for seed, path in enumerate(paths.values()):
        orders(path, Random(seed))
    known = analyze(parse(STOCK.format(**paths)))
    assert {"s", "c"} == set(known.streams)
    assert not known.training
    assert not known.untrained
