"""Attempts: what fails for a reason that may pass is tried again before a query ends by it."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable

_LOG = logging.getLogger(__name__)

PAUSES = (0.2, 1.0, 5.0)
"""Seconds before each further attempt."""

PASSING = frozenset(
    (
        errno.EAGAIN,
        errno.EBUSY,
        errno.ECONNABORTED,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EHOSTUNREACH,
        errno.EINTR,
        errno.EIO,
        errno.ENETDOWN,
        errno.ENETRESET,
        errno.ENETUNREACH,
        errno.ENOTCONN,
        errno.EPIPE,
        errno.EREMOTEIO,
        errno.ESTALE,
        errno.ETIMEDOUT,
    )
)
"""What disks and networks say when the same may succeed a moment later."""


def attempted(
    work: Callable[[], None],
    may_pass: Callable[[Exception], bool],
    wait: Callable[[float], bool],
) -> None:
    """Do work, and again after a pause where it fails for a reason that may pass.

    `wait` gives false if there is to be no other attempt.
    """
    for pause in PAUSES:
        try:
            work()
            return
        except Exception as error:
            if not may_pass(error) or not wait(pause):
                raise
            _LOG.warning("a batch failed, and is run again: %s", str(error).partition("\n")[0])
    work()
