"""The figures of the drift benchmark for programs: the worst of each case, and every scenario."""

from __future__ import annotations

import os
from collections.abc import Sequence

from penstock.bench.drift.cases.burst import Burst
from penstock.bench.drift.cases.following import Followed
from penstock.bench.drift.cases.measures import worst
from penstock.bench.drift.run import Found

Document = dict[str, object]


def document(found: Found, engine: str, repeat: int) -> Document:
    """Version 1. A case that was not run is null."""
    calm, tie, righted = found.stationary, found.near_tie, found.wrong_stats
    mesh, tree = found.content, found.migration
    return {
        "version": 1,
        "step": step_figures(found.steps),
        "square": wave_figures(found.waves),
        "stationary": calm and {"switches": calm.switches, "overhead": round(calm.overhead, 4)},
        "near_tie": tie and {"switches": tie.switches},
        "wrong_stats": righted
        and {"batches_to_right_plan": righted.batches, "gain_vs_wrong": _round(righted.gain)},
        "content": mesh
        and {
            "gain_vs_stale": _round(mesh.gain_vs_stale),
            "possible_gain": _round(mesh.possible_gain),
        },
        "burst": found.burst and burst_figures(found.burst),
        "migration": tree
        and {
            "longest_vs_median": _round(tree.longest_vs_median),
            "longest_without_change": _round(tree.longest_without_change),
            "inner_rows": tree.inner_rows,
        },
        "exact": found.is_exact,
        "setting": {
            "engine": str(engine),
            "repeat": repeat,
            "cores": os.cpu_count(),
        },
    }


def step_figures(found: Sequence[Followed]) -> Document:
    """The worst of all steps, and each."""
    rows = {each.scenario.name: _row(each) for each in found}
    return {
        "batches_to_notice": worst([each.notice for each in found]),
        "batches_to_settle": worst([each.settle for each in found]),
        "work_vs_clairvoyant": _round(max(vs_clairvoyant(each) for each in found)),
        "gain_vs_best_static": _round(min(gain(each) for each in found)),
        "cases": rows,
    }


def wave_figures(found: Sequence[Followed]) -> Document | None:
    """The worst of the waves, and each."""
    if not found:
        return None
    return {
        "switches_an_edge": max(each.switches_an_edge for each in found),
        "work_vs_clairvoyant": _round(max(vs_clairvoyant(each) for each in found)),
        "cases": {each.scenario.name: _row(each) for each in found},
    }


def burst_figures(found: Burst) -> Document:
    """How the delay came to its target, and what was kept."""
    return {
        "settle_batches": found.settle_batches,
        "overshoot": _round(found.overshoot),
        "kept_vs_best": _round(found.kept_vs_best),
        "clear_batches": found.clear_batches,
    }


def vs_clairvoyant(found: Followed) -> float:
    """CPU-seconds beside those of the clairvoyant."""
    return found.adaptive_work / found.clairvoyant_work


def gain(found: Followed) -> float:
    """How many times the CPU-seconds the best static plan takes."""
    return found.best_static[1] / found.adaptive_work


def possible(found: Followed) -> float:
    """The gain of the clairvoyant, above which nobody comes."""
    return found.best_static[1] / found.clairvoyant_work


def _row(found: Followed) -> Document:
    return {
        "batches_to_notice": found.notice,
        "batches_to_settle": found.settle,
        "switches": found.switches,
        "switches_an_edge": found.switches_an_edge,
        "work_vs_clairvoyant": _round(vs_clairvoyant(found)),
        "gain_vs_best_static": _round(gain(found)),
        "possible_gain": _round(possible(found)),
        "cpu_s": {
            "adaptive": _round(found.adaptive_work),
            "clairvoyant": _round(found.clairvoyant_work),
            "static": {name: _round(sum(batches)) for name, batches in found.cpu.items()},
        },
    }


def _round(value: float) -> float:
    return round(value, 3)
