"""Statistics written to files: the figures that people edit, and the training beside them."""

from __future__ import annotations

from pathlib import Path

from penstock.atomic import write_text
from penstock.stats.files.dump import dump, dump_training
from penstock.stats.statistics import Statistics


def save(statistics: Statistics, path: str | Path) -> tuple[Path, ...]:
    """The files that were written: `road.toml`, and before it `road.training.toml` if any stream
    has training. OSError if they cannot be."""
    path = Path(path)
    apart = training_file(path)
    training = dump_training(statistics)
    if not training:
        write_text(path, dump(statistics))
        return (path,)
    write_text(
        apart, f"# Written by penstock analyze for {path.name}; not to be edited.\n{training}"
    )
    write_text(path, dump(statistics, apart.name))
    return apart, path


def training_file(path: Path) -> Path:
    """Where the training of a stats file lies: `road.training.toml` beside `road.toml`."""
    return path.with_name(f"{path.stem}.training.toml")
