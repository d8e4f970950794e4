"""A figure and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["declared", "sampled", "measured", "derived", "guessed"]


@dataclass(frozen=True)
class Figure:
    """A number with its origin. `error` is a sample's standard error, `rule` names a guess's.

    A derived one follows from others: what a query is expected to give those that read it.
    """

    value: float
    origin: Origin
    error: float | None = None
    rule: str | None = None

    @property
    def is_guess(self) -> bool:
        return self.origin == "guessed"

    @property
    def note(self) -> str:
        """The rule of a guess, or the error of a sample: `± 0.3`."""
        return self.rule or ("" if self.error is None else f"± {self.error:.2g}")
