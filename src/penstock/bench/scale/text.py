"""The figures of `bench scale` for people."""

from __future__ import annotations

from penstock.bench.scale.growth import GrowthDocument, GrowthFigures
from penstock.bench.scale.run import ScaleDocument, ScaleFigures
from penstock.table import table


def scale_text(made: ScaleDocument) -> str:
    """A row for each number of partitions."""
    head = ("partitions", "chunks", "CPU s", "wall s", "longest", "manifest", "listing", "a task")
    rows = [_row(each) for each in made["sizes"]]
    executors = made["sizes"][0]["executors"] if made["sizes"] else 0
    kept = "kept" if made["is_kept"] else "NOT kept"
    return "\n".join(
        (
            f"The driver's seconds a batch, with {executors:,} executors (tasks are simulated):",
            "",
            *table(head, rows),
            "",
            f"at most {made['most_s']:g} s of a processor: {kept}",
            "",
        )
    )


def growth_text(made: GrowthDocument) -> str:
    """A row for each setting; what grows by more than the work is in the last column."""
    head = ("what", "×", "tuples", "results", "state", "CPU s", "clock s")
    grown = ("work", "CPU", "clock", "state", "CPU by work")
    rows = [_grown_row(each) for each in made["settings"]]
    return "\n".join(
        (
            f"A batch of a second on Spark, medians of {made['measured_batches']}; in the columns",
            "with × before them how many times that of the smallest setting it is:",
            "",
            *table((*head, *(f"× {name}" for name in grown)), rows),
            "",
        )
    )


def _grown_row(each: GrowthFigures) -> tuple[str, ...]:
    return (
        each["dimension"],
        f"{each['factor']}",
        f"{each['tuples']:,}",
        f"{each['results']:,}",
        f"{each['state_tuples']:,}",
        f"{each['cpu_s']:.3f}",
        f"{each['seconds']:.3f}",
        f"{each['work_growth']:.2f}",
        f"{each['cpu_growth']:.2f}",
        f"{each['seconds_growth']:.2f}",
        f"{each['state_growth']:.2f}",
        f"{each['cpu_growth'] / (each['work_growth'] or 1.0):.2f}",
    )


def _row(each: ScaleFigures) -> tuple[str, ...]:
    return (
        f"{each['partitions']:,}",
        f"{each['chunks']:,}",
        f"{each['driver_cpu_s']:.2f}",
        f"{each['driver_wall_s']:.2f}",
        f"{each['longest_wall_s']:.2f}",
        _bytes(each["manifest_bytes"]),
        _bytes(each["listing_bytes"]),
        _bytes(each["task_bytes"]),
    )


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"
