"""The figures of aggjoin as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.bench.aggjoin.figures import AggjoinFigures, CaseFigures, RivalFigures
from penstock.table import table

_HEADING = (
    "case, windows, rival",
    "of the data",
    "matches/tuple",
    "tuples/s",
    "join results/s",
    "peak state",
    "penstock is",
)


def aggjoin_text(made: AggjoinFigures) -> str:
    """A row for each rival on each case, then what the columns mean."""
    setting = made.setting
    three = {f"3 × {name}": found for name, found in made.three_streams.items()}
    cases = {**made.two_streams, **three}
    rows = [row for name, found in cases.items() for row in _case(name, found)]
    runs = f"median of {setting['repeat']} runs" if setting["repeat"] > 1 else "one run"
    lines = [
        f"aggjoin: {setting['seconds']} s of event time, windows of {setting['window_s']} s; "
        f"{setting['master']}, {runs}",
        "",
        *table(_HEADING, rows),
        "",
        "Tuples/s of whole runs are compared. A rival may get only the first seconds of the data,",
        "so many that it ends within two minutes; it then meets fewer matches a tuple, not more.",
        f"Sliding windows are evaluated every {setting['every_s']} s, which Spark's own cannot do.",
        "All answers were checked: counts and sums are equal.",
    ]
    return "\n".join(lines) + "\n"


def _case(name: str, found: CaseFigures) -> Iterator[tuple[str, ...]]:
    for kind, window in (("tumbling", found["tumbling"]), ("sliding", found["sliding"])):
        label = f"{name}, {kind}, "
        yield _row(label + "penstock", window["penstock"], None)
        yield _row(label + "late plan", window["late"], window["ratio_vs_late"])
        formats = window["spark_native"]["formats"] if "spark_native" in window else {}
        for state_format, figures in formats.items():
            ratio = window["penstock"]["tuples_per_s"] / figures["tuples_per_s"]
            yield _row(label + f"Spark's own, {state_format}", figures, ratio)


def _row(label: str, figures: RivalFigures, ratio: float | None) -> tuple[str, ...]:
    results = figures["join_results_per_s"]
    return (
        label,
        f"{figures['event_seconds']} s",
        f"{figures['matches_a_tuple']:,}",
        f"{figures['tuples_per_s']:,}",
        "–" if results is None else f"{results:,}",
        f"{figures['state']:,}",
        "" if ratio is None else f"{ratio:.1f}×",
    )
