"""Settings of adaptation: every threshold by name, with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """When figures count as moved, when another plan is worth a switch, and how shedding is led."""

    # Shedding: `penstock run --shed --delay`.

    shed_highest_delay: float = 1.15
    """Times the wanted delay that the next batch's may be by forecast: half of the overshoot that
    is aimed at is left to what the forecast does not know."""

    shed_least_batch: float = 0.1
    """The part of the wanted delay that a batch may always take: one that keeps next to nothing
    costs nearly as much and shows nothing."""

    shed_band: float = 0.1
    """The part of the wanted delay by which it may be off before small moves are worth making: half
    of what is called settled."""

    shed_least_move: float = 0.02
    """Relative moves of fractions that are not worth a file in the checkpoint and a line in the
    log: the seconds of batches vary by more."""

    shed_late_batches: int = 2
    """Batches over the wanted delay, one after another, until shedding begins though the load
    fits: a single one is a hiccup, which goes by faster than shedding could help."""

    shed_calm_batches: int = 5
    """Batches of little delay until shedding counts as over (FIELD C.5)."""

    shed_calm_delay: float = 0.5
    """Which part of the wanted delay is little."""

    shed_cold_batches: int = 2
    """First batches of a run that tell nothing of what later ones cost: they compile and load."""

    shed_memory: int = 100
    """Batches from which it is learned what starting, reading and joining cost beside each other:
    that tells only where batches differ, as at the beginning of a burst."""

    shed_forgetting: float = 0.98
    """What a batch counts for beside the one after it, there: fifty batches together."""

    shed_pace: float = 0.85
    """The same for how fast the machine is just now: seven batches together."""

    shed_noise: float = 4.0
    """Standard deviations of a Poisson stream beyond which a batch's rate is news: one batch in
    16,000 is by chance."""

    shed_smoothing: float = 0.3
    """What a batch's rate counts for beside all before it, where it is no news."""

    shed_moved: float = 0.1
    """Logarithm of a figure's move from which on the best fractions are worked out anew."""

    shed_points: int = 12
    """Points of the curve of fractions: between two of them a third of the work is dropped."""

    shed_least_kept: float = 0.01
    """The part of the work at the end of that curve: a burst to a hundred times the capacity."""

    behind_batches: int = 5
    """Batches over which the delay has to grow until it is said."""

    behind_growth: float = 1.5
    """Times by which it has to grow over them."""

    behind_busy: float = 0.95
    """The busy share from which on a query has no time left."""

    behind_again: float = 4.0
    """Times by which the delay has to grow until it is said again."""

    behind_caught_up: float = 0.5
    """The part of the delay that was told at which it counts as caught up."""


DEFAULT_SETTINGS = Settings()
