"""The benchmark of sources: every route asks the same of the same tuples, and ratios are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.api import sql
from penstock.bench.data import ensure_data
from penstock.bench.measurement import BatchTime, Measurement
from penstock.bench.sources.routes import ROUTES, Course, Route, run_course, script
from penstock.bench.sources.run import Outcome, chosen, document
from penstock.bench.sources.text import sources_text
from penstock.bench.sources.topics import fill_topics
from penstock.bench.workload import JOIN3
from penstock.duration import MICROS
from penstock.engine.sinks.sink import noop
from penstock.errors import PenstockError
from support.kafka.cluster import Cluster

SMALL = replace(JOIN3, seconds=6, rate=100, distinct=500, step=MICROS)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course("files", SMALL, ensure_data(SMALL, tmp_path / "data"))


def results_of(course: Course, checkpoint: Path) -> tuple[int, int]:
    """How many results the query of a route has in this process, and in how many batches."""
    query = sql(script(course), engine="local")
    run = query.local(sink=noop(), checkpoint=checkpoint, available_now=True)
    run.await_termination()
    return run.reports[-1].total_results, len(run.reports)


def test_topics_have_the_tuples_of_the_files(course: Course, tmp_path: Path) -> None:
    cluster = Cluster()
    prefix = fill_topics(SMALL, course.folder, cluster.servers)
    topics = replace(course, route="kafka", servers=cluster.servers, topics=prefix)
    files = results_of(course, tmp_path / "files")
    assert results_of(topics, tmp_path / "topics") == files
    assert files[0] > 100
    assert files[1] == SMALL.files


@pytest.mark.spark
def test_dataframes_have_the_tuples_of_the_files(
    course: Course, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    spark = request.getfixturevalue("spark")
    found = run_course(replace(course, route="files_dataframe"), spark, str(tmp_path))
    files = results_of(course, tmp_path / "files")
    assert (found.results, len(found.batches)) == files
    assert found.tuples == SMALL.tuples


def runs(rate: float, results: int | None = 7) -> Sequence[Measurement]:
    """Three runs, of which the second has the median rate."""
    return [
        Measurement(
            10.0, 6_000, tuple(BatchTime(1_000, 1_000 / (rate * f)) for _ in range(6)), results
        )
        for f in (0.5, 1.0, 3.0)
    ]


def test_routes_may_be_chosen_beside_that_of_files() -> None:
    assert chosen([]) == [*ROUTES]
    assert chosen(["kafka", "files_dataframe"]) == ["files", "files_dataframe", "kafka"]
    with pytest.raises(PenstockError, match="there is no route delta") as caught:
        chosen(["kafka", "delta"])
    assert "kafka_dataframe" in str(caught.value.hint)


def test_ratios_are_of_medians_of_steady_rates() -> None:
    found: dict[Route, Sequence[Measurement]] = {
        "files": runs(1000.0),
        "files_dataframe": runs(600.0),
        "kafka": runs(800.0),
        "spark_native_kafka": runs(100.0, None),
    }
    made = document(Outcome(SMALL, found, {"kafka_dataframe": "no jars"}))
    ratios = {route: figures["ratio_vs_files"] for route, figures in made["routes"].items()}
    assert ratios == {"files": 1.0, "files_dataframe": 0.6, "kafka": 0.8, "spark_native_kafka": 0.1}
    assert made["kafka_vs_spark_native"] == 8.0
    text = sources_text(made)
    assert "files, by DataFrames" in text
    assert "0.60 ×" in text
    assert f"{ROUTES['kafka_dataframe']}: no jars" in text
    assert "8.00 × steady" in text
