"""Figures as people read them: thousands marked, short, with a unit, `~` before a guess.

What a run has measured has three digits (`figure`), what was counted has all of them (`count`).
`watch/page/format.js` writes both, rates, parts, times and bytes by the same rules.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context
from math import isfinite

from penstock.plan.decision import Estimate, Statistic

# Longer numbers are cut to three digits: nobody reads the rest, and columns would be wide.
_LONG = 1e7
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
_EXPONENT = 1e15
# Smaller figures have an exponent too: nobody counts so many zeros.
_SMALL = 1e-4
_THREE_DIGITS = Context(prec=3, rounding=ROUND_HALF_UP)
# From how many seconds on a time is told in a unit, and its seconds.
_TIMES = (
    (172_800.0, 86_400.0, "d"),
    (7_200.0, 3_600.0, "h"),
    (120.0, 60.0, "min"),
    (0.1, 1.0, "s"),
    (1e-4, 1e-3, "ms"),
    (1e-7, 1e-6, "µs"),
    (0.0, 1e-9, "ns"),
)
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_UNKNOWN = "–"
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
    return f"{value:,.0f}" if value == int(value) or value >= 100 else figure(value)


def roughly(text: str, is_guess: bool) -> str:
    """The figure, marked if it rests on guesses."""
    return f"~{text}" if is_guess else text


def figure(value: float | None) -> str:
    """A figure that was measured, with three digits: `0.0123`, `12,300`, `45.6M`."""
    if value is None:
        return _UNKNOWN
    if not isfinite(value):
        return "∞"
    digits = _THREE_DIGITS.create_decimal(value)
    short = float(digits) + 0.0  # A zero of a negative one.
    size = abs(short)
    if size >= _EXPONENT or 0.0 < size < _SMALL:
        return f"{digits.normalize():e}"
    if size >= _LONG:
        return next(f"{short / scale:.3g}{sign}" for scale, sign in _SCALES if size >= scale)
    return f"{short:,.7g}"


def count(value: int | None) -> str:
    """A number of things, all its digits: `1,234,567`."""
    return _UNKNOWN if value is None else f"{value:,}"


def rate(value: float | None) -> str:
    """So many a second, as `12,300/s`."""
    return _UNKNOWN if value is None else f"{figure(value)}/s"


def percent(fraction: float | None) -> str:
    """A fraction as `100 %`."""
    return _UNKNOWN if fraction is None else f"{figure(100 * fraction)} %"


def seconds(value: float | None) -> str:
    """A time in the unit that suits it: `0.5 ms`, `12 s`, `2.5 min`, `3 h`."""
    if value is None or not value:
        return _UNKNOWN if value is None else "0 s"
    short = abs(float(_THREE_DIGITS.create_decimal(value)))
    size, unit = next((size, unit) for least, size, unit in _TIMES if short >= least)
    return f"{figure(value / size)} {unit}"


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
    """`3.2 kB`, by thousands."""
    short = abs(float(_THREE_DIGITS.create_decimal(value)))
    size, unit = next(((s, u) for s, u in _BYTES if short >= s), _BYTES[-1])
    return f"{figure(value / size)} {unit}"
