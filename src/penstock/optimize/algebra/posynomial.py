"""Sums of products of kept fractions: what a plan costs and yields when its inputs are shed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Monomial:
    """`coefficient · ∏ x_i` over the inputs i in `factors`; x_i is the fraction kept of input i."""

    coefficient: float
    factors: frozenset[int]

    def at(self, x: Sequence[float]) -> float:
        """Its value for the given fractions."""
        return self.coefficient * prod(x[i] for i in self.factors)


Posynomial = tuple[Monomial, ...]


def value(posynomial: Posynomial, x: Sequence[float]) -> float:
    """The sum for the given fractions."""
    return sum(monomial.at(x) for monomial in posynomial)


def gathered(monomials: Iterable[Monomial]) -> Posynomial:
    """The same sum with one monomial for each set of factors, without those that are zero."""
    by_factors: defaultdict[frozenset[int], float] = defaultdict(float)
    for monomial in monomials:
        by_factors[monomial.factors] += monomial.coefficient
    return tuple(Monomial(c, factors) for factors, c in by_factors.items() if c > 0.0)
