"""The planner's faces as a stranger uses them: every option, wrong values, strange queries."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import penstock as ps
from penstock.api import ContinuousQuery
from penstock.cli.main import app
from penstock.engines import EngineName
from penstock.errors import PenstockError

STREAMS = "".join(
    f"CREATE STREAM {name} (k BIGINT, l BIGINT, v DOUBLE, ts TIMESTAMP) "
    "WITH (format='synthetic', rate=10, timestamp='ts');\n"
    for name in "ABC"
)
TABLE = "CREATE TABLE T (k BIGINT, l BIGINT) WITH (format='csv', path='t.csv');\n"
FROM = "A [RANGE 5 SECONDS], B [RANGE 5 SECONDS], C [RANGE 5 SECONDS]"
QUERY = f"{STREAMS}SELECT A.v FROM {FROM} WHERE A.k = B.k AND B.l = C.l"
FIGURES = """
[joins]
"A.k = B.k" = {selectivity = 0.1}
"B.l = C.l" = {selectivity = 0.01}
[costs]
insert = 1e-4
probe = 1e-4
compare = 1e-5
"""
ENGINES: tuple[EngineName, ...] = ("spark", "local", "laboratory")
FORMATS = ("text", "json", "mermaid", "dot", "html", "svg")


@pytest.fixture
def stats(tmp_path: Path) -> Path:
    return written(tmp_path, FIGURES)


def written(folder: Path, text: str, name: str = "stats.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def document(query: ContinuousQuery) -> dict[str, Any]:
    """The JSON of a query with all its alternatives: no number in it is impossible."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    found: dict[str, Any] = json.loads(query.explain("json", True), parse_constant=refuse)
    for plan in (found["chosen"], *found["alternatives"]):
        for name in ("utilization", "output_rate", "state_tuples"):
            assert isinstance(plan[name], int | float), name
        assert all(0 <= kept <= 1 for kept in plan["keep"].values())
    assert all(number >= 0 and math.isfinite(number) for number in numbers(found))
    return found


def answer(query: ContinuousQuery) -> dict[str, Any] | None:
    """The JSON of a query, or nothing where it is refused with a hint."""
    try:
        return document(query)
    except PenstockError as error:
        hint = error.hint
    assert hint
    return None


def numbers(part: Any) -> Iterator[float]:
    match part:
        case dict():
            for value in part.values():
                yield from numbers(value)
        case list():
            for value in part:
                yield from numbers(value)
        case int() | float():
            yield part


def test_the_document_has_what_is_promised(stats: Path) -> None:
    found = document(ps.sql(QUERY, stats=stats))
    assert (found["version"], found["goal"], found["feasible"]) == (1, "steady", True)
    chosen = found["chosen"]
    assert chosen["kind"] in ("tree", "multiway")
    assert set(chosen["keep"]) == {"A", "B", "C"}
    assert "shape" in chosen
    assert {a["kind"] for a in found["alternatives"]} == {"tree", "multiway"}
    multiway = document(ps.sql(QUERY, stats=stats, kinds=["multiway"]))["chosen"]
    assert set(multiway["probe_orders"]) == {"A", "B", "C"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("goal", ["steady", "first:50", "by:20s"])
@pytest.mark.parametrize("capacity", [1.0, 1e-3])
def test_a_printed_plan_can_be_forced_and_is_expected_to_do_the_same(
    stats: Path, engine: Any, goal: str, capacity: float
) -> None:
    options: dict[str, Any] = {
        "stats": stats,
        "goal": goal,
        "capacity": capacity,
        "engine": engine,
    }
    found = document(ps.sql(QUERY, **options))
    for plan in (found["chosen"], *found["alternatives"]):
        forced = document(ps.sql(QUERY, plan=plan["plan"], **options))
        assert forced["chosen"]["plan"] == plan["plan"]
        for name in ("utilization", "output_rate", "state_tuples", "measure"):
            # what the others would shed is found less exactly than for the chosen plan
            same = None if plan[name] is None else pytest.approx(plan[name], rel=5e-3)
            assert forced["chosen"][name] == same, name


@pytest.mark.parametrize(
    "window",
    [
        "NOW",
        "UNBOUNDED",
        "ROWS 1",
        "ROWS 1000000000",
        "PARTITION BY k ROWS 3",
        "RANGE 1 MICROSECOND",
        "RANGE 10000 DAYS",
        "RANGE 10 SECONDS SLIDE 3 SECONDS",
        "TUMBLE 1 DAY",
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"engine": "laboratory"},
        {"goal": "first:10"},
        {"goal": "by:5s"},
        {"capacity": 1e-5, "shed": True},
    ],
    ids=str,
)
def test_every_window_has_an_answer(tmp_path: Path, window: str, options: dict[str, Any]) -> None:
    text = QUERY.replace("RANGE 5 SECONDS", window)
    for extra in ("", "horizon = 100\nrows_warmup = 0\n", "rows_warmup = inf\n"):
        answer(ps.sql(text, stats=written(tmp_path, extra + FIGURES), **options))


