"""The view Plan: the plan of the last batch, drawn from what its operators told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.engine.reports.parts import OperatorReport
from penstock.engine.reports.report import Report
from penstock.errors import PlanError
from penstock.plan.text.notation import read_words
from penstock.watch.charts.measured import a_second
from penstock.watch.log_view import LogView
from penstock.watch.plan_graph import PlanEdge, PlanGraph, PlanNode, is_off
from penstock.watch.plan_standing import plan_standing


def plan_view(log: LogView, text: str = "") -> PlanGraph:
    """The view of a log; `text` is what its query may be shown as."""
    last = log.last
    if last is None:
        return PlanGraph("", None, text=text)
    made, standing = _Drawing(last), plan_standing(log)
    return PlanGraph(
        last.plan,
        last.batch,
        *made.drawn(),
        last.filling,
        text,
        since=standing.since,
        better=standing.better,
        standing=standing.text,
    )


@dataclass
class _Drawing:
    """Nodes and edges of a batch's plan, from what its operators told."""

    report: Report
    nodes: dict[str, PlanNode] = field(default_factory=dict)
    edges: list[PlanEdge] = field(default_factory=list)

    def drawn(self) -> tuple[tuple[PlanNode, ...], tuple[PlanEdge, ...]]:
        for alias in self.report.inputs:
            self._put(self._input(alias))
        routes = self._routes()
        # A driver that is an inner join comes after the routes that fill it.
        for driver, number in sorted(routes, key=lambda each: len(self._leaves(each[0]))):
            self._route(driver, number, routes[driver, number])
        probes = [each.operator for each in self.report.operators if each.kind == "probe"]
        met = {*(driver for driver, _ in routes), *probes}
        seen = frozenset(alias for name in met for alias in self._leaves(name))
        for alias in self.report.inputs:
            if alias not in seen:
                self._edge(_input_id(alias), "results", *self._driver_rates(alias))
        self._put(self._results())
        return tuple(self.nodes.values()), tuple(self.edges)

    def _put(self, node: PlanNode) -> None:
        self.nodes[node.id] = node

    def _edge(self, start: str, end: str, measured: float | None, estimated: float | None) -> None:
        is_wrong = is_off(measured, estimated)
        self.edges.append(PlanEdge(start, end, measured, estimated, is_wrong))

    def _routes(self) -> dict[tuple[str, int], list[OperatorReport]]:
        found: dict[tuple[str, int], list[OperatorReport]] = {}
        for each in self.report.operators:
            found.setdefault((each.driver, each.route), []).append(each)
        return found

    def _route(self, driver: str, number: int, steps: Sequence[OperatorReport]) -> None:
        """The operators of a route, one after another, and where their results go."""
        before, members = self._driver_node(driver), self._leaves(driver)
        measured, estimated = self._driver_rates(driver, steps)
        for place, step in enumerate(steps):
            members |= self._leaves(step.operator) if step.kind == "probe" else frozenset()
            node = self._operator(step, f"op:{driver}:{number}:{place}", before, members)
            self._put(node)
            self._edge(before, node.id, measured, estimated)
            measured = a_second(step.came_out, self.report)
            estimated = _times(estimated, step.predicted)
            before = node.id
        self._edge(before, self._end(members, before), measured, estimated)

    def _end(self, members: frozenset[str], before: str) -> str:
        """The node that the results of a route go to: all results, or an inner join of these."""
        inner = next((d for d in self._inner() if self._leaves(d) == members), None)
        if inner is None or members >= frozenset(self.report.inputs):
            return "results"
        node = self._join(inner, self.nodes[before].level + 1)
        old = self.nodes.get(node.id)
        if old is None or old.level < node.level:
            self._put(node)
        return node.id

    def _inner(self) -> list[str]:
        """The inner joins, by what drives a route or is probed."""
        named = [name for each in self.report.operators for name in (each.driver, each.operator)]
        return [name for name in dict.fromkeys(named) if self._is_inner(name)]

    def _is_inner(self, name: str) -> bool:
        return name.startswith("(") and name not in self.report.inputs

    def _leaves(self, name: str) -> frozenset[str]:
        """The inputs in a name of a driver or of what is probed: `(a b)` has two."""
        if name in self.report.inputs:
            return frozenset([name])
        try:
            return frozenset(word.text for word in read_words(name) if word.is_name)
        except PlanError:  # No name of a plan: one of a later version, perhaps.
            return frozenset([name])

    def _in_order(self, members: frozenset[str]) -> tuple[str, ...]:
        return tuple(alias for alias in self.report.inputs if alias in members)

    def _driver_node(self, driver: str) -> str:
        if not self._is_inner(driver):
            return _input_id(next(iter(self._leaves(driver))))
        node = self._join(driver, 1)
        self.nodes.setdefault(node.id, node)
        return node.id

    def _driver_rates(
        self, driver: str, steps: Sequence[OperatorReport] = ()
    ) -> tuple[float | None, float | None]:
        """Tuples/s that a route begins with: measured by what came to its first operator."""
        mine = (
            self.report.inputs.get(next(iter(self._leaves(driver))))
            if not self._is_inner(driver)
            else None
        )
        measured = a_second(steps[0].went_in, self.report) if steps else None
        if mine is None:
            into = [e for e in self.edges if e.end == f"join:{driver}"]
            return measured, _sum(edge.estimated for edge in into)
        estimated = _times(mine.predicted_rate, mine.keep)
        share = self._share(driver, steps)
        return measured if steps else mine.rate, _times(estimated, share)

    def _share(self, driver: str, steps: Sequence[OperatorReport]) -> float | None:
        """The part of a driver's tuples that takes this route: of several, it is as measured."""
        firsts = [route[0].went_in for (name, _), route in self._routes().items() if name == driver]
        if len(firsts) <= 1 or not steps:
            return 1.0
        return steps[0].went_in / sum(firsts) if sum(firsts) else None

    def _input(self, alias: str) -> PlanNode:
        mine = self.report.inputs[alias]
        kept = f", of which {mine.keep:.3g} are kept" if mine.keep < 1.0 else ""
        return PlanNode(
            id=_input_id(alias),
            kind="input",
            name=alias,
            measured=mine.rate,
            estimated=mine.predicted_rate,
            is_off=is_off(mine.rate, mine.predicted_rate),
            formula=f"{mine.tuples:,} tuples in {_seconds(self.report)}{kept}",
            members=(alias,),
        )

    def _operator(
        self, step: OperatorReport, name: str, before: str, members: frozenset[str]
    ) -> PlanNode:
        measured = step.came_out / step.went_in if step.went_in else None
        whole = sum(each.seconds for each in self.report.operators)
        met = "" if step.met is None else f", {step.met:,.0f} combinations in reach"
        return PlanNode(
            id=name,
            kind=step.kind,
            name=step.operator,
            level=self.nodes[before].level + 1,
            measured=measured,
            estimated=step.predicted,
            seconds=step.seconds,
            load=step.seconds / whole if whole > 0.0 else 0.0,
            is_off=is_off(measured, step.predicted),
            formula=f"{step.came_out:,} rows out of {step.went_in:,} rows in{met}",
            driver=step.driver,
            route=step.route,
            members=self._in_order(members),
        )

    def _join(self, name: str, level: int) -> PlanNode:
        held = [each for module, each in self.report.modules.items() if _module(module) == name]
        tuples = float(sum(each.tuples for each in held)) if held else None
        predicted = _sum(each.predicted for each in held)
        return PlanNode(
            id=f"join:{name}",
            kind="join",
            name=name,
            level=level,
            measured=tuples,
            estimated=predicted,
            is_off=is_off(tuples, predicted),
            formula="" if tuples is None else f"{tuples:,.0f} tuples are kept",
            members=self._in_order(self._leaves(name)),
        )

    def _results(self) -> PlanNode:
        wanted = self.report.prediction
        measured = a_second(self.report.results, self.report)
        estimated = None if wanted is None else wanted.output_rate
        return PlanNode(
            id="results",
            kind="results",
            name="results",
            level=1 + max((node.level for node in self.nodes.values()), default=0),
            measured=measured,
            estimated=estimated,
            is_off=is_off(measured, estimated),
            formula=f"{self.report.results:,} results in {_seconds(self.report)}",
            members=tuple(self.report.inputs),
        )


def _input_id(alias: str) -> str:
    return f"in:{alias}"


def _module(name: str) -> str:
    """The input or inner join whose tuples a module holds: `(a b)` of `(a b)@1`."""
    return name.rpartition("@")[0]


def _seconds(report: Report) -> str:
    return "no time" if not report.span else f"{report.span:.3g} s of event time"


def _times(value: float | None, by: float | None) -> float | None:
    return None if value is None or by is None else value * by


def _sum(values: Iterable[float | None]) -> float | None:
    known = [*values]
    found = [value for value in known if value is not None]
    return sum(found) if found and len(found) == len(known) else None
