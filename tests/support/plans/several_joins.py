"""Plans that find several joins of some of the inputs, in any order."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from penstock.plan.plan import Plan
from penstock.plan.sharing.offers import offers
from penstock.plan.text.notation import quote
from penstock.plan.text.parse import forced_plan
from penstock.query import Query


def any_joins(query: Query, wanted: Collection[frozenset[str]], rng: Random) -> Plan:
    """A plan with any orders that comes by what is wanted: some of that on the way of the rest."""
    joins = sorted(wanted, key=sorted)
    rng.shuffle(joins)
    for _ in range(len(joins) - 2):
        fewer = _plan(query, joins[1:], rng)
        joins = joins[1:] if offers(fewer, wanted) else joins
    return next(plan for _ in range(1000) if offers(plan := _plan(query, joins, rng), wanted))


def _plan(query: Query, joins: Collection[frozenset[str]], rng: Random) -> Plan:
    return forced_plan(query, ";; ".join(_join(query, join, rng) for join in joins))


def _join(query: Query, join: frozenset[str], rng: Random) -> str:
    drivers = [item.alias for item in query.streams if item.alias in join]
    return "; ".join(f"{quote(each)}: {_others(join, each, rng)}" for each in drivers)


def _others(join: frozenset[str], driver: str, rng: Random) -> str:
    others = sorted(join - {driver})
    rng.shuffle(others)
    return " ".join(map(quote, others))
