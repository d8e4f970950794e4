"""The metrics by name: what each is, its kind and its labels. docs/monitoring.md has the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "gauge", "histogram"]
QUERY = "query"
"""The label with the name of a script's query; empty where there is one query."""


@dataclass(frozen=True)
class Metric:
    """A metric as it is scraped."""

    name: str
    kind: Kind
    what: str
    labels: tuple[str, ...] = ()


BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Seconds of batches by which the histogram counts them."""

_OF_RUN = (
    Metric("penstock_batches_total", "counter", "Batches that are final."),
    Metric("penstock_batch_seconds", "histogram", "Wall seconds of a batch."),
    Metric("penstock_phase_seconds_total", "counter", "Wall seconds of batches.", ("phase",)),
    Metric("penstock_cpu_seconds_total", "counter", "CPU seconds of all tasks."),
    Metric("penstock_busy_ratio", "gauge", "Part of the clock that was not spent waiting."),
    Metric("penstock_delay_seconds", "gauge", "From when data could be read until its results."),
    Metric("penstock_lag_seconds", "gauge", "Event time from the frontier to the newest tuple."),
    Metric("penstock_last_batch_timestamp_seconds", "gauge", "When the last batch was final."),
)
_OF_STREAMS = (
    Metric("penstock_rows_total", "counter", "Rows that were met.", ("stream",)),
    Metric("penstock_late_rows_total", "counter", "Rows that came too late.", ("stream",)),
    Metric("penstock_malformed_rows_total", "counter", "Rows that cannot be read.", ("stream",)),
    Metric("penstock_unreadable_files_total", "counter", "Files that cannot be read.", ("stream",)),
    Metric("penstock_backlog", "gauge", "Files or blocks that wait to be read.", ("stream",)),
    Metric("penstock_stream_lag_seconds", "gauge", "Event time behind the newest.", ("stream",)),
)
_INPUT = (QUERY, "input")
_OF_INPUTS = (
    Metric("penstock_input_tuples_total", "counter", "Tuples on time.", _INPUT),
    Metric("penstock_shed_tuples_total", "counter", "Tuples that were shed.", _INPUT),
    Metric("penstock_kept_ratio", "gauge", "Part that the drop box is set to keep.", _INPUT),
    Metric("penstock_rate", "gauge", "Tuples/s by event time.", _INPUT),
    Metric("penstock_arrival_rate", "gauge", "Tuples/s by the clock.", _INPUT),
    Metric("penstock_expected_rate", "gauge", "Tuples/s that the plan was made for.", _INPUT),
)
_OF_QUERIES = (
    Metric("penstock_results_total", "counter", "Results.", (QUERY,)),
    Metric("penstock_state_tuples", "gauge", "Rows in the state.", (QUERY,)),
    Metric("penstock_expected_state_tuples", "gauge", "Tuples expected in windows.", (QUERY,)),
    Metric("penstock_state_bytes", "gauge", "Bytes of the state.", (QUERY,)),
    Metric("penstock_work_ratio", "gauge", "CPU seconds for a second of event time.", (QUERY,)),
    Metric("penstock_expected_work_ratio", "gauge", "The same as the planner expects.", (QUERY,)),
    Metric("penstock_decisions_total", "counter", "Decisions and remarks.", (QUERY, "kind")),
)
CATALOG = (*_OF_RUN, *_OF_STREAMS, *_OF_INPUTS, *_OF_QUERIES)


def series(metric: Metric) -> tuple[str, ...]:
    """The names of a metric in what is scraped: a histogram has three."""
    if metric.kind != "histogram":
        return (metric.name,)
    return tuple(f"{metric.name}_{part}" for part in ("bucket", "count", "sum"))
