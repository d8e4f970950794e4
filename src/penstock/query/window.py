"""Windows: how long a tuple stays alive. Times are microseconds."""

from __future__ import annotations

from dataclasses import dataclass

MICROS = 1_000_000


@dataclass(frozen=True)
class TimeWindow:
    """A tuple u is alive at a later time t while `u.ts ≥ ⌊t/slide⌋·slide − extent`.

    All time windows are this one: RANGE T has slide 1, RANGE T SLIDE s has slide s, TUMBLE T has
    slide T and extent 0, NOW has slide 1 and extent 0; UNBOUNDED has no extent.
    """

    extent: int | None
    slide: int = 1


@dataclass(frozen=True)
class RowsWindow:
    """The last `count` tuples of the stream, or of each value of the `partition_by` columns."""

    count: int
    partition_by: tuple[str, ...] = ()


Window = TimeWindow | RowsWindow

NOW = TimeWindow(extent=0)
UNBOUNDED = TimeWindow(extent=None)


def tumble(length: int) -> TimeWindow:
    """Blocks of the given length from the epoch."""
    return TimeWindow(extent=0, slide=length)


def is_tumble(window: TimeWindow) -> bool:
    """Whether this is a TUMBLE window (NOW is one of length 1 µs, but is not called so)."""
    return window.extent == 0 and window.slide > 1


def render_window(window: Window | None) -> str:
    """The window as it is written in a query, without brackets; `table` where there is none."""
    match window:
        case None:
            return "table"
        case RowsWindow(count=count, partition_by=()):
            return f"ROWS {count}"
        case RowsWindow(count=count, partition_by=columns):
            return f"PARTITION BY {', '.join(columns)} ROWS {count}"
        case TimeWindow(extent=None):
            return "UNBOUNDED"
        case TimeWindow(extent=0, slide=1):
            return "NOW"
        case TimeWindow(extent=0, slide=slide):
            return f"TUMBLE {render_duration(slide)}"
        case TimeWindow(extent=int() as extent, slide=1):
            return f"RANGE {render_duration(extent)}"
        case TimeWindow(extent=int() as extent, slide=slide):
            return f"RANGE {render_duration(extent)} SLIDE {render_duration(slide)}"
    raise AssertionError(window)


_UNITS = (
    ("DAY", 86_400 * MICROS),
    ("HOUR", 3_600 * MICROS),
    ("MINUTE", 60 * MICROS),
    ("SECOND", MICROS),
    ("MILLISECOND", 1_000),
    ("MICROSECOND", 1),
)


def render_duration(micros: int) -> str:
    """A duration in the largest unit that divides it: `90 SECONDS`, `1 HOUR`."""
    for name, size in _UNITS:
        if micros >= size and micros % size == 0:
            count = micros // size
            return f"{count} {name}{'' if count == 1 else 'S'}"
    return "0 SECONDS"
