"""The delay that is expected of results, and the load that it follows from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExpectedDelay:
    """The delay of a plan in batches at least `trigger` seconds apart; all figures in seconds."""

    trigger: float
    """Seconds between two batches at the least; 0 where each tuple is taken as it comes."""

    apart: float
    """Seconds between the starts of two batches, on average: more where batches take longer."""

    waits: float
    """Seconds that data waits for its batch to start, on average."""

    works: float
    """Seconds that the batch then takes."""

    oldest: float
    """Seconds until the results of the oldest data of a batch are shown: reports measure that."""

    load: float
    """Seconds of work that a second of data brings, over the capacity."""

    spread: float
    """The standard deviation of that load from second to second."""

    @property
    def mean(self) -> float:
        """Seconds from when data could be read until its results are shown, on average."""
        return self.waits + self.works
