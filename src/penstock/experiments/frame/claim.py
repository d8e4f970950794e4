"""Claims: what a paper says, what we found, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "partly", "fails"]


@dataclass(frozen=True)
class Claim:
    """A claim with its verdict, which the functions of `judging` compute from the data.

    `why` says what the verdict rests on. `reason` is what we think is the cause where it does not
    hold; a claim without one is expected to hold. A `timed` claim depends on this machine's clock,
    and no test rests on it.
    """

    text: str
    paper: str
    ours: str
    verdict: Verdict
    why: str
    reason: str = ""
    timed: bool = False

    @property
    def explanation(self) -> str:
        """Why the verdict is what it is, and the cause where it does not hold."""
        return self.why if self.verdict == "holds" or not self.reason else self._with_reason()

    def _with_reason(self) -> str:
        return f"{self.why}. {self.reason}"
