"""Words of 64 bits at any address, and what processors do with two of them, in compiled loops.

Loops that write text put eight bytes at a time. They may so write up to seven bytes more than they
mean, which the next ones overwrite: who calls them has room for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

if TYPE_CHECKING:
    import numpy as np

    def load_word(address: int | np.int64) -> np.uint64:
        """The eight bytes from an address on, the first one the lowest."""

    def store_word(address: int | np.int64, word: np.uint64) -> None:
        """Put eight bytes at an address, the lowest one first."""

    def load_byte(address: int | np.int64) -> np.uint8:
        """The byte at an address."""

    def store_byte(address: int | np.int64, byte: np.uint8) -> None:
        """Put a byte at an address."""

    def high_product(one: np.uint64, other: np.uint64) -> np.uint64:
        """The upper 64 bits of a product."""

    def leading_zeros(word: np.uint64) -> np.uint64:
        """The highest bits of a word that are zero, 64 if all are."""

else:

    def _loading(width, kind):
        def load(_, address):
            def lowered(__, builder, ___, given):
                place = builder.inttoptr(given[0], ir.IntType(width).as_pointer())
                return builder.load(place, align=1)

            return kind(types.int64), lowered

        return load

    def _storing(width, kind):
        def store(_, address, value):
            def lowered(context, builder, __, given):
                place = builder.inttoptr(given[0], ir.IntType(width).as_pointer())
                builder.store(given[1], place, align=1)
                return context.get_dummy_value()

            return types.void(types.int64, kind), lowered

        return store

    load_word, store_word = (intrinsic(made(64, types.uint64)) for made in (_loading, _storing))
    load_byte, store_byte = (intrinsic(made(8, types.uint8)) for made in (_loading, _storing))

    @intrinsic
    def high_product(_, one, other):
        def lowered(__, builder, ___, given):
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(each, wide) for each in given))
            return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), lowered

    @intrinsic
    def leading_zeros(_, word):
        def lowered(__, builder, ___, given):
            return builder.ctlz(given[0], ir.IntType(1)(0))

        return types.uint64(types.uint64), lowered
