"""Figures as people read them: thousands marked, short, with a unit, `~` before a guess."""

from __future__ import annotations

from math import isfinite

from penstock.plan.decision import Estimate, Statistic

# Longer numbers are cut to three digits: nobody reads the rest, and columns would be wide.
_LONG = 1e7
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
_EXPONENT = 1e15
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
# What is kept of a stream that is as good as whole: it reads 100 %.
_ALL = 0.9995


def number(value: float | None) -> str:
    """A figure with thousands marked, `?` where it is unknown."""
    if value is None:
        return "?"
    if not isfinite(value):
        return "∞"
    if value >= _EXPONENT:
        return f"{value:.3g}"
    if value >= _LONG:
        return next(f"{value / scale:.3g}{sign}" for scale, sign in _SCALES if value >= scale)
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.3g}"


def roughly(text: str, is_guess: bool) -> str:
    """The figure, marked if it rests on guesses."""
    return f"~{text}" if is_guess else text


def percent(fraction: float) -> str:
    """A fraction as `100 %`."""
    return f"{100 * fraction:.3g} %"


def seconds(value: float) -> str:
    """A time in the unit that suits it: `0.5 ms`, `12 s`."""
    if not value:
        return "0 s"
    scale, unit = next((s for s in _SECONDS if value >= s[0] * 0.1), _SECONDS[-1])
    return f"{number(float(f'{value / scale:.4g}'))} {unit}"


def statistic_text(statistic: Statistic) -> str:
    """The value of a statistic with its unit."""
    value = statistic.figure.value
    match statistic.unit:
        case "s":
            return seconds(value)
        case "passes":
            return f"{percent(value)} pass"
    return f"{number(value)} {statistic.unit}"


def kept_text(found: Estimate) -> str:
    """`A 40 %, C 7 %`, or `all` where nothing is shed."""
    return ", ".join(f"{a} {percent(x)}" for a, x in kept(found).items()) or "all"


def is_shed(fraction: float) -> bool:
    """Whether a stream of which this much is kept is noticeably shed from."""
    return fraction < _ALL


def kept(found: Estimate) -> dict[str, float]:
    """The streams that are shed from, with the fraction that is kept."""
    return {alias: fraction for alias, fraction in found.keep.items() if is_shed(fraction)}


def shortened(text: str, width: int) -> str:
    """The text, cut with `…` where it is wider."""
    return text if len(text) <= width else text[: width - 1] + "…"


def bytes_text(value: float) -> str:
    """`3.2 kB`, to four digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.95:
            return f"{value:.4g} {unit}"
        value /= 1000
    return f"{value:.4g} TB"
