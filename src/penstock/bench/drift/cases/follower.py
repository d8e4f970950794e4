"""Who follows the streams of a run, made as every run of a user makes it."""

from __future__ import annotations

from collections.abc import Callable

from penstock.adapt.follow import shedder_for, supervisor_for, trainer_for
from penstock.adapt.planning.planner import Planning
from penstock.engine.run.options import RunOptions
from penstock.engine.run.supervisor import Supervisor
from penstock.optimize.options import PlanOptions
from penstock.plan.plan import Plan
from penstock.stats.known import Known

Follower = Callable[[Plan, RunOptions], Supervisor]
"""The supervisor of a run that begins with a plan."""


def follower(known: Known, wanted: PlanOptions, planning: Planning = "inline") -> Follower:
    """A supervisor that plans between the batches, so that what it takes counts, or beside them."""

    def make(plan: Plan, options: RunOptions) -> Supervisor:
        return supervisor_for(
            plan,
            known,
            wanted,
            "on",
            planning=planning,
            shedder=shedder_for(plan.query, options, wanted),
            trainer=trainer_for(plan.query, options, wanted),
        )

    return make
