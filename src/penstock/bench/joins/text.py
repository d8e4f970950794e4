"""The figures of the join benchmarks as text: a table, and the ratios that it comes to."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.bench.joins.figures import ComparisonDocument, ComparisonSetting, RivalFigures
from penstock.bench.joins.kernel import KernelDocument
from penstock.bench.joins.latency import LatencyFigures
from penstock.bench.joins.long_window import LongWindowDocument
from penstock.table import table


def comparison_text(made: ComparisonDocument) -> str:
    """A row for each rival, both state formats shown, then the ratios."""
    native, setting = made["spark_native"], made["setting"]
    formats = native["formats"]
    rows = [_rival("penstock", made["penstock"])]
    rows += [_rival(f"spark_native, {name}", found) for name, found in formats.items()]
    if "flink" in made:
        rows.append(_rival("flink", made["flink"]))
    heading = ("rival", "tuples", "tuples/s", "steady tuples/s", "peak state", "results")
    lines = [_title(setting), "", *table(heading, rows), ""]
    lines += [f"{name}: {reason}" for name, reason in made["absent"].items()]
    lines.append(
        f"penstock / spark_native: {_times(made['ratio_vs_spark_native'])} whole run, "
        f"{_times(made['steady_ratio_vs_spark_native'])} steady (the better format for each)"
    )
    if "flink" in made:
        lines.append(f"penstock / flink: {_times(made['ratio_vs_flink'])} whole run")
    return "\n".join(lines) + "\n"


def latency_text(made: Mapping[str, LatencyFigures]) -> str:
    """A row for each workload; seconds."""
    heading = ("workload", "tuples/batch", "batches", "inside foreachBatch", "triggerExecution")
    rows = [
        (
            name,
            f"{found['batch_tuples']:,}",
            str(found["batches"]),
            f"{found['inside_median_s']:.3f} / {found['inside_p90_s']:.3f} s",
            f"{found['trigger_median_s']:.3f} / {found['trigger_p90_s']:.3f} s",
        )
        for name, found in made.items()
    ]
    warm = ", ".join(f"{name} {found['warm_up_batches']}" for name, found in made.items())
    title = f"Median / 90th percentile; warm-up batches left out: {warm}"
    return "\n".join([title, "", *table(heading, rows)]) + "\n"


def long_window_text(made: LongWindowDocument) -> str:
    """A row for each arrangement of the same window."""
    heading = ("window came in", "median per batch", "chunks", "state tuples", "results")
    names = {"many": f"{made['batches']['many']:,} batches", "ten": "ten chunks"}
    rows = [
        (
            name,
            f"{made['median_s'][key] * 1000:.1f} ms",
            str(made["chunks"][key]),
            f"{made['state_tuples'][key]:,}",
            f"{made['results'][key]:,}",
        )
        for key, name in names.items()
    ]
    title = (
        f"A window of {made['window_s']:,} s in one process, "
        f"the last {made['measured_batches']} batches of {made['batch_tuples']:,} tuples"
    )
    ratio = f"many batches / ten chunks: {_times(made['ratio'])}"
    return "\n".join([title, "", *table(heading, rows), "", ratio]) + "\n"


def kernel_text(made: KernelDocument) -> str:
    """The rate of one core, and how time and state grow with rate and window."""
    title = (
        f"One core, tuple by tuple: {made['tuples_per_s']:,} tuples/s "
        f"({made['tuples']:,} tuples, {made['results']:,} results, "
        f"peak state {made['state_tuples']:,} tuples)"
    )
    heading = ("grows", "by", "tuples", "seconds", "µs/tuple", "peak state", "results")
    rows = [
        (
            row["grows"],
            f"×{row['factor']}",
            f"{row['tuples']:,}",
            f"{row['seconds']:.3f}",
            f"{row['seconds'] / row['tuples'] * 1e6:.2f}",
            f"{row['state_tuples']:,}",
            f"{row['results']:,}",
        )
        for row in made["growth"]
    ]
    return "\n".join([title, "", *table(heading, rows)]) + "\n"


def _title(setting: ComparisonSetting) -> str:
    rivals = setting["rival_seconds"]
    prefix = f", rivals on its first {rivals} s" if rivals != setting["seconds"] else ""
    runs = f"median of {setting['repeat']} runs" if setting["repeat"] > 1 else "one run"
    return (
        f"{setting['workload']}: {setting['seconds']} s of event time{prefix}; "
        f"{setting['master']}, {runs}; "
        f"steady leaves out the first {setting['warm_up_batches']} batches"
    )


def _rival(name: str, found: RivalFigures) -> tuple[str, ...]:
    rates = found["tuples_per_s"], found["steady_tuples_per_s"]
    figures = (found["tuples"], *rates, found["state_tuples"], found["results"])
    return (name, *("–" if figure is None else f"{figure:,}" for figure in figures))


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}×"
