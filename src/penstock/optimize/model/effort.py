"""How much planning may be done for one decision, counted in work and never in seconds."""

from __future__ import annotations

from dataclasses import dataclass

EVALUATIONS = 10_000
"""The most evaluations of what a plan does, for given fractions or over time: the searches that
need one after the other. On a machine of 2025 they take a second or so."""


@dataclass
class Effort:
    """Counts of what was weighed so far, the same on every machine.

    `parts` are joins of two sets and visits of a set to an input, which searches weigh by the
    thousand at once; `evaluations` are works and outputs of whole plans. `left_out` is how many
    plans were not weighed further because the evaluations were used up.
    """

    parts: int = 0
    evaluations: int = 0
    left_out: int = 0
    most: int = EVALUATIONS

    @property
    def is_over(self) -> bool:
        """Whether the evaluations are used up."""
        return self.evaluations >= self.most
