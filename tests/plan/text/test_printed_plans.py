"""Every plan that explain prints as text can be copied and given to --plan, however long it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.optimize.planner import decide
from penstock.plan.drops import NO_DROPS
from penstock.plan.explain import explain
from penstock.plan.text.parse import forced_plan, render_plan

LONG = "the_measurements_of_the_northern_stations_{}"


def script(select: str, *names: str) -> str:
    streams = "".join(
        f'CREATE STREAM "{name}" (k BIGINT, l BIGINT, v DOUBLE, ts TIMESTAMP) '
        "WITH (format='synthetic', rate=10, timestamp='ts');\n"
        for name in names
    )
    table = "CREATE TABLE T (k BIGINT, l BIGINT) WITH (format='csv', path='t.csv');\n"
    return streams + table + select


def join_of(*names: str, select: str = "COUNT(*) AS n", ending: str = "") -> str:
    froms = ", ".join(f'"{name}" [RANGE 5 SECONDS]' for name in names)
    where = " AND ".join(f'"{names[0]}".k = "{name}".k' for name in names[1:])
    return script(f"SELECT {select} FROM {froms} WHERE {where} {ending}", *names)


LONG_NAMES = tuple(LONG.format(i) for i in range(4))
QUERIES = {
    "one stream": script("SELECT v FROM A [NOW]", "A"),
    "two streams": join_of("A", "B", select="A.v"),
    "a table": script("SELECT A.v FROM A [ROWS 9], B [NOW], T WHERE A.k = T.k", "A", "B"),
    "products": script(f"SELECT A.v FROM {', '.join(f'{n} [ROWS 5]' for n in 'ABC')}", *"ABC"),
    "four streams": join_of(*"ABCD", select="A.v"),
    "nine streams": join_of(*"ABCDEFGHI", select="A.v"),
    "long names": join_of(*LONG_NAMES, select=f"{LONG_NAMES[0]}.v"),
    "odd names": join_of("a  wide   gap", "50 % of it", "probe x", "x | early y"),
    "a view": join_of(*"ABC", select="A.l, SUM(B.v) AS s", ending="GROUP BY A.l EVERY 2 SECONDS"),
    "a view of long names": join_of(*LONG_NAMES[:3], ending="EVERY 1 SECOND"),
    "a view of blocks": join_of("A", "B").replace("RANGE", "TUMBLE"),
    "a view of rows": join_of("A", "B").replace("RANGE 5 SECONDS", "ROWS 10"),
}  # fmt: skip
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"engine": "laboratory"},
    {"goal": "by:5s"},
    {"capacity": 1e-6},
    {"off": ["bushy", "products", "early-aggregation"]},
)


def printed(text: str) -> Iterator[str]:
    """The plans as a reader finds them: in `plan`, and among the alternatives."""
    head, bar, ranked = text.partition("alternatives, best first; * is the chosen one\n")
    yield re.findall(r"^plan    (.*)$", head, re.M)[-1]
    names, *rows = ranked.splitlines() if bar else [""]
    if " plan " in names:
        yield from (re.split(r" {2,}", row.strip())[2] for row in rows)
    else:
        yield from (row.strip() for row in rows[1::2])


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_printed_plan_can_be_forced(text: str, options: dict[str, Any]) -> None:
    asked = ps.sql(text, **options)
    made = decide(asked.known, replace(asked.options, alternatives=True))
    weighed = (made.chosen, *made.others)
    first, *rest = list(printed(explain(made, alternatives=True)))
    assert rest[0] == first
    assert rest == [render_plan(each.plan) for each in weighed]
    for plan, each in zip(rest, weighed, strict=True):
        assert forced_plan(each.plan.query, plan) == replace(each.plan, drops=NO_DROPS)


@pytest.mark.parametrize("name", ["long names", "a view of long names"])
def test_what_the_command_prints_it_also_takes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "query.cql"
    path.write_text(QUERIES[name], encoding="utf-8")
    narrow = {"COLUMNS": "40", "TERM": "dumb"}
    shown = CliRunner(env=narrow).invoke(app, ["explain", str(path), "--alternatives"]).stdout
    _, *plans = printed(shown)
    assert max(map(len, plans)) > 100
    for plan in plans[:5]:
        done = CliRunner(env=narrow).invoke(app, ["explain", str(path), "--plan", plan])
        assert next(printed(done.stdout)) == plan
