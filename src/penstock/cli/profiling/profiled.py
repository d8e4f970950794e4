"""A profile made: the options of its run, the run itself, and its figures put together."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from penstock.cli.profiling.cpu import cpu_of
from penstock.cli.profiling.sampler import find_sampler
from penstock.cli.profiling.text import Profile
from penstock.cli.profiling.wall import wall_of
from penstock.cli.profiling.watched import watch_run
from penstock.engines import BatchEngine


@dataclass(frozen=True)
class Asked:
    """What is profiled: its name, the script with what else its run needs, and the user's options
    of `penstock run`."""

    name: str
    script: Sequence[str]
    options: Sequence[str]
    engine: BatchEngine


def profile_of(asked: Asked, rate: int, scratch: Path) -> Profile:
    """Run it once, and say where its time went."""
    checkpoint = _value(asked.options, "--checkpoint")
    place = str(scratch / "checkpoint") if checkpoint is None else checkpoint
    given = [f"--engine={asked.engine}", *_defaults(asked.options), *asked.options]
    kept = [] if checkpoint is not None else [f"--checkpoint={place}"]
    sampler = find_sampler()
    run = watch_run([*asked.script, *given, *kept], place, sampler, rate, scratch)
    tuples = sum(sum(report.read.values()) for report in run.reports)
    return Profile(
        asked.engine,
        shlex.join(["penstock", "run", asked.name, *given]),
        len(run.reports),
        tuples,
        wall_of(run),
        cpu_of(run),
        () if sampler.note is None else (sampler.note,),
    )


def _defaults(options: Sequence[str]) -> list[str]:
    """Options without which a run would not end, or would show its results."""
    ends = any(_is(option, name) for option in options for name in ("--trigger", "--available-now"))
    has_sink = any(_is(option, "--sink") for option in options)
    return [*([] if ends else ["--available-now"]), *([] if has_sink else ["--sink=noop"])]


def _value(options: Sequence[str], name: str) -> str | None:
    """The value of an option, written `--name value` or `--name=value`; the last one counts."""
    found = None
    for option, following in pairwise([*options, ""]):
        if _is(option, name):
            found = option.partition("=")[2] or following
    return found


def _is(option: str, name: str) -> bool:
    return option.partition("=")[0] == name
