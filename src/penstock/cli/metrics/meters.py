"""Meters: the metrics of a run, moved on by each of its reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from penstock.cli.metrics.catalog import BUCKETS, CATALOG, Metric
from penstock.engine.reports.parts import KINDS, InputReport
from penstock.engine.reports.report import Report


class Meters:
    """Counters count from the start of the process; a gauge that a batch does not tell stays."""

    def __init__(self) -> None:
        # Times that nobody asked for, one for each counter.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._held = {metric.name: _made(metric, self.registry) for metric in CATALOG}

    def __call__(self, report: Report) -> None:
        """Take in a batch."""
        self._batch(report)
        for stream in report.read:
            self._stream(report, stream)
        for query, each in (report.members or {"": report}).items():
            self._query(query, each)
        if report.members:
            self._decisions("", report)

    def _batch(self, report: Report) -> None:
        self._add("penstock_batches_total", 1)
        self._held["penstock_batch_seconds"].observe(report.seconds)
        for phase, seconds in report.phases.items():
            self._add("penstock_phase_seconds_total", seconds, phase)
        self._add("penstock_cpu_seconds_total", report.cpu)
        self._set("penstock_busy_ratio", report.busy)
        self._set("penstock_delay_seconds", report.delay)
        self._set("penstock_lag_seconds", None if report.lag is None else report.lag / 1e6)
        self._set("penstock_last_batch_timestamp_seconds", report.at or None)

    def _stream(self, report: Report, stream: str) -> None:
        self._add("penstock_rows_total", report.read[stream], stream)
        self._add("penstock_late_rows_total", report.late.get(stream, 0), stream)
        self._add("penstock_malformed_rows_total", report.malformed.get(stream, 0), stream)
        self._add("penstock_unreadable_files_total", report.unreadable.get(stream, 0), stream)
        self._set("penstock_backlog", report.backlog.get(stream), stream)
        self._set("penstock_stream_lag_seconds", _behind(report.newest, stream), stream)

    def _query(self, query: str, report: Report) -> None:
        wanted = report.prediction
        self._add("penstock_results_total", report.results, query)
        self._set("penstock_state_tuples", report.state_tuples, query)
        if report.modules:
            size = sum(module.bytes for module in report.modules.values())
            self._set("penstock_state_bytes", size, query)
        if report.span and report.cpu:
            self._set("penstock_work_ratio", report.cpu / report.span, query)
        if wanted is not None:
            self._set("penstock_expected_state_tuples", wanted.state, query)
            self._set("penstock_expected_work_ratio", wanted.utilization, query)
        for alias, each in report.inputs.items():
            self._input(query, alias, each)
        self._decisions(query, report)

    def _input(self, query: str, alias: str, each: InputReport) -> None:
        self._add("penstock_input_tuples_total", each.tuples, query, alias)
        self._add("penstock_shed_tuples_total", each.shed, query, alias)
        self._set("penstock_kept_ratio", each.keep, query, alias)
        self._set("penstock_rate", each.rate, query, alias)
        self._set("penstock_arrival_rate", each.arrival_rate, query, alias)
        self._set("penstock_expected_rate", each.predicted_rate, query, alias)

    def _decisions(self, query: str, report: Report) -> None:
        for kind in KINDS:
            # A counter that begins with 1 seems never to have grown.
            self._add("penstock_decisions_total", 0, query, kind)
        for change in report.changes:
            self._add("penstock_decisions_total", 1, query, change.kind)

    def _add(self, name: str, amount: float, *labels: str) -> None:
        self._of(name, labels).inc(max(amount, 0))

    def _set(self, name: str, value: float | None, *labels: str) -> None:
        if value is not None:
            self._of(name, labels).set(value)

    def _of(self, name: str, labels: tuple[str, ...]) -> Any:
        held = self._held[name]
        return held.labels(*labels) if labels else held


def _made(metric: Metric, registry: CollectorRegistry) -> Any:
    given = (metric.name, metric.what, metric.labels)
    match metric.kind:
        case "counter":
            return Counter(*given, registry=registry)
        case "gauge":
            gauge = Gauge(*given, registry=registry)
            if not metric.labels:
                gauge.set(math.nan)  # It would be 0, as if that had been measured.
            return gauge
    return Histogram(*given, registry=registry, buckets=BUCKETS)


def _behind(newest: Mapping[str, int | None], stream: str) -> float | None:
    """Seconds that the newest tuple of a stream is behind the newest of all."""
    known = [time for time in newest.values() if time is not None]
    mine = newest.get(stream)
    return None if mine is None else (max(known) - mine) / 1e6
