"""The planner beside a run: asked at one batch boundary, it answers at a later one."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Literal

from penstock.adapt.planning.weighing import Question, Weighed, weigh
from penstock.errors import PenstockError

_LOG = logging.getLogger(__name__)

Planning = Literal["background", "inline"]


class BackgroundPlanner:
    """Weighs plans in a thread of its own, one question at a time.

    Inline it answers at once, in the thread that asks, so that runs are the same every time.
    """

    def __init__(self, planning: Planning = "background"):
        self._executor = (
            ThreadPoolExecutor(1, thread_name_prefix="penstock-planner")
            if planning == "background"
            else None
        )
        self._asked: Future[Weighed | None] | None = None
        self._answer: Weighed | None = None

    @property
    def is_busy(self) -> bool:
        return self._asked is not None and not self._asked.done()

    def ask(self, question: Question) -> None:
        """Have plans weighed; an earlier question that has no answer yet is forgotten.

        One whose answer nobody has taken yet is not: while figures keep moving there is a question
        after every batch, and its answer comes during the next one.
        """
        if self._asked is not None and self._asked.done():
            self._answer, self._asked = self._asked.result(), None
        if self._executor is None:
            self._answer = _answered(question)
        else:
            self._asked = self._executor.submit(_answered, question)

    def answer(self) -> Weighed | None:
        """The answer, once."""
        if self._asked is not None and self._asked.done():
            self._answer, self._asked = self._asked.result(), None
        answer, self._answer = self._answer, None
        return answer

    def close(self) -> None:
        """Take no more questions; a search under way ends by itself."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)


def _answered(question: Question) -> Weighed | None:
    """The answer, or None if no plan can be made of these figures: the running one goes on."""
    try:
        return weigh(question)
    except PenstockError as error:
        _LOG.warning("cannot plan again: %s", error)
    except Exception:
        # Users' functions and training come in here too: whatever they raise, the query goes on.
        _LOG.warning("cannot plan again", exc_info=True)
    return None
