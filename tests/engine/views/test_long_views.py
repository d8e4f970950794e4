"""Views over many batches: exact, and with little state."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.cql import parse
from penstock.engine.local import open_run
from penstock.engine.run.options import RunOptions
from penstock.engine.sinks.sink import noop
from penstock.plan.plan import Plan
from support.engines.long_views import CHAIN, COMMON, GROUPS, KEYS, SLIDING, long_case
from support.engines.runs import (
    Place,
    planned,
    run_local,
    tree,
)
from support.streams.views import expected, told

BLOCKS = ("TUMBLE 12 SECONDS",) * 3


LANDMARKS = ("UNBOUNDED",) * 3


@pytest.mark.parametrize("where", [COMMON, CHAIN], ids=["common", "chain"])
@pytest.mark.parametrize(
    "windows", [SLIDING, BLOCKS, LANDMARKS], ids=["slide", "block", "landmark"]
)
def test_long_runs_are_exact_and_keep_little(
    windows: tuple[str, ...], where: str, tmp_path: Path
) -> None:
    case = long_case(tmp_path / "in", windows, where, batches=12 if windows is LANDMARKS else 24)
    query = case.query
    wanted = expected(case, query)
    assert len(wanted) > 20
    arrived = Counter(name for name, brought in case.batches.items() for b in brought for _ in b)
    plans: dict[str, Plan] = {
        "late": planned(query),
        "early": replace(planned(query), early=("a", "b", "c")),
        "recompute": replace(planned(query), early=("a", "b", "c"), recompute="b"),
        "tree": replace(tree(query, (("a", "b"), "c")), early=("b", "c")),
    }
    for name, plan in plans.items():
        place = Place(tmp_path / name)
        reports = run_local(query, place, plan=plan, partitions=2)
        assert told(place, query) == wanted, name
        if name in ("early", "recompute") and windows is not SLIDING:
            # Each input is kept by group, keys and the columns that an aggregate reads with others.
            spaces = 3 if where == COMMON else 4
            kept = spaces * KEYS * GROUPS * 4
            shown = 2 * GROUPS * (2 if windows is BLOCKS else 1)
            assert max(r.state_tuples for r in reports) <= kept + shown
        assert max(r.state_tuples for r in reports) < 8 * arrived.total()


@pytest.mark.parametrize("window", ["TUMBLE 10 SECONDS", "UNBOUNDED"])
@pytest.mark.parametrize("group", ["A.g", "FLOOR(A.x * 10)"])
@pytest.mark.parametrize("recompute", [None, "B"], ids=["kept", "recompute"])
def test_state_of_blocks_and_landmarks_is_groups_by_keys(
    recompute: str | None, group: str, window: str, tmp_path: Path
) -> None:
    """However many tuples come: one row a group and key on one side, one a key on the other."""
    every = "EVERY 5 SECONDS" if window == "UNBOUNDED" else ""
    query = parse(
        f"""{MADE} SELECT {group} AS g, COUNT(*) AS n, SUM(B.y) AS s, MIN(A.x) AS m
        FROM A [{window}], B [{window}] WHERE A.k = B.k GROUP BY {group} {every}"""
    )
    plan = replace(planned(query), early=("A", "B"), recompute=recompute)
    reports = run_local(query, Place(tmp_path), plan=plan, sink=noop(), drain=False)
    assert sum(sum(r.read.values()) for r in reports) == 40_000
    calendar, view = (10 if recompute is None else 0), 10
    assert max(r.state_tuples for r in reports) <= 50 * 10 + 50 + calendar + view


MADE = """
CREATE STREAM A (ts TIMESTAMP, k BIGINT, g BIGINT, x DOUBLE) WITH (format='synthetic',
  timestamp='ts', rate=1000, duration='20 seconds', start='2026-01-01 00:00:00', seed=1,
  max_time='2 seconds', values='k: uniform(0, 50); g: uniform(0, 10); x: uniform(0.0, 1.0)');
CREATE STREAM B (ts TIMESTAMP, k BIGINT, y DOUBLE) WITH (format='synthetic',
  timestamp='ts', rate=1000, duration='20 seconds', start='2026-01-01 00:00:00', seed=2,
  max_time='2 seconds', values='k: uniform(0, 50); y: uniform(0.0, 1.0)');
"""


def test_sliding_state_is_at_most_the_tuples_of_the_window(tmp_path: Path) -> None:
    query = parse(
        MADE + "SELECT A.g, COUNT(*) AS n FROM A [RANGE 4 SECONDS], B [RANGE 4 SECONDS] "
        "WHERE A.k = B.k GROUP BY A.g EVERY 1 SECOND"
    )
    most = {}
    for early, recompute in (((), None), (("B",), None), (("A", "B"), None), (("A", "B"), "A")):
        place = Place(tmp_path / "".join((str(recompute), *early)))
        plan = replace(planned(query), early=early, recompute=recompute)
        reports = run_local(query, place, plan=plan, sink=noop())
        most[early, recompute] = max(r.state_tuples for r in reports)
    # The window, and the batches that are expired as a whole; a calendar of groups by ticks.
    window = 2 * 1000 * (4 + 2 + 2)
    assert most[(), None] <= window + 10 * 8
    assert most[("B",), None] <= window / 2 + 50 * 9 + 10 * 8
    assert most[("A", "B"), "A"] < most[("A", "B"), None] <= most[("B",), None]


@pytest.mark.parametrize("every", ["", "EVERY 1 SECOND"], ids=["eager", "lazy"])
@pytest.mark.parametrize("recompute", [None, "B"], ids=["kept", "recompute"])
def test_what_has_left_the_windows_leaves_the_state(
    recompute: str | None, every: str, tmp_path: Path
) -> None:
    """Also out of chunks that many batches were merged to, part of which is still needed."""
    made = MADE.replace("max_time='2 seconds'", "max_time='1 second'").replace("=1000,", "=50,")
    made = made.replace("'20 seconds'", "'40 seconds'")
    query = parse(
        f"{made} SELECT A.g, COUNT(*) AS n FROM A [RANGE 12 SECONDS], B [RANGE 12 SECONDS] "
        f"WHERE A.k = B.k GROUP BY A.g {every}"
    )
    place, most = Place(tmp_path), []

    def look(report: object) -> None:
        modules = place.manifest.modules.items()
        inputs = [chunks for name, module in modules if name.place for chunks in module.values()]
        most.append(sum(chunk.rows for chunks in inputs for chunk in chunks))

    plan = replace(planned(query), early=("A", "B"), recompute=recompute)
    run = open_run(plan, RunOptions(sink=noop(), checkpoint=str(place.checkpoint), report=look))
    run.available_now()
    assert len(most) == 40
    # A sixteenth may be dead, and what died while chunks were merged.
    window, batch = 2 * 50 * 12, 2 * 50
    assert window / 4 < max(most) <= window * 16 / 15 + batch
