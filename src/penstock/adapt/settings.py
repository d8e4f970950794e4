"""Settings of adaptation: every threshold by name, with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """When figures count as moved, when another plan is worth a switch, and how shedding is led."""

    # Training of meshes.

    sample_size: int = 2_000
    """Tuples of each stream that are kept to train by: training takes 1,000 of them, and more tell
    better how often keys meet."""

    sample_draw: int = 400
    """Tuples of each stream that a batch draws: five batches fill the sample, and 400 tuples of
    ten columns are 32 KB on their way to the driver."""

    sample_every: int = 5
    """Batches from one draw to the next once the sample is full: columns that only training looks
    at need not be read in the four between."""

    sample_half_life: int = 10
    """Batches after which a tuple counts half in the sample, if its window is not longer: about as
    many as a plan may take to settle."""

    training_batches: int = 3
    """Batches that must have been drawn from before training is worth it: with 400 tuples each,
    that is the 1,000 that training takes."""

    training_seconds: float = 1.0
    """CPU-seconds, as functions declare them, that filters may take in one training: the planner
    takes about as long to find a mesh."""

    training_fewest: int = 100
    """Tuples that are tried out in any case: groups of fewer than 5 are not told apart, and 20 of
    them are some."""

    stale_factor: float = 2.0
    """How many times as many, or as few, rows as expected an operator lets through on one route,
    measured by what it does on all: routes of tuples that differ by less cost about the same."""

    stale_errors: float = 5.0
    """Standard errors that this must be besides, since every operator of every route is looked at
    in every batch: chance exceeds them once in two million."""

    stale_batches: int = 2
    """Batches that are looked at together: one may be small, more would hide a change longer."""

    stale_rows: int = 50
    """Rows that must have come to an operator on a route before it is judged by them."""


DEFAULT_SETTINGS = Settings()
