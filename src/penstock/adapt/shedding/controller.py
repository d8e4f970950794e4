"""The controller of the delay: how long the next batch may take (after Tu et al., VLDB 2006).

There, tuples are dropped before they queue. Here they are dropped when they are read, so shedding
does not thin out the queue: it makes a batch shorter. All in seconds of the clock, when batch k
starts its oldest data has waited for Q. It takes in the arrivals of m seconds, all there are or as
many as its limit allows, and takes w seconds; the next one starts max(trigger, w) later:

    delay of its results        y(k)   = Q(k) + w(k)
    the next batch's waiting    Q(k+1) = Q(k) − m(k) + max(trigger, w(k))

Where a batch takes all there is, y(k+1) = w(k) + w(k+1): to lead y itself would leave an undamped
oscillation, a long and a short batch in turn, that y does not show. So what is led is the standing
delay, which the next batch has if it takes as long as this one; in the steady state it is the same:

    d(k)   = Q(k+1) + w(k)
    d(k+1) = Q(k+1) − m(k+1) + max(trigger, w(k+1)) + w(k+1)

w(k+1) is ours to set, so d is an integrator: d(k+1) = d(k) + u(k) for any u(k) that we choose, by
the w(k+1) that gives it. With e = target − d, Tu's u(k) = b0·e(k) + b1·e(k−1) − a·u(k−1) closes the
loop to z² − 1.4·z + 0.49, a double pole at 0.7. Of limited batches m is constant, and w comes to it
with a pole at ½; where all is taken, w = d/2.

When shedding begins, u(k) = e(k): by forecast nearly the target in one step, instead of the eight
batches that the loop would take while results are lost for nothing. The first forecasts of a burst
are rough, so that for a few batches there may be such a step again, and later where the delay has
been far off for some batches on end. What they miss otherwise is the loop's.

Where a batch cannot take as long as it may, or must not, u(k) is worked out anew from what is
ordered, so that nothing winds up. And a batch never takes so long that its own delay would be far
out, however slowly the loop would have it: data that waits already cannot wait less.
"""

from __future__ import annotations

from penstock.adapt.settings import DEFAULT_SETTINGS, Settings
from penstock.adapt.shedding.queue import Standing

A, B0, B1 = -0.8, 0.4, -0.31


class DelayController:
    """Leads the delay to its target, seconds, in batches at least `trigger` seconds apart."""

    def __init__(self, target: float, trigger: float, settings: Settings = DEFAULT_SETTINGS):
        self.target = target
        self._trigger = trigger
        self._settings = settings
        self._error = 0.0
        self._change = 0.0
        self._steps = settings.shed_steps
        self._off = 0
        self._is_step = False

    def begin(self) -> None:
        """Go to the target in one step with the next batch, and with a few more if that misses."""
        self._steps = self._settings.shed_steps

    def wanted(self, now: Standing) -> float:
        """Seconds that the next batch may take."""
        error = self.target - now.delay
        self._is_step = self._is_due(error)
        if self._is_step:
            self._error, self._change = 0.0, self._first_aim() - now.delay
        else:
            self._change = B0 * error + B1 * self._error - A * self._change
            self._error = error
        most = self._settings.shed_highest_delay * self.target - now.waiting
        return max(self._least(now), min(most, self._seconds(now)))

    def _first_aim(self) -> float:
        """The delay to go to: below the target with the first step, of which least is known."""
        is_first = self._steps == self._settings.shed_steps
        return self._settings.shed_first_aim * self.target if is_first else self.target

    def _is_due(self, error: float) -> bool:
        """Whether to go to the target in one step."""
        self._off = self._off + 1 if abs(error) > self._settings.shed_off * self.target else 0
        return self._off > 0 and (self._steps > 0 or self._off >= self._settings.shed_patience)

    def _least(self, now: Standing) -> float:
        """Seconds that a batch may always take: up to the next one, if that is not too late."""
        least = self._settings.shed_least_batch * self.target
        return max(least, min(self._trigger, self.target - now.waiting))

    def order(self, now: Standing, seconds: float) -> None:
        """Take note of what the next batch is really expected to take."""
        # After the step to the target the loop stands as if it had always been there.
        self._change = 0.0 if self._is_step else self.after(now, seconds) - now.delay
        self._steps -= 1

    def after(self, now: Standing, seconds: float) -> float:
        """The delay as it will stand after a batch of so many seconds."""
        return now.waiting - now.taken + max(self._trigger, seconds) + seconds

    def _seconds(self, now: Standing) -> float:
        """The seconds after which the delay stands as much higher as it should."""
        both = now.delay + self._change - now.waiting + now.taken
        return both / 2.0 if both >= 2.0 * self._trigger else both - self._trigger
