"""Whether the chosen plan keeps up, what is shed if not, and why it was chosen."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.plan.decision import Decision
from penstock.plan.explain.quantity import bytes_text, kept_text, number, percent, roughly, seconds
from penstock.plan.physical import Lazily, Memory, Physical
from penstock.query.goal import First, Goal, Steady


def shortfall(decision: Decision) -> Iterator[tuple[str, str]]:
    """Of a plan that does not keep up: what it needs, and what shedding keeps."""
    if decision.is_feasible:
        return
    needs = needs_text(decision)
    if not isinstance(decision.goal, Steady):
        yield "needs", f"{needs}: work waits, more and more of it"
    elif decision.is_shed:
        yield "needs", f"{needs}: too much, so that tuples are shed"
        yield "shed", _shed(decision)
    elif decision.plan.query.outer is None:
        yield "needs", f"{needs}: this plan does not keep up; --shed drops tuples so that one does"
    else:
        yield "needs", f"{needs}: this plan does not keep up"


def needs_text(decision: Decision) -> str:
    """`1.4 of 1 CPU-seconds a second`: what the chosen plan needs without drop boxes."""
    needed = roughly(f"{decision.chosen.estimate.needed:,.4g}", decision.rests_on_guesses)
    return f"{needed} of {decision.capacity:g} CPU-seconds a second"


def goal_text(goal: Goal, measure: float | None) -> str:
    """The measure of a plan for a goal: `first:1000 after 0.42 s`."""
    if measure is None:
        return f"{goal} never"
    if isinstance(goal, First):
        return f"{goal} after {seconds(measure)}"
    return f"{goal} gives {number(measure)} results"


def physical_text(physical: Physical) -> str:
    """The choices that the plan leaves open: `buckets A 64, B 16; windows cleaned every 2 s`."""
    buckets = ", ".join(f"{alias} {number(count)}" for alias, count in physical.buckets.items())
    parts = [f"buckets {buckets}"] if buckets else []
    if physical.memory is not None:
        parts.append(_memory_text(physical.memory))
    if physical.lazy is not None:
        parts.append(_lazy_text(physical.lazy))
    if physical.expiration:
        parts.append(f"windows cleaned every {seconds(physical.expiration)}")
    if physical.interval is None:
        parts.append("no batch is long enough: the work leaves no time to start one")
    elif physical.interval:
        parts.append(f"batches of {seconds(physical.interval)} or longer")
    return "; ".join(parts)


def _lazy_text(lazy: Lazily) -> str:
    """`joined every τ = 5 s with 83 % of the eager work, new tuples of D not first`."""
    behind = f", new tuples of {', '.join(lazy.behind)} not first" if lazy.behind else ""
    return (
        f"joined every τ = {seconds(lazy.tau)} with {percent(lazy.work)} of the eager work{behind}"
    )


def _memory_text(memory: Memory) -> str:
    """`C, D looked through; memory 3.2 kB of 4 kB`."""
    used = f"memory {bytes_text(memory.used)} of {bytes_text(memory.limit)}"
    looked = f"{', '.join(memory.scanned)} looked through; " if memory.scanned else ""
    return looked + used


def delay_text(decision: Decision) -> str:
    """`0.9 s expected of a result: it waits 0.5 s for its batch, which takes 0.4 s`."""
    found = decision.delay
    if found is None:
        return ""
    mean = roughly(_short(found.mean), decision.rests_on_guesses)
    if not found.trigger:
        return f"{mean} expected of a result: it waits {_short(found.waits)} for its turn"
    apart = f"batches {_short(found.apart)} apart"
    waits, works = _short(found.waits), _short(found.works)
    return f"{mean} expected of a result: {waits} for its batch, {works} of work; {apart}"


def _short(time: float) -> str:
    return seconds(float(f"{time:.3g}"))


def _shed(decision: Decision) -> str:
    found = decision.chosen.estimate
    share = percent(found.output_rate / found.full_rate) if found.full_rate else "all"
    left = f"{number(found.output_rate)} of {number(found.full_rate)} results/s are left ({share})"
    text = f"keep {kept_text(found)}; {left}"
    if found.utilization > decision.capacity * (1 + 1e-6):
        text += f"; even so it needs {found.utilization:,.4g}"
    return text
