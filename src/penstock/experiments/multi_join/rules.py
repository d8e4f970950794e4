"""The orders that G&O's heuristics give (§5.1), and the claims about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from statistics import fmean

from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.judging import checked, figure_text, near
from penstock.experiments.multi_join.windows import Setting
from penstock.experiments.setting.problems import problem_of, query_of
from penstock.figure import Figure
from penstock.optimize.joins.ordering import Orders, augmented, descending_selectivity
from penstock.optimize.model.problem import Problem
from penstock.stats.costs import Costs

PLAIN = {5: ("1234", "2134"), 6: ("2314", "2341"), 7: ("3412",)}
"""By table, what the first heuristic gives, however ties are broken."""
AUGMENTED = {5: "1234", 6: "2134", 7: "3142"}
"""What it gives with fast streams moved up: in all three tables the best order."""
_FIFTH = {5: "2134"}
_MEAN = {7: 63_362.0}
_ONE_IN = 1e-4
"""The paper rounds to whole comparisons."""


@dataclass(frozen=True)
class Rules:
    """What the two heuristics give, by the digits of an order."""

    plain: str
    augmented: str


def rules_of(setting: Setting) -> Rules:
    """The orders that the planner's own code for both heuristics gives."""
    problem = _problem(setting)
    return Rules(
        _digits(setting, descending_selectivity(problem, "nested")),
        _digits(setting, augmented(problem, "nested")),
    )


def rule_claims(table: int, rules: Rules, costs: Mapping[str, float]) -> list[Claim]:
    """What the paper says of its heuristics in a table; `costs` are the model's."""
    claims = [_given(table, rules, costs)]
    if table in _FIFTH:
        claims.append(_fifth(_FIFTH[table], costs))
    if table in _MEAN:
        claims += _below_the_mean(table, costs)
    return claims


def _given(table: int, rules: Rules, costs: Mapping[str, float]) -> Claim:
    best, plain = AUGMENTED[table], " or ".join(PLAIN[table])
    return checked(
        "By descending selectivity, and with fast streams moved up, the heuristics’ orders",
        paper=f"{plain}; with fast streams moved up {best}, the best",
        ours=f"{rules.plain} ({figure_text(costs[rules.plain])}/s); "
        f"with fast streams moved up {rules.augmented} ({figure_text(costs[rules.augmented])}/s)",
        checks={
            f"the first gives {plain}": rules.plain in PLAIN[table],
            f"the second gives {best}": rules.augmented == best,
            "the second’s is the best of all 24": costs[rules.augmented] == min(costs.values()),
        },
    )


def _fifth(name: str, costs: Mapping[str, float]) -> Claim:
    place = 1 + sum(cost < costs[name] for cost in costs.values())
    return checked(
        f"If the tie is broken the other way, {name} is the fifth best",
        paper="fifth, at 19,600/s",
        ours=f"number {place}, at {figure_text(costs[name])}/s",
        checks={"it is the fifth": place == 5},
    )


def _below_the_mean(table: int, costs: Mapping[str, float]) -> list[Claim]:
    mean = fmean(costs.values())
    tried = {name: costs[name] for name in ("3412", "3142", "3124")}
    return [
        near("The mean of all orders", paper=_MEAN[table], ours=mean, within=_ONE_IN, unit="/s"),
        checked(
            "Every order that the heuristic looks at costs less than the mean of all",
            paper="each less",
            ours=", ".join(f"{name} {figure_text(cost)}/s" for name, cost in tried.items()),
            checks={name: cost < mean for name, cost in tried.items()},
        ),
    ]


def _digits(setting: Setting, orders: Orders) -> str:
    """The one global order from which all streams' own orders follow."""
    (found,) = (
        order
        for order in setting.orders()
        if all(own.targets == _without(order, own.driver) for own in orders)
    )
    return "".join(name.removeprefix("S") for name in found)


def _without(order: Sequence[str], driver: str) -> tuple[str, ...]:
    return tuple(name for name in order if name != driver)


def _problem(setting: Setting) -> Problem:
    """The setting as the planner sees it, with work counted in comparisons."""
    first, *others = setting.names
    windows = ", ".join(f"{n} [RANGE {t} SECONDS]" for n, (_, t, _) in setting.streams.items())
    where = " AND ".join(f"{first}.a = {name}.a" for name in others)
    query = query_of(
        f"SELECT {first}.a FROM {windows} WHERE {where}", dict.fromkeys(setting.names, "a")
    )
    rates = {name: rate for name, (rate, _, _) in setting.streams.items()}
    asked = problem_of(query, rates, {}, Costs("declared", compare=1.0))
    return Problem(query, replace(asked.known, groups=(_contained(setting),)))


def _contained(setting: Setting) -> dict[frozenset[str], Figure]:
    """What part of combinations match: the fewer values of some are among those of the others."""
    values = {name: count for name, (_, _, count) in setting.streams.items()}
    return {
        frozenset(some): Figure(1 / prod(sorted(values[n] for n in some)[1:]), "declared")
        for size in range(2, len(values) + 1)
        for some in combinations(values, size)
    }
