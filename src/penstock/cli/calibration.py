"""Measuring this machine's costs from the command line, and keeping them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, TypedDict

from penstock.cli.show.bars import bar
from penstock.engines import ENGINES, EngineName
from penstock.stats.calibration import calibrated, calibration_file, calibration_of, keep

if TYPE_CHECKING:
    from penstock.calibration.fit import Fit
    from penstock.stats.costs import Costs


class FitFigures(TypedDict):
    """The costs of an engine, in seconds, and how well they explain the runs."""

    costs: dict[str, float]
    median_error: float
    explained: float
    floored: list[str]
    runs: int


class RefusedFigures(FitFigures):
    """Costs that were not kept, and why."""

    reasons: list[str]


class CalibrationDocument(TypedDict):
    """The costs that were measured, for programs: version 1."""

    version: int
    file: str
    engines: dict[EngineName, FitFigures]
    refused: dict[EngineName, RefusedFigures]


_ORDER: tuple[EngineName, ...] = ("local", "spark", "laboratory")
"""Spark's costs rest on those of one process."""


def costs_of(engine: EngineName) -> Costs:
    """The costs this machine was calibrated to, or else those that a quick look at it tells."""
    known = calibration_of(engine)
    if known.costs is not None:
        return known.costs
    why = known.note or f"the costs of {engine} are not calibrated here"
    print(f"{why}: measuring them quickly, for this run only", file=sys.stderr)
    fits = measure([engine], quick=True)
    for reason in refused(fits).get(engine, ()):
        print(f"these costs are doubtful: {reason}", file=sys.stderr)
    return fits[engine].costs


def measure(engines: Iterable[EngineName], quick: bool) -> dict[EngineName, Fit]:
    """The costs of some engines, with progress on stderr; for Spark those of `local` too."""
    from penstock.calibration.calibrate import (
        QUICK,
        THOROUGH,
        calibrate_laboratory,
        calibrate_local,
        calibrate_spark,
    )

    how = QUICK if quick else THOROUGH
    wanted = set(engines)
    fits: dict[EngineName, Fit] = {}
    if wanted & {"local", "spark"}:
        with bar("calibrating local") as progress:
            fits["local"] = calibrate_local(progress, how)
    if "spark" in wanted:
        with bar("calibrating spark") as progress:
            fits["spark"] = calibrate_spark(fits["local"].costs, progress, how)
    if "laboratory" in wanted:
        with bar("calibrating laboratory") as progress:
            fits["laboratory"] = calibrate_laboratory(progress, how)
    return fits


def refused(fits: dict[EngineName, Fit]) -> dict[EngineName, list[str]]:
    """The engines whose costs may not be planned with, and why."""
    from penstock.calibration.verdict import reasons_against

    found = {engine: list(reasons_against(engine, fit)) for engine, fit in fits.items()}
    if found.get("local") and "spark" in found:
        found["spark"].append("its proportions are those of local, which are refused")
    return {engine: reasons for engine, reasons in found.items() if reasons}


def calibrate_engines(engines: Iterable[EngineName], quick: bool) -> CalibrationDocument:
    """Measure the costs of some engines and keep them beside those of the others.

    What no machine can have is not kept: the earlier costs of such an engine stay.
    """
    wanted = tuple(engines)
    fits = measure(wanted, quick)
    against = refused(fits)
    good = {e: fits[e].costs for e in _ORDER if e in wanted and e not in against}
    if good:
        known = {engine: calibrated(engine) for engine in ENGINES}
        keep({**{engine: costs for engine, costs in known.items() if costs is not None}, **good})
    return {
        "version": 1,
        "file": str(calibration_file()),
        "engines": {engine: _figures(fits[engine]) for engine in _ORDER if engine in good},
        "refused": {
            engine: {**_figures(fits[engine]), "reasons": against[engine]}
            for engine in _ORDER
            if engine in wanted and engine in against
        },
    }


def _figures(fit: Fit) -> FitFigures:
    return {
        "costs": {k: v for k, v in asdict(fit.costs).items() if isinstance(v, float)},
        "median_error": fit.median_error,
        "explained": fit.explained,
        "floored": list(fit.floored),
        "runs": len(fit.errors),
    }


def calibration_text(made: CalibrationDocument) -> str:
    """A column for each engine, and how well the costs explain the runs."""
    engines: dict[EngineName, FitFigures] = {**made["engines"], **made["refused"]}
    lines = _table(engines)
    if any(found["floored"] for found in engines.values()):
        lines.append("≤ the runs show no more of it: it counts as the least that is plausible")
    if made["engines"]:
        lines += ["", f"kept in {made['file']}: {', '.join(made['engines'])}"]
    return "\n".join(lines) + "\n"


def refusal_text(made: CalibrationDocument, quick: bool) -> str:
    """Which costs were not kept, why, and what to do; empty if all were."""
    if not made["refused"]:
        return ""
    lines = []
    for engine, found in made["refused"].items():
        lines.append(f"the costs of {engine} are implausible and not kept:")
        lines += [f"  - {reason}" for reason in found["reasons"]]
    longer = ", without --quick" if quick else ""
    lines.append(f"hint: repeat it while nothing else runs{longer}; earlier costs still count")
    return "\n".join(lines) + "\n"


def _table(engines: dict[EngineName, FitFigures]) -> list[str]:
    from penstock.table import table

    # Engines do different kinds of work: each has its own.
    kinds = dict.fromkeys(kind for found in engines.values() for kind in found["costs"])
    rows = [(kind, *(_cost(found, kind) for found in engines.values())) for kind in kinds]
    rows = [row for row in rows if any(cell != "–" for cell in row[1:])]
    rows.append(("error", *(f"± {found['median_error']:.1%}" for found in engines.values())))
    rows.append(("R²", *(f"{found['explained']:.2f}" for found in engines.values())))
    return table(("seconds for one", *engines), rows)


def _cost(found: FitFigures, kind: str) -> str:
    seconds = found["costs"].get(kind)
    if not seconds:
        return "–"
    least = "≤ " if kind in found["floored"] else ""
    if seconds >= 1e-4:
        return f"{least}{seconds * 1e3:,.1f} ms"
    return f"{least}{seconds * 1e9:,.1f} ns"
