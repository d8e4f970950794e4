"""Statistics written to files: the figures that people edit, and the training beside them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from penstock.stats.files.dump import dump, dump_training
from penstock.stats.statistics import Statistics


def save(statistics: Statistics, path: str | Path) -> tuple[Path, ...]:
    """The files that were written: `road.toml`, and before it `road.training.toml` if any stream
    has training. OSError if they cannot be."""
    path = Path(path)
    apart = training_file(path)
    training = dump_training(statistics)
    if not training:
        _write(path, dump(statistics))
        return (path,)
    _write(apart, f"# Written by penstock analyze for {path.name}; not to be edited.\n{training}")
    _write(path, dump(statistics, apart.name))
    return apart, path


def training_file(path: Path) -> Path:
    """Where the training of a stats file lies: `road.training.toml` beside `road.toml`."""
    return path.with_name(f"{path.stem}.training.toml")


def _write(path: Path, text: str) -> None:
    """All of the text, or nothing: what stood there before stays until the new file is whole."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
