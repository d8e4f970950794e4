"""An experiment: a question of a paper's, and the function that answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from penstock.experiments.frame.findings import Findings
from penstock.experiments.frame.paper import Paper

Size = Literal["quick", "full"]
Progress = Callable[[int, int], None]
"""Told how many steps are done, of how many."""


@dataclass(frozen=True)
class Experiment:
    """A figure or table of a paper, or a question of our own, that one function re-runs.

    `name` begins with the key of its paper. `about` says in a paragraph what is run, and what was
    read otherwise. A `cheap` one takes seconds at quick size, and its claims are tests. `model` is
    whose model its dashed lines are.
    """

    name: str
    paper: Paper
    figure: str
    title: str
    question: str
    about: str
    run: Callable[[Size, Progress], Findings]
    cheap: bool = True
    on_spark: bool = False
    model: Literal["paper", "ours"] = "ours"
