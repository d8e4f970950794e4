"""Measurement: what one run of one rival took, and the rates that follow from it."""

from __future__ import annotations

from dataclasses import dataclass

# Batches that are not counted in steady rates: code is compiled, workers start, windows fill.
WARM_UP = 4


@dataclass(frozen=True)
class BatchTime:
    """One batch. `trigger` is Spark's `triggerExecution`, `inside` the part that is our own code's
    (None where there is none); both are seconds."""

    tuples: int
    trigger: float
    inside: float | None = None


@dataclass(frozen=True)
class Measurement:
    """One run: wall seconds from start() to the end, its batches with input, results, and the most
    tuples in state after any batch; None for what a rival does not tell."""

    seconds: float
    tuples: int
    batches: tuple[BatchTime, ...] = ()
    results: int | None = None
    state_tuples: int | None = None

    @property
    def tuples_per_s(self) -> float:
        """Over the whole run."""
        return self.tuples / self.seconds

    @property
    def steady(self) -> tuple[BatchTime, ...]:
        """The batches after the warm-up."""
        return self.batches[WARM_UP:]

    @property
    def steady_tuples_per_s(self) -> float | None:
        """Input over `triggerExecution`, after the warm-up."""
        spent = sum(batch.trigger for batch in self.steady)
        return sum(batch.tuples for batch in self.steady) / spent if spent else None
