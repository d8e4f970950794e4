"""`penstock init`: CREATE statements for the data that is there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from time import time_ns
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.show.stopping import stoppable

if TYPE_CHECKING:
    from penstock.cli.scripts.input_files import Sample

_MANY = 40
"""Files of which reading the first rows may take a while: up to a few seconds for so many."""

_NO_STREAM = "it is not complete, as there is no stream: its last lines say what to do"


def init(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILES…]", help="More files or folders.")
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option("--from", help="A file or folder of CSV, JSON lines or parquet."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write to this new file instead of stdout.")
    ] = None,
) -> None:
    """Write the CREATE STREAM statements for files, with types, event time, unit and lateness.

    They are guessed from the first rows of each file, and each guess has a comment. Files of the
    same columns in one folder are one stream; what has no time is a table.

    Example: penstock init --from data --output mine.cql
    """
    from penstock.cli.scripts.declarations import declarations, script
    from penstock.cli.scripts.input_files import data_files, grouped
    from penstock.cli.scripts.writing import write_new
    from penstock.errors import SourceError

    given = [*(source or ()), *(files or ())]
    if not given:
        raise typer.BadParameter("name a file or folder: --from data", param_hint="--from")
    found = list(dict.fromkeys(data_files(given)))
    if not found:
        hint = "the files end with .csv, .tsv, .json, .jsonl, .ndjson or .parquet"
        raise SourceError(f"there are no data files in {given[0]}", hint=hint)
    with stoppable("nothing is written"):
        samples = _samples(found)
    if not samples:
        hint = "mend what the warnings say, or give others"
        raise SourceError("none of the files can be read", hint=hint)
    folders = [path for path in given if path.is_dir()]
    now = time_ns() // 1_000
    made = declarations(grouped(samples, folders), now)
    text = script(made, len(samples))
    if output is None:
        sys.stdout.write(text)
    else:
        write_new(output, text)
        is_complete = any(each.is_stream for each in made)
        then = f"try: penstock check {quote(str(output))}" if is_complete else _NO_STREAM
        print(f"wrote {output}; {then}", file=sys.stderr)


def _samples(paths: Sequence[Path]) -> list[Sample]:
    """The first rows of all files that can be read; of many files it is shown how far it is."""
    from penstock.cli.show.bars import bar

    if len(paths) < _MANY:
        return [each for path in paths if (each := _readable(path)) is not None]
    samples = []
    with bar("reading files") as show:
        for done, path in enumerate(paths, 1):
            samples.append(_readable(path))
            if not done % (_MANY // 4) or done == len(paths):
                show(done, len(paths))
    return [each for each in samples if each is not None]


def _readable(path: Path) -> Sample | None:
    """The first rows of a file; of one that cannot be read, a warning."""
    from penstock.cli.scripts.input_files import sample
    from penstock.errors import SourceError

    try:
        return sample(path)
    except SourceError as error:
        print(f"warning: {error.message}; it is left out\nhint: {error.hint}", file=sys.stderr)
        return None
