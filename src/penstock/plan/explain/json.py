"""Explain as JSON, for programs: version 1, stable names and order."""

from __future__ import annotations

import json
from typing import Any

from penstock.plan.explain.figures import Figures, InputFigures

VERSION = 1


def as_json(figures: Figures) -> str:
    """The plan as a JSON object; null is what is not known. Rates are tuples/s, times seconds."""
    document = {
        "version": VERSION,
        "goal": "steady",
        "feasible": None,
        "chosen": _chosen(figures),
        "inputs": [_input(item) for item in figures.inputs],
        "outputs": [name for name, _ in figures.outputs],
        "alternatives": [],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _chosen(figures: Figures) -> dict[str, Any]:
    streams = [item for item in figures.inputs if not item.is_table]
    return {
        "kind": "multiway",
        "shape": f"({' '.join(item.alias for item in figures.inputs)})",
        "plan": figures.plan,
        "probe_orders": {s.alias: [target for target, _ in s.probes] for s in streams},
        "methods": {s.alias: dict(s.probes) for s in streams},
        "early_aggregation": [],
        "keep": {s.alias: s.keep for s in streams},
        "utilization": None,
        "output_rate": None,
        "state_tuples": figures.state,
    }


def _input(item: InputFigures) -> dict[str, Any]:
    return {
        "alias": item.alias,
        "source": item.source,
        "kind": "table" if item.is_table else "stream",
        "window": None if item.is_table else item.window,
        "rate": item.rate,
        "lateness": item.lateness,
        "idle": item.idle,
        "filters": list(item.filters),
        "state_tuples": item.state,
    }
