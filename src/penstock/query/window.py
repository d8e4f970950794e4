"""Windows: how long a tuple stays alive. Times are microseconds."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.duration import Duration


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
            return f"TUMBLE {Duration(slide)}"
        case TimeWindow(extent=int() as extent, slide=1):
            return f"RANGE {Duration(extent)}"
        case TimeWindow(extent=int() as extent, slide=slide):
            return f"RANGE {Duration(extent)} SLIDE {Duration(slide)}"
    raise AssertionError(window)
