"""The claims about T&L Fig. 6–9, of joins of any number of streams."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from penstock.experiments.aggregation_join.varied import Curves, Found, Panels
from penstock.experiments.frame.claim import Claim
from penstock.experiments.frame.judging import checked, figure_text
from penstock.plan.multiway import Method

_STRAIGHT = 0.05
"""A curve is straight if it is no farther than this part from the line through its ends: random
streams differ by some per cent."""
_CONSTANT = _STRAIGHT
"""A curve is constant if it grows by no more than this part, which random streams may differ by."""
_RISING = 2 * _STRAIGHT
"""A line that rises by less than this part from end to end might be flat, but for that noise."""
_LOST = 0.9
"""An advantage below a tenth is lost; a plan that is dearer by more has gone past the other."""
_SAME = 1.02
"""Plans less than this apart are not ranked: random streams differ by as much."""
_MOSTLY = 0.9
"""Almost always."""
_NEAR = 1.25
"""The model is near what is counted, a prototype’s noise included."""

_LEVEL = {2: 2000.0, 3: 200.0}
"""From this window on, the paper’s aggregation set of the first stream is full."""
_HALF = (
    "The model goes through whole chains of groups, where a search ends at the group it finds, "
    "after half of them; and its aggregation sets hold all rows that there can be, where random "
    "tuples leave some out"
)

_UNFILLED = (
    "From that window on the model’s aggregation sets hold all rows that there can be; random "
    "tuples of a window fill them only by and by, so that early plans still take some more"
)
_PAST = (
    "With a group for almost every tuple nothing is folded, and looking for a row to fold into is "
    "paid for on top: early plans go past the late ones, in the paper’s model too"
)
_HIDDEN = (
    "Where the other streams are aggregated, a tuple of the first finds one row a key: its work is "
    "so little beside theirs that the line is all but flat, in the paper’s model too"
)


def trend_claims(panels: Panels, method: Method) -> list[Claim]:
    """What the paper says of all its panels."""
    return [
        _window(panels["window"].counted),
        _always(panels["window"].counted),
        _groups(panels["groups"].counted),
        _rates(panels["rate"].counted),
        _selectivity(panels["selectivity"].counted, method),
        _ranking(panels),
        _nearness(panels),
    ]


def _is_early(plan: str, stream: int) -> bool:
    return plan != "LAP" and plan[3 + stream] == "1"


def _pairs(curves: Curves) -> Iterator[tuple[str, str]]:
    """Plans that aggregate the first stream early, each beside the one that does not."""
    for plan in curves:
        if _is_early(plan, 0):
            rest = plan[4:]
            yield plan, f"EAP0{rest}" if "1" in rest else "LAP"


def _window(curves: Curves) -> Claim:
    level = _LEVEL[_streams(curves)]
    checks = {}
    for plan, other in _pairs(curves):
        checks[f"{other} rises along a line"] = _is_rising_line(curves[other])
        growth = abs(_growth(curves[plan], level))
        checks[f"{plan} is constant from {level:,.0f} on"] = growth <= _CONSTANT
    return checked(
        "With a larger window late plans take more, along a line, and early ones stay constant",
        paper=f"linear, or constant from about {level:,.0f} tuples on",
        ours=_ends(curves),
        checks=checks,
        reason=_UNFILLED,
    )


def _always(curves: Curves) -> Claim:
    dearer = {
        f"{plan} at {x:,.0f}: {cost / curves['LAP'][x]:.3f} ×"
        for plan, curve in curves.items()
        for x, cost in curve.items()
        if cost > curves["LAP"][x]
    }
    early = [plan for plan in curves if plan != "LAP"]
    return checked(
        "Early plans are always better than LAP while the window is varied",
        paper="always better",
        ours=f"worse than LAP: {', '.join(sorted(dearer)) or 'none'}",
        checks={plan: not any(each.startswith(plan) for each in dearer) for plan in early},
        reason="The smallest windows hold fewer tuples than there are keys and groups: nothing is "
        "folded, in the paper’s model too, and folding is paid for",
    )


def _streams(curves: Curves) -> int:
    return max(len(plan) for plan in curves) - 3


def _is_straight(curve: dict[float, float]) -> bool:
    first, slope = min(curve), _slope(curve)
    line = {x: curve[first] + slope * (x - first) for x in curve}
    return all(abs(cost - line[x]) <= _STRAIGHT * line[x] for x, cost in curve.items())


def _is_rising_line(curve: dict[float, float]) -> bool:
    return _is_straight(curve) and _growth(curve, min(curve)) >= _RISING


def _growth(curve: dict[float, float], since: float) -> float:
    """The part by which a curve grows from a value on."""
    return curve[max(curve)] / curve[since] - 1


def _slope(curve: dict[float, float]) -> float:
    return (curve[max(curve)] - curve[min(curve)]) / (max(curve) - min(curve))


def _ends(curves: Curves) -> str:
    """What each plan takes at the first and the last value."""
    shown = []
    for plan, curve in curves.items():
        first, last = (figure_text(curve[end(curve)]) for end in (min, max))
        shown.append(f"{plan} {first} to {last}")
    return ", ".join(shown) + " s/s"


def _groups(curves: Curves) -> Claim:
    checks = {}
    for plan, other in _pairs(curves):
        ratios = [curves[plan][x] / curves[other][x] for x in curves[plan]]
        is_lost = ratios[0] < _LOST <= ratios[-1] <= 1 / _LOST
        checks[f"{plan} comes within a tenth of {other}"] = is_lost
    return checked(
        "With more groups, aggregating their stream early loses its advantage",
        paper="EAP1… approaches EAP0…",
        ours=_ends(curves),
        checks=checks,
        reason=_PAST,
    )


def _rates(curves: Curves) -> Claim:
    count = _streams(curves)
    fast = [p for p in curves if not any(_is_early(p, s) for s in range(1, count))]
    slow = [p for p in curves if all(_is_early(p, s) for s in range(1, count))]
    checks = {
        f"{plan} rises along a line": _is_rising_line(curve) for plan, curve in curves.items()
    }
    steepest = max(_slope(curves[p]) for p in slow)
    checks["plans that aggregate all others early rise slower"] = steepest < min(
        _slope(curves[p]) for p in fast
    )
    return checked(
        "With a faster stream all plans take more, along a line, those that fold the others less",
        paper="linear; LAP and EAP10 faster than EAP01 and EAP11",
        ours=_ends(curves),
        checks=checks,
        reason=_HIDDEN,
    )


def _selectivity(curves: Curves, method: Method) -> Claim:
    all_early = max(curves, key=lambda plan: plan.count("1"))
    rises = {plan: curve[max(curve)] > curve[min(curve)] for plan, curve in curves.items()}
    if method == "hash":
        checks = {f"{plan} rises": is_rising for plan, is_rising in rises.items()}
        return checked(
            "With more matches all plans take more, by hash",
            paper="all rise",
            ours=_ends(curves),
            checks=checks,
        )
    return checked(
        "With more matches late nested loops take more, and early ones less",
        paper="LAP rises, the plan that aggregates all early falls",
        ours=_ends(curves),
        checks={"LAP rises": rises["LAP"], f"{all_early} falls": not rises[all_early]},
    )


def _ranking(panels: Panels) -> Claim:
    alike = [same for found in panels.values() for same in _alike(found)]
    part = sum(alike) / len(alike)
    return checked(
        "The model ranks plans as they are ranked when run, almost always",
        paper="the same almost all the time",
        ours=f"{100 * part:.1f} % of {len(alike)} pairs of plans",
        checks={f"{100 * _MOSTLY:.0f} % of pairs at least": part >= _MOSTLY},
        reason=_HALF,
    )


def _alike(found: Found) -> Iterator[bool]:
    """Of each pair of plans that differ, at each value, whether model and counts order it alike."""
    for one, other in combinations(found.model, 2):
        for x in found.model[one]:
            ratios = [curves[one][x] / curves[other][x] for curves in (found.model, found.counted)]
            if all(max(ratio, 1 / ratio) > _SAME for ratio in ratios):
                yield (ratios[0] > 1) == (ratios[1] > 1)


def _nearness(panels: Panels) -> Claim:
    ratios = [
        found.counted[plan][x] / cost
        for found in panels.values()
        for plan, curve in found.model.items()
        for x, cost in curve.items()
    ]
    near = sum(1 / _NEAR <= ratio <= _NEAR for ratio in ratios) / len(ratios)
    return checked(
        "The model’s curves are those of what is counted",
        paper="very similar shapes",
        ours=f"{100 * near:.0f} % of {len(ratios)} runs within 25 %; "
        f"counted over model {min(ratios):.2f} to {max(ratios):.2f}",
        checks={
            f"{100 * _MOSTLY:.0f} % of runs within 25 %": near >= _MOSTLY,
            "all within a factor of 2": min(ratios) >= 0.5 and max(ratios) <= 2,
        },
        reason=_HALF,
    )
