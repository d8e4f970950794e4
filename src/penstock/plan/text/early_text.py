"""Early aggregation as text, for `--plan`: `A: B; B: A | early A B | recompute A` and back."""

from __future__ import annotations

from penstock.plan.text.notation import Word, quote, read_words, refuse
from penstock.plan.text.orders_text import check_known, driver_of
from penstock.query import Query

_RECOMPUTE = ("recompute", "anew")
"""The word, and its spelling in plans that were written with 0.1."""
_EXAMPLE = "name the inputs to aggregate before the join: `A: B; B: A | early A`"
_DRIVER = "name the stream that drives: `A: B; B: A | early A B | recompute A`"


def cut_early(query: Query, text: str) -> tuple[str, tuple[str, ...], Word | None]:
    """The text of the join alone, the inputs that are aggregated early, in FROM's order, and the
    stream that drives if the view is recomputed."""
    words = list(read_words(text))
    bar = next((i for i, word in enumerate(words) if _is_bar(word)), None)
    if bar is None:
        return text, (), None
    ending = words[bar + 1 :]
    last = next((i for i in range(len(ending) - 1) if _starts_recompute(*ending[i : i + 2])), None)
    names = _names(query, words[bar], ending[:last])
    driver = None if last is None else _driver(query, *ending[last + 1 :])
    early = tuple(alias for alias in query.aliases if alias in names)
    return text[: words[bar].place.start], early, driver


def render_early(early: tuple[str, ...], recompute: str | None = None) -> str:
    """The end of a plan's text: ` | early A B`, ` | early A B | recompute A`, or nothing."""
    names = f" | early {' '.join(map(quote, early))}" if early else ""
    return names if recompute is None else f"{names} | recompute {quote(recompute)}"


def _is_bar(word: Word) -> bool:
    return word.text == "|" and not word.is_name


def _starts_recompute(bar: Word, word: Word) -> bool:
    return _is_bar(bar) and word.text in _RECOMPUTE


def _names(query: Query, bar: Word, words: list[Word]) -> set[str]:
    if words and words[0].text in _RECOMPUTE:
        hint = "first name the inputs that are aggregated early: `| early A B | recompute A`"
        refuse(f"{words[0].text} stands after early", words[0].place, hint)
    if not words or words[0].text != "early":
        refuse("`early` belongs after the bar", (words or [bar])[0].place, _EXAMPLE)
    early, *inputs = words
    if not inputs:
        refuse("early names no input", early.place, _EXAMPLE)
    if query.view is None:
        hint = "only a SELECT with GROUP BY or aggregates can be aggregated early"
        refuse("the query aggregates nothing", early.place, hint)
    seen: set[str] = set()
    for word in inputs:
        if not word.is_name or word.method is not None:
            refuse("only names belong after early", word.place, _EXAMPLE)
        check_known(query, word)
        if word.text in seen:
            refuse(f"{word.text} is named twice", word.place, "name each input once")
        seen.add(word.text)
    return seen


def _driver(query: Query, recompute: Word, *words: Word) -> Word:
    """The word that names who drives a view that can be recomputed."""
    if not words:
        refuse(f"{recompute.text} names no stream", recompute.place, _DRIVER)
    driver, *rest = words
    if not driver.is_name:
        refuse(f"only a name belongs after {recompute.text}", driver.place, _DRIVER)
    driver_of(query, driver)
    if rest:
        refuse(f"only one name belongs after {recompute.text}", rest[0].place, _DRIVER)
    leave_out = f"leave out `| {recompute.text} {quote(driver.text)}`"
    if query.is_sequenced:
        refuse("a view over ROWS windows is recomputed in any case", recompute.place, leave_out)
    if len(query.streams) == 1:
        hint = f"{leave_out}: two streams or more are kept"
        refuse("of one stream nothing is kept to recompute a view from", recompute.place, hint)
    return driver
