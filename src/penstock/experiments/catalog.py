"""The catalog: all experiments, in the order of the page, found by name or paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from penstock.errors import UsageError
from penstock.experiments.beyond import ablation, accuracy, overload, plan_diagram
from penstock.experiments.frame.experiment import Experiment
from penstock.experiments.frame.paper import PAPERS
from penstock.experiments.multi_join import laziness, orders, scaling
from penstock.experiments.rate_based import five_way, selections, three_way
from penstock.experiments.sliding_windows import example_1, gain, heuristic_error, need

EXPERIMENTS: tuple[Experiment, ...] = (
    selections.EXPERIMENT,
    three_way.EXPERIMENT,
    five_way.EXPERIMENT,
    example_1.EXPERIMENT,
    need.EXPERIMENT,
    gain.EXPERIMENT,
    heuristic_error.EXPERIMENT,
    orders.TABLE_5,
    orders.TABLE_6,
    orders.TABLE_7,
    scaling.EXPERIMENT,
    laziness.EXPERIMENT,
    ablation.EXPERIMENT,
    overload.EXPERIMENT,
    accuracy.EXPERIMENT,
    plan_diagram.EXPERIMENT,
)
"""By paper, in the order of its figures."""

ALL = "all"


def chosen(names: Iterable[str], among: Sequence[Experiment] = EXPERIMENTS) -> list[Experiment]:
    """The experiments of these names or papers, each once, in the order of the catalog."""
    wanted = {experiment.name for name in names for experiment in _named(name, among)}
    return [experiment for experiment in among if experiment.name in wanted]


def _named(name: str, among: Sequence[Experiment]) -> list[Experiment]:
    asked = name.lower().replace("&", "")
    found = [e for e in among if asked in (e.name, e.paper.key, ALL)]
    if not found:
        raise UsageError(f"there is no experiment {name!r}", hint=_hint(asked, among))
    return found


def _hint(asked: str, among: Sequence[Experiment]) -> str:
    names = [*(e.name for e in among), *(paper.key for paper in PAPERS), ALL]
    near = get_close_matches(asked, names, n=3, cutoff=0.5)
    near = near or [name for name in names if name.startswith(asked) or asked in name][:3]
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}`penstock lab list` shows all of them"
