"""The order of the preferences: each may put another plan first than those before it.

The first sorts all plans: one that came before it would only decide between plans that are equal.
"""

from __future__ import annotations

from penstock.optimize.preferences.best_for_goal import best_for_goal
from penstock.optimize.preferences.folding_known import folding_known
from penstock.optimize.preferences.forced import forced
from penstock.optimize.preferences.from_order import from_order
from penstock.optimize.preferences.late_if_shed import late_if_shed
from penstock.optimize.preferences.least_state import least_state
from penstock.optimize.preferences.preference import Preference
from penstock.optimize.preferences.view_kept import view_kept

PREFERENCES: tuple[Preference, ...] = (
    best_for_goal,
    forced,
    view_kept,
    folding_known,
    late_if_shed,
    least_state,
    from_order,
)
