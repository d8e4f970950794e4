"""Runs of many small batches whose plans change, with inner state that fills itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from penstock.duration import MICROS
from penstock.engine.local import LocalRun, open_run
from penstock.engine.reports.report import Report
from penstock.engine.run.options import RunOptions
from penstock.plan.plan import Plan
from penstock.query import Query
from reference import Row
from support.engines.runs import Draw, Place, planned, random_plan, random_tree
from support.plans.meshes import random_mesh
from support.plans.trees import long_query
from support.streams.cases import Case, arrival, split_up


def in_many_batches(case: Case, rng: Random, count: int = 12) -> Case:
    """The case with its rows in more batches, nearly in the order of their times."""
    sources = {item.source.name: item for item in case.query.inputs}
    brought = {
        name: case.batches[item.alias]
        if item.is_table
        else _split(case.batches[item.alias], rng, count)
        for name, item in sources.items()
    }
    return replace(case, batches={i.alias: brought[i.source.name] for i in case.query.inputs})


def _split(batches: list[list[Row]], rng: Random, count: int) -> list[list[Row]]:
    rows = [row for batch in batches for row in batch]
    rows.sort(key=lambda row: row.ts + rng.randrange(3_000_000))
    left = iter(rows)
    return [
        [replace(next(left), arrival=arrival(number, place)) for place in range(size)]
        for number, size in enumerate(split_up(rng, len(rows), count))
    ]


WINDOWS = (
    *("RANGE 4 SECONDS", "RANGE 9 SECONDS", "RANGE 20 SECONDS", "RANGE 8 SECONDS SLIDE 4 SECONDS"),
    *("TUMBLE 12 SECONDS", "NOW", "ROWS 5", "PARTITION BY k ROWS 3", "UNBOUNDED"),
)
JOINS = (
    *("a.k = b.k AND b.j = c.j AND c.k = d.k", "a.k = b.k AND b.k = c.k AND c.k = d.k"),
    *("a.k = b.k AND a.j = c.j AND a.k = d.k", "a.k = c.k AND a.id < b.id AND c.j = d.j"),
)


def filling_query(folder: Path, rng: Random, batches: int = 24) -> Query:
    """A join over many batches of which windows last but a few, with tuples in disorder."""
    windows = tuple(rng.choices(WINDOWS, weights=(4, 6, 4, 4, 4, 1, 1, 1, 1), k=4))
    jitter = rng.choice((0, 2, 5))
    query = long_query(
        folder, windows, rng.choice(JOINS), batches, seed=rng.randrange(1 << 30), jitter=jitter
    )
    lateness = rng.choice((0, jitter)) * MICROS
    inputs = (replace(i, source=replace(i.source, lateness=lateness)) for i in query.inputs)
    return replace(query, inputs=tuple(inputs))


def mostly_trees(query: Query, rng: Random) -> Plan:
    """Any plan, more often a tree than not."""
    is_tree = rng.random() < 0.75
    return random_tree(query, rng) if is_tree else planned(query, random_plan(query, rng))


def mostly_trees_or_meshes(query: Query, rng: Random) -> Plan:
    """Any plan, a mesh now and then."""
    return random_mesh(query, rng) if rng.random() < 0.2 else mostly_trees(query, rng)


@dataclass
class FillingRun:
    """A run in one process that fills wherever it can; plans change, and it stops, by chance."""

    query: Query
    place: Place
    rng: Random
    draw: Draw
    change: float = 0.3
    stop: float = 0.1
    seen: set[str] = field(default_factory=set)
    """What has happened to inner state: begun, still filling after a restart or a change, whole."""

    def run(self) -> None:
        """Run over all there is, and drain."""
        partitions = self.rng.randint(1, 3)
        plan = self.draw(self.query, self.rng)
        while not self._run_once(plan, partitions):
            if self.rng.random() < 0.5:
                plan = self.draw(self.query, self.rng)

    def _run_once(self, plan: Plan, partitions: int) -> bool:
        """Whether it came to the end."""
        run = open_run(
            plan,
            RunOptions(
                sink=self.place.sink,
                checkpoint=str(self.place.checkpoint),
                partitions=partitions,
                report=lambda report: self._after(run, report),
                rebuilt_at_once=0,
            ),
        )
        run.available_now(drain=True)
        return run.pipeline.manifest.is_closed

    def _after(self, run: LocalRun, report: Report) -> None:
        was_filling, made = "filling" in self.seen, run.pipeline.manifest
        self.seen.discard("filling")
        if made.gaps:
            self.seen |= {"filling", "begun"}
        elif was_filling and made.inner:
            self.seen.add("whole")
        if made.is_closed:
            return
        if self.rng.random() < self.change:
            self.seen |= {"changed while filling"} if made.gaps else set()
            run.replan(self.draw(self.query, self.rng))
        if self.rng.random() < self.stop:
            self.seen |= {"stopped while filling"} if made.gaps else set()
            run.stop()
