"""The texts of Nexmark's events: names, places, channels, and letters that fill an event up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.sources.made.mixing import Words, high_below, low_below
from penstock.query.made.nexmark import StreamKind

STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = (
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
)
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
CHANNELS = 10_000
"""Half of the bids come by one of the hot channels, the others by one of so many."""
_FIRST_NAMES = ("Ada", "Boris", "Clara", "Edith", "Felix", "Grete", "Hugo", "Ines", "Jakob")
_LAST_NAMES = ("Adler", "Bauer", "Fischer", "Gruber", "Huber", "Maier", "Pichler", "Wagner")
# Bytes of an event: 200 of a person, 500 of an auction, 100 of a bid. What the other columns do not
# make up is filled with letters, a fifth more or less.
_FILLED = {"person": 134, "auction": 324, "bid": 68}
_POOL = 1_000
_POOL_SEED = 1

Text = Callable[[Words], pa.Array]


def _one_of(texts: Callable[[], pa.Array], words: Words) -> pa.Array:
    """One of some texts for each word."""
    known = texts()
    return known.take(pa.array(low_below(words, len(known))))


def _listed(texts: Sequence[str]) -> Callable[[], pa.Array]:
    return cache(lambda: pa.array(texts, pa.large_string()))


@cache
def _names() -> pa.Array:
    both = [f"{first} {last}" for first in _FIRST_NAMES for last in _LAST_NAMES]
    return pa.array(both, pa.large_string())


@cache
def _letters(least: int, most: int, seed: int) -> pa.Array:
    """Texts of small letters, of so many each."""
    generator = np.random.default_rng([_POOL_SEED, seed])
    lengths = generator.integers(least, most + 1, _POOL)
    return pa.array(
        [bytes(generator.integers(97, 123, n, dtype=np.uint8)).decode() for n in lengths],
        pa.large_string(),
    )


def _filling(kind: str) -> Callable[[], pa.Array]:
    size = _FILLED[kind]
    return partial(_letters, round(size * 0.8), round(size * 1.2), size)


def _email(words: Words) -> pa.Array:
    known = _letters(3, 7, 0)
    user, host = (known.take(pa.array(half(words, len(known)))) for half in (low_below, high_below))
    return _joined(user, "@", host, ".com")


def _credit_card(words: Words) -> pa.Array:
    digits = [low_below(words >> np.uint64(shift), 10_000) for shift in (0, 8, 16, 32)]
    known = _four_digits()
    first, second, third, fourth = (known.take(pa.array(each)) for each in digits)
    return _joined(first, " ", second, " ", third, " ", fourth)


@cache
def _four_digits() -> pa.Array:
    return pa.array([f"{n:04d}" for n in range(10_000)], pa.large_string())


def _joined(*parts: pa.Array | str) -> pa.Array:
    texts = [pa.scalar(p, pa.large_string()) if isinstance(p, str) else p for p in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar("", pa.large_string()))


def _of_channel(texts: Callable[[], pa.Array], words: Words) -> pa.Array:
    """What belongs to the channel of each bid: a hot one first, then the others."""
    is_hot = low_below(words, 2) > 0
    hot, other = (high_below(words, many) for many in (len(HOT_CHANNELS), CHANNELS))
    return texts().take(pa.array(np.where(is_hot, hot, other + len(HOT_CHANNELS))))


@cache
def _channels() -> pa.Array:
    return pa.array([*HOT_CHANNELS, *(f"channel-{n}" for n in range(CHANNELS))], pa.large_string())


@cache
def _urls() -> pa.Array:
    """The page of each channel; only those of the hot ones do not name it."""
    first, second = _letters(3, 5, 1).to_pylist(), _letters(3, 5, 2).to_pylist()
    pages = [
        f"https://www.nexmark.com/{first[n % _POOL]}/{second[n // 7 % _POOL]}/item.htm?query=1"
        for n in range(len(HOT_CHANNELS) + CHANNELS)
    ]
    named = [
        page + ("" if n < len(HOT_CHANNELS) else f"&channel_id={n - len(HOT_CHANNELS)}")
        for n, page in enumerate(pages)
    ]
    return pa.array(named, pa.large_string())


TEXTS: Mapping[StreamKind, Mapping[str, Text]] = {
    "person": {
        "name": partial(_one_of, _names),
        "emailaddress": _email,
        "creditcard": _credit_card,
        "city": partial(_one_of, _listed(CITIES)),
        "state": partial(_one_of, _listed(STATES)),
        "extra": partial(_one_of, _filling("person")),
    },
    "auction": {
        "itemname": partial(_one_of, partial(_letters, 20, 20, 3)),
        "description": partial(_one_of, partial(_letters, 100, 100, 4)),
        "extra": partial(_one_of, _filling("auction")),
    },
    "bid": {
        "channel": partial(_of_channel, _channels),
        "url": partial(_of_channel, _urls),
        "extra": partial(_one_of, _filling("bid")),
    },
}
"""The columns with texts of each stream, in lower case."""
