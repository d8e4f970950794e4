"""The costs of this machine, measured once by `penstock doctor --calibrate` and kept in a file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Literal, get_args

from penstock.errors import StatsError
from penstock.stats.costs import Costs

Engine = Literal["spark", "local", "laboratory"]
"""Where a plan runs: in Spark's batches, in the same batches in one process, or tuple by tuple."""

_AGAIN = "measure again with penstock doctor --calibrate, or delete the file"


def calibration_file() -> Path:
    """The user's file; `PENSTOCK_CALIBRATION` names another."""
    given = os.environ.get("PENSTOCK_CALIBRATION")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "penstock" / "costs.toml"


def calibrated(engine: Engine) -> Costs | None:
    """The measured costs of an engine; None if this machine was never calibrated for it."""
    path = calibration_file()
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StatsError(f"cannot read {path}: {error}", hint=_AGAIN) from None
    table = found.get(engine)
    return None if table is None else _costs(path, engine, table)


def keep(measured: Mapping[Engine, Costs]) -> Path:
    """Write the costs to the user's file, as a whole or not at all."""
    path = calibration_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["# Seconds for one tuple, as measured by penstock doctor --calibrate.\n"]
    for engine, costs in measured.items():
        lines.append(f"\n[{engine}]\n")
        kinds = {k: v for k, v in asdict(costs).items() if isinstance(v, float)}
        lines += [f"{kind} = {seconds:.4g}\n" for kind, seconds in kinds.items()]
    draft = path.with_suffix(".draft")
    draft.write_text("".join(lines), encoding="utf-8")
    draft.replace(path)
    return path


def _costs(path: Path, engine: str, table: object) -> Costs:
    known = {name for name in Costs.__dataclass_fields__ if name != "origin"}
    if not isinstance(table, dict) or engine not in get_args(Engine):
        raise StatsError(f"{path}: [{engine}] is not a table of costs", hint=_AGAIN)
    for kind, seconds in table.items():
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if kind not in known or not is_number or not 0 <= seconds < float("inf"):
            raise StatsError(f"{path}: {engine}.{kind} = {seconds!r} is not a cost", hint=_AGAIN)
    return Costs("measured", **table)