@pytest.mark.parametrize("selectivity", ["0", "5e-324", "1"])
@pytest.mark.parametrize("rate", ["5e-324", "1", "1e30"])
@pytest.mark.parametrize("cardinality", [None, "0", "1e300"])
def test_extreme_figures_have_an_answer(
    tmp_path: Path, selectivity: str, rate: str, cardinality: str | None
) -> None:
    end = "" if cardinality is None else f"cardinality = {cardinality}\n"
    streams = "".join(f"[streams.{name}]\nrate = {rate}\n{end}" for name in "AB")
    figures = streams + FIGURES.replace("0.01", selectivity)
    path = written(tmp_path, figures)
    for options in ({}, {"goal": "first:3"}, {"goal": "by:1h"}, {"capacity": 1e-9, "shed": True}):
        answer(ps.sql(QUERY, stats=path, **options))


def test_more_than_can_be_reckoned_with_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "[streams.A]\nrate = 1e300\n" + FIGURES)
    with pytest.raises(PenstockError, match="more than can be planned for"):
        ps.sql(QUERY, stats=path).explain()


def test_changes_at_all_but_the_same_moment(tmp_path: Path) -> None:
    """Ten of three a second take as long filtered as not, up to rounding."""
    text = (
        f"{STREAMS}SELECT A.v FROM A [ROWS 10], B [ROWS 10], C [UNBOUNDED] "
        "WHERE A.k = B.k AND B.l = C.l AND A.v > 1 AND B.v < 7"
    )
    streams = "".join(f"[streams.{name}]\nrate = 3\ncardinality = 10\n" for name in "ABC")
    filters = '[filters]\n"A.v > 1" = {selectivity = 0.1}\n"B.v < 7" = {selectivity = 0.3}\n'
    path = written(tmp_path, streams + filters + FIGURES)
    assert document(ps.sql(text, stats=path, goal="by:50s"))["chosen"]["measure"] > 0


def test_goals_that_cannot_be_met(tmp_path: Path) -> None:
    ends = "".join(f"[streams.{name}]\ncardinality = 100\n" for name in "ABC")
    path = written(tmp_path, ends + FIGURES)
    with pytest.raises(PenstockError, match="results in all") as caught:
        ps.sql(QUERY, stats=path, goal="first:1_000_000").explain()
    most = int(str(caught.value.hint).rpartition(":")[2])
    assert document(ps.sql(QUERY, stats=path, goal=f"first:{most}"))["chosen"]["measure"] > 0
    path = written(tmp_path, FIGURES.replace("0.01", "0"))
    with pytest.raises(PenstockError, match="only about 0 results in a century") as caught:
        ps.sql(QUERY, stats=path, goal="first:1").explain()
    assert "first:" not in str(caught.value.hint)


def test_guesses_shed_nothing_that_another_plan_keeps(tmp_path: Path) -> None:
    """Guesses prefer less state, but not to a plan that keeps up."""
    costs = "insert = 2e-7\nprobe = 3e-7\nexpire = 1e-7\nmove = 1e-7\nhash = 5e-8\ncompare = 1e-8"
    path = written(tmp_path, f"[costs]\n{costs}\n")
    roomy = document(ps.sql(QUERY, stats=path))
    least = min(plan["utilization"] for plan in roomy["alternatives"])
    assert roomy["chosen"]["kind"] == "multiway"
    assert least < roomy["chosen"]["utilization"]
    tight = ps.sql(QUERY, stats=path, capacity=least * 1.001, shed=True).decision
    assert tight.rests_on_guesses
    assert tight.is_feasible
    assert not tight.is_shed


def test_quoted_names_are_forced_as_they_are_printed() -> None:
    text = "".join(
        f'CREATE STREAM {name} ("a key" BIGINT, "quo""te" BIGINT, ts TIMESTAMP) '
        "WITH (format='synthetic', rate=10, timestamp='ts');\n"
        for name in ('"my stream"', '"it\'s; (x: y)"', '"A/nested"')
    ) + (
        'SELECT a."a key" FROM "my stream" a [ROWS 10], "it\'s; (x: y)" "b "" c" [NOW], '
        '"A/nested" [RANGE 5 SECONDS] '
        'WHERE a."a key" = "b "" c"."a key" AND "A/nested"."quo""te" = a."quo""te"'
    )
    found = document(ps.sql(text))
    for plan in (found["chosen"], *found["alternatives"]):
        forced = document(ps.sql(text, plan=plan["plan"]))["chosen"]
        assert forced["plan"] == plan["plan"]
        assert forced["utilization"] == plan["utilization"]


