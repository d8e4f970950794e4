"""The figures of `bench decisions` as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.decisions.run import DecisionsDocument
from penstock.bench.decisions.spark import SparkFigures
from penstock.table import table


def decisions_text(made: DecisionsDocument) -> str:
    """A row for each query that need not shed, then what it comes to."""
    heading = ("streams", "plans", "regret", "rank corr.", "chosen")
    rows = [
        (
            str(trial["streams"]),
            str(trial["plans"]),
            f"{trial['regret']:.3f}",
            f"{trial['rank_correlation']:.3f}",
            trial["chosen"],
        )
        for trial in made["trials"]
    ]
    lines = [f"{made['queries']} random queries, seed {made['seed']}", "", *table(heading, rows)]
    return "\n".join([*lines, "", *_summary(made)]) + "\n"


def _summary(made: DecisionsDocument) -> Iterator[str]:
    yield (
        f"regret: median {_figure(made['median_regret'])}, "
        f"90th percentile {_figure(made['p90_regret'])}; "
        f"mean rank correlation {_figure(made['mean_rank_correlation'])}"
    )
    shed = made["infeasible"]
    if shed["queries"]:
        yield (
            f"{shed['queries']} infeasible queries: results kept against the best plan's, median "
            f"{_figure(shed['median_kept_vs_best'])}, "
            f"10th percentile {_figure(shed['p10_kept_vs_best'])}; of the capacity used, median "
            f"{_figure(shed['median_capacity_used'])}, "
            f"90th percentile {_figure(shed['p90_capacity_used'])}"
        )
    if made["spark"] is not None:
        yield from _spark(made["spark"])


def _spark(made: SparkFigures) -> Iterator[str]:
    yield (
        f"on Spark, {made['queries']} queries, FROM order / chosen plan: "
        f"least {_figure(made['least_speedup'])}, median {_figure(made['median_speedup'])}; "
        f"where ≥ 2× is predicted ({made['predicted_2x']} queries), "
        f"median {_figure(made['median_speedup_where_2x'])}"
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
