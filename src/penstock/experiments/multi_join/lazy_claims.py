"""The claims about G&O Fig. 3, judged for the model and for what was counted."""

from __future__ import annotations

from itertools import pairwise

from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.judging import checked, figure_text
from penstock.experiments.multi_join.compared import Costs

LIKE, FAST = "four like streams", "a fast fourth stream"
_SAME = 1.03
"""Costs that are less than this apart are the same: random streams differ by as much."""
_NEARLY = 1.1
"""Nearly as good: a tenth more at most."""
_REASON = (
    "The model goes on with every match among the T + τ seconds that a window has grown to; our "
    "loops go on only with members that were alive together, so that the inner loops run less "
    "often and long intervals cost less, most of all for lazy loops"
)


def lazy_claims(title: str, model: Costs, found: Costs) -> list[Claim]:
    """What the paper says of one setting."""
    claims = []
    for how, costs, reason in (("model", model, ""), ("counted", found, _REASON)):
        about = f"{title}, {how}"
        claims += [_general(about, costs, reason), _short(about, costs, reason)]
        if title == FAST:
            claims += [_long(about, costs, reason), _nearly(about, costs, reason)]
        else:
            claims += [_equal(about, costs, reason), _rising(about, costs, reason)]
            claims.append(_dearer(about, costs, reason))
    return claims


def _general(about: str, costs: Costs, reason: str) -> Claim:
    never_worse = {
        f"at τ = {tau:g} s": cost <= _SAME * min(costs["lazy"][tau], costs["naive"][tau])
        for tau, cost in costs["general lazy"].items()
    }
    return checked(
        f"General lazy loops are never worse than the others ({about})",
        paper="never worse",
        ours="; ".join(_at(costs, end(costs["lazy"])) for end in (min, max)),
        checks=never_worse,
        reason=reason,
    )


def _short(about: str, costs: Costs, reason: str) -> Claim:
    tau = min(costs["lazy"])
    naive, lazy, general = (costs[n][tau] for n in ("naive", "lazy", "general lazy"))
    return checked(
        f"For short intervals lazy is as good as general and far ahead of naive ({about})",
        paper="lazy the same as general, naive more",
        ours=_at(costs, tau),
        checks={
            "lazy costs what general does": lazy <= _SAME * general,
            "naive twice": naive > 2 * lazy,
        },
        reason=reason,
    )


def _long(about: str, costs: Costs, reason: str) -> Claim:
    tau = max(costs["lazy"])
    naive, lazy, general = (costs[n][tau] for n in ("naive", "lazy", "general lazy"))
    return checked(
        f"For long intervals lazy is the worst ({about})",
        paper="general ≤ naive < lazy",
        ours=_at(costs, tau),
        checks={"naive beats lazy": naive < lazy, "general beats lazy": general < lazy},
        reason=reason,
    )


def _nearly(about: str, costs: Costs, reason: str) -> Claim:
    tau = max(costs["lazy"])
    naive, general = costs["naive"][tau], costs["general lazy"][tau]
    return checked(
        f"For long intervals naive is nearly as good as general ({about})",
        paper="nearly as good",
        ours=f"naive over general {naive / general:.3f}",
        checks={"a tenth more at most": naive <= _NEARLY * general},
        reason=reason,
    )


def _equal(about: str, costs: Costs, reason: str) -> Claim:
    ratios = {tau: cost / costs["general lazy"][tau] for tau, cost in costs["lazy"].items()}
    return checked(
        f"Lazy and general cost the same at every τ ({about})",
        paper="the same: new tuples always come first",
        ours=f"lazy over general {min(ratios.values()):.3f} to {max(ratios.values()):.3f}",
        checks={f"at τ = {tau:g} s": 1 / _SAME <= r <= _SAME for tau, r in ratios.items()},
        reason=reason,
    )


def _rising(about: str, costs: Costs, reason: str) -> Claim:
    steps = {
        f"{name} from τ = {one:g} to {other:g} s": costs[name][one] < costs[name][other]
        for name in ("lazy", "general lazy")
        for one, other in pairwise(costs[name])
    }
    return checked(
        f"The cost steadily rises with τ ({about})",
        paper="steadily: windows that are cleaned less often are larger",
        ours="; ".join(_at(costs, end(costs["lazy"])) for end in (min, max)),
        checks=steps,
        reason=reason,
    )


def _dearer(about: str, costs: Costs, reason: str) -> Claim:
    ratios = {tau: cost / costs["lazy"][tau] for tau, cost in costs["naive"].items()}
    first, last = ratios[min(ratios)], ratios[max(ratios)]
    return checked(
        f"Naive costs more at every τ, most of all at a small one ({about})",
        paper="more, especially if τ is small",
        ours=f"naive over lazy {first:.2f} at the shortest, {last:.2f} at the longest τ",
        checks={
            "more at every τ": min(ratios.values()) > 1,
            "most at the shortest": first == max(ratios.values()),
        },
        reason=reason,
    )


def _at(costs: Costs, tau: float) -> str:
    shown = ", ".join(f"{name} {figure_text(by[tau])}" for name, by in costs.items())
    return f"τ = {tau:g} s: {shown}"
