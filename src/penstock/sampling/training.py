"""Training tuples of the streams of a query, from samples of its inputs (QM §4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from penstock.engine.rows.columns import plain_name
from penstock.errors import PenstockError
from penstock.optimize.model.flow import unique_sizes
from penstock.optimize.model.problem import Problem
from penstock.plan.mesh_filters import waiting, with_waiting
from penstock.query import Condition, Query
from penstock.query.query import Input
from penstock.sampling.condense import attributes_in, condense
from penstock.sampling.estimate import Floats
from penstock.sampling.sample import is_trained
from penstock.sampling.together import ALL_TIME, Episodes
from penstock.sampling.trial import evaluate_for, try_filters
from penstock.sampling.yields import Windows, windows_of
from penstock.stats.guess import complete
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training, operators_of

SAMPLE = 1_000
"""Tuples a stream: enough for a hundred groups, few enough for functions of some milliseconds."""
_SEED = 1

Rows = Mapping[str, pa.Table]


def train(
    statistics: Statistics,
    shares: Rows,
    passing: Rows,
    seconds: float,
    size: int = SAMPLE,
    episodes: Episodes = ALL_TIME,
) -> tuple[dict[str, Training], dict[str, str]]:
    """Training of each stream that could use it, and why others have none.

    `shares` are sampled tuples of the inputs, `passing` those that passed the filters, of the
    episodes; conditions are tried on as many tuples as should take so many seconds.
    """
    # A filter that waits for the joins is an operator like any other, and what it removes is no
    # more in the windows that others are sampled by than what the filters before them remove.
    late, query = waiting(statistics.query), with_waiting(statistics.query, ())
    statistics, passing = replace(statistics, query=query), _past(late, passing, seconds)
    untrained = dict(_obstacles(query, shares, passing))
    drivers = [i for i in query.inputs if is_trained(query, i) and i.alias not in untrained]
    if not drivers:
        return {}, untrained
    passing = {a: passing[a] if a in passing else shares[a].slice(0, 0) for a in query.aliases}
    each = seconds / (len(drivers) * (len(query.filters) + 1))
    drawn = {item.alias: _draw(shares[item.alias], size) for item in drivers}
    problem = Problem(query, complete(query, statistics))
    sizes = {flow.alias: flow.window for flow in problem.inputs}
    windows = windows_of(query, passing, drawn, sizes, episodes)
    windows = replace(windows, most=_most(problem))
    trained = {}
    for item in drivers:
        try:
            trained[item.alias] = _train(query, item, drawn[item.alias], windows, each)
        except PenstockError as error:
            untrained[item.alias] = error.message.splitlines()[0]
    return trained, untrained


def _most(problem: Problem) -> dict[str, dict[int, float]]:
    """The rows that a tuple can find behind the filters of an input whose key is unique."""
    found: dict[str, dict[int, float]] = {alias: {} for alias in problem.query.aliases}
    for key in range(len(problem.keys)):
        for alias, size in unique_sizes(problem.known, key).items():
            found[alias][key] = problem.inputs[problem.places[alias]].window / size
    return found


def _past(late: Sequence[Condition], passing: Rows, seconds: float) -> Rows:
    """The tuples that pass the filters that wait as well."""
    own = {a: [c for c in late if c.streams == {a}] for a in passing}
    return {
        alias: try_filters(rows, own[alias], seconds / (len(late) + 1), lambda failure: None)[0]
        if own[alias]
        else rows
        for alias, rows in passing.items()
    }


def _obstacles(query: Query, shares: Rows, passing: Rows) -> Iterator[tuple[str, str]]:
    """The streams that cannot be trained, and why: what their tuples meet must be known.

    A stream's own filters may let nothing through: their order is all the more worth knowing.
    """
    absent = [alias for alias in query.aliases if not len(passing.get(alias, ()))]
    for item in query.inputs:
        others = ", ".join(alias for alias in absent if alias != item.alias)
        if is_trained(query, item) and not len(shares.get(item.alias, ())):
            yield item.alias, "the sample is empty"
        elif is_trained(query, item) and others:
            yield item.alias, f"the sample has no tuple of {others} that passes its filters"


def _draw(rows: pa.Table, size: int) -> pa.Table:
    """So many tuples at random, in random order."""
    order = np.random.default_rng(_SEED).permutation(len(rows))
    return rows.take(pa.array(order[:size]))


def _train(
    query: Query, item: Input, drawn: pa.Table, windows: Windows, seconds: float
) -> Training:
    names = operators_of(query, item.alias)
    yields = _yields(query, item.alias, drawn, windows, seconds)
    names_read = (f.name for f in item.source.fields if f.name in drawn.column_names)
    columns = [name for name in names_read if name != item.source.timestamp]
    attributes = attributes_in(drawn.slice(0, len(yields)).select(columns))
    if not attributes:
        raise PenstockError("no column has different values in the sample")
    found = condense(attributes, yields)
    return Training(item.alias, tuple(attributes), found.values, found.weights, names, found.yields)


def _yields(query: Query, driver: str, drawn: pa.Table, windows: Windows, seconds: float) -> Floats:
    """The outcomes of operators on the drawn tuples, of as many as there was time for."""
    passed = [
        evaluate_for(condition, drawn, plain_name, seconds)[0].astype(np.float64)
        for condition in query.filters_of(driver)
    ]
    others = [alias for alias in query.aliases if alias != driver]
    matched = [windows.matches(driver, target, len(drawn)) for target in others]
    columns = [*passed, *matched]
    count = min(map(len, columns))
    return np.column_stack([column[:count] for column in columns])
