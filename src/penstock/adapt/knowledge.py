"""What is known of a running query: what was given, with what was measured laid over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

from penstock.adapt.figures.figures import Figures
from penstock.adapt.figures.measured import Measured
from penstock.adapt.figures.overlay import (
    UNKNOWN,
    figure_in,
    given_of,
    overlaid,
    with_variations,
    without_repeated,
)
from penstock.adapt.figures.subject import Cost, Equal, Subject, described
from penstock.adapt.figures.tables import Tables, tables_of
from penstock.adapt.figures.track import Reading
from penstock.adapt.helpers import Trains
from penstock.adapt.settings import Settings
from penstock.engine.reports.parts import FigureReport
from penstock.engine.reports.report import Report
from penstock.engine.wire.facts import Fact
from penstock.plan.plan import Plan
from penstock.stats.costs import Costs
from penstock.stats.guess import complete
from penstock.stats.known import Known
from penstock.stats.statistics import Statistics


class Knowledge:
    """The figures of one run, as the planner takes them."""

    def __init__(self, known: Known, settings: Settings):
        self.first = known
        self.figures = Figures(known.query, settings)
        self.weighed = known
        self._measured: Mapping[Subject, Measured] | None = None
        self._recent: Known | None = None
        self._age = 0
        self.factor: float | None = None
        self._given = given_of(known)
        self._settings = settings
        self._names: dict[Subject, str] = {}

    def take(self, report: Report, facts: Sequence[Fact], plan: Plan) -> dict[Subject, Reading]:
        """Take a batch in; what it says by itself."""
        self._measured, self._age = None, self._age + 1
        return self.figures.take(report, facts, plan)

    def restart(self, subject: Subject, readings: int) -> int:
        """Forget all but the latest readings of a figure; the batches that are left."""
        self._measured = self._recent = None
        return self.figures.restart(subject, readings)

    @property
    def measured(self) -> Mapping[Subject, Measured]:
        """The figures as they stand, put together when somebody asks."""
        if self._measured is None:
            self._measured = self.figures.measured()
        return self._measured

    def statistics(self) -> Statistics:
        """All that is given or measured."""
        found = overlaid(self._given, self.first, self.measured, self._settings)
        found = without_repeated(found, self.figures.repeated())
        return with_variations(found, self.figures.variations())

    def known(self, statistics: Statistics | None = None) -> Known:
        """All that is known now, what is missing guessed; seconds as the model has them."""
        return complete(self.first.query, statistics or self.statistics(), self.first.costs)

    def recent(self) -> Known:
        """What is known, or was some batches ago if nothing has drifted since: for those that look
        at all batches, to whom the last digits do not matter."""
        if self._recent is None or self._age >= self._settings.told_every:
            self._recent, self._age = self.known(), 0
        return self._recent

    def question(self, trainer: Trains | None = None) -> Callable[[], Known]:
        """Who makes what is known now, in any thread, with seconds as batches have taken them."""
        statistics, most = self.statistics(), self._settings.most_factor
        factor = min(most, max(1.0 / most, self.factor or 1.0))

        def corrected() -> Known:
            known = self.known(trained(statistics, trainer))
            return replace(known, costs=times(known.costs, factor)) if factor != 1.0 else known

        return corrected

    def has_moved(self) -> bool:
        """Whether a figure is off from what plans were last weighed by, beyond its noise."""
        return any(self._is_off(subject, each) for subject, each in self.measured.items())

    def has_moved_far(self) -> bool:
        """Whether a rate is so far off that plans should not wait."""
        return any(
            self._factor(subject, each) > self._settings.moved_far and self._is_off(subject, each)
            for subject, each in self.figures.rates().items()
        )

    def told(self, predicted: Known) -> tuple[FigureReport, ...]:
        """The figures as they stand, beside those that the running plan was chosen by."""
        return tuple(
            FigureReport(
                self.name(subject),
                each.value,
                each.error if each.hits else None,
                subject.unit,
                _predicted(predicted, subject),
            )
            for subject, each in self.measured.items()
        )

    def tables(self) -> Tables:
        """All that is given or measured, as the tables of a stats file."""
        return tables_of(self.statistics(), lambda group: self.name(Equal(group, "sketch")))

    def name(self, subject: Subject) -> str:
        """A subject as explain names it."""
        if subject not in self._names:
            self._names[subject] = described(subject, self.first.query)
        return self._names[subject]

    def _factor(self, subject: Subject, each: Measured) -> float:
        """How much larger one of a figure and its base is than the other; 0 where nobody knows."""
        base = figure_in(self.weighed, subject)
        now = each.over(base, self._settings)
        if now is None or min(base.value, now.value) <= 0.0:
            return 0.0
        return max(now.value, base.value) / min(now.value, base.value) - 1.0

    def _is_off(self, subject: Subject, each: Measured) -> bool:
        settings, factor = self._settings, self._factor(subject, each)
        if not each.hits:
            # The most that it can be, which falls with every batch in which none comes.
            return factor > settings.none_moved
        if isinstance(subject, Cost):
            return factor > settings.cost_moved
        return factor > max(settings.moved, settings.moved_errors * each.relative_error)


def _predicted(known: Known, subject: Subject) -> float | None:
    """The value that plans were chosen by; None where nothing was known of it."""
    figure = figure_in(known, subject)
    return None if figure == UNKNOWN else figure.value


def trained(statistics: Statistics, trainer: Trains | None) -> Statistics:
    """The statistics with the training of now."""
    if trainer is None:
        return statistics
    training, untrained = trainer.training(statistics)
    return replace(statistics, training=training, untrained=untrained)


def times(costs: Costs, factor: float) -> Costs:
    """Costs that are so many times as high, as measured."""
    names = [field.name for field in fields(costs) if field.name != "origin"]
    scaled = {name: getattr(costs, name) for name in names}
    scaled = {name: cost * factor for name, cost in scaled.items() if cost is not None}
    return replace(costs, origin="measured", **scaled)
