"""Measuring this machine's costs from the command line, and keeping them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

from penstock.cli.bars import bar
from penstock.stats.calibration import Engine, calibrated, keep

if TYPE_CHECKING:
    from penstock.monitor.fit import Fit
    from penstock.stats.costs import Costs


def costs_of(engine: Engine) -> Costs:
    """What this machine was calibrated to; where it never was, what a quick look at it tells."""
    known = calibrated(engine)
    if known is not None:
        return known
    print(
        f"the costs of {engine} are not calibrated here: measuring them quickly, for this run only",
        file=sys.stderr,
    )
    return measure(engine, quick=True).costs


def measure(engine: Engine, quick: bool) -> Fit:
    """The costs of one engine, with a progress bar."""
    from penstock.monitor.calibrate import calibrate

    with bar(f"calibrating {engine}") as progress:
        return calibrate(engine, quick, progress)


def calibrate_engines(engines: Iterable[Engine], quick: bool) -> dict[str, Any]:
    """Measure the costs of some engines and keep them beside those of the others."""
    fits = {engine: measure(engine, quick) for engine in engines}
    known = {engine: calibrated(engine) for engine in get_args(Engine)}
    before = {engine: costs for engine, costs in known.items() if costs is not None}
    path = keep({**before, **{engine: fit.costs for engine, fit in fits.items()}})
    return {
        "version": 1,
        "file": str(path),
        "engines": {
            engine: {
                "costs": {k: v for k, v in asdict(fit.costs).items() if isinstance(v, float)},
                "median_error": fit.median_error,
                "runs": len(fit.errors),
            }
            for engine, fit in fits.items()
        },
    }


def calibration_text(made: dict[str, Any]) -> str:
    """A column for each engine, and how well the costs explain the runs."""
    from penstock.bench.text import table

    engines = made["engines"]
    kinds = next(iter(engines.values()))["costs"]
    rows = [(kind, *(_cost(found["costs"][kind]) for found in engines.values())) for kind in kinds]
    rows.append(("error", *(f"± {found['median_error']:.1%}" for found in engines.values())))
    lines = table(("seconds for one", *engines), rows)
    return "\n".join([*lines, "", f"kept in {made['file']}"]) + "\n"


def _cost(seconds: float) -> str:
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e9:.1f} ns" if seconds else "–"
