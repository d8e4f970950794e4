"""The supervisor of a run, made for a query that has been planned."""

from __future__ import annotations

from dataclasses import replace

from penstock.adapt.helpers import Sheds, Trains
from penstock.adapt.planning.planner import Planning
from penstock.adapt.replanner import MODES, Mode
from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.shedder import Shedder
from penstock.adapt.shedding.wish import default_delay, wish_of
from penstock.adapt.supervisor import StreamSupervisor
from penstock.adapt.training.trainer import Trainer
from penstock.duration import Duration
from penstock.engine.places.place import Place
from penstock.engine.run.options import RunOptions
from penstock.engine.state.pin import read_pin
from penstock.engine.state.store import Store
from penstock.errors import PenstockError, UsageError
from penstock.optimize.options import PlanOptions
from penstock.plan.plan import Plan
from penstock.plan.text.parse import forced_plan, render_plan
from penstock.query import Query
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


def pinned_at(checkpoint: str, query: Query) -> str | None:
    """The text of the plan that an earlier run was ordered to follow; None of another query's."""
    pin = read_pin(Store(Place.of(checkpoint)))
    try:
        return None if pin is None else render_plan(forced_plan(query, pin))
    except PenstockError:
        return None


def with_delay(options: RunOptions, planning: PlanOptions) -> RunOptions:
    """The options of a run with the delay that it sheds for, if it may shed and goes on."""
    if options.delay is not None and not planning.sheds:
        raise UsageError("a delay is kept by shedding", hint="let it shed: --shed (shed=True)")
    if options.delay is not None or not planning.sheds or options.available_now:
        return options
    return replace(options, delay=Duration.of_seconds(default_delay(options.trigger.seconds)))


def shedder_for(
    query: Query, options: RunOptions, planning: PlanOptions, *, is_inline: bool = False
) -> Shedder | None:
    """Who watches the delay of a run, and sheds for it if it may; where all there is gets read,
    nobody does."""
    if options.available_now:
        return None
    wish = wish_of(options, exact_of_kept=planning.exact_of_kept)
    return Shedder(query, wish, is_inline=is_inline)


def trainer_for(query: Query, options: RunOptions, planning: PlanOptions) -> Trainer:
    """Who samples the streams of a run, and trains meshes by that; what it has learned is kept in
    the checkpoint."""
    return Trainer(query, planning, store=Store(Place.of(options.checkpoint)))


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
    trigger: float | None = None,
    taken: frozenset[frozenset[str]] = frozenset(),
) -> StreamSupervisor:
    """Who follows the streams of a run.

    Other goals than steady are about the first results of a run: no later plan brings them sooner.
    Who asks for the traditional estimator wants to see its plan.
    """
    if not isinstance(options.goal, Steady) or options.estimator != "rates":
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
        trigger=trigger,
        taken=taken,
    )
