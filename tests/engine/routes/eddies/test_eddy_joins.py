"""Eddies over joins in batches: every way about gives every result, and the better one is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.cql import parse
from penstock.engine.reports.report import Report
from penstock.engine.routes.eddies.eddy_classes import CLASSES, Classes, classes_of
from penstock.engine.routes.eddies.eddy_joins import AGAIN, DriverEddy
from penstock.engine.rows.layout import Layout
from penstock.engine.wire.facts import OperatorFlow
from penstock.plan.mesh import DriverMesh, Eddy, Goes, MeshJoin, MeshRoute, Split
from penstock.plan.multiway import Probe
from penstock.query import Query
from reference import answer
from support.engines.runs import Place, run_local, run_spark
from support.streams.cases import Case, canonical, random_case, write_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def large_cases() -> list[Case]:
    """Random cases of more than two inputs."""
    cases = (random_case(seed) for seed in range(5_000, 5_100))
    return [case for case in cases if len(case.query.inputs) > 2][:24]


@pytest.mark.parametrize("number", range(24))
def test_every_eddy_gives_the_results_of_the_reference(number: int, tmp_path: Path) -> None:
    case = large_cases()[number]
    query = write_case(case, tmp_path / "in")
    place = Place(tmp_path / "run")
    run_local(query, place, plan=Eddy(query, (1, 3, 100)[number % 3]), partitions=1 + number % 2)
    assert canonical(place.results(query)) == canonical(answer(case.query, case.batches))


# ── what is learned ───────────────────────────────────────────────────────────────────────────────

FILES, ROWS = 14, 300


def two_kinds(folder: Path, files: int = FILES) -> Query:
    """Three streams on one key: tuples of A of kind 0 find many rows of B and few of C, those of
    kind 1 the other way round; the attribute `noise` tells nothing."""
    rng = np.random.default_rng(4)
    for name in "ABC":
        (folder / name).mkdir(parents=True)
        for number in range(files):
            pq.write_table(_rows(name, number, rng), folder / name / f"{number:03}.parquet")
    streams = "".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, noise DOUBLE, kind INT, k BIGINT) WITH (format = "
        f"'parquet', path = '{folder / name}', timestamp = 'ts', max_files = 1);\n"
        for name in "ABC"
    )
    return parse(
        f"{streams}SELECT A.k AS k FROM A [RANGE 3 SECONDS], B [RANGE 3 SECONDS], "
        "C [RANGE 3 SECONDS] WHERE A.k = B.k AND A.k = C.k"
    )


def _rows(name: str, number: int, rng: np.random.Generator) -> pa.Table:
    share = {"A": 0.5, "B": 0.05, "C": 0.95}[name]
    kinds = (rng.random(ROWS) < share).astype(np.int32)
    return pa.table(
        {
            "ts": pa.array((number * ROWS + np.arange(ROWS)) * 10_000, pa.timestamp("us", "UTC")),
            "noise": rng.random(ROWS),
            "kind": kinds,
            "k": 2 * rng.integers(0, 40, ROWS) + kinds,
        }
    )


def test_each_kind_goes_where_its_rows_are_few(tmp_path: Path) -> None:
    query = two_kinds(tmp_path / "in")
    layout = Layout(query)
    eddy = DriverEddy("A", ("noise", "kind", "k"), ("B", "C"))
    eddy.classes = {"noise": Classes((0.5,)), "kind": Classes((0.0,))}
    for batch in range(1, 4):
        eddy.turn(batch)
        rows = {"noise": ((10, 10), (10, 10)), "kind": ((20, 1), (1, 20))}[eddy.attribute]
        eddy.mesh(layout)
        eddy.learn(
            OperatorFlow("A", number, target, 100, found, found)
            for number, each in enumerate(rows)
            for target, found in zip("BC", each, strict=True)
        )
    assert eddy.known == {"noise", "kind"}
    eddy.turn(AGAIN + 1)
    assert eddy.attribute == "kind"
    mesh = eddy.mesh(layout)
    assert mesh.classifier == Split("kind", 0.0, frozenset(), Goes(0), Goes(1))
    assert [eddy.firsts[number] for number in range(2)] == ["C", "B"]
    eddy.turn(2 * AGAIN)
    assert eddy.attribute == "noise"


@pytest.mark.parametrize("batch", [1, 50])
def test_a_run_learns_and_gives_the_same_rows(batch: int, tmp_path: Path) -> None:
    query = two_kinds(tmp_path / "in")
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "eddy")
    before = run_local(query, plain)
    learned = run_local(query, place, plan=Eddy(query, batch), partitions=2)
    assert canonical(place.results(query)) == canonical(plain.results(query))
    assert canonical(plain.results(query)).total() > 1_000
    if batch == 1:
        # What A's tuples find first is probed with next: of its kinds each finds few now.
        assert second_probes(learned) < 0.5 * second_probes(before)


def second_probes(reports: list[Report]) -> int:
    """Rows of A that went on to a second window, in the last batches with new tuples of A."""
    late = [report for report in reports if report.read.get("A")][-4:]
    flows = [flow for report in late for flow in report.operators if flow.driver == "A"]
    return sum(flow.went_in for flow in flows) - sum(report.read["A"] for report in late)


def lottery(query: Query) -> MeshJoin:
    """A mesh of one route a stream, whose order is drawn."""
    meshes = []
    for driver in query.aliases:
        stage = tuple(Probe(alias, "sorted") for alias in query.aliases if alias != driver)
        meshes.append(DriverMesh(driver, Goes(0), (MeshRoute((stage,)),), (1.0,)))
    return MeshJoin(query, tuple(meshes))


def by_kind(query: Query) -> MeshJoin:
    """The mesh that knows the kinds of A."""
    plan = lottery(query)
    routes = tuple(
        MeshRoute(tuple((Probe(target, "sorted"),) for target in order)) for order in ("CB", "BC")
    )
    split = Split("kind", 0.0, frozenset(), Goes(0), Goes(1))
    known = DriverMesh("A", split, routes, (0.5, 0.5))
    return replace(plan, meshes=(known, *plan.meshes[1:]))


def test_all_rivals_meet_on_one_engine(tmp_path: Path) -> None:
    query = two_kinds(tmp_path / "in")
    rivals = {
        "single": None,
        "lottery": lottery(query),
        "mesh": by_kind(query),
        "eddy": Eddy(query),
        "batched": Eddy(query, 100),
    }
    found, probes = {}, {}
    for name, plan in rivals.items():
        place = Place(tmp_path / name)
        probes[name] = second_probes(run_local(query, place, plan=plan))
        found[name] = canonical(place.results(query))
    assert all(rows == found["single"] for rows in found.values())
    assert probes["mesh"] < 0.5 * probes["single"]
    assert probes["eddy"] < 1.5 * probes["mesh"]


@pytest.mark.spark
def test_an_eddy_over_joins_on_spark_gives_the_same_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = two_kinds(tmp_path / "in", files=4)
    plain, place = Place(tmp_path / "plain"), Place(tmp_path / "eddy")
    run_local(query, plain)
    run_spark(spark, query, place, plan=Eddy(query))
    assert canonical(place.results(query)) == canonical(plain.results(query))


# ── classes ───────────────────────────────────────────────────────────────────────────────────────


def test_classes_are_stretches_of_numbers_and_frequent_texts() -> None:
    sample = pa.RecordBatch.from_pydict(
        {
            "n": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, None, 8.0],
            "same": [7] * 8,
            "flag": [True, False] * 4,
            "text": ["a", "a", "a", "b", "b", "c", None, "d"],
            "nothing": pa.nulls(8, pa.float64()),
        }
    )
    found = classes_of(sample)
    assert set(found) == {"n", "flag", "text"}
    assert found["n"].count == CLASSES
    assert found["n"].limits == (2.0, 4.0, 6.0)
    assert found["flag"].limits == (0.0,)
    assert found["text"].texts == ("a", "b", "c")
    fork = found["text"].fork("text")
    assert isinstance(fork, Split)
    assert (fork.values, fork.passed) == (frozenset({"a"}), Goes(0))
