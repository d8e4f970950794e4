"""The supervisor of a run, made for a query that has been planned."""

from __future__ import annotations

from penstock.adapt.helpers import Sheds, Trains
from penstock.adapt.planning.planner import Planning
from penstock.adapt.replanner import MODES, Mode
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.supervisor import StreamSupervisor
from penstock.errors import UsageError
from penstock.optimize.options import PlanOptions
from penstock.plan.plan import Plan
from penstock.query.goal import Steady
from penstock.stats.known import Known


def as_mode(given: object, options: PlanOptions) -> Mode:
    """The mode that a caller gives; by default a plan that is forced stays, others are followed."""
    if given is None:
        return "on" if options.plan is None else "off"
    mode = next((mode for mode in MODES if mode == given), None)
    if mode is None:
        raise UsageError(
            f"replan cannot be {given!r}",
            hint="replan is on (switch plans), advise (only say what would be better) or off",
        )
    return mode


def supervisor_for(
    plan: Plan,
    known: Known,
    options: PlanOptions,
    mode: Mode,
    *,
    settings: Settings = DEFAULT_SETTINGS,
    planning: Planning = "background",
    shedder: Sheds | None = None,
    trainer: Trains | None = None,
) -> StreamSupervisor:
    """Who follows the streams of a run.

    Other goals than steady are about the first results of a run: no later plan brings them sooner.
    """
    if not isinstance(options.goal, Steady):
        mode = "off"
    return StreamSupervisor(
        plan,
        known,
        options,
        mode=mode,
        settings=settings,
        planning=planning,
        shedder=shedder,
        trainer=trainer,
    )
