"""When plans have so many results: the first ones of streams that last for ages, and the last."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from random import Random

import pytest

import penstock as ps
from penstock.optimize.curves.reach import results_by
from penstock.optimize.joins.enumerate import all_trees
from penstock.optimize.model.problem import Problem
from penstock.optimize.options import Servers
from penstock.plan.tree import TreeJoin
from penstock.stats.files.load import from_data
from penstock.stats.guess import complete
from support.plans.planning import query_of

TEXT = (
    "CREATE STREAM A (ts TIMESTAMP, k BIGINT) WITH (format = 'csv', path = 'a', timestamp = 'ts');"
    "CREATE STREAM B (ts TIMESTAMP, k BIGINT) WITH (format = 'csv', path = 'b', timestamp = 'ts');"
    "SELECT A.k FROM A [UNBOUNDED], B [UNBOUNDED] WHERE A.k = B.k"
)
SERVERS = pytest.mark.parametrize("servers", ["shared", "each"])
KINDS = pytest.mark.parametrize("kind", ["tree", "multiway"])


class Case:
    """Two streams that end, and what their plans reach of goals over time."""

    def __init__(
        self, folder: Path, rates: tuple[float, float], sizes: tuple[int, int], pair: float
    ) -> None:
        self.stats = folder / "stats.toml"
        self.join = 1e-9
        self.streams = "".join(
            f"[streams.{name}]\nrate = {rate}\ncardinality = {size}\n"
            for name, rate, size in zip("AB", rates, sizes, strict=True)
        )
        self.pair = pair

    def reaches(self, goal: str, **options: object) -> float:
        """Seconds, or results."""
        joins = f'[joins]\n"A.k = B.k" = {{selectivity = {self.pair}}}\n'
        self.stats.write_text(f"{self.streams}{joins}[costs]\njoin = {self.join}\n")
        query = ps.sql(TEXT, stats=str(self.stats), goal=goal, **options)  # type: ignore[arg-type]
        found = query.decision.chosen.estimate.measure
        assert found is not None
        return found


@SERVERS
@KINDS
@pytest.mark.parametrize("size", [1_000, 100_000, 10_000_000, 10**12])
def test_the_first_results_do_not_depend_on_how_long_streams_last(
    tmp_path: Path, servers: str, kind: str, size: int
) -> None:
    """By t there are 0.01·(100·t)² results."""
    case = Case(tmp_path, (100.0, 100.0), (size, size), 0.01)
    options = {"servers": servers, "kinds": [kind]}
    for results in (1, 30, 1_000):
        expected = sqrt(results / 0.01) / 100.0
        assert case.reaches(f"first:{results}", **options) == pytest.approx(expected, rel=2e-3)
    assert case.reaches("by:1s", **options) == pytest.approx(100.0, rel=2e-3)


@pytest.mark.parametrize("load", [10.0, 1e3, 1e5])
def test_a_server_far_behind_has_results_of_what_it_has_done(tmp_path: Path, load: float) -> None:
    """Of 200 tuples/s it does one in so many: by 10 s those of the first 10 s / load."""
    case = Case(tmp_path, (100.0, 100.0), (10**9, 10**9), 1.0)
    case.join = load / 200.0
    expected = (100.0 * 10.0 / load) ** 2
    assert case.reaches("by:10s") == pytest.approx(expected, rel=5e-3)
    assert case.reaches("first:100") == pytest.approx(0.1 * load, rel=5e-3)


@SERVERS
@KINDS
@pytest.mark.parametrize("seed", range(12))
def test_all_results_are_there_once_the_last_tuple_has_come(
    tmp_path: Path, servers: str, kind: str, seed: int
) -> None:
    rng = Random(seed)
    rates = (float(rng.choice((10, 33, 100, 250))), float(rng.choice((10, 33, 100, 250))))
    sizes = (rng.choice((1_000, 2_000, 5_000)), rng.choice((1_000, 3_000, 4_000)))
    case = Case(tmp_path, rates, sizes, rng.choice((0.001, 0.0005, 0.01)))
    last = max(size / rate for size, rate in zip(sizes, rates, strict=True))
    options = {"servers": servers, "kinds": [kind]}
    assert case.reaches("first:all", **options) == pytest.approx(last, rel=2e-3)
    total = round(case.pair * sizes[0] * sizes[1])
    assert case.reaches(f"first:{total}", **options) == pytest.approx(last, rel=2e-3)
    with pytest.raises(ps.PenstockError, match=f"only about {total:,}"):
        case.reaches(f"first:{total + 1 + total // 1000}", **options)


@SERVERS
@pytest.mark.parametrize("window", ["RANGE 10 SECONDS", "RANGE 60 SECONDS", "UNBOUNDED"])
def test_views_have_the_same_results_however_early_they_aggregate(
    servers: Servers, window: str
) -> None:
    """Where nothing waits: it is the join behind a view whose results count."""
    inputs = ", ".join(f"{name} [{window}]" for name in "ABC")
    query = query_of(
        f"SELECT A.g, COUNT(*) AS n FROM {inputs} WHERE A.k = B.k AND A.k = C.k GROUP BY A.g "
        "EVERY 1 SECOND",
        dict.fromkeys("ABC", "k g"),
    )
    streams = {name: {"rate": 20.0, "distinct": {"k": 30, "g": 5}} for name in "ABC"}
    known = complete(query, from_data({"streams": streams, "costs": {"join": 1e-12}}, query))
    problem = Problem(query, known, servers=servers)
    plans = [
        TreeJoin(query, tree, early=early)
        for tree in all_trees(problem)
        for early in ((), ("A",), ("B", "C"), ("A", "B", "C"))
    ]
    found = [results_by(problem, plan, 20.0) for plan in plans]
    assert found == pytest.approx([found[0]] * len(plans), rel=5e-3)
    assert found[0] > 1_000
