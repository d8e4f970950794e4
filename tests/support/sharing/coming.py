"""Scripts that change between runs: batches that are still to come, and queries that have gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from penstock.query.script import Script
from support.streams.scripts import ScriptCase

Hidden = list[list[Path]]
"""The files of each batch that nobody sees yet."""


def hide_batches(folder: Path, case: ScriptCase) -> Hidden:
    """Hide the files of all batches; those of the first come first."""
    count = max(map(len, case.brought.values()))
    hidden: Hidden = []
    for number in range(count):
        files = [folder / name / f"{number:04}.parquet" for name in case.brought]
        hidden.append(
            [each.rename(each.with_name(f"_{each.name}")) for each in files if each.exists()]
        )
    return hidden


def show_batches(hidden: Hidden, count: int) -> None:
    """Let the next so many batches be seen."""
    for _ in range(min(count, len(hidden))):
        for path in hidden.pop(0):
            path.rename(path.with_name(path.name[1:]))


def without(script: Script, names: Collection[str]) -> Script:
    """The script without some queries."""
    return replace(script, members=tuple(m for m in script.members if m.name not in names))


def standing_of(
    script: Script, makers: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Who of the script shares a join that a checkpoint has."""
    names = {member.name for member in script.members}
    return {maker: tuple(n for n in takers if n in names) for maker, takers in makers.items()}
