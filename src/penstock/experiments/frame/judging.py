"""Judging: verdicts computed from what was found. Nobody writes one by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.experiments.frame.claim import Claim, Verdict

NEARLY = 3.0
"""A figure that is off by up to so many times what is allowed holds partly."""
_ROUNDING = 1e-4
"""Figures as near as this are the same but for the digits that a paper prints."""
_FEW = 4
"""Conditions that are all named."""


def near(
    text: str,
    *,
    paper: float,
    ours: float,
    within: float,
    unit: str = "",
    reason: str = "",
    timed: bool = False,
) -> Claim:
    """A figure of the paper's is ours too, but for a part `within` of it."""
    return all_near(
        text,
        paper={"": paper},
        ours={"": ours},
        within=within,
        unit=unit,
        reason=reason,
        timed=timed,
    )


def all_near(
    text: str,
    *,
    paper: Mapping[str, float],
    ours: Mapping[str, float],
    within: float,
    unit: str = "",
    reason: str = "",
    timed: bool = False,
) -> Claim:
    """Figures of the paper's by name are ours too; `ours` may have more."""
    off = max(_relative(paper[name], ours[name]) for name in paper)
    verdict: Verdict = "holds" if off <= within else "fails"
    if within < off <= NEARLY * within:
        verdict = "partly"
    why = "the same"
    if verdict != "holds" or within > _ROUNDING:
        why = f"off by {_percent(off)} at most, {_percent(within)} allowed"
    shown = {name: ours[name] for name in paper}
    return Claim(text, _figures(paper, unit), _figures(shown, unit), verdict, why, reason, timed)


def ranked(
    text: str,
    *,
    paper: Sequence[str],
    ours: Mapping[str, float],
    unit: str = "",
    descending: bool = False,
    reason: str = "",
    timed: bool = False,
) -> Claim:
    """Things in the paper's order, from the least (or greatest) value of ours.

    It holds partly if only the first is the same.
    """
    order = sorted(paper, key=lambda name: ours[name], reverse=descending)
    verdict: Verdict = "holds" if order == list(paper) else "fails"
    why = "the same order"
    if verdict == "fails":
        verdict = "partly" if order[0] == paper[0] else "fails"
        why = "only the first is the same" if verdict == "partly" else "another is first"
    sign = " > " if descending else " < "
    found = sign.join(f"{name} {figure_text(ours[name])}{unit}" for name in order)
    return Claim(text, sign.join(paper), found, verdict, why, reason, timed)


def checked(
    text: str,
    *,
    paper: str,
    ours: str,
    checks: Mapping[str, bool],
    reason: str = "",
    timed: bool = False,
) -> Claim:
    """Conditions by what they say: the claim holds if all do, and partly if some do."""
    missed = [what for what, holds in checks.items() if not holds]
    verdict: Verdict = "partly" if missed else "holds"
    if len(missed) == len(checks):
        verdict = "fails"
    return Claim(text, paper, ours, verdict, _met(checks, missed), reason, timed)


def _met(checks: Mapping[str, bool], missed: Sequence[str]) -> str:
    """Which conditions are met; where they are many, only how many."""
    if not missed:
        return "; ".join(checks) if len(checks) <= _FEW else f"all {len(checks)} conditions met"
    met = len(checks) - len(missed)
    return f"{met} of {len(checks)} conditions met; not so: {'; '.join(missed)}"


def figure_text(value: float) -> str:
    """A figure to about four digits."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.4g}"
    return text if "e" not in text else f"{value:.2e}"


def _relative(paper: float, ours: float) -> float:
    return abs(ours - paper) / abs(paper) if paper else abs(ours)


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part < 0.995 else f"{100 * part:.0f} %"


def _figures(values: Mapping[str, float], unit: str) -> str:
    named = ((f"{name}: " if name else "", figure_text(value)) for name, value in values.items())
    return ", ".join(f"{name}{value}{unit}" for name, value in named)
