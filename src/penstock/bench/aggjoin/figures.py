"""The figures of aggjoin for programs: medians over the runs, and ratios of tuples/s."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from penstock.bench.aggjoin.rivals import Entry
from penstock.bench.aggjoin.run import THREE_STREAMS, Outcome
from penstock.bench.aggjoin.workload import EVERY, WINDOW
from penstock.bench.contest import MASTER
from penstock.bench.measurement import Measurement


def document(outcome: Outcome) -> dict[str, Any]:
    """By case the figures of both kinds of windows, and above them the worse of the two."""
    cases = {case: _case(outcome, case) for case in outcome.size.cases}
    three = {case: cases.pop(case) for case in THREE_STREAMS if case in cases}
    return {**cases, **({"three_streams": three} if three else {}), "setting": _setting(outcome)}


def _case(outcome: Outcome, case: str) -> dict[str, Any]:
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


def _window(outcome: Outcome, case: str, kind: str) -> dict[str, Any]:
    """Spark's own is credited with its better state format."""
    found = {
        slot.name: (slot.entry, _figures(slot.entry, runs))
        for slot, runs in outcome.runs
        if (slot.case, slot.entry.kind) == (case, kind)
    }
    formats = {n: made for n, (entry, made) in found.items() if entry.rival == "spark_native"}
    own, late = (found[name][1] for name in ("penstock", "late"))
    own["state_bound"] = found["penstock"][0].workload.state_bound(found["penstock"][0].kind)
    made = {"penstock": own, "late": late, "ratio_vs_late": _ratio(own, late)}
    if formats:
        best = max(formats, key=lambda name: int(formats[name]["tuples_per_s"]))
        credited = {**formats[best], "state_format": best, "formats": formats}
        made |= {
            "spark_native": credited,
            "ratio_vs_spark_native": _ratio(own, credited),
        }
    return made


def _figures(entry: Entry, runs: Sequence[Measurement]) -> dict[str, Any]:
    """`join_results_per_s` is what a plan that makes them has made; the early ones make fewer."""
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


def _ratio(own: dict[str, Any], rival: dict[str, Any]) -> float:
    return round(float(own["tuples_per_s"]) / float(rival["tuples_per_s"]), 2)


def _setting(outcome: Outcome) -> dict[str, Any]:
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
