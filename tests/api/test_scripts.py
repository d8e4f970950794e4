"""Scripts of several queries from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.cli.main import app
from penstock.errors import PlanError, UsageError

ROWS = "ts,k,x\n2026-01-01 00:00:01,1,5\n2026-01-01 00:00:02,1,9\n2026-01-01 00:00:03,2,7\n"
SCRIPT = """
CREATE STREAM s (ts TIMESTAMP, k INT, x INT) WITH (format = 'csv', path = '{}', timestamp = 'ts');
CREATE STREAM high AS SELECT k, x FROM s [NOW] WHERE x > 6;
SELECT x + 1 AS more FROM high [NOW] INTO one;
SELECT COUNT(*) AS n FROM high [UNBOUNDED] EVERY 1 MINUTE INTO two;
"""
ONE = [{"more": 10}, {"more": 8}]


@pytest.fixture
def text(tmp_path: Path) -> str:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "rows.csv").write_text(ROWS, encoding="utf-8")
    return SCRIPT.format(tmp_path / "s")


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_query_has_its_sink(text: str, tmp_path: Path) -> None:
    script = ps.script(text)
    sinks = {"ONE": f"jsonl:{tmp_path / 'one'}", "two": ps.jsonl(tmp_path / "two")}
    script.check(sink=sinks, checkpoint=tmp_path / "state", engine="local")
    with script.local(
        sink=sinks, checkpoint=tmp_path / "state", available_now=True, drain=True
    ) as run:
        run.await_termination()
    assert sorted(lines(tmp_path / "one"), key=str) == ONE
    assert [row["n"] for row in lines(tmp_path / "two")] == [2]


def test_a_script_of_one_query_is_a_query(text: str) -> None:
    select = text[: text.index("CREATE STREAM high")] + "SELECT x FROM s [NOW] INTO only"
    assert isinstance(ps.sql(select), ps.ContinuousQuery)
    assert isinstance(ps.sql(text), ps.ContinuousScript)


def test_a_script_may_be_left_with_one_query(text: str, tmp_path: Path) -> None:
    """Its checkpoint stays that of a script."""
    more: dict[str, Any] = {"checkpoint": tmp_path / "state", "available_now": True}
    sinks = {name: f"jsonl:{tmp_path / name}" for name in ("one", "two")}
    with ps.script(text).local(sink=sinks, **more) as run:
        run.await_termination()
    left = text[: text.index("CREATE STREAM high")] + "SELECT x FROM s [NOW] INTO only"
    one = ps.script(left)
    assert isinstance(one, ps.ContinuousScript)
    with one.local(sink={"only": f"jsonl:{tmp_path / 'only'}"}, drain=True, **more) as run:
        run.await_termination()


@pytest.mark.parametrize(
    ("sink", "complaint"),
    [
        ("noop", "shows 2 queries"),
        ({"one": "noop"}, "no sink for two"),
        ({"one": "noop", "two": "noop", "high": "noop"}, "shows no query high"),
    ],
)
def test_sinks_are_given_by_name(text: str, tmp_path: Path, sink: object, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        ps.script(text).local(sink=sink, checkpoint=tmp_path / "state")


def test_scripts_must_keep_up_and_are_planned_again_in_known_ways(
    text: str, tmp_path: Path
) -> None:
    sinks = {"one": "noop", "two": "noop"}
    for options, complaint in (
        ({"replan": "often"}, "replan cannot be"),
        ({"delay": "1 minute"}, "a delay is kept by shedding"),
    ):
        with pytest.raises(UsageError, match=complaint):
            ps.script(text).local(sink=sinks, checkpoint=tmp_path / "state", **options)
    stats = tmp_path / "stats.toml"
    stats.write_text(
        '[streams.s]\nrate = 1000\n[filters]\n"s.x > 6" = {selectivity = 0.5, cost = 0.1}\n'
        "[costs]\ninsert = 1e-6\nprobe = 1e-6\nexpire = 1e-6\n",
        encoding="utf-8",
    )
    with pytest.raises(PlanError, match="do not keep up"):
        ps.script(text, stats=stats).local(sink=sinks, checkpoint=tmp_path / "state")


def test_the_command_line_explains_and_runs_a_script(text: str, tmp_path: Path) -> None:
    file = tmp_path / "script.cql"
    file.write_text(text, encoding="utf-8")
    told = CliRunner().invoke(app, ["explain", str(file)])
    assert told.exit_code == 0, told.output
    assert "script of 3 queries" in told.stdout
    sinks = [f"--sink={name}=jsonl:{tmp_path / name}" for name in ("one", "two")]
    run = ["run", str(file), "--engine=local", "--available-now", "--drain"]
    done = CliRunner().invoke(app, [*run, *sinks])
    assert done.exit_code == 0, done.output
    assert sorted(lines(tmp_path / "one"), key=str) == ONE


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--sink=jsonl:out"], "cannot be the sink of 2 queries"),
        (["--sink=one=noop", "--sink=noop"], "is of no query"),
        (["--sink=one=noop", "--sink=One=noop"], "has two sinks"),
        (["--sink=one=table", "--sink=two=noop"], "table is for scripts of one query"),
        (["--replan=often"], "is not one of on, advise, off"),
    ],
)
def test_wrong_sinks_of_a_script_are_wrong_usage(
    text: str, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    file = tmp_path / "script.cql"
    file.write_text(text, encoding="utf-8")
    run = ["run", str(file), "--engine=local", "--available-now"]
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*run, *arguments])
    assert done.exit_code == 2, done.output
    assert complaint in " ".join(done.output.split())
