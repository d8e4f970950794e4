"""The parts of a report: inputs, operators, state and predictions, measured beside predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args


@dataclass(frozen=True)
class InputReport:
    """An input in one batch. Predictions are those by which the plan was chosen."""

    tuples: int
    """Tuples on time, before its drop box."""

    shed: int = 0
    """Those of them that the drop box took."""

    keep: float = 1.0
    """The fraction that the drop box is set to keep."""

    rate: float | None = None
    """Tuples/s by event time; None where the batch spans none."""

    arrival_rate: float | None = None
    """Tuples/s by the clock."""

    predicted_rate: float | None = None
    """Tuples/s by event time that the plan was made for."""


@dataclass(frozen=True)
class OperatorReport:
    """An operator of a driver's route in one batch: a filter, a function's filter, or a probe."""

    driver: str
    """The input, or inner join, whose tuples it is applied to."""

    route: int
    """The number of the driver's route: 0 where it has one."""

    operator: str
    """The text of a filter, or the input or inner join that is probed."""

    kind: Literal["filter", "probe"]

    went_in: int
    """Rows that came to it."""

    came_out: int
    """Rows that it let through, or found."""

    met: float | None = None
    """Of a probe: combinations in reach by time, whatever their keys; came_out / met is the
    selectivity."""

    seconds: float = 0.0
    """Seconds that it took, in all tasks."""

    predicted: float | None = None
    """Rows out for one row in, as the plan was made for."""


@dataclass(frozen=True)
class ModuleReport:
    """A module of the state after a batch."""

    tuples: int
    bytes: int
    predicted: float | None = None
    """Tuples that are expected in it."""


@dataclass(frozen=True)
class Prediction:
    """What the planner expected of the running plan, by the figures that it was chosen by."""

    utilization: float
    """CPU-seconds for a second of event time."""

    output_rate: float
    """Results for a second of event time, behind the drop boxes; of a view its changes."""

    state: float
    """Tuples in all windows."""

    delay: float | None = None
    """Seconds of delay, as reports measure it; None where it would grow for ever, or where all
    there is gets read."""


@dataclass(frozen=True)
class FigureReport:
    """A figure of the streams as it stands after a batch, smoothed over the batches so far."""

    what: str
    """As explain names it: `rate of A`, `A.a = B.a`, the text of a filter."""

    value: float
    error: float | None
    unit: str
    predicted: float | None = None
    """The value that the running plan was chosen by."""

    @property
    def factor(self) -> float:
        """How many times too large or too small the prediction was, at least 1."""
        if self.predicted is None or self.predicted == self.value:
            return 1.0
        low, high = sorted((abs(self.predicted), abs(self.value)))
        return high / low if low > 0.0 else float("inf")


Kind = Literal[
    "switch",  # another plan is followed
    "advise",  # another plan would be followed, were that allowed
    "stay",  # a better plan is not followed, and why; or, without a plan, there is none any more
    "take-back",  # a switch that brought too little is taken back
    "outcome",  # what came of a switch
    "drift",  # a figure has moved by more than its noise
    "shed",  # the drop boxes are set otherwise
    "behind",  # it does not keep up
    "order",  # an order from outside was obeyed, or refused
    "query",  # the query asks otherwise than before on this checkpoint
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds of changes."""


@dataclass(frozen=True)
class Change:
    """Something that was decided while the query ran, or that it wants to say."""

    kind: Kind
    reason: str
    """Why, in a sentence with the figures that decided."""

    plan: str | None = None
    """The text of the plan that it is about."""

    promise: float | None = None
    """The part of the work that it was expected to save."""

    outcome: float | None = None
    """The part of the work that it did save."""
