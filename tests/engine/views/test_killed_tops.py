"""The first tuples of windows, joins and outer joins, killed again and again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.engines.crashes import Crash, Run, exit_code
from support.engines.runs import Place
from support.outer.outer_text import asked_case
from support.streams.views import expected, told

FIRST = "QUALIFY ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) <= {} EVERY 2 SECONDS"
QUERIES = {
    "a window": "SELECT ts, k, x FROM a [RANGE 25 SECONDS] "
    + FIRST.format("k", "x DESC NULLS FIRST", 2),
    "a window without end": "SELECT ts, k, x FROM a [UNBOUNDED] " + FIRST.format("k", "x, ts", 3),
    "rows": "SELECT x, ts FROM b [PARTITION BY k ROWS 4] ORDER BY x DESC LIMIT 5 EVERY 3 SECONDS",
    "a join": "SELECT a.k, a.x, b.x AS y, c.ts AS t FROM a [RANGE 20 SECONDS], b [ROWS 9], "
    "c [RANGE 15 SECONDS SLIDE 5 SECONDS] WHERE a.k = b.k AND b.k = c.k "
    + FIRST.format("a.k", "a.x DESC, c.x", 3),
    "an outer join": "SELECT a.k, a.x, b.x AS y FROM a [RANGE 20 SECONDS] LEFT JOIN "
    "b [RANGE 9 SECONDS] ON a.k = b.k AND a.x < b.x " + FIRST.format("a.k", "b.x, a.x DESC", 2),
    "groups of an outer join": "SELECT a.x, COUNT(*) AS n, COUNT(b.x) AS m FROM "
    "a [RANGE 20 SECONDS] FULL JOIN b [RANGE 9 SECONDS] ON a.k = b.k GROUP BY a.x "
    "ORDER BY n DESC, m LIMIT 3 EVERY 3 SECONDS",
}
CRASHES = [
    Crash("in a chunk", 3),
    Crash("after a chunk", 9),
    Crash("after the results are staged", 1),
    Crash("before the commit", 1),
    Crash("in publishing files", 0),
    Crash("after the commit", 1),
    Crash("before the commit", 0, in_drain=True),
    Crash("after the commit", 0, in_drain=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", QUERIES)
def test_killed_again_and_again_the_first_tuples_stay_exact(asked: str, tmp_path: Path) -> None:
    case = asked_case(QUERIES[asked], tmp_path / "in", batches=14)
    place = Place(tmp_path)
    shapes = (None, (("a", "b"), "c")) if asked == "a join" else ()
    run = Run(case.query.text, str(place.checkpoint), place.sink.name, None, shapes)
    codes = [exit_code(replace(run, crash=crash)) for crash in CRASHES]
    # A batch may write fewer chunks than the call at which it was to die.
    assert codes.count(-9) >= len(CRASHES) - 2
    assert exit_code(run) == 0
    found = told(place, case.query)
    assert found == expected(case, case.query)
    assert found.total() > 20
