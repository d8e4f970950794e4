"""Preparations of the demo: plans by samples, compiled loops, and a site that suits the machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING

import penstock as ps
from penstock.cli.demo.site import BIDS, RUSH, Site
from penstock.cli.demo.stage import Stage
from penstock.cli.demo.trial import Trial, try_out
from penstock.cli.demo.voice import tell, width
from penstock.optimize.planner import decide
from penstock.plan.text.parse import render_plan

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery

TRIAL = Site(people=2000, seconds=20)
"""The stretch that plans are tried on: as long as the largest window."""
AT_ONCE = 2
"""Seconds of data that a batch of a trial takes: some batches meet full windows."""
_TINY = Site(people=20, seconds=4)
"""A stretch that takes no time but for compiling."""
_OVERLOADED = 1e-4
"""A capacity, CPU-seconds a second, for which that is too much: it is shed."""
_LIKELY = 2
"""Plans, the best ones first, that are likely to be followed in the rush."""
_LOAD = 0.3
"""The part of the clock that the live part shall work in the rush, beside what it takes to start
batches: what three times as many bids make of it is more than there is."""
_STARTS = 2.5
"""Times what it takes to start a batch that lie between two of them at the least."""
_FEWEST, _MOST = 20, 20_000
"""People a second: with fewer some batches would have none, with more windows would be large."""


@dataclass(frozen=True)
class LivePart:
    """The query that runs live, over a site that suits the machine."""

    query: ContinuousQuery
    site: Site
    trigger: int
    """Seconds between batches."""


def planned(text: str, stats: Path) -> ContinuousQuery:
    """A script, planned by samples of its streams, which are kept in a file."""
    from penstock.cql import parse
    from penstock.sampling.analyze import analyze
    from penstock.stats.files.save import save

    save(analyze(parse(text), rows=20_000, seconds=2.0), stats)
    return ps.sql(text, stats=stats, file="site.cql")


def compile_all(calm: ContinuousQuery, rushed: ContinuousQuery) -> None:
    """Run plans that the live part is likely to follow on next to nothing, shed: loops that they
    need are compiled, and kept on disk. Otherwise a first run would compile in the burst."""
    decision = decide(rushed.known, replace(rushed.options, alternatives=True))
    likely = (decision.chosen, *decision.others)[:_LIKELY]
    for plan in (calm.plan, *(each.plan for each in likely)):
        query = ps.sql(
            _TINY.rushed(AT_ONCE),
            plan=render_plan(plan),
            shed=True,
            capacity=_OVERLOADED,
            engine="local",
        )
        with TemporaryDirectory() as place:
            run = query.local(sink=ps.noop(), checkpoint=place, available_now=True)
            with run:
                run.await_termination()


def live_part(rushed: ContinuousQuery, stage: Stage, seconds: int) -> LivePart:
    """A site that this machine is half busy with, by what the rush of smaller ones takes."""
    tell("How fast is this machine? Small sites in their rush …")
    first = sized(TRIAL, try_out(rushed, stage, "rush"))
    # Part of what a small site takes does not grow with it.
    again = planned(first.rushed(AT_ONCE), stage.scratch / "rush-again.toml")
    found = try_out(again, stage, "rush-again")
    site = replace(sized(first, found), seconds=seconds)
    took = (
        f"A second of {BIDS * first.people:,} bids and {RUSH * first.people:,} people takes "
        f"{found.seconds:.2g} s, and a batch {found.start:.2g} s to start: the site gets "
        f"{BIDS * site.people:,} bids and {site.people:,} people a second."
    )
    tell(fill(took, width()))
    script, stats = stage.place / "site.cql", stage.place / "site.toml"
    script.write_text(site.live, encoding="utf-8")
    # Sampled as it begins: what comes later is not known.
    planned(site.calm(AT_ONCE), stats)
    query = ps.sql(script, stats=stats, shed=True)
    return LivePart(query, site, max(1, ceil(_STARTS * found.start)))


def sized(site: Site, found: Trial) -> Site:
    """The site with as many people as this machine can take, by what the rush of this one took."""
    wanted = site.people * _LOAD / max(found.seconds, 1e-3)
    return replace(site, people=min(max(round(wanted), _FEWEST), _MOST))
