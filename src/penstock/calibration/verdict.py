"""Whether the costs that were fitted to some runs may be planned with."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.calibration.fit import Fit
from penstock.engines import EngineName
from penstock.stats.plausible import faults_of

# On an idle machine the median is below a tenth. Costs that are a third off choose wrong plans.
MOST_ERROR = 0.3
# Below this most of what makes runs differ is something else than what they do.
LEAST_EXPLAINED = 0.5


def reasons_against(engine: EngineName, fit: Fit) -> Iterator[str]:
    """Why not, each a short sentence; nothing speaks against a good fit."""
    yield from faults_of(engine, fit.costs)
    if not fit.median_error <= MOST_ERROR:
        yield (
            f"half of the {len(fit.errors)} runs took at least {fit.median_error:.0%} more or less "
            f"than these costs say, and {MOST_ERROR:.0%} is the most that is allowed"
        )
    if not fit.explained >= LEAST_EXPLAINED:
        yield f"the costs explain {max(0.0, fit.explained):.0%} of the differences between the runs"
