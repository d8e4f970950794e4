"""A query that is not that of its checkpoint is told what it asks otherwise, in its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cql import parse
from penstock.engine.state.asked_words import first_difference
from penstock.engine.state.checkpoint import Checkpoint, identity_of
from penstock.errors import CheckpointError

SOURCE = """
CREATE STREAM a (ts BIGINT, k INT, x BIGINT, s STRING)
WITH (format = 'csv', path = 'a', timestamp = 'ts', unit = 's', lateness = '{}');
"""
VIEW = (
    "SELECT k, COUNT(*) AS n, COUNT(DISTINCT x) + 1 AS d, '#0' AS sign FROM a [RANGE 20 SECONDS] "
    "WHERE s <> 'b' GROUP BY k HAVING SUM(x) > 3 EVERY 5 SECONDS"
)
CHANGES = [
    ("GROUP BY k", "GROUP BY k, s", "groups", "a.k", "a.k, a.s"),
    ("SUM(x)", "MAX(x)", "aggregates", "SUM(a.x)", "MAX(a.x)"),
    ("SUM(x)", "SUM(x + 1)", "aggregates", "SUM(a.x)", "SUM(a.x + 1)"),
    ("+ 1 AS d", "+ 2 AS d", "outputs", "COUNT(DISTINCT a.x) + 1", "COUNT(DISTINCT a.x) + 2"),
    ("AS sign", "AS mark", "outputs", "'#0' AS sign", "'#0' AS mark"),
    ("> 3", "> 4", "HAVING", "SUM(a.x) > 3", "SUM(a.x) > 4"),
    ("HAVING SUM(x) > 3", "HAVING COUNT(*) > 3", "aggregates", "SUM(a.x)", "COUNT(DISTINCT a.x)"),
    ("EVERY 5", "EVERY 10", "EVERY", "5 SECONDS", "10 SECONDS"),
    (" EVERY", " ORDER BY n DESC LIMIT 2 EVERY", "first rows", "none", "first 2 by COUNT(*) DESC"),
    ("s <> 'b'", "s <> 'c'", "filters", "a.s <> 'b'", "a.s <> 'c'"),
    ("RANGE 20", "RANGE 30", "inputs", "a [RANGE 20 SECONDS]", "a [RANGE 30 SECONDS]"),
]


@pytest.mark.parametrize(("old", "new", "name", "was", "becomes"), CHANGES)
def test_what_differs_is_shown_as_it_is_written(
    old: str, new: str, name: str, was: str, becomes: str, tmp_path: Path
) -> None:
    assert old in VIEW
    Checkpoint(str(tmp_path), parse(SOURCE.format("3 s") + VIEW), 1, engine="local").close()
    other = parse(SOURCE.format("3 s") + VIEW.replace(old, new))
    with pytest.raises(CheckpointError) as refused:
        Checkpoint(str(tmp_path), other, 1, engine="local")
    said, theirs, mine = refused.value.message.splitlines()
    assert said.endswith(f"belongs to another query: its {name} differ")
    assert was in theirs.removeprefix("  checkpoint: ")
    assert becomes in mine.removeprefix("  this query: ")
    assert "#" not in (theirs + mine).replace("'#0'", "")
    assert refused.value.hint is not None
    assert refused.value.hint.endswith("or go on with its state by --change")


def test_other_parts_are_lines_too() -> None:
    one, other = (identity_of(parse(SOURCE.format(late) + VIEW), 1) for late in ("3 s", "1 min"))
    assert first_difference("event times", one, other) == (
        "event times",
        "a by ts in s, lateness 3 SECONDS",
        "a by ts in s, lateness 1 MINUTE",
    )
    assert first_difference("outer join", one, {**one, "outer join": ["left a: b", "", ""]}) == (
        "outer join",
        "none",
        "left a: b",
    )
    plain = identity_of(parse(SOURCE.format("3 s") + "SELECT k FROM a [NOW]"), 1)
    assert first_difference("view", one, plain) == ("groups", "a.k", "none")


def test_another_percentile_is_another_query(tmp_path: Path) -> None:
    asked = VIEW.replace("COUNT(*) AS n", "APPROX_PERCENTILE(x, {}) AS n")
    half, most = (parse(SOURCE.format("3 s") + asked.format(part)) for part in ("0.5", "0.9"))
    Checkpoint(str(tmp_path), half, 1, engine="local").close()
    Checkpoint(str(tmp_path), half, 1, engine="local").close()
    with pytest.raises(CheckpointError) as refused:
        Checkpoint(str(tmp_path), most, 1, engine="local")
    _, theirs, mine = refused.value.message.splitlines()
    assert "APPROX_PERCENTILE(CAST(a.x AS DOUBLE), 0.5)" in theirs
    assert "APPROX_PERCENTILE(CAST(a.x AS DOUBLE), 0.9)" in mine
