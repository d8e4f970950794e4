"""Drop boxes: the fraction of each stream's tuples that is kept when no plan keeps up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NEARLY_ALL = 0.9999
"""A box that keeps more than this is none: it spares less than the weights of its tuples cost."""


@dataclass(frozen=True)
class DropBoxes:
    """Streams that are shed from, by alias, with the fraction that is kept; others keep all.

    A box stands before the window: a shed tuple was never there (A&N Obs. 3). Which tuples are kept
    follows from the seed, the alias and the tuple's arrival number alone, so that a replay sheds
    the same ones and streams are shed independently.

    A view over what is left `estimates` what all would give, or has the plain values of the kept.
    Where a run `may_shed` by itself its estimates have intervals from the first batch on, so that
    results have the same columns before, while and after it sheds.
    """

    kept: tuple[tuple[str, float], ...] = ()
    seed: int = 0
    estimates: bool = True
    may_shed: bool = False

    def fraction(self, alias: str) -> float:
        """The fraction of a stream's tuples that is kept."""
        return dict(self.kept).get(alias, 1.0)


NO_DROPS = DropBoxes()


def worth_shedding(kept: Mapping[str, float]) -> dict[str, float]:
    """Of the fractions to keep, those by which something is dropped."""
    return {alias: fraction for alias, fraction in kept.items() if fraction <= NEARLY_ALL}
