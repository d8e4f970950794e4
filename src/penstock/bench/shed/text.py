"""The figures of `bench shed`, for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from penstock.bench.shed.run import Shed
from penstock.engines import BatchEngine
from penstock.table import table

ENOUGH = 0.95
"""The part of the results predicted that there should be."""

_DISTURBED = (
    "loads are not what was meant (unshed): the machine was busier or idler while its capacity was "
    "found, so this says little; run it again while nothing else runs"
)


class LoadFigures(TypedDict):
    """One load: what was kept, and what came of it."""

    times_capacity: float
    tuples_per_s: float
    keep: float
    load: float
    load_unshed: float | None
    delay: float
    keeps_up: bool
    predicted_per_s: float
    results_per_s: float
    kept_vs_predicted: float
    batch_seconds: list[float]


class ShedDocument(TypedDict):
    """All loads, and whether all keep up and have the results predicted."""

    engine: str
    step: float
    loads: list[LoadFigures]
    keeps_up: bool
    kept_vs_predicted: float
    is_as_meant: bool


def document(found: Sequence[Shed], engine: BatchEngine) -> ShedDocument:
    """The figures for programs."""
    return {
        "engine": engine,
        "step": found[0].step,
        "loads": [_figures(each) for each in found],
        "keeps_up": all(each.keeps_up for each in found),
        "kept_vs_predicted": round(min(each.kept_vs_predicted for each in found), 4),
        "is_as_meant": all(each.is_as_meant for each in found),
    }


def _figures(shed: Shed) -> LoadFigures:
    return {
        "times_capacity": shed.times,
        "tuples_per_s": round(shed.rate, 1),
        "keep": round(shed.keep, 4),
        "load": round(shed.load, 3),
        "load_unshed": None if shed.whole is None else round(shed.whole, 2),
        "delay": round(max(shed.delays), 2),
        "keeps_up": shed.keeps_up,
        "predicted_per_s": round(shed.predicted, 1),
        "results_per_s": round(shed.measured, 1),
        "kept_vs_predicted": round(shed.kept_vs_predicted, 4),
        "batch_seconds": [round(seconds, 3) for seconds in shed.seconds],
    }


def shed_text(made: ShedDocument) -> str:
    """A row for each load."""
    heading = ("capacity", "tuples/s", "keep", "load", "unshed", "delay", "results", "predicted")
    rows = [
        (
            f"{each['times_capacity']:g} x",
            f"{each['tuples_per_s']:,.0f}",
            f"{each['keep']:.1%}",
            f"{each['load']:.2f}",
            "-" if each["load_unshed"] is None else f"{each['load_unshed']:.2f}",
            f"{each['delay']:.1f} s" + ("" if each["keeps_up"] else ": late"),
            f"{each['results_per_s']:,.0f}/s",
            f"{each['predicted_per_s']:,.0f}/s",
        )
        for each in made["loads"]
    ]
    kept, does = made["kept_vs_predicted"], "keeps up" if made["keeps_up"] else "does not keep up"
    enough = "enough" if kept >= ENOUGH else f"less than {ENOUGH}"
    of = f"batches of {made['step']:g} s, engine {made['engine']}"
    return "\n".join(
        [
            f"a join of two streams, shed by drop boxes; {of}",
            "",
            *table(heading, rows),
            "",
            *([] if made["is_as_meant"] else [_DISTURBED]),
            f"the shed query {does}, with {kept:.3f} of the results predicted at least: {enough}",
        ]
    ) + "\n"  # fmt: skip
