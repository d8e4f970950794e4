"""Totals: how many combinations of every set of inputs have met by a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.optimize.curves.arrivals import Arrivals, arrivals_of, pieces
from penstock.optimize.model.problem import Floats, Problem

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Exact up to the fifteenth power of time, so for fifteen inputs where nothing bends."""


@dataclass(frozen=True)
class Totals:
    """Of every set of inputs, at the index that is its mask: the combinations that have met in
    windows by a time, whatever their predicates say."""

    problem: Problem
    seconds: float
    met: Floats

    @cached_property
    def results(self) -> Floats:
        """Those that satisfy the predicates within the set: the rows of an inner join."""
        rows: Floats = np.asarray(self.problem.fractions) * self.met
        return rows


def totals_by(problem: Problem, seconds: float) -> Totals:
    """The totals so many seconds after the start; the problem has tables of all sets."""
    inputs = arrivals_of(problem)
    met = np.zeros(1 << problem.size)
    for start, end in pieces(inputs, seconds):
        half = (end - start) / 2
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            met += _meeting(inputs, start + half * (1 + node)) * (weight * half)
    return Totals(problem, seconds, met)


def totals_at_once(problem: Problem) -> Totals:
    """The totals of inputs that are all there when the query begins: the sizes of tables, of finite
    streams, and of the windows of those that never end."""
    met = np.ones(1)
    for flow in problem.inputs:
        met = np.concatenate([met, met * size_of(problem, flow.alias)])
    met[0] = 0.0
    return Totals(problem, 1.0, met)


def size_of(problem: Problem, alias: str) -> float:
    """The tuples of an input that its filters let through, whenever they come."""
    flow = problem.inputs[problem.places[alias]]
    if flow.is_table or flow.cardinality is None:
        return flow.window
    return flow.cardinality * (flow.rate / flow.raw_rate if flow.raw_rate else 0.0)


def _meeting(inputs: list[Arrivals], time: float) -> Floats:
    """Combinations/s of every set that the arrivals of a moment complete."""
    at = np.array([time])
    products, sums = np.ones(1), np.zeros(1)
    for each in inputs:
        rate, window = float(each.rate(at)[0]), float(each.window(at)[0])
        sums = np.concatenate([sums, sums * window + products * rate])
        products = np.concatenate([products, products * window])
    return sums
