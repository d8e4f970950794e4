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

    sample_enough: int = 1_500
    """Tuples of a stream below which every batch draws some: two batches of a fast stream."""

    sample_draw: int = 1_000
    """Tuples of each stream that a batch draws: what is dear is to read the columns that training
    alone looks at, of all tuples, so that few batches are to draw much."""

    sample_every: int = 100
    """Batches from one draw to the next once there is enough: twenty such columns make a batch
    nearly twice as dear, which is a hundredth over a hundred batches. A stale mesh is noticed by
    what its operators let through, and has all batches draw again."""

    sample_half_life: int = 10
    """Batches after which a tuple counts half in the sample, if its window is not longer: about as
    many as a plan may take to settle."""

    training_batches: int = 2
    """Batches that must have been drawn from before training is worth it: one alone may be of a
    moment only."""

    training_pause: int = 50
    """Batches in which a planner that is asked again gets the same training, unless it is stale:
    training takes a quarter of a CPU-second a stream, and half of the sample is new by then."""

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
