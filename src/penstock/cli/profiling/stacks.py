"""Stacks as py-spy has sampled them, one line for each with how often it was seen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from linecache import getline
from pathlib import Path

from penstock.cli.profiling.kinds import Frame, Kind, kind_of

_PROCESS = re.compile(r'process (\d+):"')
_THREAD = re.compile(r"thread \((\w+)\)(: .*)?$")
_FRAME = re.compile(r"(?P<function>.*) \((?P<file>.*?)(:(?P<line>\d+))?\)$")
# Spark's workers run what is in this archive, which lies beside the same files.
_ARCHIVE = "/pyspark/python/lib/pyspark.zip/"


@dataclass(frozen=True)
class Stack:
    """Functions that called each other in a thread, the outermost first, and how often that was
    seen at work."""

    process: int
    thread: int
    frames: tuple[Frame, ...]
    count: int

    @property
    def kind(self) -> Kind:
        return kind_of(self.frames, _line(self.frames[-1]) if self.frames else "")


def read_stacks(path: Path) -> list[Stack]:
    """The stacks in a file that py-spy has written in its format `raw`."""
    lines = path.read_text("utf-8", "replace").splitlines()
    return [stack for line in lines if (stack := _stack(line)) is not None]


def _stack(line: str) -> Stack | None:
    """The stack of a line: `process …;process …;thread …;outermost;…;innermost 12`.

    Commands of processes may have semicolons in them, so what counts is before the last thread.
    """
    text, _, count = line.rpartition(" ")
    parts = text.split(";")
    threads = [number for number, part in enumerate(parts) if _THREAD.match(part)]
    heads = parts[: threads[-1]] if threads else parts
    processes = [found[1] for part in heads if (found := _PROCESS.match(part))]
    if not processes or not count.isdecimal():
        return None
    frames = parts[threads[-1] + 1 :] if threads else []
    thread = _THREAD.match(parts[threads[-1]]) if threads else None
    number = _number(thread[1]) if thread else int(processes[-1])
    return Stack(int(processes[-1]), number, tuple(_frames(frames)), int(count))


def _frames(parts: list[str]) -> Iterator[Frame]:
    for part in parts:
        found = _FRAME.match(part)
        if found:
            yield Frame(found["function"], found["file"], int(found["line"] or 0))


def _number(text: str) -> int:
    """The number of a thread; systems that do not tell it have an address instead."""
    return int(text, 16 if text.startswith("0x") else 10)


@cache
def _line(frame: Frame) -> str:
    """The line of source that a function is at; nothing where it cannot be read."""
    return getline(frame.file.replace(_ARCHIVE, "/"), frame.line)