@pytest.mark.parametrize(
    "select",
    [
        "SELECT v FROM A [RANGE 1 HOUR]",
        "SELECT v FROM A [UNBOUNDED] WHERE k > 5",
        "SELECT v FROM A [ROWS 10], T",
        "SELECT v FROM A [ROWS 10], T WHERE A.k = T.k AND A.l = T.k",
        "SELECT x.v FROM A x [ROWS 9], A y [TUMBLE 1 DAY], A z [NOW] WHERE x.k = y.k AND y.k = z.k",
        f"SELECT A.v FROM {FROM} WHERE A.k = B.k OR A.l = C.l",
        f"SELECT A.v FROM {FROM} WHERE A.k + B.k = 5 AND A.k IS NULL",
        f"SELECT A.v FROM {FROM} WHERE A.k = A.k AND A.k BETWEEN 1 AND 0",
        f"SELECT A.v FROM {FROM}",
    ],
)
@pytest.mark.parametrize("goal", ["steady", "first:3", "by:5s"])
def test_unusual_queries(select: str, goal: str) -> None:
    text = f"{STREAMS}{TABLE}{select}"
    for engine in ENGINES:
        found = document(ps.sql(text, goal=goal, engine=engine))
        plan = found["chosen"]["plan"]
        again = document(ps.sql(text, goal=goal, engine=engine, plan=plan))
        assert again["chosen"]["plan"] == plan
    if goal == "steady":
        shed = ps.sql(text, capacity=1e-7, shed=True)
        left = answer(shed)
        assert left is None or left["chosen"]["utilization"] <= 1e-7 * (1 + 1e-6)


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("SELECT k FROM T", "FROM has only tables"),
        (f"SELECT A.v FROM {FROM} WHERE 1 = 0", "always the same"),
        (f"SELECT A.v FROM {FROM} WHERE A.k = NULL", "nothing compares with NULL"),
        ("SELECT A.v FROM A [UNBOUNDED], B [UNBOUNDED] WHERE A.k = 3", "A and B are endless"),
    ],
)
def test_queries_without_a_meaning(select: str, message: str) -> None:
    with pytest.raises(PenstockError, match=message):
        ps.sql(f"{STREAMS}{TABLE}{select}").explain()


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(stats: Path, format: str) -> None:
    for options in ({}, {"capacity": 1e-4}, {"goal": "by:5s"}, {"shed": True, "capacity": 1e-4}):
        query = ps.sql(QUERY, stats=stats, **options)
        short, long = query.explain(format), query.explain(format, alternatives=True)
        assert short
        assert len(long) >= len(short)
        assert not {"nan", "inf"} & set(re.split(r"[^\w.]+", long))


def test_no_tree_is_left(stats: Path) -> None:
    text = QUERY.replace(" AND B.l = C.l", "")
    path = written(stats.parent, "[costs]\njoin = 1e-6\n")
    with pytest.raises(PenstockError, match="no plan is left to choose from"):
        ps.sql(text, stats=path, kinds=["tree"], off=["products"]).explain()


