"""`bench limits` runs join3 at its limits, on Spark."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.bench.data import ensure_data, read_stream
from penstock.bench.limits.run import HOT, Batch, Run, Size, Task, _run, hot_data, run_limits
from penstock.bench.limits.text import limits_text
from penstock.bench.workload import JOIN3


def test_a_hot_key_is_one_of_the_first_stream_alone(tmp_path: Path) -> None:
    work = replace(JOIN3, rate=200, seconds=5)
    hot, plain = hot_data(work, tmp_path), ensure_data(work, tmp_path)
    for alias in "ABC":
        tables = zip(read_stream(hot, alias), read_stream(plain, alias), strict=True)
        for one, other in tables:
            (key, times), *_ = Counter(one.column("k").to_pylist()).most_common(1)
            if alias == "A":
                assert key == 0
                assert times / len(one) == pytest.approx(HOT, abs=0.05)
            assert one.equals(other) == (alias != "A")


def test_all_limits_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of a sink take twice as long here, others as long as join3, tiny batches a second."""
    small = replace(JOIN3, rate=100, distinct=500)
    monkeypatch.setattr("penstock.bench.limits.run.JOIN3", small)
    tasks: list[Task] = []

    def ran(task: Task) -> Run:
        tasks.append(task)
        return Run((Batch(1000, 2000, 1.0 if task.sink == "noop" else 2.0),) * task.counted)

    monkeypatch.setattr("penstock.bench.limits.run._run_apart", ran)
    size = Size(seconds=25, state=6_000, met_by=2, tiny=4, repeat=3)
    made = run_limits(size, tmp_path, lambda said: None)
    assert made["join3_tuples_per_s"] == 1000
    found = [(each["found"], each["is_kept"]) for each in made["limits"]]
    assert found == [
        *[(0.5, False), (0.5, True), (1.0, True), (1.0, True)],
        *[(0.002, False), (1.0, False)],
    ]
    assert len(tasks) == 3 * 7
    large = tasks[4].workload
    assert 3 * large.rate * large.window == size.state
    assert large.window / large.distinct == small.window / small.distinct
    assert "NOT kept" in limits_text(made)


@pytest.mark.spark
def test_a_run_is_measured_by_its_last_batches(tmp_path: Path, spark: SparkSession) -> None:
    work = replace(JOIN3, rate=100, distinct=50, seconds=25)
    task = Task(work, ensure_data(work, tmp_path / "data"), 3, "jsonl")
    ran = _run(task, spark, str(tmp_path))
    assert [batch.tuples for batch in ran.batches] == [1500] * 3
    assert sum(batch.results for batch in ran.batches) > 1500
    assert ran.tuples_per_s < ran.results_per_s
    assert ran.seconds > 0.0
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert len(lines) > sum(batch.results for batch in ran.batches)
