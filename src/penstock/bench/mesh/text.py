"""The figures of the mesh benchmark as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.bench.mesh.figures import BATCHED, EDDY, FAIR, MESH
from penstock.table import table

_HEADING = ("query, data, rival", "tuples", "results", "results/s", "the mesh is")
_PARTS = {
    "joins": "ten-way join",
    "predicates": "six predicates",
    "spark": "six predicates on Spark",
}


def mesh_text(made: Mapping[str, Any]) -> str:
    """A row for each rival on each kind of data, then what they come to."""
    parts = {name: made[name] for name in _PARTS if made[name] is not None}
    rows = [row for name, part in parts.items() for row in _part(_PARTS[name], part)]
    repeats = ", ".join(f"{_PARTS[n]} {part['setting']['repeat']}" for n, part in parts.items())
    lines = [
        f"mesh: medians of alternated runs ({repeats})",
        "",
        *table(_HEADING, rows),
        "",
        *(_verdict(_PARTS[name], part) for name, part in parts.items() if name != "spark"),
        "Results/s are of CPU-seconds of one core, on Spark of seconds on all cores.",
        "All rivals gave the same results.",
    ]
    return "\n".join(lines) + "\n"


def _part(name: str, part: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for data, found in part.items():
        if not isinstance(found, Mapping) or "results_per_s" not in found:
            continue
        for rival, rate in found["results_per_s"].items():
            label = f"{name}, {data.replace('_', ' ')}, {rival.replace('_', ' ')}"
            ratio = "" if rival == MESH else f"{found[f'ratio_vs_{rival}']:.2f}×"
            yield label, f"{found['tuples']:,}", f"{found['results']:,}", f"{rate:,.0f}", ratio


def _verdict(name: str, part: Mapping[str, Any]) -> str:
    over = part["uniform"]["overhead_vs_single"]
    said = (
        "so it is a fair rival"
        if part["comparison"] == "fair"
        else f"over {FAIR:.0%}: the comparison is void"
    )
    return (
        f"{name}: the classifier takes {part['classification_share']:.2%} of the time; on uniform "
        f"data the eddy takes {over[EDDY]:.0%} (with batches {over[BATCHED]:.0%}) longer than the "
        f"single plan, {said}."
    )
