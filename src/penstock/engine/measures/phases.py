"""The phases of a job: how its wall time is shared by its stages, and by the engine around them."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engine.wire.facts import TaskTime

REBUILD = "rebuild"
"""The stage of all tasks of a job that makes inner state anew."""


def phases_of_job(times: Sequence[TaskTime], seconds: float, is_parallel: bool) -> dict[str, float]:
    """Seconds by stage. Of tasks side by side the longest counts, and what is left is Spark's."""
    stages = {each.stage for each in times}
    if stages == {REBUILD}:
        return {REBUILD: seconds}
    phases: dict[str, float] = {}
    for each in times:
        known = phases.get(each.stage, 0.0)
        phases[each.stage] = max(known, each.seconds) if is_parallel else known + each.seconds
    if is_parallel:
        phases["spark"] = max(seconds - sum(phases.values()), 0.0)
    return phases


def compiling_of_job(times: Sequence[TaskTime], is_parallel: bool) -> float:
    """Seconds by which compiling and loading inner loops made a job longer: every process does it
    for itself, side by side."""
    seconds: dict[str, float] = {}
    for each in times:
        known = seconds.get(each.stage, 0.0)
        seconds[each.stage] = max(known, each.compiling) if is_parallel else known + each.compiling
    return sum(seconds.values())
