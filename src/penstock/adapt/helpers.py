"""Who else has a say in a run: those that shed, and those that train meshes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from penstock.engine.join.sampling import Draw
from penstock.engine.reports.parts import Change, OperatorReport
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.plan.drops import DropBoxes
from penstock.plan.plan import Plan
from penstock.stats.known import Known
from penstock.stats.statistics import Statistics
from penstock.stats.training import Training

Trained = Mapping[str, Training]


class Sheds(Protocol):
    """Sets the drop boxes, batch by batch."""

    def next_boxes(
        self, report: Report, known: Callable[[], Known], plan: Plan
    ) -> tuple[DropBoxes, Change | None] | None:
        """The drop boxes of the next batch, and what to tell of them; None for the same."""

    def prepare(self, known: Callable[[], Known], plan: Plan) -> None:
        """Hear of another plan before its first batch."""

    def obey(self, order: str) -> str:
        """Shed from now on, or no more; the answer."""

    def close(self) -> None:
        """The run has ended."""


class Trains(Protocol):
    """Keeps a sample of the streams, and trains meshes by it."""

    @property
    def trainings(self) -> int:
        """How often it has trained so far."""

    @property
    def wants_plan(self) -> bool:
        """Whether plans are to be weighed by new training."""

    def samples(self) -> Mapping[str, Draw]:
        """What the next batch is to draw, by alias."""

    def observe(
        self,
        operators: Sequence[OperatorReport],
        facts: Iterable[Fact],
        plan: Plan,
        by: Trained,
        is_affordable: bool = True,
    ) -> Change | None:
        """Hear of a batch that followed a plan made by some training; a drift, if it is stale."""

    def drift(self, plan: Plan) -> None:
        """Hear that figures have drifted while a plan runs."""

    def training(self, statistics: Statistics) -> tuple[Trained, Mapping[str, str]]:
        """Training by the sample as it is now, and why streams have none."""

    def close(self) -> None:
        """The run has ended."""
