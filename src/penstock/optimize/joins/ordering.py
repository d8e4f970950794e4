"""Probe orders by rule instead of search: the heuristics of G&O §5.

All leave as little work as possible to the inner loops: the join with the fewest results first.
They need far fewer evaluations than a search; `probe_search` is exact.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from penstock.optimize.algebra.posynomial import value
from penstock.optimize.joins.sequence import descending, match, moved_up
from penstock.optimize.model.load import load_of
from penstock.optimize.model.problem import Problem
from penstock.papers.multi_join import Window, driver_cost
from penstock.plan.multiway import Method, MultiwayJoin, Probe, ProbeOrder

Orders = tuple[ProbeOrder, ...]


def descending_selectivity(problem: Problem, method: Method = "sorted") -> Orders:
    """Each stream visits the others in the order of the fewest results (G&O §5.1).

    Where all inputs share a key one global order serves everyone; on different attributes each
    stream goes along the join graph by itself (G&O §5.4). `method` is how linked inputs are probed.
    """
    return _orders(problem, method, _sizes(problem))


def augmented(problem: Problem, method: Method = "sorted") -> Orders:
    """Augmented ordering: descending selectivity, with fast streams moved up where that saves work
    (G&O §5.1)."""
    if not _has_common_key(problem):
        return tuple(_own_augmented(problem, driver, method) for driver in _drivers(problem))
    order = moved_up(
        problem,
        descending(problem, _sizes(problem)),
        lambda order: _work(problem, _globally(problem, order, method)),
    )
    return _globally(problem, order, method)


def general_lazy(problem: Problem, tau: float, method: Method = "nested") -> Orders:
    """For joins every τ seconds: each stream's own order, its new tuples not always first.

    The window of the stream whose new tuples are joined counts for τ seconds only (G&O §5.2); the
    others hold what died since the last time.
    """
    return tuple(_own_lazy(problem, driver, tau, method) for driver in _drivers(problem))


def _driver_comparisons(problem: Problem, driver: str, loops: Sequence[str], tau: float) -> float:
    """Comparisons/s of one driver's loops every τ seconds (G&O: H)."""
    aliases = problem.query.aliases
    windows = {flow.alias: Window(flow.rate, flow.window) for flow in problem.inputs}

    def matching(bound: Sequence[str], name: str) -> float:
        return match(problem, problem.mask(bound), aliases.index(name))

    return driver_cost(windows, loops, driver, matching, tau)


def by_bucket_size(problem: Problem, buckets: Mapping[str, int]) -> Orders:
    """Descending selectivity for hashed windows, by the size of a bucket (G&O §5.3).

    It is for limited memory, where buckets are few.
    """
    sizes = [flow.window / buckets.get(flow.alias, 1) for flow in problem.inputs]
    return _orders(problem, "hash", sizes)


def hashed_innermost(problem: Problem, hashed: Collection[str]) -> Orders:
    """Windows that are not hashed first, then those that are (G&O §5.4: hybrid).

    It is for limited memory, where not all can be hashed.
    """
    aliases = problem.query.aliases
    return tuple(
        _visits(
            problem,
            aliases.index(order.driver),
            sorted(map(aliases.index, order.targets), key=lambda i: aliases[i] in hashed),
            dict.fromkeys(hashed, "hash"),
        )
        for order in _orders(problem, "hash", _sizes(problem))
    )


def _own_augmented(problem: Problem, driver: int, method: Method) -> ProbeOrder:
    def work(targets: Sequence[int]) -> float:
        return _work(problem, (_driven(problem, driver, targets, method),))

    _, *targets = descending(problem, _sizes(problem), driver)
    return _driven(problem, driver, moved_up(problem, targets, work), method)


def _own_lazy(problem: Problem, driver: int, tau: float, method: Method) -> ProbeOrder:
    aliases = problem.query.aliases

    def comparisons(loops: Sequence[int]) -> float:
        return _driver_comparisons(problem, aliases[driver], [aliases[i] for i in loops], tau)

    sizes = [flow.window + flow.rate * tau for flow in problem.inputs]
    sizes[driver] = problem.inputs[driver].rate * tau
    loops = moved_up(problem, descending(problem, sizes), comparisons)
    targets = [i for i in loops if i != driver]
    # The two outermost loops may change places at no cost (G&O Appendix A: H2 = L2).
    position = loops.index(driver) if loops.index(driver) > 1 else 0
    return _driven(problem, driver, targets, method, position)


def _work(problem: Problem, orders: Orders) -> float:
    """Seconds of work a second of a multi-way join, or of some of its drivers."""
    return value(load_of(problem, MultiwayJoin(problem.query, orders)), [1.0] * problem.size)


def _orders(problem: Problem, method: Method, sizes: Sequence[float]) -> Orders:
    if _has_common_key(problem):
        return _globally(problem, descending(problem, sizes), method)
    paths = (descending(problem, sizes, driver) for driver in _drivers(problem))
    return tuple(_driven(problem, driver, rest, method) for driver, *rest in paths)


def _sizes(problem: Problem) -> list[float]:
    return [flow.window for flow in problem.inputs]


def _drivers(problem: Problem) -> list[int]:
    return [i for i, flow in enumerate(problem.inputs) if not flow.is_table]


def _has_common_key(problem: Problem) -> bool:
    return problem.everything in problem.key_masks


def _globally(problem: Problem, order: Sequence[int], method: Method) -> Orders:
    """The probe orders of a global order: new tuples first, then the others as it has them."""
    return tuple(
        _driven(problem, driver, [i for i in order if i != driver], method)
        for driver in _drivers(problem)
    )


def _driven(
    problem: Problem, driver: int, targets: Sequence[int], method: Method, position: int = 0
) -> ProbeOrder:
    methods = dict.fromkeys(problem.query.aliases, method)
    return _visits(problem, driver, targets, methods, position)


def _visits(
    problem: Problem,
    driver: int,
    targets: Sequence[int],
    methods: Mapping[str, Method],
    position: int = 0,
) -> ProbeOrder:
    """A probe order; inputs that no equality links to those before are looked through."""
    probes = []
    for place, target in enumerate(targets):
        alias = problem.query.aliases[target]
        bound = sum(1 << i for i in targets[:place]) | (1 << driver if place >= position else 0)
        is_keyed = problem.linked(bound, 1 << target)
        probes.append(Probe(alias, methods.get(alias, "nested") if is_keyed else "nested"))
    return ProbeOrder(problem.query.aliases[driver], tuple(probes), position)
