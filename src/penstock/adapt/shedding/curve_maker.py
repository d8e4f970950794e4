"""The maker of keep curves: beside the batches, whenever the figures or the plan have moved."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from math import inf, log

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.keep_curve import KeepCurve, keep_curve
from penstock.plan.drops import NO_DROPS
from penstock.plan.plan import Plan
from penstock.stats.known import Known

_LOG = logging.getLogger(__name__)

Make = Callable[[Known, Plan, Settings], KeepCurve]


class CurveMaker:
    """Has the newest curve there is. Making one takes 10 to 500 ms: in a thread of its own, or, if
    `is_inline`, at once."""

    def __init__(
        self,
        *,
        is_inline: bool = False,
        settings: Settings = DEFAULT_SETTINGS,
        make: Make = keep_curve,
    ):
        self._settings = settings
        self._make = make
        self._is_inline = is_inline
        self._worker: ThreadPoolExecutor | None = None
        self._making: Future[KeepCurve] | None = None
        self.newest: KeepCurve | None = None

    def curve(self, known: Known, plan: Plan) -> KeepCurve | None:
        """The newest curve of a plan; another is begun if the figures have moved since."""
        plan = replace(plan, drops=NO_DROPS)
        self._collect()
        if self._making is None and self._is_stale(known, plan):
            self._begin(known, plan)
        found = self.newest
        return found if found is not None and found.plan == plan else None

    def close(self) -> None:
        """Make no more."""
        if self._worker is not None:
            self._worker.shutdown(wait=True, cancel_futures=True)

    def _collect(self) -> None:
        if self._making is not None and self._making.done():
            made, self._making = self._making, None
            error = made.exception()
            if error is None:
                self.newest = made.result()
            else:
                _LOG.warning("cannot tell what to shed", exc_info=error)

    def _begin(self, known: Known, plan: Plan) -> None:
        if self._is_inline:
            self.newest = self._make(known, plan, self._settings)
            return
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="penstock-shedding")
        self._making = self._worker.submit(self._make, known, plan, self._settings)

    def _is_stale(self, known: Known, plan: Plan) -> bool:
        made = self.newest
        if made is None or made.plan != plan:
            return True
        return _distance(made.problem.known, known) > self._settings.shed_moved


def _distance(one: Known, other: Known) -> float:
    """How far the figures that decide what to keep have moved, in logarithms."""
    pairs = [(one.rates[alias].value, other.rates[alias].value) for alias in one.rates]
    for before, after in zip(one.groups, other.groups, strict=True):
        pairs += [(before[members].value, after[members].value) for members in before]
    for text, figures in one.conditions.items():
        pairs.append((figures.selectivity.value, other.conditions[text].selectivity.value))
    return max((_apart(a, b) for a, b in pairs), default=0.0)


def _apart(one: float, other: float) -> float:
    if one == other:
        return 0.0
    return abs(log(one / other)) if one > 0.0 and other > 0.0 else inf
