"""The figures of Nexmark as text."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.nexmark.figures import NexmarkDocument, RivalFigures
from penstock.table import table

_HEADING = ("query, rival", "events/s", "CPU s", "peak MiB", "state tuples", "batch s", "results")


def nexmark_text(made: NexmarkDocument) -> str:
    """A row for each query and rival, then ratios and what is to be known."""
    rows = [
        _row(f"{query}  {rival}", figures)
        for query, rivals in made["queries"].items()
        for rival, figures in rivals.items()
        if figures is not None
    ]
    title = f"Nexmark, {made['events']:,} events; two cores, medians of {made['repeat']}"
    return "\n".join([title, "", *table(_HEADING, rows), "", *_remarks(made)]) + "\n"


def _row(name: str, figures: RivalFigures) -> tuple[str, ...]:
    return (
        name,
        f"{figures['events_per_s']:,}",
        f"{figures['cpu_s']:.1f}",
        f"{figures['peak_mib']:,}",
        _or_dash(figures["state_tuples"]),
        "–" if figures["batch_s"] is None else f"{figures['batch_s']:.2f}",
        _or_dash(figures["results"]),
    )


def _or_dash(figure: int | None) -> str:
    return "–" if figure is None else f"{figure:,}"


def _remarks(made: NexmarkDocument) -> Iterator[str]:
    if made["geomean_vs_flink"] is not None:
        shown = ", ".join(f"{q} {r:.2f}" for q, r in made["ratios_vs_flink"].items())
        yield f"penstock_csv / flink: {made['geomean_vs_flink']:.2f} × ({shown})"
    if made["geomean_vs_spark"] is not None:
        shown = ", ".join(f"{q} {r:.2f}" for q, r in made["ratios_vs_spark"].items())
        yield f"penstock / spark: {made['geomean_vs_spark']:.2f} × ({shown})"
    yield from (f"{rival}: {why}" for rival, why in made["absent"].items())
    yield from (f"WRONG {each}" for each in made["wrong"])
