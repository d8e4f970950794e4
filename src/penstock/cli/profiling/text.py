"""A profile as tables for people, and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.cli.profiling.cpu import Cpu
from penstock.cli.profiling.usage import ROLES
from penstock.cli.profiling.wall import Wall
from penstock.table import table

_LEAST = 0.0005
"""The part of all from which a phase or a kind of work has a row."""


@dataclass(frozen=True)
class Profile:
    """Where the time of a run went."""

    engine: str
    command: str
    batches: int
    tuples: int
    wall: Wall
    cpu: Cpu
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """All figures, in seconds; fields are added, and not changed."""
        cpu = self.cpu
        return {
            "version": 1,
            "engine": self.engine,
            "command": self.command,
            "batches": self.batches,
            "tuples": self.tuples,
            "wall": {
                "seconds": self.wall.seconds,
                "accounted": self.wall.accounted,
                "compiling": self.wall.compiling,
                "phases": [
                    {
                        "name": each.name,
                        "seconds": each.seconds,
                        "first_batch": each.first,
                        "other_batches": each.others,
                    }
                    for each in self.wall.phases
                ],
            },
            "cpu": {
                "seconds": cpu.seconds,
                "accounted": cpu.accounted,
                "kinds": [
                    {"kind": kind.value, "seconds": sum(roles.values()), **_named(roles)}
                    for kind, roles in cpu.by_kind.items()
                ],
            },
            "machine": {
                "cores": cpu.cores,
                "sampler": cpu.sampler,
                "others": cpu.others,
                "idle": cpu.idle,
            },
            "notes": list(self.notes),
        }


def profile_text(profile: Profile) -> str:
    """The tables: wall seconds by phase, CPU seconds by kind of work, and what is in neither."""
    lines = [
        profile.command,
        f"{profile.batches} batches, {profile.tuples:,} tuples, {profile.wall.seconds:.2f} s",
        "",
        *_wall_lines(profile.wall),
        "",
        *_cpu_lines(profile.cpu),
    ]
    notes = [f"note: {note}" for note in profile.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def _wall_lines(wall: Wall) -> Iterator[str]:
    rows = [
        [each.name, _s(each.first), _s(each.others), _s(each.seconds), _part(each.seconds, wall)]
        for each in wall.phases
        if each.seconds > _LEAST * wall.seconds
    ]
    heading = ["wall seconds by phase", "first batch", "others", "all", "of run"]
    yield from table(heading, rows)
    yield f"adds up to {wall.accounted:.1%} of the run; {wall.unaccounted:.2f} s in no phase"
    if wall.compiling > _LEAST * wall.seconds:
        yield f"of these {wall.compiling:.2f} s were for compiling and loading inner loops"


def _cpu_lines(cpu: Cpu) -> Iterator[str]:
    rows = []
    for kind, roles in cpu.by_kind.items():
        seconds = sum(roles.values())
        if seconds > _LEAST * cpu.seconds:
            by_role = [_s(roles.get(role)) for role in ROLES]
            rows.append([kind.value, *by_role, _s(seconds), f"{seconds / cpu.seconds:.1%}"])
    yield from table(["CPU seconds by kind of work", *ROLES, "all", "of CPU"], rows)
    yield f"the kind of {cpu.accounted:.1%} of {cpu.seconds:.2f} CPU seconds is known"
    whole = cpu.cores * cpu.wall
    shares = (
        ("the run", cpu.seconds),
        ("py-spy", cpu.sampler),
        ("other processes", cpu.others),
        ("idle", cpu.idle),
    )
    shown = ", ".join(f"{name} {seconds / whole:.0%}" for name, seconds in shares)
    yield f"{cpu.cores} cores × {cpu.wall:.2f} s: {shown}"


def _named(roles: dict[Any, float]) -> dict[str, float]:
    return {role.lower(): roles.get(role, 0.0) for role in ROLES}


def _s(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.2f}"


def _part(seconds: float, wall: Wall) -> str:
    return f"{seconds / wall.seconds:.1%}"
