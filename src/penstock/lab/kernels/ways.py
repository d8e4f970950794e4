"""Ways: how the rows of an input are found and checked, whatever is bound before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.compiled import inlined
from penstock.lab.kernels.nested import EQ

Int64s = NDArray[np.int64]


class Ways(NamedTuple):
    """The ways to every input t, given what is bound.

    `keys[d, t]` has for a tuple of driver d (where the next key class begins, own column, link,
    table, input there, column there) of all others in t's classes, the driver first; `compared[t]`
    has (input there, own column, operator, column there). Both end with −1. `near[t]` are the
    inputs with which t shares a key or a comparison, as bits.
    """

    keys: Int64s
    compared: Int64s
    near: Int64s


@inlined
def settle_way(
    ways: Ways, driver: int, target: int, bound: int, search: Int64s, checks: Int64s
) -> int:
    """Settle the way to an input, by which inputs are bound (as bits), and count its checks.

    `search` becomes (link or −1 to look at the whole window, table, input and column of the key to
    look up), a check (own column, operator, input there, column there).
    """
    keys, compared = ways.keys[driver, target], ways.compared[target]
    count = i = 0
    search[0] = -1
    while i < len(keys) and keys[i, 0] >= 0:
        if (bound >> keys[i, 4]) & 1 == 0:
            i += 1
            continue
        if count == 0:
            search[0], search[1], search[2], search[3] = keys[i, 2:6]
        checks[count, 0], checks[count, 1] = keys[i, 1], EQ
        checks[count, 2], checks[count, 3] = keys[i, 4], keys[i, 5]
        count += 1
        i = keys[i, 0]
    for c in range(len(compared)):
        if compared[c, 0] < 0:
            break
        if (bound >> compared[c, 0]) & 1 == 1:
            checks[count, 0], checks[count, 1] = compared[c, 1], compared[c, 2]
            checks[count, 2], checks[count, 3] = compared[c, 0], compared[c, 3]
            count += 1
    return count
