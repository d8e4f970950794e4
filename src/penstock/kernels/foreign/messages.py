"""Messages of librdkafka, known by their addresses: what they tell, and their values in a row.

The words of a message are those of the library's public `rd_kafka_message_t`: error, topic,
partition, value and its length, key and its length, offset.
"""

from __future__ import annotations

import numpy as np
from numba import carray
from numpy.typing import NDArray

from penstock.kernels.compiled import compiled
from penstock.kernels.foreign.addresses import bytes_at, call, call_for_word, words_at

Int64s = NDArray[np.int64]
NOTHING = -1
"""The length of a value that is none."""
_WORDS = 9
_LINE_END = 10


@compiled
def heads_of(messages: Int64s) -> tuple[Int64s, Int64s, Int64s, Int64s, Int64s]:
    """The error, topic, partition, offset, and length of the value of each message."""
    count = len(messages)
    errors, topics = np.empty(count, np.int64), np.empty(count, np.int64)
    parts, offsets = np.empty(count, np.int64), np.empty(count, np.int64)
    lengths = np.empty(count, np.int64)
    for i in range(count):
        words = carray(words_at(messages[i]), _WORDS)
        # Numbers of 32 bits in words of 64: what is beside them is anything.
        errors[i] = np.int32(words[0] & 0xFFFFFFFF)
        topics[i] = words[1]
        parts[i] = np.int32(words[2] & 0xFFFFFFFF)
        lengths[i] = words[4] if words[3] != 0 else NOTHING
        offsets[i] = words[7]
    return errors, topics, parts, offsets, lengths


@compiled
def values_of(messages: Int64s, lengths: Int64s) -> NDArray[np.uint8]:
    """The values one after another, each with a line end behind it."""
    total = 0
    for length in lengths:
        total += max(length, 0) + 1
    data, at = np.empty(total, np.uint8), 0
    for i in range(len(messages)):
        length = lengths[i]
        if length > 0:
            words = carray(words_at(messages[i]), _WORDS)
            data[at : at + length] = carray(bytes_at(words[3]), length)
        at += max(length, 0)
        data[at] = _LINE_END
        at += 1
    return data


@compiled
def times_of(messages: Int64s, timestamp: int, kind: NDArray[np.int32]) -> tuple[Int64s, Int64s]:
    """The times of messages in milliseconds, and of which kind they are, by the library's
    function `timestamp`, which is given a place for the kind."""
    times, kinds = np.empty(len(messages), np.int64), np.empty(len(messages), np.int64)
    for i in range(len(messages)):
        times[i] = call_for_word(timestamp, messages[i], kind.ctypes.data)
        kinds[i] = kind[0]
    return times, kinds


@compiled
def release(messages: Int64s, destroy: int) -> None:
    """Give messages back, by the library's function `destroy`."""
    for message in messages:
        call(destroy, message)
