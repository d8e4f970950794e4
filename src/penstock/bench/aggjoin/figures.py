"""The figures of aggjoin for programs: medians over the runs, and ratios of tuples/s."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import NotRequired, TypedDict

from penstock.bench.aggjoin.rivals import Entry
from penstock.bench.aggjoin.run import THREE_STREAMS, Outcome
from penstock.bench.aggjoin.workload import EVERY, WINDOW
from penstock.bench.contest import MASTER
from penstock.bench.measurement import Measurement


class RivalFigures(TypedDict):
    """The medians of a rival's runs.

    `join_results_per_s` is what a plan that makes them has made; the early ones make fewer.
    """

    tuples_per_s: int
    state: int
    event_seconds: int
    tuples: int
    matches_a_tuple: int
    join_results_per_s: int | None
    seconds: list[float]


class OwnFigures(RivalFigures):
    """The medians of our runs, and the state that they may have."""

    state_bound: int


class NativeFigures(RivalFigures):
    """Spark's own with its better state format, and both formats by themselves."""

    state_format: str
    formats: dict[str, RivalFigures]


class WindowFigures(TypedDict):
    """All rivals on one kind of windows; Spark's own has no sliding ones."""

    penstock: OwnFigures
    late: RivalFigures
    ratio_vs_late: float
    spark_native: NotRequired[NativeFigures]
    ratio_vs_spark_native: NotRequired[float]


class CaseFigures(TypedDict):
    """Both kinds of windows, and above them the worse of the two."""

    ratio_vs_spark_native: float
    ratio_vs_late: float
    tuples_per_s: int
    state: int
    keys: int
    tumbling: WindowFigures
    sliding: WindowFigures


class AggjoinSetting(TypedDict):
    """The size of the benchmark, and what it ran on."""

    workload: str
    seconds: int
    window_s: int
    every_s: int
    repeat: int
    session_for_each_run: bool
    answers: str
    master: str
    cores: int | None
    versions: dict[str, str]


@dataclass(frozen=True)
class AggjoinFigures:
    """The figures of the cases by name, those of two streams and those of three."""

    two_streams: Mapping[str, CaseFigures]
    three_streams: Mapping[str, CaseFigures]
    setting: AggjoinSetting

    def document(self) -> dict[str, object]:
        """The figures for programs."""
        three = {"three_streams": self.three_streams} if self.three_streams else {}
        return {**self.two_streams, **three, "setting": self.setting}


def figures_of(outcome: Outcome) -> AggjoinFigures:
    """The figures of all cases."""
    cases = {case: _case(outcome, case) for case in outcome.size.cases}
    three = {case: cases.pop(case) for case in THREE_STREAMS if case in cases}
    return AggjoinFigures(cases, three, _setting(outcome))


def _case(outcome: Outcome, case: str) -> CaseFigures:
    tumbling, sliding = (_window(outcome, case, kind) for kind in ("tumbling", "sliding"))
    own = [found["penstock"] for found in (tumbling, sliding)]
    return {
        "ratio_vs_spark_native": tumbling["ratio_vs_spark_native"],
        "ratio_vs_late": min(found["ratio_vs_late"] for found in (tumbling, sliding)),
        "tuples_per_s": min(found["tuples_per_s"] for found in own),
        "state": max(found["state"] for found in own),
        "keys": outcome.size.cases[case].keys,
        "tumbling": tumbling,
        "sliding": sliding,
    }


def _window(outcome: Outcome, case: str, kind: str) -> WindowFigures:
    """Spark's own is credited with its better state format."""
    found = {
        slot.name: (slot.entry, _figures(slot.entry, runs))
        for slot, runs in outcome.runs
        if (slot.case, slot.entry.kind) == (case, kind)
    }
    formats = {n: made for n, (entry, made) in found.items() if entry.rival == "spark_native"}
    (entry, ours), (_, late) = found["penstock"], found["late"]
    own: OwnFigures = {**ours, "state_bound": entry.workload.state_bound(entry.kind)}
    made: WindowFigures = {"penstock": own, "late": late, "ratio_vs_late": _ratio(own, late)}
    if formats:
        name, best = max(formats.items(), key=lambda item: item[1]["tuples_per_s"])
        made["spark_native"] = {**best, "state_format": name, "formats": formats}
        made["ratio_vs_spark_native"] = _ratio(own, best)
    return made


def _figures(entry: Entry, runs: Sequence[Measurement]) -> RivalFigures:
    made, per_s = entry.workload.join_results(entry.kind), [run.tuples_per_s for run in runs]
    seconds = statistics.median(run.seconds for run in runs)
    return {
        "tuples_per_s": round(statistics.median(per_s)),
        "state": max(run.state_tuples or 0 for run in runs),
        "event_seconds": entry.workload.seconds,
        "tuples": runs[0].tuples,
        "matches_a_tuple": round(entry.workload.matches(entry.kind)),
        "join_results_per_s": None if entry.rival == "penstock" else round(made / seconds),
        "seconds": [round(run.seconds, 3) for run in runs],
    }


def _ratio(own: RivalFigures, rival: RivalFigures) -> float:
    return round(own["tuples_per_s"] / rival["tuples_per_s"], 2)


def _setting(outcome: Outcome) -> AggjoinSetting:
    return {
        "workload": "aggjoin",
        "seconds": outcome.size.seconds,
        "window_s": WINDOW,
        "every_s": EVERY,
        "repeat": outcome.size.repeat,
        "session_for_each_run": not outcome.size.shares,
        "answers": "checked",
        "master": MASTER,
        "cores": os.cpu_count(),
        "versions": {name: version(name) for name in ("penstock", "pyspark", "pyarrow", "numpy")},
    }
