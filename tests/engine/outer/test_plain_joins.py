"""Outer joins whose windows hold everything are those of plain SQL, as DuckDB makes them; and what
is to be written for those that are not in the language gives what was asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from penstock.duration import MICROS
from penstock.query import RowsWindow
from reference import Row, answer, in_time
from support.engines.runs import Place, results_in, run_local
from support.engines.script_runs import opened, sinks_of
from support.outer.outer_text import asked_case, asked_script
from support.streams.cases import Case, canonical

EVERYTHING = "SELECT a.k FROM a [RANGE 1 HOUR], b [NOW], c [NOW], d WHERE a.k = b.k AND c.k = d.k"
EVERYTHING += " AND a.k = d.k"
ASKED = {
    "left, then right": "a LEFT JOIN b ON a.k = b.k AND b.x > 2 RIGHT JOIN c ON a.x = c.x",
    "right, then right": "a RIGHT JOIN b ON a.k = b.k RIGHT JOIN c ON b.x = c.x AND c.k > 1",
    "left, right, left": "a LEFT JOIN b ON a.x = b.x RIGHT JOIN c ON a.k = c.k LEFT JOIN d "
    "ON b.x = d.x",
    "right of what lacks a partner": "a LEFT JOIN b ON a.k = b.k AND a.x < b.x RIGHT JOIN c "
    "ON a.x = c.x WHERE b.x IS NULL AND c.x > 3",
    "a table before it": "d LEFT JOIN b ON d.x = b.x RIGHT JOIN c ON d.k = c.k",
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("seed", [1, 2])
def test_joins_in_any_order_are_those_of_sql(asked: str, seed: int, tmp_path: Path) -> None:
    joins = ASKED[asked]
    aliases = sorted(set(re.findall(r"\b([abcd])\.", joins)))
    shown = ", ".join(f"{alias}.x AS {alias}x, {alias}.k AS {alias}k" for alias in aliases)
    windows = re.sub(r"\b([abc])( LEFT| RIGHT| ON)", r"\1 [RANGE 1 HOUR]\2", joins)
    case = asked_case(f"SELECT {shown} FROM {windows}", tmp_path / "in", seed)
    place = Place(tmp_path)
    run_local(case.query, place, partitions=2)
    found = canonical(place.results(case.query))
    assert found == by_duckdb(case, f"SELECT {shown} FROM {joins}")
    assert any(None in row for row in found)
    assert any(row[-2] is not None for row in found)


def by_duckdb(case: Case, select: str) -> Counter[Any]:
    """What plain SQL says over all tuples that are not late."""
    with duckdb.connect() as connection:
        for item in case.query.inputs:
            rows = [dict(row.values) for row in in_time(item, case.batches[item.alias])]
            fields = [(field.name, pa.int64()) for field in item.source.fields]
            connection.register(item.alias, pa.Table.from_pylist(rows, schema=pa.schema(fields)))
        return canonical(connection.execute(select).fetchall())


# ── what is written instead ───────────────────────────────────────────────────────────────────────


def test_a_full_join_beside_others_is_two_queries(tmp_path: Path) -> None:
    case = asked_case(EVERYTHING, tmp_path / "in")
    script = """
    SELECT a.x AS ax, b.x AS bx, c.x AS cx FROM a [RANGE 1 HOUR]
      LEFT JOIN b [RANGE 1 HOUR] ON a.k = b.k AND a.x > b.x LEFT JOIN c [RANGE 1 HOUR] ON b.x = c.x
    UNION ALL
    SELECT CAST(NULL AS INT) AS ax, b.x AS bx, c.x AS cx FROM b [RANGE 1 HOUR]
      LEFT ANTI JOIN a [RANGE 1 HOUR] ON a.k = b.k AND a.x > b.x
      LEFT JOIN c [RANGE 1 HOUR] ON b.x = c.x
    INTO whole
    """
    wanted = by_duckdb(
        case,
        "SELECT a.x, b.x, c.x FROM a FULL JOIN b ON a.k = b.k AND a.x > b.x "
        "LEFT JOIN c ON b.x = c.x",
    )
    assert made_by(script, tmp_path) == wanted
    assert any(row[0] is None for row in wanted)
    assert any(row[1] is None for row in wanted)


def test_a_full_join_beside_inner_ones_is_one_of_their_stream(tmp_path: Path) -> None:
    case = asked_case(EVERYTHING, tmp_path / "in")
    script = """
    CREATE STREAM pair AS SELECT a.x AS ax, b.x AS bx
      FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.k = b.k AND a.x > b.x;
    SELECT p.ax, p.bx, c.x AS cx
    FROM pair [RANGE 1 HOUR] AS p FULL JOIN c [RANGE 1 HOUR] ON p.bx = c.x AND c.k = 2 INTO whole
    """
    wanted = by_duckdb(
        case,
        "SELECT a.x, b.x, c.x FROM a JOIN b ON a.k = b.k AND a.x > b.x "
        "FULL JOIN c ON b.x = c.x AND c.k = 2",
    )
    assert made_by(script, tmp_path) == wanted
    assert any(row[1] is None for row in wanted)
    assert any(row[2] is None for row in wanted)


def test_a_right_join_of_pairs_is_a_left_join_of_their_stream(tmp_path: Path) -> None:
    """`a JOIN b … RIGHT JOIN c …`: a pair lives no longer than its tuples."""
    case = asked_case(EVERYTHING, tmp_path / "in")
    script = """
    CREATE STREAM pair AS SELECT a.ts AS ats, b.ts AS bts, a.x AS ax, b.x AS bx
      FROM a [RANGE 9 SECONDS], b [RANGE 5 SECONDS] WHERE a.k = b.k;
    SELECT p.ax, p.bx, c.ts AS t, c.x AS cx FROM c [RANGE 7 SECONDS]
      LEFT JOIN pair [RANGE 9 SECONDS] AS p
      ON p.bx = c.x AND c.ts <= p.ats + 9 AND c.ts <= p.bts + 5 INTO whole
    """
    rows = {item.alias: in_time(item, case.batches[item.alias]) for item in case.query.streams}
    wanted = canonical(right_joined(rows["a"], rows["b"], rows["c"]))
    assert made_by(script, tmp_path) == wanted
    assert any(row[0] is None for row in wanted)
    assert any(row[0] is not None for row in wanted)


def test_partners_by_rows_are_those_of_an_inner_join(tmp_path: Path) -> None:
    """`a LEFT JOIN b [PARTITION BY k ROWS 2]`: pairs are told while a lives, others at its end."""
    asked = "SELECT a.ts AS t, a.x AS ax, b.x AS bx FROM a [RANGE 9 SECONDS] LEFT JOIN b [NOW] "
    case = asked_case(f"{asked} ON a.k = b.k AND a.x > b.x", tmp_path / "in", seed=4)
    one, other = case.query.inputs
    rows = replace(other, window=RowsWindow(2, ("k",)))
    wanted = canonical(answer(replace(case.query, inputs=(one, rows)), case.batches))
    script = """
    CREATE STREAM pair AS SELECT a.ts AS t, a.k AS k, a.x AS ax, b.x AS bx
      FROM a [RANGE 9 SECONDS], b [PARTITION BY k ROWS 2] WHERE a.k = b.k AND a.x > b.x;
    SELECT a.ts AS t, a.x AS ax, p.bx FROM a [RANGE 9 SECONDS]
      LEFT JOIN pair [NOW] AS p ON p.t = a.ts AND p.k = a.k AND p.ax = a.x INTO whole
    """
    told_apart = Counter(tuple(row.values.values()) for row in in_time(one, case.batches["a"]))
    assert max(told_apart.values()) == 1
    assert made_by(script, tmp_path) == wanted
    assert 5 < sum(row[2] is None for row in wanted) < len(wanted) - 5


def right_joined(ones: list[Row], others: list[Row], kept: list[Row]) -> Iterator[tuple[Any, ...]]:
    """`a [RANGE 9 SECONDS] JOIN b [RANGE 5 SECONDS] ON a.k = b.k RIGHT JOIN c [RANGE 7 SECONDS] ON
    b.x = c.x`, tuple by tuple."""
    for c in kept:
        partners = [
            (a.values["x"], b.values["x"])
            for a in ones
            for b in others
            if a.values["k"] == b.values["k"] is not None and b.values["x"] == c.values["x"]
            if _are_together((a, 9), (b, 5), (c, 7))
        ]
        for pair in partners or [(None, None)]:
            yield (*pair, c.values["ts"], c.values["x"])


def _are_together(*lives: tuple[Row, int]) -> bool:
    last = max(row.ts for row, _ in lives)
    return all(row.ts + seconds * MICROS >= last for row, seconds in lives)


def made_by(text: str, folder: Path) -> Counter[Any]:
    """What the query `whole` of a script gives, drained."""
    script = asked_script(text, folder / "in")
    opened(script, folder, partitions=2).available_now(drain=True)
    (member,) = script.shown
    return canonical(results_in(sinks_of(script, folder)[member.name], member.query))
