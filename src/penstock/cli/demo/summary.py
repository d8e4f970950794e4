"""The end of the demo in plain words; every number comes from the run."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from penstock.cli.demo.site import BURST, RUSH, Site
from penstock.cli.demo.story import Shedding, Story, Switch
from penstock.cli.demo.trial import Trial
from penstock.cli.demo.voice import width
from penstock.plan.explain.quantity import number, percent
from penstock.plan.text.parse import render_plan
from penstock.table import table

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery


def summary(site: Site, written: Trial, chosen: Trial, story: Story) -> str:
    """The paragraphs, each set in lines."""
    parts = (
        _plans(written, chosen),
        _rush(site, story),
        _burst(site, story),
        _whole(story),
    )
    return "\n".join(
        fill(part, width(), initial_indent="· ", subsequent_indent="  ") for part in parts
    )


def _plans(written: Trial, chosen: Trial) -> str:
    what = (
        f"The chosen plan took {_figure(chosen.work)} CPU-seconds for a second of data, the plan "
        f"as written {_figure(written.work)}: {_times(written.work, chosen.work, 'work')}. "
        f"It kept {chosen.state:,} rows, that one {written.state:,}: "
        f"{_times(written.state, chosen.state, 'state')}."
    )
    count = len(chosen.rows)
    if written.rows == chosen.rows:
        return f"{what} Both gave the same {count:,} results."
    return f"{what} They gave {len(written.rows):,} and {count:,} results, which differ: a mistake."


def _rush(site: Site, story: Story) -> str:
    if story.seconds < site.rush_at:
        return f"It ended before second {site.rush_at:g}, when {RUSH} times as many people come."
    came = f"From second {site.rush_at:g} on {RUSH} times as many people signed in."
    after = [each for each in story.switches if each.second >= site.rush_at]
    if not after:
        return f"{came} The query kept its plan: none was enough better by what was measured."
    rest = f", and {len(after) - 1} more before the end" if len(after) > 1 else ""
    return f"{came} {_switch(after[0])}{rest}."


def _switch(switch: Switch) -> str:
    text = f"At second {switch.second:.1f} the query went over to another plan ({switch.plan})"
    if switch.promise is not None:
        text += f", expected to take {percent(round(switch.promise, 2))} less work"
    if switch.outcome is not None:
        less = switch.outcome >= 0.0
        measured = percent(round(abs(switch.outcome), 2))
        text += f"; measured: {measured} {'less' if less else 'more'}"
    return text


def _burst(site: Site, story: Story) -> str:
    if story.seconds < site.burst_at:
        return f"It ended before second {site.burst_at:g}, when {BURST} times as many bids come."
    came = f"From second {site.burst_at:g} to {site.burst_ends:g} {BURST} times as many bids came."
    if not story.sheddings:
        return f"{came} Nothing was shed: this machine kept up."
    return f"{came} {' '.join(_shed(each) for each in story.sheddings)}"


def _shed(each: Shedding) -> str:
    kept = ", ".join(f"{percent(round(x, 2))} of {alias}" for alias, x in each.least.items())
    until = f"to {each.last:.1f}" if each.is_over else "to the end"
    return (
        f"From second {each.first:.1f} {until} it shed tuples, and kept {kept} at the least; "
        f"the delay of results was {each.delay:.1f} s at the most."
    )


def _whole(story: Story) -> str:
    share = percent(round(1.0 - story.shed / story.tuples, 3)) if story.tuples else "all"
    late = "" if story.delay is None else f" The delay of the last ones was {story.delay:.1f} s."
    return (
        f"It read {story.tuples:,} tuples in {story.clock:.0f} seconds, kept {share} of them, "
        f"and told {story.results:,} changes of its view.{late}"
    )


def _times(more: float, less: float, what: str) -> str:
    """`4.2 times less work`, or the other way round where that is so."""
    if more <= 0.0 or less <= 0.0:
        return f"too little {what} to compare"
    factor = more / less
    return (
        f"{factor:.1f} times less {what}"
        if factor >= 1.0
        else f"{1 / factor:.1f} times more {what}"
    )


def _figure(value: float) -> str:
    return f"{value:.2g}"


def costs_text(written: ContinuousQuery, chosen: ContinuousQuery) -> str:
    """Both plans with what they are expected to cost; their texts, which may be long, above."""
    plans, rows = [], []
    for name, query in (("as written", written), ("chosen", chosen)):
        found = query.decision.chosen
        work, state = number(found.estimate.utilization), number(round(found.estimate.state))
        plans.append(fill(f"{name}: {render_plan(found.plan)}", width(), subsequent_indent="  "))
        rows.append([name, f"{work} s/s", state])
    return "\n".join([*plans, "", *table(["plan", "work", "rows of state"], rows)])


def measured_text(written: Trial, chosen: Trial) -> str:
    """Both plans with what they cost once windows were full."""
    rows = [
        [name, f"{_figure(each.work)} s/s", f"{each.state:,}", f"{len(each.rows):,}"]
        for name, each in (("as written", written), ("chosen", chosen))
    ]
    return "\n".join(table(["plan", "work", "rows of state", "results"], rows))
