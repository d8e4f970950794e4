"""The trainer of a run: it samples, notices that a mesh is stale, and trains anew."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.training.expectation import Expected, Yields, expected_yields, log_error
from penstock.adapt.training.reservoir import Reservoir
from penstock.adapt.training.staleness import why_stale
from penstock.adapt.training.training_keeper import TrainingKeeper
from penstock.engine.join.sampling import Draw
from penstock.engine.reports.parts import Change, OperatorReport
from penstock.engine.state.store import Store
from penstock.engine.wire.facts import Fact
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.plan.mesh import MeshJoin
from penstock.plan.plan import Plan
from penstock.query import Query
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training

Trained = Mapping[str, Training]


class Trainer:
    """Hears of every batch, in the thread that runs them; `training` may be asked from any.

    `wants_plan` says that the planner should be asked with new training: for the first time, or
    because the running mesh is stale. The checkpoint's `store` keeps the last for a restart.
    """

    def __init__(
        self,
        query: Query,
        options: PlanOptions = DEFAULT_OPTIONS,
        settings: Settings = DEFAULT_SETTINGS,
        store: Store | None = None,
    ):
        self._keeper = None if store is None else TrainingKeeper(store)
        self._kept: Trained | None = None
        self._reservoir = Reservoir(query, options, settings)
        self._watch = MeshWatch(settings)
        self._pause = settings.training_pause
        self._is_due = True
        self._is_affordable = False
        self._is_stale = False
        self._is_void = False
        self._age = 0
        self.trainings = 0
        self._last: tuple[Trained, Mapping[str, str]] | None = None

    @property
    def wants_plan(self) -> bool:
        """Whether there is enough to train by, and a reason to."""
        return self._is_due and self._may_train

    @property
    def _may_train(self) -> bool:
        """Whether it can be trained, and is worth it: what is stale costs more than training."""
        return self._reservoir.is_ready and (self._is_affordable or self._is_stale)

    def samples(self) -> Mapping[str, Draw]:
        """What the next batch is to draw, by alias."""
        return self._reservoir.wanted()

    def observe(
        self,
        operators: Sequence[OperatorReport],
        facts: Iterable[Fact],
        plan: Plan,
        by: Trained,
        is_affordable: bool = True,
    ) -> Change | None:
        """Hear of a batch that followed a plan, made by some training; a drift, if it is stale.

        Without a drift there is training only where it `is_affordable`.
        """
        self._is_affordable = is_affordable
        self._reservoir.take(facts)
        self._age += 1
        self._keep()
        reason = self._watch.hear(plan, by, operators)
        if reason is None:
            return None
        # What came before would hide from the training what has changed.
        self._reservoir.forget(1)
        self._is_due = self._is_stale = True
        return Change("drift", reason)

    def drift(self, plan: Plan) -> None:
        """Figures have drifted: what was trained by those before promises nothing any more.

        Of a mesh that runs its own routes tell whether it is stale.
        """
        if not isinstance(plan, MeshJoin):
            self._reservoir.forget(1)
            self._last, self._is_void, self._is_due = None, True, True

    def training(self, statistics: Statistics) -> tuple[Trained, Mapping[str, str]]:
        """Training by the sample as it is now, and why streams have none.

        Before there is enough, that which the statistics have; the last one, if nothing is stale
        and not much of the sample is new, or if training is not worth it.
        """
        is_old = self._last is None or self._is_due or self._age >= self._pause
        if is_old and self._may_train:
            self._is_due, self._is_stale, self._is_void, self._age = False, False, False, 0
            self._last = self._reservoir.training(statistics)
            self.trainings += 1
        if self._is_void:
            return {}, {}
        return self._last or (statistics.training, statistics.untrained)

    def close(self) -> None:
        """Have the last training in the checkpoint before the run lets go of it."""
        if self._keeper is not None:
            self._keep()
            self._keeper.close()

    def _keep(self) -> None:
        """Have new training written into the checkpoint, which is ours until the run ends."""
        last = self._last
        if self._keeper is not None and last is not None and last[0] is not self._kept:
            self._kept = last[0]
            self._keeper.keep(last[0])


class MeshWatch:
    """Compares what the operators of a mesh let through with what it was trained for.

    What it has called stale once is then what it expects: training that changes nothing must not
    be asked for in every batch.
    """

    def __init__(self, settings: Settings = DEFAULT_SETTINGS):
        self._settings = settings
        self._plan: Plan | None = None
        self._by: Trained = {}
        self._expected: dict[str, Yields] = {}
        self._told: deque[Sequence[OperatorReport]] = deque(maxlen=settings.mesh_stale_batches)

    def hear(self, plan: Plan, by: Trained, operators: Sequence[OperatorReport]) -> str | None:
        """Why the running plan is stale, if it is; `by` is the newest training."""
        if plan is not self._plan or by is not self._by:
            self._plan, self._by, self._expected = plan, by, _expected(plan, by)
            self._told.clear()
        self._told.append(operators)
        told = [each for batch in self._told for each in batch]
        # By the last batch alone, or by several where one has too few rows.
        reason = why_stale(self._expected, operators, self._settings) or why_stale(
            self._expected, told, self._settings
        )
        if reason is not None:
            self._expected = {d: _measured(d, operators) for d in self._expected}
            self._told.clear()
        return reason


def _expected(plan: Plan, by: Trained) -> dict[str, Yields]:
    """The yields of all streams of a mesh that have several routes."""
    if not isinstance(plan, MeshJoin):
        return {}
    several = [mesh for mesh in plan.meshes if len(mesh.routes) > 1 and mesh.driver in by]
    return {mesh.driver: expected_yields(plan, mesh, by[mesh.driver]) for mesh in several}


def _measured(driver: str, operators: Iterable[OperatorReport]) -> Yields:
    """The yields that a batch has had."""
    return {
        (each.route, each.operator): Expected(
            max(each.came_out, 0.5) / each.went_in,
            log_error(each.went_in, each.came_out, is_filter=each.kind == "filter"),
        )
        for each in operators
        if each.driver == driver and each.went_in
    }
