"""The operators of a stream's routes with what they take, in the planner's own unit costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from penstock.optimize.mesh.problem import MeshFigures
from penstock.optimize.model.flow import flow_of
from penstock.optimize.model.problem import Problem, gain
from penstock.optimize.model.work import handling_seconds, visit_seconds
from penstock.plan.mesh import Operator, Screen
from penstock.plan.mesh_filters import waiting
from penstock.plan.multiway import Probe
from penstock.query import Condition
from penstock.stats.costs import GUESSED_CLASSIFY
from penstock.stats.known import ConditionFigures
from penstock.stats.training import Training, operators_of


def operators_for(problem: Problem, training: Training) -> tuple[Operator, ...]:
    """The operators that the training tuples know, in their order."""
    query = problem.query
    conditions = {str(c): c for c in (*query.filters, *waiting(query))}
    return tuple(
        Screen(conditions[name]) if name in conditions else _probe(problem, name)
        for name in training.operators
    )


def figures_for(problem: Problem, training: Training, ruster: float) -> MeshFigures:
    """The costs of operators and classifier; `ruster` is seconds a second for every route."""
    operators = operators_for(problem, training)
    rate, costs = problem.known.rates[training.driver].value, problem.known.costs
    return MeshFigures(
        enter=tuple(_enter(problem, training.driver, o) for o in operators),
        leave=tuple(_leave(problem, training.driver, o) for o in operators),
        after=tuple(_after(problem, training, o) for o in operators),
        level=GUESSED_CLASSIFY if costs.classify is None else costs.classify,
        overhead=ruster / rate,
    )


def as_joined(problem: Problem, training: Training) -> Training:
    """The training with yields as this problem has them.

    Sampled yields count the rows that keys let through of windows without what filters remove: here
    filters may wait, and other predicates of the two inputs are decided at once.
    """
    factors = [
        1.0 if isinstance(o, Screen) else _factor(problem, training.driver, o.target)
        for o in operators_for(problem, training)
    ]
    yields = tuple(
        tuple(rows * factor for rows, factor in zip(row, factors, strict=True))
        for row in training.yields
    )
    return replace(training, yields=yields)


def assumed(problem: Problem, driver: str, weights: tuple[float, ...]) -> Training:
    """Training where none was sampled: tuples with the given weights, all with the yields that the
    figures say."""
    names = operators_of(problem.query, driver)
    yields = tuple(_mean_yield(problem, driver, name) for name in names)
    return Training(driver, (), ((),) * len(weights), weights, names, (yields,) * len(weights))


def _mean_yield(problem: Problem, driver: str, name: str) -> float:
    if name not in problem.query.aliases:
        return problem.known.conditions[name].selectivity.value
    mine, its = problem.mask([driver]), problem.mask([name])
    bound = mine if problem.linked(mine, its) else problem.everything & ~its
    late = [_figures(problem, c) for c in waiting(problem.query) if c.streams == {name}]
    kept = prod(figures.selectivity.value for figures in late)
    window = flow_of(problem.known, problem.query.inputs[problem.query.aliases.index(name)]).window
    return window * kept * float(gain(problem.equal_fractions, bound, its))


def _probe(problem: Problem, target: str) -> Probe:
    is_keyed = any(target in key.streams for key in problem.keys)
    return Probe(target, "sorted" if is_keyed else "nested")


def _enter(problem: Problem, driver: str, operator: Operator) -> float:
    if isinstance(operator, Screen):
        return _figures(problem, operator.condition).cost.value
    costs = problem.known.costs
    visit = visit_seconds(problem, operator.method)
    # Found by another key than the driver's, what is at hand must move there.
    is_far = operator.method != "nested" and not _is_linked(problem, driver, operator.target)
    move = costs.move if is_far and costs.join is None else 0.0
    probe = problem.sides.probe.get(problem.mask([operator.target]), 0.0)
    seconds = visit + move + probe + _handling(problem, driver, operator.target)
    return _left(problem, driver).rate * seconds


def _handling(problem: Problem, driver: str, target: str) -> float:
    """Seconds for the equalities that a visit decides: those with the driver, or, where none links
    it to the target, those with the inputs through which it is reached."""
    mine, its = problem.mask([driver]), problem.mask([target])
    if problem.linked(mine, its):
        return handling_seconds(problem, mine, its)
    return handling_seconds(problem, problem.everything & ~(mine | its), its)


def _leave(problem: Problem, driver: str, operator: Operator) -> float:
    """Seconds for a row that comes out: of all those compared, a part passes the predicates."""
    if isinstance(operator, Screen):
        return 0.0
    thetas = _thetas(problem, driver, operator.target)
    passing = prod(f.selectivity.value for f in thetas)
    costs = problem.known.costs
    compare = costs.compare if costs.join is None else 0.0
    seconds = compare + sum(f.cost.value for f in thetas)
    return _left(problem, driver).rate * seconds / passing if passing else 0.0


def _after(problem: Problem, training: Training, operator: Operator) -> tuple[int, ...]:
    """The sets of operators after which one may come: by key, once it has something to go by."""
    if isinstance(operator, Screen) or operator.method == "nested":
        return (0,)
    if _is_linked(problem, training.driver, operator.target):
        return (0,)
    return tuple(
        1 << place
        for place, name in enumerate(training.operators)
        if name in problem.query.aliases
        and name != operator.target
        and _is_linked(problem, name, operator.target)
    )


def _factor(problem: Problem, driver: str, target: str) -> float:
    late = [_figures(problem, c) for c in waiting(problem.query) if c.streams == {target}]
    kept = prod(figures.selectivity.value for figures in late)
    passing = prod(f.selectivity.value for f in _thetas(problem, driver, target))
    return _left(problem, target).window * passing / (kept or 1.0)


@dataclass(frozen=True)
class _Left:
    """The parts that are left of an input's rate and window if it is folded before it is joined."""

    rate: float
    window: float


def _left(problem: Problem, alias: str) -> _Left:
    place = problem.query.aliases.index(alias)
    plain, folded = flow_of(problem.known, problem.query.inputs[place]), problem.inputs[place]
    return _Left(
        folded.rate / plain.rate if plain.rate else 1.0,
        folded.window / plain.window if plain.window else 1.0,
    )


def _thetas(problem: Problem, driver: str, target: str) -> list[ConditionFigures]:
    """The predicates between two inputs that no key decides."""
    both = problem.mask([driver, target])
    return [figures for mask, figures in problem.theta_masks if mask == both != problem.everything]


def _is_linked(problem: Problem, one: str, other: str) -> bool:
    return problem.linked(problem.mask([one]), problem.mask([other]))


def _figures(problem: Problem, condition: Condition) -> ConditionFigures:
    return problem.known.conditions[str(condition)]
