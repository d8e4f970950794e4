"""The watch over all figures: which have drifted in a batch."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.adapt.drift.detector import Detector, load_windows
from penstock.adapt.figures.subject import Cost, Equal, Passing, Subject
from penstock.adapt.figures.track import Reading
from penstock.adapt.settings import Settings


class Watch:
    """A detector for each figure."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._windows = load_windows(settings)
        self._detectors: dict[Subject, Detector] = {}

    def see(self, readings: Mapping[Subject, Reading]) -> dict[Subject, int]:
        """The figures that have drifted, with the batches since, this one included.

        Seconds have no noise that is known, and no plan is made for them alone. What routes find
        among what they have found before follows from the others.
        """
        found: dict[Subject, int] = {}
        for subject, reading in readings.items():
            if not _is_watched(subject) or reading.below <= 0.0:
                continue
            if subject not in self._detectors:
                self._detectors[subject] = Detector(self._settings)
            batches = self._detectors[subject].see(reading, self._windows)
            if batches is not None:
                found[subject] = batches
        return found

    def begin(self, subject: Subject) -> None:
        """Watch a figure anew from the value that it has next."""
        self._detectors[subject].begin()

    def begin_conditions(self) -> None:
        """Watch all conditions anew: another plan shows them other rows, of which others pass."""
        for subject, detector in self._detectors.items():
            if isinstance(subject, Passing):
                detector.begin()


def _is_watched(subject: Subject) -> bool:
    is_route = isinstance(subject, Equal) and subject.by == "route"
    return not isinstance(subject, Cost) and not is_route
