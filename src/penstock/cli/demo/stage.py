"""The stage of the demo: a Spark session, a folder for what is left, and who ends it all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.engine.run.handle import Run


class Stopped(Exception):  # noqa: N818 - it is no error
    """Somebody wants the demo to end."""


@dataclass(frozen=True)
class Stage:
    """What all parts of the demo need."""

    spark: Any
    place: Path
    """The folder of what is left in the end."""

    scratch: Path
    """One that is gone then."""

    stopping: Event
    """Set when the demo is to end."""

    def wait_for(self, run: Run, is_over: Callable[[], bool] = lambda: False) -> None:
        """Wait until a run has ended, or is over; Stopped if the demo is to end before.

        An exception in the middle of a call to the JVM would spoil the connection, so Ctrl-C is
        looked for between calls.
        """
        while not is_over():
            if self.stopping.is_set():
                raise Stopped
            if run.await_termination(0.2):
                return
