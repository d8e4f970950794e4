"""Names as sources spell them."""

from __future__ import annotations

import pytest

from penstock.query.families.spelling import AmbiguousNameError, spelled


@pytest.mark.parametrize(
    ("name", "present", "found"),
    [
        ("city", ["zip", "city"], "city"),
        ("city", ["CITY", "zip"], "CITY"),
        ("City", ["CITY", "city", "City"], "City"),
        ("city", ["CITY", "CITY"], "CITY"),
        ("ÄHRE", ["ähre"], "ähre"),
        ("city", ["town"], None),
        ("city", [], None),
    ],
)
def test_the_very_name_goes_first(name: str, present: list[str], found: str | None) -> None:
    assert spelled(name, present) == found


def test_of_several_that_are_not_the_name_none_is_meant() -> None:
    with pytest.raises(AmbiguousNameError, match="CITY and City differ in case alone"):
        spelled("city", ["CITY", "zip", "City"])
