"""The costs of this machine, measured once by `penstock doctor --calibrate` and kept in a file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.atomic import write_text
from penstock.engines import EngineName
from penstock.errors import StatsError
from penstock.stats.costs import Costs
from penstock.stats.plausible import NEEDED, OPTIONAL, faults_of

_AGAIN = "measure again with penstock doctor --calibrate"


def calibration_file() -> Path:
    """The user's file; `PENSTOCK_CALIBRATION` names another."""
    given = os.environ.get("PENSTOCK_CALIBRATION")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "penstock" / "costs.toml"


@dataclass(frozen=True)
class Calibration:
    """The measured costs of an engine, or None; with the reason if there are some but unfit."""

    costs: Costs | None = None
    fault: str | None = None

    @property
    def note(self) -> str | None:
        """A warning for who plans with other costs because of the fault."""
        if self.fault is None:
            return None
        return f"the calibration is set aside: {self.fault}; {_AGAIN}"


def calibration_of(engine: EngineName) -> Calibration:
    """The costs that this machine was calibrated to for an engine.

    Costs that no machine can have are as good as none, and so is a file that cannot be read: plans
    can be made without, and a file may be from an earlier version.
    """
    path = calibration_file()
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return Calibration()
    except (OSError, ValueError) as error:
        return Calibration(fault=f"cannot read {path}: {error}")
    table = found.get(engine)
    if table is None:
        return Calibration()
    costs = _costs(engine, table)
    if isinstance(costs, str):
        return Calibration(fault=f"{path}: {costs}")
    fault = next(faults_of(engine, costs), None)
    return Calibration(costs) if fault is None else Calibration(fault=f"{path}: {engine}.{fault}")


def calibrated(engine: EngineName) -> Costs | None:
    """The measured costs of an engine; None if there are none that can be planned with."""
    return calibration_of(engine).costs


def keep(measured: Mapping[EngineName, Costs]) -> Path:
    """Write the costs to the user's file, as a whole or not at all."""
    path = calibration_file()
    lines = ["# Seconds for one tuple, as measured by penstock doctor --calibrate.\n"]
    for engine, costs in measured.items():
        lines.append(f"\n[{engine}]\n")
        told = {*NEEDED[engine], *OPTIONAL[engine]}
        kinds = {k: s for k, s in asdict(costs).items() if k in told and s is not None}
        lines += [f"{kind} = {seconds:.4g}\n" for kind, seconds in kinds.items()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, "".join(lines))
    except OSError as error:
        hint = "PENSTOCK_CALIBRATION names another file"
        raise StatsError(f"cannot write {path}: {error}", hint=hint) from None
    return path


def _costs(engine: EngineName, table: object) -> Costs | str:
    """The costs of a table, or what is wrong with it."""
    if not isinstance(table, dict):
        return f"[{engine}] is not a table of costs"
    known = {name for name in Costs.__dataclass_fields__ if name != "origin"}
    for kind, seconds in table.items():
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if kind not in known or not is_number or not 0 <= seconds < float("inf"):
            return f"{engine}.{kind} = {seconds!r} is not a cost"
    return Costs("measured", **table)
