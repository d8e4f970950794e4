"""What meshes take beside their routes: a test of a classifier, and one more route in a batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pyarrow as pa

from penstock.calibration.batch_runs import run_in_process
from penstock.calibration.workload import FILTER_VALUES, FILTERED, MadeStream, Workload
from penstock.engine.routes.classifying import route_numbers
from penstock.plan.default_plan import default_plan
from penstock.plan.mesh import DriverMesh, Fork, Goes, MeshJoin, MeshRoute, Split
from penstock.plan.multiway import Probe
from penstock.query import Query

_TUPLES = 200_000
_LEVELS = 3
"""Trees are small: two or three tests, each of another column."""

# Few tuples, so that the start of batches and of routes is most of what is measured; many batches,
# so that it is more than a clock's tick.
_RATE, _SECONDS, _BATCHES = 100.0, 8.0, 40
_KEYS = 50
_NAMES = "ABCD"

# A machine on which more routes take no longer has shown nothing but noise.
_LEAST_ROUTE, _LEAST_TEST = 1e-5, 1e-9


def classify_seconds(times: int) -> float:
    """CPU-seconds for one test of one tuple."""
    names = [f"c{level}" for level in range(_LEVELS)]
    values = np.random.default_rng(1).random(_TUPLES)
    rows = pa.RecordBatch.from_pydict(dict.fromkeys(names, values))
    # All tuples fail all tests but the last one, which half of them pass.
    tree: Fork = Goes(0)
    for level, name in enumerate(reversed(names)):
        tree = Split(name, 0.5 if level == 0 else -1.0, frozenset(), Goes(1), tree)
    route = MeshRoute(())
    mesh = DriverMesh("A", tree, (route, route), (0.5, 0.5))
    route_numbers(mesh, rows)
    seconds = _least(lambda: route_numbers(mesh, rows), 2 * times + 1)
    return max(_LEAST_TEST, seconds / _TUPLES / _LEVELS)


def route_seconds(times: int) -> float:
    """CPU-seconds in one process for one more route in a batch."""
    streams = tuple(MadeStream(name, _RATE, {"a": _KEYS}, extent=0.5) for name in _NAMES)
    query = Workload(streams, _SECONDS, batches=_BATCHES).query()
    orders = list(permutations(_NAMES[1:]))
    plans = [_mesh(query, orders[:1]), _mesh(query, orders)]
    for plan in plans:
        run_in_process(plan)
    # One after the other, so that both meet the same of what else the machine does.
    runs = [[run_in_process(plan).seconds for plan in plans] for _ in range(times + 2)]
    one, many = np.min(runs, axis=0)
    return max(_LEAST_ROUTE, float(many - one) / _BATCHES / (len(orders) - 1))


def _mesh(query: Query, orders: Sequence[Sequence[str]]) -> MeshJoin:
    """A mesh whose first stream takes these orders, as many tuples each."""
    routes = tuple(MeshRoute(tuple((Probe(t, "sorted"),) for t in order)) for order in orders)
    tree: Fork = Goes(0)
    for number in range(1, len(routes)):
        limit = FILTER_VALUES * number / len(routes)
        tree = Split(FILTERED, limit, frozenset(), tree, Goes(number))
    first = DriverMesh(_NAMES[0], tree, routes, (1.0 / len(routes),) * len(routes))
    others = [
        DriverMesh(o.driver, Goes(0), (MeshRoute(tuple((p,) for p in o.probes)),), (1.0,))
        for o in default_plan(query).orders[1:]
    ]
    return MeshJoin(query, (first, *others))


def _least(run: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        started = time.process_time()
        run()
        found.append(time.process_time() - started)
    return min(found)
