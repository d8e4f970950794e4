"""A figure and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["declared", "sampled", "measured", "guessed"]


@dataclass(frozen=True)
class Figure:
    """A number with its origin. `error` is a sample's standard error, `rule` names a guess's."""

    value: float
    origin: Origin
    error: float | None = None
    rule: str | None = None
