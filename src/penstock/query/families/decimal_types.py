"""How many digits DECIMAL results have: Spark's rules, with its default of losing precision.

Digits are (precision, scale): how many there are, and how many of them after the point.
"""

from __future__ import annotations

MOST_DIGITS = 38
"""What a DECIMAL holds at the most."""

LONG_DIGITS = 18
"""What 64 bits hold."""

# So many digits after the point are kept where a result would have more than 38 (Spark's rule).
_KEPT_SCALE = 6
# The least scale of a quotient.
_QUOTIENT_SCALE = 6

Digits = tuple[int, int]


def union(one: Digits, other: Digits) -> Digits | None:
    """The digits that hold all values of both, if 38 do."""
    scale = max(one[1], other[1])
    precision = max(one[0] - one[1], other[0] - other[1]) + scale
    return (precision, scale) if precision <= MOST_DIGITS else None


def computed(function: str, one: Digits, other: Digits) -> Digits:
    """The digits of `one + other` and the like."""
    (p1, s1), (p2, s2) = one, other
    scale = max(s1, s2)
    match function:
        case "add" | "subtract":
            return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)
        case "multiply":
            return _adjusted(p1 + p2 + 1, s1 + s2)
        case "divide":
            scale = max(_QUOTIENT_SCALE, s1 + p2 + 1)
            return _adjusted(p1 - s1 + s2 + scale, scale)
    assert function == "modulo", function
    return _adjusted(min(p1 - s1, p2 - s2) + scale, scale)


def summed(of: Digits) -> Digits:
    """The digits of a SUM: ten more before the point, as far as there is room."""
    return min(of[0] + 10, MOST_DIGITS), of[1]


def averaged(of: Digits) -> Digits:
    """The digits of an AVG: four more after the point, as far as there is room."""
    return min(of[0] + 4, MOST_DIGITS), min(of[1] + 4, MOST_DIGITS)


def rounded(of: Digits, places: int) -> Digits:
    """The digits of ROUND(x, places): one more before the point, fewer after it."""
    whole = of[0] - of[1] + 1
    if places < 0:
        return min(max(whole, 1 - places), MOST_DIGITS), 0
    scale = min(of[1], places)
    return min(whole + scale, MOST_DIGITS), scale


def _adjusted(precision: int, scale: int) -> Digits:
    """At most 38 digits: those after the point go first, but for six of them."""
    if precision <= MOST_DIGITS:
        return max(precision, 1), scale
    least = min(scale, _KEPT_SCALE)
    return MOST_DIGITS, max(MOST_DIGITS - (precision - scale), least)
