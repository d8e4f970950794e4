"""The policy: whether to switch to another plan, by figures alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from penstock.adapt.settings import Settings

Rule = Literal["worth it", "margin", "dwell", "saving", "behind", "payback", "barred", "shed"]


@dataclass(frozen=True)
class Offer:
    """Another plan, and all that decides whether it is followed. Work is in CPU-seconds for a
    second of event time, as the model has it, corrected by what was measured."""

    old_work: float
    new_work: float
    rebuild: float = 0.0
    """Seconds for state that must be rebuilt."""

    fill: float = 0.0
    """Seconds of event time until that is there, if it fills itself while the old plan goes on."""

    busy: float = 1.0
    """The part of the clock that batches take."""

    largest_window: float = inf
    """Seconds of event time."""

    regime: float = inf
    """Seconds of event time since the last drift, or the start."""

    since_switch: int | None = None
    """Batches since the last switch; None if there was none."""

    since_drift: int | None = None
    """Batches since the last drift, or the start."""

    is_behind: bool = False
    """Whether more is left to read than before the last rebuild."""

    barred_until: int | None = None
    """The batch before which it is not tried again, where it was tried and taken back."""

    is_for_all_tuples: bool = False
    """Whether it cannot be followed while tuples are shed, and some are."""


@dataclass(frozen=True)
class Verdict:
    """Whether a plan is followed, the reason with its figures, and the rule that decided."""

    is_worth_it: bool
    reason: str
    rule: Rule = "worth it"


def verdict(offer: Offer, settings: Settings) -> Verdict:
    """Whether to follow another plan; the first thing that speaks against it is the reason."""
    if offer.barred_until is not None:
        until = f"it was taken back, and is not tried again before batch {offer.barred_until}"
        return Verdict(False, until, "barred")
    if offer.is_for_all_tuples:
        return Verdict(False, "it recomputes the view, and tuples are shed just now", "shed")
    margin = settings.rebuild_margin if offer.rebuild else settings.free_margin
    if offer.new_work * margin >= offer.old_work:
        saved = f"{_saved(offer):.0%} less work"
        return Verdict(False, f"{saved}: less than {margin:g} times as good", "margin")
    if is_dwelling(offer, settings):
        ago = f"the last switch was {offer.since_switch} batches ago"
        return Verdict(False, f"{_saved(offer):.0%} less work, but {ago}", "dwell")
    if offer.rebuild:
        return _rebuilding(offer, settings)
    return Verdict(True, f"{_saved(offer):.0%} less work, and nothing to rebuild")


def is_dwelling(offer: Offer, settings: Settings) -> bool:
    """Whether the last switch was too short a while ago for another."""
    if offer.since_switch is None:
        return False
    is_settling = offer.since_drift is not None and offer.since_drift < settings.dwell_batches
    if is_settling and offer.since_drift is not None and offer.since_drift <= offer.since_switch:
        return False
    least = settings.settling_batches if is_settling else settings.dwell_batches
    return offer.since_switch < least


def _rebuilding(offer: Offer, settings: Settings) -> Verdict:
    share = _saved(offer) * offer.busy
    if share < settings.least_saving:
        return Verdict(False, f"it saves only {share:.1%} of the clock for a rebuild", "saving")
    if offer.is_behind:
        return Verdict(False, "what the last rebuild has held up is not read yet", "behind")
    horizon = _horizon(offer, settings)
    gain = (offer.old_work - offer.new_work) * max(0.0, horizon - offer.fill)
    filled = f" that fills itself for {offer.fill:.3g} s" if offer.fill else ""
    told = f"{gain:.3g} s within {horizon:.3g} s for a rebuild of {offer.rebuild:.3g} s{filled}"
    if gain < settings.payback * offer.rebuild:
        return Verdict(False, f"it saves only {told}", "payback")
    return Verdict(True, f"{_saved(offer):.0%} less work: it saves {told}")


def _horizon(offer: Offer, settings: Settings) -> float:
    """Seconds of event time within which a rebuild must pay."""
    windows = settings.horizon_windows * offer.largest_window or inf
    lasting = settings.horizon_lasting * offer.regime if offer.regime < inf else 0.0
    return min(max(windows, lasting), settings.horizon_regime * offer.regime)


def _saved(offer: Offer) -> float:
    """The part of the work that is saved."""
    return 1.0 - offer.new_work / offer.old_work if offer.old_work > 0.0 else 0.0
