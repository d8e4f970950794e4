"""G&O Fig. 3: naive, lazy and general lazy nested loops, run less and less often."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from penstock.experiments.frame.chart import Axis, LineChart
from penstock.experiments.frame.experiment import Experiment, Progress, Size
from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.paper import GO
from penstock.experiments.multi_join.compared import Costs, cost_lines
from penstock.experiments.multi_join.lazy_claims import FAST, LIKE, lazy_claims
from penstock.experiments.multi_join.windows import (
    Loops,
    Setting,
    counted,
    first,
    in_place,
    setting_of,
)
from penstock.papers.multi_join import driver_cost, general_cost, multiway_cost, naive_cost

_SLOW = (1.0, 100.0, 50)
_SETTINGS = {
    LIKE: setting_of([_SLOW] * 4),
    FAST: setting_of([_SLOW] * 3 + [(10.0, 100.0, 50)]),
}
_FEW = (1.0, 5.0, 10.0, 20.0, 30.0, 50.0)
_MANY = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0)


def _run(size: Size, progress: Progress) -> Findings:
    taus, seconds = (_FEW, 400.0) if size == "quick" else (_MANY, 2000.0)
    charts, claims, steps = [], [], len(_SETTINGS) * len(taus)
    for number, (title, setting) in enumerate(_SETTINGS.items()):
        model: Costs = {name: {} for name in ("naive", "lazy", "general lazy")}
        found: Costs = {name: {} for name in model}
        for done, tau in enumerate(taus):
            progress(number * len(taus) + done, steps)
            for name, (loops, cost) in _best(setting, tau).items():
                model[name][tau] = cost
                found[name][tau] = counted(setting, loops, seconds, tau)
        charts.append(_chart(title, model, found))
        claims += lazy_claims(title, model, found)
    return Findings(tuple(charts), tuple(claims))


def _chart(title: str, model: Costs, found: Costs) -> LineChart:
    x = Axis("re-execution and expiration interval τ", "s")
    y = Axis("comparisons", "1/s", low=0.0)
    return LineChart(title.capitalize(), x, y, cost_lines(model, found))


def _best(setting: Setting, tau: float) -> Mapping[str, tuple[Loops, float]]:
    """The best loops of each algorithm by the model, with what they cost."""
    windows, match, orders = setting.windows, setting.match, setting.orders()

    def least(cost: Callable[..., float], by: Callable[..., Loops]) -> tuple[Loops, float]:
        order = min(orders, key=lambda each: cost(windows, each, match, tau))
        return by(order), cost(windows, order, match, tau)

    own = {
        driver: min(orders, key=lambda each: _own_cost(setting, each, driver, tau))
        for driver in setting.names
    }
    return {
        "naive": least(naive_cost, in_place),
        "lazy": least(multiway_cost, first),
        "general lazy": (own, general_cost(windows, own, match, tau)),
    }


def _own_cost(setting: Setting, order: Sequence[str], driver: str, tau: float) -> tuple[float, int]:
    """What a driver's loops cost; of orders that cost the same, new tuples come first."""
    cost = driver_cost(setting.windows, order, driver, setting.match, tau)
    return round(cost, 6), order.index(driver)


EXPERIMENT = Experiment(
    name="go-figure-3",
    paper=GO,
    figure="Fig. 3",
    title="When the loop over new tuples should not come first",
    question="Which lazy algorithm is the best as the query is re-executed less often?",
    about=(
        "Four windows as in Fig. 2; below, the fourth stream is ten times as fast. New tuples are "
        "joined, and old ones expired, every τ seconds. For each algorithm the order is the best "
        "by the model at that τ. With a fast stream and long intervals there are so many new "
        "tuples of it that the loop over them should come last: lazy loops cannot do that, general "
        "lazy ones can. Our counted curves lie below the model’s as τ grows, because our loops "
        "go on only with members that were alive together, where the model goes on with all."
    ),
    run=_run,
    model="paper",
)
