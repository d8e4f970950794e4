"""The figures of the drift benchmark as text for people, beside what they must be."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.drift.cases.following import Followed
from penstock.bench.drift.figures import gain, possible, vs_clairvoyant
from penstock.bench.drift.run import Found
from penstock.table import table

_STEPS = ("scenario", "noticed", "settled", "switches", "/ clairvoyant", "gain", "possible gain")
_CASES = ("case", "figure", "found", "must be")


def drift_text(found: Found, engine: str, repeat: int) -> str:
    """A row for each scenario that drifts, one for each figure of the others."""
    runs = f"medians of {repeat} runs" if repeat > 1 else "one run"
    exact = "All runs gave the same results." if found.is_exact else "Results DIFFER between runs."
    rows = [_row(each) for each in (*found.steps, *found.waves)]
    lines = [
        f"drift: CPU-seconds on engine {engine}, {runs}",
        "",
        *table(_STEPS, rows),
        "",
        *table(_CASES, list(_cases(found))),
        "",
        "Batches are counted from the change; gain is that over the best plan that never changes.",
        exact,
    ]
    return "\n".join(lines) + "\n"


def _row(found: Followed) -> tuple[str, ...]:
    return (
        found.scenario.name,
        _count(found.notice),
        _count(found.settle),
        str(found.switches),
        f"{vs_clairvoyant(found):.2f}",
        f"{gain(found):.2f}×",
        f"{possible(found):.2f}×",
    )


def _cases(found: Found) -> Iterator[tuple[str, str, str, str]]:
    if found.stationary is not None:
        yield "stationary", "switches", str(found.stationary.switches), "0"
        yield "stationary", "overhead", f"{found.stationary.overhead:.1%}", "at most 2 %"
    if found.near_tie is not None:
        yield "near tie", "switches", str(found.near_tie.switches), "at most 1"
    if found.wrong_stats is not None:
        batches = _count(found.wrong_stats.batches)
        yield "wrong stats", "batches to the right plan", batches, "at most 10"
    if found.content is not None:
        gained, most = found.content.gain_vs_stale, found.content.possible_gain
        yield "content", "gain over the stale mesh", f"{gained:.2f}× of {most:.2f}×", "1.3×"
    if found.burst is not None:
        yield "burst", "batches to the delay", _count(found.burst.settle_batches), "at most 10"
        yield "burst", "overshoot", f"{found.burst.overshoot:.0%}", "at most 50 %"
        kept = f"{found.burst.kept_vs_best:.2f}"
        yield "burst", "results / those of the best boxes", kept, "at least 0.95"
        yield "burst", "batches until all is kept", _count(found.burst.clear_batches), "at most 10"
    if found.migration is not None:
        longest = f"{found.migration.longest_vs_median:.1f}"
        yield "migration", "longest batch / median", longest, "at most 3"


def _count(batches: float | None) -> str:
    return "never" if batches is None else f"{batches:.0f}"
