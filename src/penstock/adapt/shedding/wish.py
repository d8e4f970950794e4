"""The wish for a delay: how late results may be, and whether tuples may be shed for it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.engine.run.options import RunOptions


@dataclass(frozen=True)
class Wish:
    """What is wanted of a run: a delay, seconds, in batches at least `trigger` seconds apart.

    `is_on` lets tuples be shed for it; views then are estimates, or `exact_of_kept`.
    """

    delay: float
    trigger: float
    is_on: bool = True
    exact_of_kept: bool = False


def wish_of(options: RunOptions, *, exact_of_kept: bool = False) -> Wish:
    """The wish of a run: with a delay it may shed, without one it is only watched."""
    trigger = options.trigger.seconds
    delay = default_delay(trigger) if options.delay is None else options.delay.seconds
    return Wish(delay, trigger, options.delay is not None, exact_of_kept)


def default_delay(trigger: float, settings: Settings = DEFAULT_SETTINGS) -> float:
    """The delay, seconds, that is wanted where nobody says."""
    return max(settings.shed_delay, settings.shed_triggers * trigger)
