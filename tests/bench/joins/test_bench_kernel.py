"""The kernel benchmark reports what it ran."""

from __future__ import annotations

from penstock.bench.joins.kernel import kernel_benchmark


def test_the_kernel_benchmark_reports_what_it_ran() -> None:
    report = kernel_benchmark(seconds=2, rate=400, window=1, keys=400, repeats=1)
    assert report["tuples"] == 2_400
    assert report["results"] > 0
    state = {(row["grows"], row["factor"]): row["state_tuples"] for row in report["growth"]}
    assert len(state) == 8
    assert 6 < state["rate", 8] / state["rate", 1] < 10
    assert 6 < state["window", 8] / state["window", 1] < 10
