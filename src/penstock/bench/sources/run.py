"""One join over files and topics, read directly and through Spark, run after run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypedDict

from penstock.bench.contest import apart
from penstock.bench.data import ensure_data
from penstock.bench.measurement import WARM_UP, Measurement
from penstock.bench.native import STATE_FORMATS
from penstock.bench.sources.routes import Course, Route, run_course
from penstock.bench.sources.topics import (
    NO_BROKERS,
    NO_CONNECTOR,
    brokers,
    connector,
    fill_topics,
)
from penstock.bench.workload import JOIN3, Workload
from penstock.errors import PenstockError

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Size:
    """How much is run: seconds of event time, tuples a second of each stream, and how often."""

    seconds: int = 60
    rate: int = JOIN3.rate
    repeat: int = 3


QUICK = Size(seconds=30, rate=5_000, repeat=1)


@dataclass(frozen=True)
class Outcome:
    """The runs of each route, or why there are none."""

    workload: Workload
    runs: Mapping[Route, Sequence[Measurement]]
    absent: Mapping[Route, str] = field(default_factory=dict)


class RouteFigures(TypedDict):
    """The medians of a route's runs, and its steady rate as a part of that of direct files."""

    tuples_per_s: int
    steady_tuples_per_s: int
    ratio_vs_files: float
    results: int | None
    runs: list[float]


class SourcesDocument(TypedDict):
    """The figures for programs."""

    workload: str
    seconds: int
    rate: int
    repeat: int
    routes: dict[str, RouteFigures]
    kafka_vs_spark_native: float | None
    absent: dict[str, str]


def run_sources(
    size: Size, data: Path, progress: Progress, routes: Collection[str] = ()
) -> Outcome:
    """Run every route that can be run `repeat` times, taking turns; where some are named, only
    these and that of files, with which they are compared."""
    wanted = chosen(routes)
    workload = replace(JOIN3, seconds=size.seconds, rate=size.rate)
    if workload.files <= WARM_UP:
        message = (
            f"{workload.seconds} s of data are {workload.files} batches, not more than {WARM_UP}"
        )
        raise PenstockError(message, hint="give more --seconds")
    progress(f"making {workload.tuples:,} tuples")
    folder = ensure_data(workload, data)
    base = Course("files", workload, folder)
    absent = {route: reason for route, reason in _absent().items() if route in wanted}
    if brokers() is not None and any("kafka" in route for route in wanted):
        progress("writing them to topics")
        servers = brokers() or ""
        base = replace(base, servers=servers, topics=fill_topics(workload, folder, servers))
    courses = [replace(base, route=route) for route in wanted if route not in absent]
    runs: dict[Route, list[Measurement]] = {course.route: [] for course in courses}
    for number in range(1, size.repeat + 1):
        for course in courses:
            progress(f"{course.route}, run {number} of {size.repeat}")
            settings = {**_SETTINGS[course.route], **_jars()}
            made = apart(course.route, settings, partial(run_course, course))
            progress(f"{course.route}: {made.steady_tuples_per_s or 0:,.0f} tuples/s, steady")
            runs[course.route].append(made)
    return Outcome(workload, runs, absent)


def chosen(routes: Collection[str]) -> list[Route]:
    """The routes to run, in their order: all, or those that are named and that of files."""
    if odd := sorted(set(routes) - set(_SETTINGS)):
        hint = f"it is one of {', '.join(_SETTINGS)}"
        raise PenstockError(f"there is no route {odd[0]}", hint=hint)
    return [route for route in _SETTINGS if not routes or route in {"files", *routes}]


_SETTINGS: Mapping[Route, Mapping[str, str]] = {
    "files": {},
    "files_dataframe": {},
    "kafka": {},
    "kafka_dataframe": {},
    "spark_native_kafka": STATE_FORMATS["hdfs-v2"],
}


def _absent() -> dict[Route, str]:
    """The routes that cannot be run here, and what they lack."""
    absent: dict[Route, str] = {}
    if connector() is None:
        absent |= {"kafka_dataframe": NO_CONNECTOR, "spark_native_kafka": NO_CONNECTOR}
    if brokers() is None:
        absent |= dict.fromkeys(("kafka", "kafka_dataframe", "spark_native_kafka"), NO_BROKERS)
    return absent


def _jars() -> dict[str, str]:
    named = connector()
    return {} if named is None else {"spark.jars": named}


def document(outcome: Outcome) -> SourcesDocument:
    """All figures: medians over the runs, and ratios of them."""
    steady = {route: _median(runs) for route, runs in outcome.runs.items()}
    native = steady.get("spark_native_kafka")
    return {
        "workload": outcome.workload.name,
        "seconds": outcome.workload.seconds,
        "rate": outcome.workload.rate,
        "repeat": len(outcome.runs["files"]),
        "routes": {
            route: {
                "tuples_per_s": round(statistics.median(run.tuples_per_s for run in runs)),
                "steady_tuples_per_s": round(steady[route]),
                "ratio_vs_files": round(steady[route] / steady["files"], 2),
                "results": runs[0].results,
                "runs": [round(run.seconds, 3) for run in runs],
            }
            for route, runs in outcome.runs.items()
        },
        "kafka_vs_spark_native": round(steady["kafka"] / native, 2) if native else None,
        "absent": {str(route): reason for route, reason in outcome.absent.items()},
    }


def _median(runs: Sequence[Measurement]) -> float:
    return statistics.median(run.steady_tuples_per_s or 0.0 for run in runs)
