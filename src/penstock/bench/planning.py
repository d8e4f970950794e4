"""How long planning takes: queries of every shape, with and without shedding, views, goals, meshes.

What is weighed is counted, and the same everywhere; CPU-seconds are of the machine at hand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Literal, TypedDict

from penstock.cql import parse
from penstock.figure import Figure
from penstock.optimize.model.effort import Effort
from penstock.optimize.options import DEFAULT_OPTIONS, PlanOptions
from penstock.optimize.planner import decide
from penstock.plan.decision import Decision
from penstock.query.goal import By, First
from penstock.stats.files.load import loads
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.training import Training, operators_of

Shape = Literal["chain", "star", "one key", "clique", "cycle", "cross join"]
Windows = Literal["range", "rows", "mixed"]
Progress = Callable[[str], None]

SHAPES: tuple[Shape, ...] = ("chain", "star", "one key", "clique", "cycle", "cross join")
RATES = (20.0, 2_000.0)
"""Tuples/s; of cross joins a thousandth of it, or their results could not be counted."""
SHORT = 0.3
"""The part of what the best plan needs that there is where no plan is to keep up."""
_CLASSES = 3


@dataclass(frozen=True)
class Asked:
    """A query to plan, made up for a shape and a number of inputs."""

    shape: Shape
    inputs: int
    windows: Windows = "range"
    is_view: bool = False
    is_short: bool = False
    is_trained: bool = False
    options: PlanOptions = DEFAULT_OPTIONS
    seed: int = 1

    @property
    def name(self) -> str:
        """`chain, mixed windows, too little capacity, shed`."""
        parts = [
            self.shape,
            f"{self.windows} windows" if self.windows != "range" else "",
            "view" if self.is_view else "",
            "training" if self.is_trained else "",
            "too little capacity" if self.is_short else "",
            "shed" if self.options.sheds else "",
            "" if self.options.goal == DEFAULT_OPTIONS.goal else str(self.options.goal),
        ]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Planned:
    """A decision with what it took."""

    asked: Asked
    decision: Decision
    effort: Effort
    seconds: float


def asked_for(sizes: tuple[int, ...], large: tuple[int, ...]) -> Iterator[Asked]:
    """The queries of the benchmark: everything up to ten inputs or so, plain joins beyond."""
    shed = PlanOptions(sheds=True)
    for size in sizes:
        for shape in SHAPES:
            yield Asked(shape, size)
            yield Asked(shape, size, "mixed", is_short=True)
            yield Asked(shape, size, "mixed", is_short=True, options=shed)
            yield Asked(shape, size, is_short=True, options=shed)
            yield Asked(shape, size, is_view=True)
            yield Asked(shape, size, "mixed", is_view=True, is_short=True, options=shed)
            yield Asked(shape, size, is_view=True, is_short=True, options=shed)
            yield Asked(shape, size, is_short=True, options=PlanOptions(goal=By(5.0)))
            # So many equalities leave no results to wait for.
            if shape != "clique":
                yield Asked(shape, size, is_short=True, options=PlanOptions(goal=First(10)))
        yield Asked("chain", size, is_trained=True)
    for size in large:
        for shape in SHAPES:
            if shape != "clique" or size <= max(sizes):
                yield Asked(shape, size)
                yield Asked(shape, size, "mixed", is_short=True, options=shed)


def run_planning(queries: Iterator[Asked], progress: Progress) -> list[Planned]:
    """Plan them one after the other."""
    done = []
    for asked in queries:
        progress(f"{asked.inputs} inputs, {asked.name}")
        done.append(plan(asked))
    return done


def plan(asked: Asked) -> Planned:
    """One query planned, from its text and its stats."""
    known = known_of(asked)
    began, effort = time.process_time(), Effort()
    decision = decide(known, asked.options, effort)
    return Planned(asked, decision, effort, time.process_time() - began)


def known_of(asked: Asked) -> Known:
    """The figures of a query; where no plan is to keep up, after one is planned that does."""
    text, stats = _script(asked)
    query = parse(text)
    known = complete(query, loads(stats, query))
    if asked.is_trained:
        training = {item.alias: _training(known, item.alias, asked) for item in query.streams}
        known = replace(known, training=training)
    if asked.is_short:
        ample = replace(known, capacity=Figure(1e300, "declared"))
        needed = decide(ample, PlanOptions(off=frozenset({"mesh"}))).chosen.estimate.needed
        known = replace(known, capacity=Figure(SHORT * needed, "declared"))
    return known


class QueryFigures(TypedDict):
    """The effort of planning one query."""

    query: str
    inputs: int
    plans: int
    left_out: int
    parts: int
    evaluations: int
    cpu_seconds: float


class MostSeconds(TypedDict):
    """The most CPU-seconds that a query of a size took."""

    up_to_10_inputs: float | None
    beyond: float | None


class PlanningDocument(TypedDict):
    """The figures for programs."""

    queries: list[QueryFigures]
    most_cpu_seconds: MostSeconds


def document(done: list[Planned]) -> PlanningDocument:
    """The figures for programs."""
    return {
        "queries": [
            {
                "query": each.asked.name,
                "inputs": each.asked.inputs,
                "plans": len(each.decision.others) + 1,
                "left_out": each.effort.left_out,
                "parts": each.effort.parts,
                "evaluations": each.effort.evaluations,
                "cpu_seconds": round(each.seconds, 3),
            }
            for each in done
        ],
        "most_cpu_seconds": {
            "up_to_10_inputs": _most(done, lambda inputs: inputs <= 10),
            "beyond": _most(done, lambda inputs: inputs > 10),
        },
    }


def planning_text(made: PlanningDocument) -> str:
    """The figures as a table."""
    lines = [f"{'inputs':>6}  {'plans':>5}  {'parts':>9}  {'evaluations':>11}  {'CPU':>7}  query"]
    lines += [
        f"{q['inputs']:>6}  {q['plans']:>5}  {q['parts']:>9,}  {q['evaluations']:>11,}  "
        f"{q['cpu_seconds']:>5.2f} s  {q['query']}"
        for q in made["queries"]
    ]
    most = made["most_cpu_seconds"]
    sizes = {"up to 10 inputs": most["up_to_10_inputs"], "beyond": most["beyond"]}
    lines += [f"most, {name}: {spent:.2f} s" for name, spent in sizes.items() if spent is not None]
    return "\n".join(lines) + "\n"


def _most(done: list[Planned], is_meant: Callable[[int], bool]) -> float | None:
    seconds = [each.seconds for each in done if is_meant(each.asked.inputs)]
    return round(max(seconds), 3) if seconds else None


def _script(asked: Asked) -> tuple[str, str]:
    """The query, and the stats of its streams as a stats file has them."""
    rng = Random(f"{asked.shape} {asked.inputs} {asked.windows} {asked.seed}")
    names = [f"S{i}" for i in range(asked.inputs)]
    links = list(_links(asked.shape, asked.inputs))
    keys = [{key for a, b, key in links if i in (a, b)} for i in range(asked.inputs)]
    created = "".join(
        f"CREATE STREAM {name} (ts TIMESTAMP{''.join(f', {key} BIGINT' for key in sorted(own))}, "
        "g BIGINT) WITH (format = 'synthetic', timestamp = 'ts', rate = 1);\n"
        for name, own in zip(names, keys, strict=True)
    )
    inputs = ", ".join(f"{n} {_window(asked, i, rng)}" for i, n in enumerate(names))
    where = [f"S{a}.{key} = S{b}.{key}" for a, b, key in links]
    where += [f"{name}.g < 25" for name in names if asked.is_trained]
    columns = "S0.g, COUNT(*) AS n" if asked.is_view else "S0.g"
    text = f"{created}SELECT {columns} FROM {inputs}"
    text += f" WHERE {' AND '.join(where)}" if where else ""
    text += " GROUP BY S0.g EVERY 1 SECOND;" if asked.is_view else ";"
    low, high = (rate / 1_000 if asked.shape == "cross join" else rate for rate in RATES)
    stats = "[costs]\njoin = 1e-6\n"
    for name, own in zip(names, keys, strict=True):
        rate = float(f"{low * (high / low) ** rng.random():.4g}")
        distinct = "".join(f"{key} = {rng.randrange(20, 2_000)}, " for key in sorted(own))
        stats += f"[streams.{name}]\nrate = {rate}\ndistinct = {{{distinct}g = 50}}\n"
    return text, stats


def _links(shape: Shape, size: int) -> Iterator[tuple[int, int, str]]:
    match shape:
        case "chain":
            yield from ((i, i + 1, f"k{i}") for i in range(size - 1))
        case "star":
            yield from ((0, i, f"k{i}") for i in range(1, size))
        case "one key":
            yield from ((0, i, "k") for i in range(1, size))
        case "clique":
            yield from ((i, j, f"k{i}_{j}") for i, j in combinations(range(size), 2))
        case "cycle":
            yield from ((i, (i + 1) % size, f"k{i}") for i in range(size if size > 2 else 1))


def _window(asked: Asked, place: int, rng: Random) -> str:
    by_rows = asked.windows == "rows" or (asked.windows == "mixed" and place % 2 == 0)
    return (
        f"[ROWS {rng.randrange(5, 100)}]" if by_rows else f"[RANGE {rng.randrange(1, 30)} SECONDS]"
    )


def _training(known: Known, driver: str, asked: Asked) -> Training:
    """A hundred tuples of three classes, in each of which another operator removes nearly all."""
    operators = operators_of(known.query, driver)
    rng = Random(f"{driver} {asked.seed}")
    kinds = [rng.randrange(_CLASSES) for _ in range(100)]
    yields = tuple(
        tuple(
            (0.05 if place % _CLASSES == kind else 2.0) * rng.uniform(0.7, 1.4)
            for place in range(len(operators))
        )
        for kind in kinds
    )
    values = tuple((float(10 * kind + rng.random()), rng.random()) for kind in kinds)
    return Training(driver, ("x", "y"), values, (0.01,) * 100, operators, yields)
