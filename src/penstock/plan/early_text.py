"""Early aggregation as text, for `--plan`: `A: B; B: A | early A` and back."""

from __future__ import annotations

from penstock.plan.notation import Word, quote, read_words, refuse
from penstock.plan.orders_text import check_known
from penstock.query import Query

_EXAMPLE = "name the inputs to aggregate before the join: `A: B; B: A | early A`"


def cut_early(query: Query, text: str) -> tuple[str, tuple[str, ...]]:
    """The text of the join alone, and the inputs that are aggregated early, in FROM's order."""
    words = list(read_words(text))
    bar = next((i for i, word in enumerate(words) if word.text == "|" and not word.is_name), None)
    if bar is None:
        return text, ()
    names = _names(query, words[bar], words[bar + 1 :])
    return text[: words[bar].place.start], tuple(a for a in query.aliases if a in names)


def render_early(early: tuple[str, ...]) -> str:
    """The end of a plan's text: ` | early A B`, or nothing."""
    return f" | early {' '.join(map(quote, early))}" if early else ""


def _names(query: Query, bar: Word, words: list[Word]) -> set[str]:
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
