"""The figures of the mesh benchmark as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.mesh.figures import BATCHED, EDDY, FAIR, MESH, Half, MeshFigures
from penstock.table import table

_HEADING = ("query, data, rival", "tuples", "results", "results/s", "the mesh is")


def mesh_text(made: MeshFigures) -> str:
    """A row for each rival on each kind of data, then what they come to."""
    halves = {"ten-way join": made.joins, "six predicates": made.predicates}
    on_spark = {} if made.spark is None else {"six predicates on Spark": made.spark}
    parts = {**halves, **on_spark}
    rows = [row for name, half in parts.items() for row in _rows(name, half)]
    repeats = ", ".join(f"{name} {half.setting['repeat']}" for name, half in parts.items())
    lines = [
        f"mesh: medians of alternated runs ({repeats})",
        "",
        *table(_HEADING, rows),
        "",
        *(_verdict(name, half) for name, half in halves.items()),
        "Results/s are of CPU-seconds of one core, on Spark of seconds on all cores.",
        "All rivals gave the same results.",
    ]
    return "\n".join(lines) + "\n"


def _rows(name: str, half: Half) -> Iterator[tuple[str, ...]]:
    for data, runs in {"skewed": half.skewed, "uniform": half.uniform, **half.others}.items():
        for rival in runs.seconds:
            label = f"{name}, {data.replace('_', ' ')}, {rival.replace('_', ' ')}"
            ratio = "" if rival == MESH else f"{runs.ratio(rival):.2f}×"
            yield label, f"{runs.tuples:,}", f"{runs.results:,}", f"{runs.rate(rival):,.0f}", ratio


def _verdict(name: str, half: Half) -> str:
    is_over = f"over {FAIR:.0%}: the comparison is void"
    said = is_over if half.is_void else "so it is a fair rival"
    slow, batched = (half.uniform.overhead(rival) for rival in (EDDY, BATCHED))
    return (
        f"{name}: the classifier takes {half.classification_share:.2%} of the time; on uniform "
        f"data the eddy takes {slow:.0%} (with batches {batched:.0%}) longer than the "
        f"single plan, {said}."
    )
