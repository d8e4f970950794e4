"""Arguments as people get them wrong: taken where it is clear what is meant, else a clear error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.arguments import as_duration
from penstock.cli.main import app
from penstock.engine.local import LocalRun
from penstock.engine.sinks.sink_text import sink_of
from penstock.errors import PenstockError, PlanError, UsageError

SCRIPT = """
CREATE STREAM a (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/a', timestamp='ts', unit='s', max_files=1);
CREATE STREAM b (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/b', timestamp='ts', unit='s', max_files=1);
CREATE STREAM c (ts BIGINT, k INT)
  WITH (format='csv', path='{folder}/c', timestamp='ts', unit='s', max_files=1);
SELECT a.ts AS a, b.ts AS b, c.ts AS c
FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS], c [RANGE 10 SECONDS]
WHERE a.k = b.k AND b.k = c.k
"""


@pytest.fixture
def text(tmp_path: Path) -> str:
    for name in "abc":
        (tmp_path / name).mkdir()
        for number in (1, 2):
            (tmp_path / name / f"{number}.csv").write_text(f"ts,k\n{number},1\n{number},2\n")
    return SCRIPT.format(folder=tmp_path)


@pytest.fixture
def run(text: str, tmp_path: Path) -> Iterator[LocalRun]:
    run = ps.sql(text).local(sink="noop", checkpoint=tmp_path / "checkpoint")
    yield run
    run.pipeline.checkpoint.close()


def assert_clear(error: PenstockError, name: str) -> None:
    """The message says which argument, and the hint what it takes."""
    assert name in str(error)
    assert error.hint


@ps.function(cost="1 ms")
def likes(k: int) -> bool:
    return k == 1


# ── what is clearly meant ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "more",
    [
        {"kinds": "tree"},
        {"kinds": "tree, multiway"},
        {"off": "bushy,products"},
        {"off": ""},
        {"functions": likes},
        {"functions": [likes]},
        {"capacity": 2},
        {"plan": "((a b) c)"},
    ],
)
def test_several_spellings_of_a_plans_wishes(more: dict[str, Any], text: str) -> None:
    assert ps.sql(text, **more).explain()


def test_a_text_of_names_means_the_same_as_a_list(text: str) -> None:
    assert ps.sql(text, kinds="tree").options == ps.sql(text, kinds=["tree"]).options
    assert ps.sql(text, off="bushy,mesh").options == ps.sql(text, off={"mesh", "bushy"}).options


def test_a_script_may_be_given_by_its_path(text: str, tmp_path: Path) -> None:
    path = tmp_path / "query.cql"
    path.write_text(text)
    assert ps.sql(path).query == ps.sql(text).query
    with pytest.raises(PenstockError, match=r"cannot read .*nothing"):
        ps.sql(tmp_path / "nothing.cql")


def test_functions_may_be_given_by_their_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import penstock\n@penstock.function(cost=1e-3)\ndef f(k: int) -> bool:\n ...\n"
    )
    for given in (path, str(path)):
        assert ps.sql(f"{text} AND f(a.k)", functions=given).query.filters


def test_sinks_may_be_written_as_on_the_command_line(tmp_path: Path) -> None:
    assert sink_of(f"parquet:{tmp_path}/x") == ps.parquet(tmp_path / "x")
    assert sink_of(f"jsonl:{tmp_path}/x") == ps.jsonl(str(tmp_path / "x"))
    assert sink_of("console") == ps.console()
    assert sink_of("noop") == ps.noop()
    assert sink_of(ps.noop()) == ps.noop()
    take: Callable[[Any, int], None] = lambda frame, number: None  # noqa: E731
    assert sink_of(take) == ps.foreach_batch(take)


def test_a_run_takes_a_sink_as_text_and_a_checkpoint_as_path(text: str, tmp_path: Path) -> None:
    ps.sql(text).local(
        sink=f"jsonl:{tmp_path}/results", checkpoint=tmp_path / "checkpoint"
    ).available_now()
    assert (tmp_path / "results").read_text()
    assert (tmp_path / "checkpoint" / "query.json").exists()


@pytest.mark.parametrize(
    ("given", "seconds"), [("1 second", 1.0), ("1s", 1.0), (2, 2.0), (timedelta(minutes=1), 60.0)]
)
def test_lengths_of_time(given: Any, seconds: float) -> None:
    assert as_duration(given, "trigger").seconds == seconds


@pytest.mark.parametrize("spelling", ["text", "query", "plan", "decision"])
def test_a_new_plan_may_be_given_as_text_query_or_plan(
    spelling: str, text: str, run: LocalRun, tmp_path: Path
) -> None:
    other = ps.sql(text, plan="(a (b c))")
    spellings: dict[str, Any] = {
        "text": "(a (b c))",
        "query": other,
        "plan": other.plan,
        "decision": other.decision,
    }
    run.replan(spellings[spelling])
    run.available_now()
    assert run.pipeline.plan == other.plan
    assert run.pipeline.manifest.results == 16


# ── what is not ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stats", 3),
        ("stats", "nothing.toml"),
        ("stats", Path("/")),
        ("stats", ""),
        ("goal", 5),
        ("goal", None),
        ("goal", "soon"),
        ("goal", "by:soon"),
        ("capacity", math.nan),
        ("capacity", -1),
        ("capacity", "two"),
        ("capacity", [2]),
        ("capacity", True),
        ("plan", 3),
        ("plan", ("a", "b")),
        ("kinds", None),
        ("kinds", 3),
        ("kinds", [3]),
        ("kinds", "forest"),
        ("kinds", ""),
        ("off", None),
        ("off", ["everything"]),
        ("shed", "yes"),
        ("shed", 1),
        ("exact_of_kept", None),
        ("functions", 3),
        ("functions", [3]),
        ("functions", "nothing.py"),
        ("functions", None),
        ("functions", [len]),
        ("engine", "flink"),
        ("engine", None),
        ("file", 3),
    ],
)
def test_wrong_options_of_a_query(name: str, value: Any, text: str) -> None:
    with pytest.raises(PenstockError) as caught:
        ps.sql(text, **{name: value}).explain()
    assert caught.value.hint
    assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("value", [None, 3, b"SELECT 1", "", "   ", [SCRIPT]])
def test_what_is_no_script(value: Any) -> None:
    with pytest.raises(PenstockError):
        ps.sql(value)


@pytest.mark.parametrize("value", [None, 3, "pdf", ["text"]])
def test_what_is_no_format(value: Any, text: str) -> None:
    with pytest.raises(PlanError, match="no format"):
        ps.sql(text).explain(value)


COMMON = [
    ("sink", None),
    ("sink", "excel:x"),
    ("sink", "parquet:"),
    ("sink", "parquet"),
    ("sink", "console:x"),
    ("sink", Path("x")),
    ("sink", 3),
    ("sink", ps.Sink("excel", "x")),  # type: ignore[arg-type]
    ("sink", ps.Sink),
    ("checkpoint", None),
    ("checkpoint", ""),
    ("checkpoint", 3),
    ("checkpoint", b"x"),
    ("partitions", 0),
    ("partitions", -1),
    ("partitions", "x"),
    ("partitions", 1.5),
    ("partitions", True),
    ("overwrite", "yes"),
    ("overwrite", None),
    ("report", "print"),
]


@pytest.mark.parametrize(("name", "value"), COMMON)
def test_wrong_options_of_a_local_run(name: str, value: Any, text: str, tmp_path: Path) -> None:
    good: dict[str, Any] = {"sink": "noop", "checkpoint": tmp_path / "checkpoint"}
    with pytest.raises(PenstockError) as caught:
        ps.sql(text).local(**good | {name: value})
    assert_clear(caught.value, name)
    assert not (tmp_path / "checkpoint").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *COMMON,
        ("trigger", "soon"),
        ("trigger", ""),
        ("trigger", "-1 second"),
        ("trigger", -1),
        ("trigger", math.nan),
        ("trigger", math.inf),
        ("trigger", None),
        ("trigger", True),
        ("trigger", [1]),
        ("available_now", "yes"),
        ("drain", None),
        ("drain", True),
        ("spark", None),
        ("spark", "local[2]"),
    ],
)
def test_wrong_options_of_a_run_on_spark(name: str, value: Any, text: str, tmp_path: Path) -> None:
    """All are seen before the session is touched: there is none."""
    good: dict[str, Any] = {
        "spark": object(),
        "sink": "noop",
        "checkpoint": tmp_path / "checkpoint",
    }
    with pytest.raises(PenstockError) as caught:
        ps.sql(text).start(**good | {name: value})
    assert "', '" not in caught.value.message
    assert_clear(caught.value, "Spark session" if name == "spark" else name)


@pytest.mark.parametrize("value", ["((a b)", "(a z)", "eddy:x", 3, None, ("a", "b"), object()])
def test_what_is_no_plan_for_a_running_query(value: Any, run: LocalRun) -> None:
    with pytest.raises(PlanError) as caught:
        run.replan(value)
    assert caught.value.hint


def test_a_plan_for_another_query_is_refused(text: str, run: LocalRun) -> None:
    with pytest.raises(PlanError, match="for another query"):
        run.replan(ps.sql(text.replace("10 SECONDS", "20 SECONDS")))


@pytest.mark.parametrize("seconds", ["1 second", "x", 0, -1, math.nan, None])
def test_a_local_run_goes_by_seconds(seconds: Any, run: LocalRun) -> None:
    with pytest.raises(UsageError, match="seconds"):
        run.every(seconds)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ps.parquet(None),  # type: ignore[arg-type]
        lambda: ps.parquet(""),
        lambda: ps.parquet(3),  # type: ignore[arg-type]
        lambda: ps.jsonl(None),  # type: ignore[arg-type]
        lambda: ps.jsonl(b"x"),  # type: ignore[arg-type]
        lambda: ps.foreach_batch(None),  # type: ignore[arg-type]
        lambda: ps.foreach_batch("print"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_place_for_results(make: Callable[[], object]) -> None:
    with pytest.raises(UsageError) as caught:
        make()
    assert caught.value.hint


@pytest.mark.parametrize(
    "options",
    [
        {"cost": None},
        {"cost": "soon"},
        {"cost": []},
        {"cost": math.nan},
        {"cost": 1e-3, "selectivity": "half"},
        {"cost": 1e-3, "selectivity": 2},
        {"cost": 1e-3, "arguments": "INT"},
        {"cost": 1e-3, "arguments": [3]},
        {"cost": 1e-3, "arguments": 3},
        {"cost": 1e-3, "returns": 3},
        {"cost": 1e-3, "returns": "THING"},
    ],
)
def test_functions_that_are_registered_wrongly(options: dict[str, Any]) -> None:
    with pytest.raises(PenstockError) as caught:
        ps.function(**options)(lambda k: True)
    assert caught.value.hint


# ── the command line ──────────────────────────────────────────────────────────────────────────────

RUBBISH = "?!"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--stats", RUBBISH),
        ("--goal", RUBBISH),
        ("--goal", "first:0"),
        ("--capacity", RUBBISH),
        ("--capacity", "nan"),
        ("--capacity", "-1"),
        ("--plan", RUBBISH),
        ("--plan", "(a"),
        ("--kinds", RUBBISH),
        ("--kinds", ","),
        ("--off", RUBBISH),
        ("--functions", RUBBISH),
    ],
)
@pytest.mark.parametrize("command", ["explain", "run"])
def test_rubbish_for_the_planner(
    command: str, option: str, value: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "query.cql"
    path.write_text(text)
    more = ["--engine", "local", "--available-now"] if command == "run" else []
    done = CliRunner().invoke(app, [command, str(path), *more, option, value])
    assert isinstance(done.exception, PenstockError | SystemExit), done.exception
    assert done.exit_code in (1, 2)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--trigger", "soon"),
        ("--trigger", "5"),
        ("--sink", RUBBISH),
        ("--sink", "parquet"),
        ("--checkpoint", ""),
        ("--partitions", RUBBISH),
        ("--every", RUBBISH),
        ("--expire", RUBBISH),
        ("--cost", RUBBISH),
        ("--buckets", RUBBISH),
        ("--buckets", "a=0"),
        ("--sweep", RUBBISH),
        ("--conf", RUBBISH),
        ("--conf", "=x"),
        ("--engine", RUBBISH),
    ],
)
def test_rubbish_for_a_run(option: str, value: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "query.cql"
    path.write_text(text)
    more = ["--eager"] if option in ("--expire", "--cost", "--buckets") else []
    done = CliRunner().invoke(app, ["run", str(path), "--engine", "local", *more, option, value])
    assert isinstance(done.exception, PenstockError | SystemExit), done.exception
    shown = done.stderr if isinstance(done.exception, SystemExit) else str(done.exception)
    assert option.removeprefix("--") in shown
    assert "('" not in shown


@pytest.mark.parametrize("sink", ["parquet:{}/a/1.csv", "jsonl:{}/a", "parquet:{}/a/1.csv/x"])
def test_a_place_that_cannot_hold_results(sink: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "query.cql"
    path.write_text(text)
    arguments = ["--engine", "local", "--available-now", "--sink", sink.format(tmp_path)]
    done = CliRunner().invoke(app, ["run", str(path), *arguments])
    assert isinstance(done.exception, PenstockError), done.exception
    assert done.exception.hint
