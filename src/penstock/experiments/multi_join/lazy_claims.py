"""The claims about G&O Fig. 3, judged for the model and for what was counted."""

from __future__ import annotations

from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.judging import checked, figure_text
from penstock.experiments.multi_join.compared import Costs

LIKE, FAST = "four like streams", "a fast fourth stream"
_SAME = 1.03
"""Costs that are less than this apart are the same: random streams differ by as much."""
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
            claims.append(_long(about, costs, reason))
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
        f"For long intervals lazy is the worst, and naive nearly as good as general ({about})",
        paper="general ≤ naive < lazy",
        ours=_at(costs, tau),
        checks={"naive beats lazy": naive < lazy, "general beats lazy": general < lazy},
        reason=reason,
    )


def _at(costs: Costs, tau: float) -> str:
    shown = ", ".join(f"{name} {figure_text(by[tau])}" for name, by in costs.items())
    return f"τ = {tau:g} s: {shown}"
