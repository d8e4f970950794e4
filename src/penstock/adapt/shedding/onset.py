"""The onset of shedding, and its end: whether the load is such that tuples must be shed."""

from __future__ import annotations

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings


class Onset:
    """Hears of each batch how late it was and what the load is; `target` is the wanted delay.

    A load is the seconds that a second of data takes with nothing shed. One that leaves time to
    catch up is never shed, however late the query is just now.
    """

    def __init__(self, target: float, settings: Settings = DEFAULT_SETTINGS):
        self.is_shedding = False
        self._target = target
        self._settings = settings
        self._late, self._calm = 0, 0

    def hear(self, delay: float, load: float, expected: float) -> None:
        """Take in a batch: its delay, and the one that is `expected` next if all is kept."""
        settings = self._settings
        is_late = delay > self._target and load > settings.shed_catch_up
        is_calm = delay < settings.shed_calm_delay * self._target and load <= 1.0
        self._late = self._late + 1 if is_late else 0
        self._calm = self._calm + 1 if is_calm else 0
        rises = load > 1.0 and expected > self._target
        if rises or self._late >= settings.shed_late_batches:
            self.is_shedding = True
        elif self._calm >= settings.shed_calm_batches or load <= settings.shed_catch_up:
            self.is_shedding = False
