"""The figures of the benchmark of sources as text."""

from __future__ import annotations

from penstock.bench.sources.routes import ROUTES
from penstock.bench.sources.run import SourcesDocument
from penstock.table import table


def sources_text(made: SourcesDocument) -> str:
    """A row for each route, then what could not be run."""
    heading = ("route", "tuples/s", "steady tuples/s", "of direct files", "results")
    rows = [
        (
            shown,
            f"{found['tuples_per_s']:,}",
            f"{found['steady_tuples_per_s']:,}",
            f"{found['ratio_vs_files']:.2f} ×",
            "" if found["results"] is None else f"{found['results']:,}",
        )
        for route, shown in ROUTES.items()
        if (found := made["routes"].get(route)) is not None
    ]
    title = (
        f"{made['workload']}, {made['seconds']} s of 3 x {made['rate']:,} tuples/s, "
        f"medians of {made['repeat']}"
    )
    lines = [title, "", *table(heading, rows), ""]
    lines += [
        f"{ROUTES[route]}: {made['absent'][route]}" for route in ROUTES if route in made["absent"]
    ]
    if made["kafka_vs_spark_native"] is not None:
        lines.append(
            f"Kafka, direct / Spark's own joins: {made['kafka_vs_spark_native']:.2f} × steady"
        )
    return "\n".join(lines) + "\n"
