"""`penstock profile`: one run of a query or of a benchmark's, and where its time goes."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from penstock.cli.show.stopping import stoppable
from penstock.engines import BatchEngine

_BENCHMARKS = ("join3", "sparse3", "chain3")
_OWN = {
    "--engine": "give it before --",
    "--eager": "the laboratory runs in no batches",
    "--every": "the laboratory runs in no batches",
}


def profile(
    file: Annotated[str, typer.Argument(help="The query, or a benchmark: join3, sparse3, chain3.")],
    options: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- OPTIONS", help="Options of penstock run, after --."),
    ] = None,
    engine: Annotated[BatchEngine, typer.Option(help="Where to run.")] = "spark",
    output: Annotated[
        Path | None,
        typer.Option(help="A flame graph: .svg to look at, .json for speedscope."),
    ] = None,
    format: Annotated[
        Literal["text", "json"], typer.Option(help="How to show the figures.")
    ] = "text",
    rate: Annotated[
        int, typer.Option(min=1, max=1000, help="Look at every stack so often a second.")
    ] = 50,
    seconds: Annotated[
        int | None, typer.Option(min=5, help="Event time of a benchmark; default 60.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Keep a benchmark's data here, and use it again.")
    ] = None,
) -> None:
    """Run a query once, and show where its time goes: by phase, and by kind of work.

    It is run over all there is, into no sink, in a process of its own, unless options say
    otherwise. Wall seconds are by phase of the run, CPU seconds by kind of work and process, as
    py-spy has sampled them (python -m pip install 'penstock[profile]').

    Example: penstock profile query.cql --engine local --output profile.svg
    """
    from penstock.cli.profiling.flame import write_flame
    from penstock.cli.profiling.profiled import Asked, profile_of
    from penstock.cli.profiling.text import profile_text
    from penstock.cli.profiling.usage import psutil

    _check(options or (), output, file in _BENCHMARKS, seconds is not None or data is not None)
    psutil()
    with (
        stoppable("a run that is cut off has no profile"),
        tempfile.TemporaryDirectory(prefix="penstock-profile-") as scratch,
    ):
        script = _script(file, engine, seconds, data, Path(scratch))
        asked = Asked(file, script, tuple(options or ()), engine)
        made = profile_of(asked, rate, Path(scratch))
    if output is not None:
        write_flame(made.cpu, output, made.command)
        print(f"wrote {output}", file=sys.stderr)
    is_json = format == "json"
    sys.stdout.write(json.dumps(made.document, indent=2) + "\n" if is_json else profile_text(made))


def _check(options: Sequence[str], output: Path | None, is_bench: bool, is_sized: bool) -> None:
    from penstock.cli.profiling.flame import SUFFIXES

    for option in options:
        if (why := _OWN.get(option.partition("=")[0])) is not None:
            raise typer.BadParameter(why, param_hint=option)
    if output is not None and output.suffix not in SUFFIXES:
        raise typer.BadParameter(
            f"its name ends with {' or '.join(SUFFIXES)}", param_hint="--output"
        )
    if is_sized and not is_bench:
        raise typer.BadParameter("goes with benchmarks alone", param_hint="--seconds, --data")


def _script(
    file: str, engine: BatchEngine, seconds: int | None, data: Path | None, scratch: Path
) -> list[str]:
    """The arguments of `penstock run` that stand for what is profiled."""
    if file not in _BENCHMARKS:
        return [_readable(file)]
    from penstock.bench import workload
    from penstock.bench.contest import MASTER, SETTINGS
    from penstock.bench.data import ensure_data

    known = {each.name: each for each in (workload.JOIN3, workload.SPARSE3, workload.CHAIN3)}
    wanted = replace(known[file], seconds=seconds or known[file].seconds)
    print(f"making {wanted.tuples:,} tuples", file=sys.stderr)
    script = scratch / f"{file}.cql"
    script.write_text(wanted.cql(ensure_data(wanted, data or scratch)), encoding="utf-8")
    settings = [f"--conf={key}={value}" for key, value in SETTINGS.items()]
    return [str(script), *(["--master", MASTER, *settings] if engine == "spark" else [])]


def _readable(file: str) -> str:
    """The path of a query, which can be read; - for stdin is left to the run."""
    from penstock.cql.script_file import decoded

    if file != "-":
        decoded(Path(file).read_bytes, file)
    return file
