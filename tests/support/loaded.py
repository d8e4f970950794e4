"""All that a run in one process needs, loaded: processes that are forked from one that has imported
this module begin at once. It is for these alone, hence the work at import."""

from __future__ import annotations

import support.engines.script_crashes  # noqa: F401
from penstock.kernels.warm_up import warm_up

# To load compiled kernels takes longer than most runs that tests kill.
warm_up()
