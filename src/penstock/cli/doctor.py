"""`penstock doctor`: what the machine lacks for Penstock, and how to mend it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.show.stopping import stoppable
from penstock.engines import ENGINES, EngineName, as_engine
from penstock.errors import UsageError
from penstock.stats.calibration import calibration_file, calibration_of

if TYPE_CHECKING:
    from penstock.cli.checkup import Finding

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


class DoctorFormat(StrEnum):
    """How the findings are shown."""

    TEXT = "text"
    JSON = "json"


def doctor(
    format: Annotated[DoctorFormat, typer.Option(help="How to show the findings.")] = (
        DoctorFormat.TEXT
    ),
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure this machine's costs for planning.")
    ] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar=f"<{'|'.join(ENGINES)}>", help="(calibrate) Only this engine; can be repeated."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="(calibrate) Roughly, in about a minute.")
    ] = False,
) -> None:
    """Check Python, Java, Spark, workers, disk and memory, and say how to mend what is wrong.

    With --calibrate, measure instead what tuples cost on this machine and keep that in a user's
    file, by which plans are then reckoned. Nothing else should run meanwhile.

    Example: penstock doctor --calibrate --quick
    """
    engines = [_engine(name) for name in engine or ()]
    if calibrate:
        _calibrate(engines, quick, format)
        return
    if engine or quick:
        raise typer.BadParameter("goes with --calibrate", param_hint="--engine and --quick")
    from penstock.cli.checkup import checkup

    findings = [*checkup(), calibration()]
    sys.stdout.write(as_json(findings) if format == "json" else as_text(findings))
    if not is_fit(findings):
        raise typer.Exit(1)


def _calibrate(engines: list[EngineName], quick: bool, format: DoctorFormat) -> None:
    from penstock.cli.calibration import calibrate_engines, calibration_text, refusal_text
    from penstock.engine.spark.java import find_java

    # All engines that this machine can run, unless some are named.
    wanted = engines or [e for e in ENGINES if e != "spark" or find_java() is not None]
    with stoppable("nothing was kept; earlier costs still count"):
        made = calibrate_engines(wanted, quick)
    is_json = format is DoctorFormat.JSON
    sys.stdout.write(json.dumps(made, indent=2) + "\n" if is_json else calibration_text(made))
    sys.stderr.write(refusal_text(made, quick))
    if made["refused"]:
        raise typer.Exit(1)


def _engine(name: str) -> EngineName:
    try:
        return as_engine(name, ENGINES)
    except UsageError as error:
        message = f"{error.message}; {error.hint}"
        raise typer.BadParameter(message, param_hint="--engine") from None


def calibration() -> Finding:
    """Whether this machine's costs are known, and since when."""
    from penstock.cli.checkup import Finding, Status

    path = calibration_file()
    mend = "penstock doctor --calibrate; without it plans are reckoned with guessed costs"
    found = {engine: calibration_of(engine) for engine in ENGINES}
    faults = {each.fault: None for each in found.values() if each.fault is not None}
    if faults:
        return Finding("calibration", Status.WARNING, "; ".join(faults), mend)
    known = [engine for engine, each in found.items() if each.costs is not None]
    if not known:
        return Finding("calibration", Status.WARNING, "never done", mend)
    day = datetime.fromtimestamp(path.stat().st_mtime).date()
    return Finding("calibration", Status.OK, f"{', '.join(known)}, {day} ({path})")


def is_fit(findings: Iterable[Finding]) -> bool:
    """Whether nothing essential is missing."""
    return all(finding.status != "error" for finding in findings)


def as_text(findings: list[Finding]) -> str:
    """A line a finding, and how to mend it on the next."""
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{_MARKS[finding.status]} {finding.name:<{width}}  {finding.found}")
        if finding.mend:
            lines.append(f"  {'':<{width}}  → {finding.mend}")
    return "\n".join(lines) + "\n"


def as_json(findings: list[Finding]) -> str:
    """The findings for programs: version 1."""
    checks = [asdict(finding) for finding in findings]
    document = {"version": 1, "ok": is_fit(findings), "checks": checks}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
