"""Early aggregation as text, for `--plan`: `A: B; B: A | early A B | anew A` and back."""

from __future__ import annotations

from penstock.plan.text.notation import Word, quote, read_words, refuse
from penstock.plan.text.orders_text import check_known, driver_of
from penstock.query import Query

_EXAMPLE = "name the inputs to aggregate before the join: `A: B; B: A | early A`"
_ANEW = "name the stream that drives: `A: B; B: A | early A B | anew A`"


def cut_early(query: Query, text: str) -> tuple[str, tuple[str, ...], Word | None]:
    """The text of the join alone, the inputs that are aggregated early, in FROM's order, and the
    stream that drives if the view is computed anew."""
    words = list(read_words(text))
    bar = next((i for i, word in enumerate(words) if _is_bar(word)), None)
    if bar is None:
        return text, (), None
    ending = words[bar + 1 :]
    last = next((i for i in range(len(ending) - 1) if _starts_anew(*ending[i : i + 2])), None)
    names = _names(query, words[bar], ending[:last])
    anew = None if last is None else _anew(query, *ending[last + 1 :])
    early = tuple(alias for alias in query.aliases if alias in names)
    return text[: words[bar].place.start], early, anew


def render_early(early: tuple[str, ...], anew: str | None = None) -> str:
    """The end of a plan's text: ` | early A B`, ` | early A B | anew A`, or nothing."""
    names = f" | early {' '.join(map(quote, early))}" if early else ""
    return names if anew is None else f"{names} | anew {quote(anew)}"


def _is_bar(word: Word) -> bool:
    return word.text == "|" and not word.is_name


def _starts_anew(bar: Word, word: Word) -> bool:
    return _is_bar(bar) and word.text == "anew"


def _names(query: Query, bar: Word, words: list[Word]) -> set[str]:
    if words and words[0].text == "anew":
        hint = "first name the inputs that are aggregated early: `| early A B | anew A`"
        refuse("anew stands after early", words[0].place, hint)
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


def _anew(query: Query, anew: Word, *words: Word) -> Word:
    """The word that names who drives a view that can be computed anew."""
    if not words:
        refuse("anew names no stream", anew.place, _ANEW)
    driver, *rest = words
    if not driver.is_name:
        refuse("only a name belongs after anew", driver.place, _ANEW)
    driver_of(query, driver)
    if rest:
        refuse("only one name belongs after anew", rest[0].place, _ANEW)
    if query.is_sequenced:
        hint = f"leave out `| anew {quote(driver.text)}`: time windows only are read this way"
        refuse("a view over ROWS windows is not computed anew", anew.place, hint)
    if len(query.streams) == 1:
        hint = f"leave out `| anew {quote(driver.text)}`: two streams or more are kept"
        refuse("of one stream nothing is kept to compute anew from", anew.place, hint)
    return driver