def test_fifteen_inputs() -> None:
    names = "ABCDEFGHIJKLMNO"
    streams = "".join(
        f"CREATE STREAM {n} (k BIGINT, ts TIMESTAMP) "
        "WITH (format='synthetic', rate=10, timestamp='ts');\n"
        for n in names
    )
    froms = ", ".join(f"{name} [RANGE 1 SECOND]" for name in names)
    where = " AND ".join(f"A.k = {name}.k" for name in names[1:])
    query = ps.sql(f"{streams}SELECT A.k FROM {froms} WHERE {where}")
    chosen = json.loads(query.explain("json"))["chosen"]
    assert all(isinstance(n, int | float) and math.isfinite(n) for n in numbers(chosen))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--goal", "fast"], "no goal"),
        (["--goal", "first:0"], "no goal"),
        (["--goal", "first:-1"], "no goal"),
        (["--goal", "first:1e6"], "no goal"),
        (["--goal", "by:"], "by:"),
        (["--goal", "by:0s"], "no goal"),
        (["--goal", "by:-5s"], "by:-5s"),
        (["--goal", "by:soon"], "by:soon"),
        (["--capacity", "0"], "not possible"),
        (["--capacity", "-1"], "not possible"),
        (["--capacity", "nan"], "not possible"),
        (["--capacity", "inf"], "not possible"),
        (["--kinds", "mush"], "no kind of plan 'mush'"),
        (["--kinds", ","], "no plan is left to choose from"),
        (["--off", "everything"], "no optimisation 'everything'"),
        (["--goal", "stedy"], "did you mean steady? "),
        (["--off", "erly"], "did you mean early-aggregation? "),
        (["--plan", "(((A D) B) C)"], "no input is called D"),
        (["--plan", "(((A B) C) A)"], "one too many"),
        (["--plan", ""], "plan"),
        (["--plan", "((A B) C"], "not closed"),
        (["--plan", "((A B) B)"], "joined twice"),
        (["--plan", "(A B)"], "leaves out C"),
        (["--plan", "A: B"], "leaves out C"),
        (["--plan", "((A B) C) C"], "follows the tree"),
        (["--plan", "((A B)/merge C)"], "no method 'merge'"),
        (["--plan", "((A C)/hash B)"], "share no key"),
        (["--stats", "missing.toml"], "cannot read missing.toml"),
        (["--functions", "missing.py"], "missing.py"),
        (["--shed", "--goal", "by:5s"], "does not go with shedding"),
    ],
    ids=str,
)
@pytest.mark.parametrize("command", ["explain", "run"])
def test_wrong_options(tmp_path: Path, command: str, options: list[str], message: str) -> None:
    path = written(tmp_path, QUERY, "query.cql")
    engine = ["--engine", "local", "--available-now", "--sink", "noop"] if command == "run" else []
    done = CliRunner().invoke(app, [command, str(path), *engine, *options])
    assert isinstance(done.exception, PenstockError)
    assert message in str(done.exception)
    assert done.stdout == ""


def test_every_option_at_once(tmp_path: Path, stats: Path) -> None:
    path = written(tmp_path, QUERY, "query.cql")
    off = "bushy,products,probe-order,methods,filter-order,late-filters"
    options = f"--goal by:5s --capacity 0.5 --kinds tree,multiway --off {off} --engine local"
    arguments = [*options.split(), "--stats", str(stats), "--alternatives", "--format", "json"]
    done = CliRunner().invoke(app, ["explain", str(path), *arguments])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["goal"] == "by:5s"
    shapes = {plan["shape"] for plan in (found["chosen"], *found["alternatives"])}
    assert "((A C) B)" not in shapes


def test_a_query_that_cannot_keep_up_is_not_run(tmp_path: Path, stats: Path) -> None:
    text = QUERY.replace("rate=10", "rate=10, rows=100")
    path = written(tmp_path, text, "query.cql")
    options = ["--engine", "local", "--available-now", "--drain", "--sink", "noop"]
    options += ["--capacity", "1e-4"]
    done = CliRunner().invoke(app, ["run", str(path), "--stats", str(stats), *options])
    assert isinstance(done.exception, PenstockError)
    assert "no plan keeps up: the query needs 0.00885 of 0.0001" in str(done.exception)
    shed = CliRunner().invoke(app, ["run", str(path), "--stats", str(stats), *options, "--shed"])
    assert shed.exit_code == 0


def test_no_shedding_is_offered_that_would_not_do(tmp_path: Path) -> None:
    """A ROWS window needs a sixtieth of its stream to fill within a minute."""
    text = f"{STREAMS}{TABLE}SELECT A.v FROM A [ROWS 10], T WHERE A.k = T.k"
    figures = "[streams.T]\ncardinality = 10\n[joins]\n'A.k = T.k' = {selectivity = 0.1}\n"
    path = written(tmp_path, f"{figures}[costs]\njoin = 1e-6\n")
    with pytest.raises(PenstockError, match=r"no plan fits: 1\.67e-07 of 1e-09"):
        ps.sql(text, stats=path, capacity=1e-9, shed=True).explain()


def test_a_run_that_only_guesses_speak_against_says_so(tmp_path: Path) -> None:
    """Guesses refuse nothing, but nobody should be left to find out alone."""
    (tmp_path / "a.csv").write_text("ts,k\n1,1\n")
    script = tmp_path / "q.cql"
    script.write_text(
        f"CREATE STREAM a (ts BIGINT, k INT) WITH (format='csv', path='{tmp_path}/a.csv', "
        "timestamp='ts', unit='s', rate=100000); "
        "SELECT x.k FROM a [NOW] AS x, a [NOW] AS y WHERE x.k = y.k"
    )
    command = ["run", str(script), "--engine", "local", "--available-now", "--sink", "noop"]
    said = CliRunner().invoke(app, [*command, "--capacity", "1e-7"])
    assert said.exit_code == 0
    assert "by guessed figures it does not keep up: it needs" in said.stderr
    assert "does not keep up" not in CliRunner().invoke(app, [*command, "--capacity", "100"]).stderr
