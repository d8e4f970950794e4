"""T&L's setting: streams with full windows, the plans of their aggregation join, what they take.

A plan is named as in the paper, by which streams are aggregated early: LAP none, EAP10 the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from penstock.duration import MICROS
from penstock.engine.rows.columns import ARRIVAL, TS
from penstock.experiments.setting.problems import query_of
from penstock.experiments.setting.streams import balanced
from penstock.lab.views.aggregation_join import run_view
from penstock.papers.aggregation_join import (
    Early,
    Stream,
    Tuning,
    hash_cost,
    nested_cost,
    plans,
)
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder
from penstock.query import Query

PRICE = 1e-6
"""Seconds for a compared tuple or row and for an updated window: the paper does not print them."""
TUNING = Tuning(probe=PRICE, update=PRICE, group=PRICE)
_VALUES = 1000
_SEED = 1

Streams = tuple[Stream, ...]


@dataclass(frozen=True)
class Costs:
    """Seconds a second of each plan by name, foreseen by T&L's model and counted."""

    model: dict[str, float]
    counted: dict[str, float]


def costs_of(streams: Streams, method: Method) -> Costs:
    """What all plans take for the tuples of one second, by the model and when run."""
    tuples = filled_tuples(streams)
    cost = partial(nested_cost if method == "nested" else hash_cost, streams, tuning=TUNING)
    named = {plan_name(early): early for early in plans(len(streams))}
    return Costs(
        {name: cost(early=early) for name, early in named.items()},
        {name: counted(streams, method, early, tuples) for name, early in named.items()},
    )


def plan_name(early: Early) -> str:
    """The paper's name of a plan."""
    return "EAP" + "".join(str(int(bit)) for bit in early) if any(early) else "LAP"


def counted(streams: Streams, method: Method, early: Early, tuples: dict[str, pa.Table]) -> float:
    """Seconds for the tuples of one second after the windows are full, all work counted."""
    plan = plan_of(aggregating(streams), method, early)
    work = run_view(plan, tuples, counted_from=len(streams) * MICROS).work
    return work.seconds(PRICE, PRICE, PRICE)


def aggregating(streams: Sequence[Stream]) -> Query:
    """The query: a sum over the last stream, by the groups of all that have some."""
    names = [f"S{number + 1}" for number in range(len(streams))]
    pairs = list(zip(names, streams, strict=True))
    groups = [f"{name}.g" for name, stream in pairs if stream.groups > 1] or ["S1.g"]
    shown = ", ".join(f"{group} AS g{number}" for number, group in enumerate(groups))
    inputs = ", ".join(f"{name} [ROWS {stream.window:.0f}]" for name, stream in pairs)
    where = " AND ".join(f"S1.k = {name}.k" for name in names[1:])
    return query_of(
        f"SELECT {shown}, SUM({names[-1]}.v) AS total FROM {inputs} WHERE {where} "
        f"GROUP BY {', '.join(groups)}",
        dict.fromkeys(names, "k g v"),
    )


def plan_of(query: Query, method: Method, early: Early) -> MultiwayJoin:
    """Each stream visits the others in their order, by one method."""
    names = query.aliases
    orders = tuple(
        ProbeOrder(name, tuple(Probe(other, method) for other in names if other != name))
        for name in names
    )
    chosen = tuple(name for name, is_early in zip(names, early, strict=True) if is_early)
    return MultiwayJoin(query, orders, early=chosen)


def filled_tuples(streams: Streams) -> dict[str, pa.Table]:
    """Tuples that fill the windows, one after the other in a second each, then a second at the
    streams' rates."""
    return {
        f"S{number + 1}": _tuples(stream, number, len(streams))
        for number, stream in enumerate(streams)
    }


def _tuples(stream: Stream, number: int, streams: int) -> pa.Table:
    draw = np.random.default_rng([_SEED, number])
    fill, more = round(stream.window), round(stream.rate)
    seconds = [
        number + np.arange(fill) / fill,
        streams + (np.arange(more) + draw.random(more)) / more,
    ]
    count = fill + more
    columns = {"k": 1 / stream.selectivity, "g": stream.groups, "v": _VALUES}
    drawn = {name: balanced(draw, round(values), count) for name, values in columns.items()}
    times = (np.concatenate(seconds) * MICROS).astype(np.int64)
    return pa.table({**drawn, TS: times, ARRIVAL: np.arange(count)})
