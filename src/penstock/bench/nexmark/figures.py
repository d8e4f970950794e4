"""The figures of Nexmark: medians of runs, ratios of them, and whose rows differ."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from penstock.bench.nexmark.queries import QUERIES
from penstock.bench.nexmark.run import Outcome, Run, fastest

OURS = "penstock"
"""Over parquet, as Spark reads it."""
OURS_CSV = "penstock_csv"
"""Over CSV, as Flink reads it."""


class RivalFigures(TypedDict):
    """Medians of a rival's runs of one query; None is what it does not tell."""

    events_per_s: int
    cpu_s: float
    peak_mib: int
    state_tuples: int | None
    batch_s: float | None
    results: int | None
    checked_rows: int
    seconds: list[float]


class NexmarkDocument(TypedDict):
    """All figures for programs."""

    queries: dict[str, dict[str, RivalFigures | None]]
    state_formats: dict[str, str]
    backends: dict[str, str]
    ratios_vs_flink: dict[str, float]
    ratios_vs_spark: dict[str, float]
    geomean_vs_flink: float | None
    geomean_vs_spark: float | None
    wrong: list[str]
    absent: dict[str, str]
    events: int
    repeat: int


def document(outcome: Outcome) -> NexmarkDocument:
    """The figures of all queries; those of Spark and Flink are with the format of state that was
    the fastest, by query."""
    size = outcome.size
    formats = {query: fastest(outcome.runs, query, size.formats) for query in size.queries}
    backends = {query: fastest(outcome.runs, query, size.backends) for query in size.queries}
    queries = {q: _rivals(outcome, q, formats[q], backends[q]) for q in size.queries}
    flink = _ratios(queries, OURS_CSV, "flink")
    spark = _ratios(queries, OURS, "spark")
    return {
        "queries": queries,
        "state_formats": {query: name for query, name in formats.items() if name is not None},
        "backends": {query: name for query, name in backends.items() if name is not None},
        "ratios_vs_flink": flink,
        "ratios_vs_spark": spark,
        "geomean_vs_flink": _geomean(flink),
        "geomean_vs_spark": _geomean(spark),
        "wrong": sorted(_wrong(outcome)),
        "absent": dict(outcome.absent),
        "events": size.events.count,
        "repeat": size.repeat,
    }


def _rivals(
    outcome: Outcome, query: str, spark: str | None, flink: str | None
) -> dict[str, RivalFigures | None]:
    named = {OURS: OURS, OURS_CSV: OURS_CSV, "spark": spark, "flink": flink}
    found = {rival: outcome.runs.get(name or "", {}).get(query) for rival, name in named.items()}
    events = outcome.size.events.count
    return {rival: _figures(runs, events) if runs else None for rival, runs in found.items()}


def _figures(runs: Sequence[Run], events: int) -> RivalFigures:
    seconds = [run.finish.seconds for run in runs]
    first = runs[0].finish
    return {
        "events_per_s": round(events / statistics.median(seconds)),
        "cpu_s": round(statistics.median(run.usage.cpu_s for run in runs), 2),
        "peak_mib": round(max(run.usage.peak_mib for run in runs)),
        "state_tuples": first.state_tuples,
        "batch_s": None if first.batch_s is None else round(_batch_s(runs), 3),
        "results": first.results,
        "checked_rows": first.rows.count,
        "seconds": [round(each, 3) for each in seconds],
    }


def _batch_s(runs: Sequence[Run]) -> float:
    return statistics.median(run.finish.batch_s or 0.0 for run in runs)


def _ratios(
    queries: Mapping[str, Mapping[str, RivalFigures | None]], ours: str, rival: str
) -> dict[str, float]:
    """How many times as many events a second, where both have run."""
    return {
        query: round(own["events_per_s"] / other["events_per_s"], 3)
        for query, found in queries.items()
        if (own := found[ours]) is not None and (other := found[rival]) is not None
    }


def _geomean(ratios: Mapping[str, float]) -> float | None:
    return round(statistics.geometric_mean(ratios.values()), 3) if ratios else None


def _wrong(outcome: Outcome) -> Iterator[str]:
    """Rivals whose rows are not those of Penstock over parquet, and queries without any rows."""
    for query in outcome.size.queries:
        runs = {name: found[query] for name, found in outcome.runs.items() if query in found}
        if not {OURS, OURS_CSV} <= runs.keys():
            yield f"{query}: {OURS} did not come to its end"
        if OURS not in runs:
            continue
        known = runs[OURS][0].finish.rows
        if not known.count:
            yield f"{query}: no rows to compare"
        for name, several in runs.items():
            if any(run.finish.rows != known for run in several):
                yield f"{query}: {name} gives other rows than {OURS}"
        if QUERIES[query].is_counted_alike:
            yield from _counts_that_differ(query, runs)


def _counts_that_differ(query: str, runs: Mapping[str, Sequence[Run]]) -> Iterator[str]:
    told = [
        (name, run.finish.results)
        for name, several in runs.items()
        for run in several
        if run.finish.results is not None
    ]
    if len({count for _, count in told}) > 1:
        shown = ", ".join(f"{name} {count}" for name, count in told)
        yield f"{query}: not as many results over all events: {shown}"
