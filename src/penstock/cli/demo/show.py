"""The demo from its first line to its last."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import TYPE_CHECKING

from penstock.cli.demo.ending import end
from penstock.cli.demo.live import run_live
from penstock.cli.demo.preparing import AT_ONCE, TRIAL, compile_all, live_part, planned
from penstock.cli.demo.site import WRITTEN
from penstock.cli.demo.stage import Stage
from penstock.cli.demo.story import story_of
from penstock.cli.demo.summary import costs_text, measured_text, summary
from penstock.cli.demo.trial import Trial, try_out
from penstock.cli.demo.voice import say, tell
from penstock.cli.running.signals import Signals

if TYPE_CHECKING:
    from penstock.api import ContinuousQuery


def show(place: Path, seconds: int, signals: Signals, *, with_dashboard: bool) -> None:
    """Show all of it; what is left lies in a folder."""
    with TemporaryDirectory(prefix="penstock-demo-", ignore_cleanup_errors=True) as scratch:
        _show(place, Path(scratch), seconds, signals, with_dashboard)


def _show(place: Path, scratch: Path, seconds: int, signals: Signals, with_dashboard: bool) -> None:
    from penstock.engine.spark.session import own_session

    place.mkdir(parents=True)
    chosen = planned(TRIAL.calm(AT_ONCE), scratch / "calm.toml")
    written = replace(chosen, options=replace(chosen.options, plan=WRITTEN))
    say("An auction site, and a question", chosen.query.text.strip())
    say("The plan as written and the plan chosen, estimated", costs_text(written, chosen))
    say("The plan chosen", chosen.explain().partition("\nnote")[0])
    tell("\nCompiling what is not compiled yet; that is kept for later runs …")
    rushed = planned(TRIAL.rushed(AT_ONCE), scratch / "rush.toml")
    compile_all(chosen, rushed)
    tell("Starting Spark …")
    with ExitStack() as pages:
        with own_session(registers=False) as spark:
            # From here on Ctrl-C is looked for between calls to Spark; a second one ends all.
            stage = Stage(spark, place, scratch, Event())
            signals.stop_with(stage.stopping.set)
            trials = _compared(written, chosen, stage)
            part = live_part(rushed, stage, seconds)
            reports = run_live(part, stage, pages, with_dashboard)
        say("What happened", summary(part.site, *trials, story_of(reports)))
        end(place, stage.stopping, stays=with_dashboard)


def _compared(
    written: ContinuousQuery, chosen: ContinuousQuery, stage: Stage
) -> tuple[Trial, Trial]:
    """Both plans as they were measured on the same data."""
    tell(f"Both plans on the same {TRIAL.seconds} seconds of data …")
    before, after = try_out(written, stage, "as-written"), try_out(chosen, stage, "as-chosen")
    say("The same, measured", measured_text(before, after))
    return before, after
