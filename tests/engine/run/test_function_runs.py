"""Queries with users' functions, run: both engines give what the reference gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.cql import parse
from penstock.cql.declare.function_file import load_functions
from penstock.errors import EvaluationError, PenstockError
from penstock.lab.laboratory import run as run_laboratory
from penstock.lab.schedule import Eager
from penstock.plan.default_plan import default_plan
from penstock.query import (
    Apply,
    Call,
    Column,
    Condition,
    Expression,
    Function,
    Output,
    Query,
)
from reference import Row, answer
from support.engines.runs import Place, run_local, run_spark
from support.lab.laboratory import rows_of, tables_of
from support.streams.cases import arrival, canonical, random_case, write_case
from support.streams.functions import (
    FILE,
    T,
    counted,
    spell,
    written,
)


def stream(folder: Path, name: str, xs: list[int]) -> str:
    """A stream of one file, a tuple a second, and its declaration."""
    (folder / name).mkdir(parents=True)
    times = pa.array(range(1, len(xs) + 1), pa.int64())
    rows = pa.table({"ts": times, "x": pa.array(xs, pa.int64())})
    pq.write_table(rows, folder / name / "rows.parquet")
    return (
        f"CREATE STREAM {name} (ts BIGINT, x BIGINT) WITH (format = 'parquet', "
        f"path = '{folder / name}', timestamp = 'ts', unit = 's');\n"
    )


def test_a_run_calls_functions_only_for_what_is_left(tmp_path: Path) -> None:
    filtered: list[int] = []
    paired: list[tuple[int, int]] = []
    even = counted("even", filtered, lambda v: v % 2 == 0)
    pair = counted("pair", paired, lambda a, b: a + b == 8)
    pair = replace(pair, arguments=(T.BIGINT, T.BIGINT))
    query = parse(
        stream(tmp_path, "l", [1, 2, 3, 4, 5, 6])
        + stream(tmp_path, "r", [4, 4, 4])
        + "SELECT l.x FROM l [UNBOUNDED], r [UNBOUNDED]"
        " WHERE l.x > 2 AND even(l.x) AND l.x <> r.x + 2 AND pair(l.x, r.x)",
        functions=(even, pair),
    )
    run_local(query, Place(tmp_path / "run"))
    assert Place(tmp_path / "run").results(query) == [(4,)] * 3
    assert sorted(filtered) == [3, 4, 5, 6]
    assert paired == [(4, 4)] * 3


def test_a_condition_may_fail_only_on_what_is_left(tmp_path: Path) -> None:
    inverse = Function("inverse", (T.BIGINT,), T.DOUBLE, 1e-6, lambda x: 1 / x)
    text = stream(tmp_path, "l", [0, 1, 2]) + "SELECT l.x FROM l [NOW] WHERE {} AND {}"
    guarded = parse(text.format("l.x > 0", "inverse(l.x) < 1"), functions=[inverse])
    run_local(guarded, Place(tmp_path / "good"))
    assert Place(tmp_path / "good").results(guarded) == [(2,)]
    bare = parse(text.format("inverse(l.x) < 1", "l.x > 0"), functions=[inverse])
    with pytest.raises(PenstockError, match=r"inverse\(0\) failed: ZeroDivisionError"):
        run_local(bare, Place(tmp_path / "bad"))


# ── on the engines ────────────────────────────────────────────────────────────────────────────────


@ps.function(cost="1 us")
def alike(one: float, other: float) -> bool | None:
    return None if one == 0 else abs(one - other) < 4


@ps.function(cost="1 us")
def is_plain(text: str) -> bool:
    return text.startswith("v")


@ps.function(cost="1 us", arguments=["STRING"], returns="BOOLEAN", vectorized=True)
def are_plain(texts: pa.Array) -> pa.Array:
    return pc.starts_with(texts, "v")


def with_functions(query: Query, plain: Function) -> Query:
    """The query with users' functions in a filter, a theta predicate and an output."""
    one, other = query.aliases[0], query.aliases[-1]

    def read(alias: str, name: str) -> Expression:
        found = query.input(alias).source.field(name)
        assert found is not None
        return Column(alias, name, found.type)

    filter_ = Condition(Apply(plain, (read(one, "s"),)))
    theta = Condition(Apply(alike, (read(one, "x"), read(other, "x"))))
    word = Apply(spell, (Call("cast", (read(other, "j"),), T.BIGINT),))
    return replace(
        query,
        filters=(*query.filters, filter_),
        thetas=(*query.thetas, theta),
        outputs=(*query.outputs, Output("word", word)),
    )


SEEDS = range(16)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_ways_to_run_here_give_what_the_reference_gives(seed: int, tmp_path: Path) -> None:
    case = random_case(seed)
    expected = canonical(answer(with_functions(case.query, is_plain), case.batches))
    query = with_functions(write_case(case, tmp_path / "in"), are_plain)
    run_local(query, Place(tmp_path), partitions=2)
    assert canonical(Place(tmp_path).results(query)) == expected
    plan = default_plan(with_functions(case.query, are_plain))
    outcome = run_laboratory(plan, tables_of(case), Eager())
    assert canonical(rows_of(outcome)) == expected


def test_the_cases_have_results() -> None:
    cases = [random_case(seed) for seed in SEEDS]
    assert all(len(case.query.inputs) > 1 for case in cases)
    counts = [len(answer(with_functions(case.query, is_plain), case.batches)) for case in cases]
    assert sum(count > 0 for count in counts) >= 10


@pytest.mark.spark
def test_spark_runs_the_functions_of_a_file_that_workers_do_not_have(
    spark: Any, tmp_path: Path
) -> None:
    path = written(tmp_path, FILE)
    xs, ys = list(range(8)), [2, 4, 3, 5]
    query = parse(
        stream(tmp_path, "l", xs)
        + stream(tmp_path, "r", ys)
        + "SELECT l.x, factorial(r.x) AS f FROM l [UNBOUNDED], r [UNBOUNDED]"
        " WHERE factorial(l.x) % 2 = 0 AND dear(l.x, r.x)",
        functions=load_functions(path),
    )
    Path(path).unlink()
    run_spark(spark, query, Place(tmp_path / "run"))
    batches = {
        "l": [[Row(n * 10**6, arrival(0, n), {"ts": n, "x": x}) for n, x in enumerate(xs, 1)]],
        "r": [[Row(n * 10**6, arrival(0, n), {"ts": n, "x": y}) for n, y in enumerate(ys, 1)]],
    }
    expected = canonical(answer(query, batches))
    assert canonical(Place(tmp_path / "run").results(query)) == expected
    assert expected.total() == 13


@pytest.mark.spark
def test_a_failure_on_a_worker_reaches_the_user_as_it_is(spark: Any, tmp_path: Path) -> None:
    inverse = Function("inverse", (T.BIGINT,), T.DOUBLE, 1e-6, lambda x: 1 / x)
    text = stream(tmp_path, "l", [2, 0]) + "SELECT inverse(l.x) AS i FROM l [NOW]"
    with pytest.raises(EvaluationError) as caught:
        run_spark(spark, parse(text, functions=[inverse]), Place(tmp_path / "run"))
    assert caught.value.message == "inverse(0) failed: ZeroDivisionError: division by zero"
