"""Real streams, which the repository does not hold: where they are, if they are there at all."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "PENSTOCK_DATA"
"""Names the folder of real streams."""
_USUAL = Path("..", "shared", "data")


def real_data(name: str) -> Path | None:
    """A file of the real streams, such as `road/speed.csv.gz`; None where it is not there."""
    path = Path(os.environ.get(VARIABLE) or _USUAL) / name
    return path if path.is_file() else None


def missing(name: str) -> str:
    """The note of an experiment that goes on without a file."""
    return f"{name} is not there, so it is left out; {VARIABLE} names the folder of real streams"
