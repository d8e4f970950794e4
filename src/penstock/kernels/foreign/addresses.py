"""Memory and functions of C libraries, known by their addresses, in compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

if TYPE_CHECKING:

    def bytes_at(address: int) -> Any:
        """The bytes from an address on, for `numba.carray`."""

    def words_at(address: int) -> Any:
        """The words of 64 bits from an address on, for `numba.carray`."""

    def call(function: int, argument: int) -> None:
        """Call a function of one pointer that gives nothing."""

    def call_for_word(function: int, first: int, second: int) -> int:
        """What a function of two pointers gives, 64 bits."""

else:

    def _pointer(width, pointed):
        def at(_, address):
            def lowered(_, builder, __, given):
                return builder.inttoptr(given[0], ir.IntType(width).as_pointer())

            return types.CPointer(pointed)(types.int64), lowered

        return at

    bytes_at = intrinsic(_pointer(8, types.uint8))
    words_at = intrinsic(_pointer(64, types.int64))

    @intrinsic
    def call(_, function, argument):
        def lowered(context, builder, __, given):
            pointer = ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer])
            found = builder.inttoptr(given[0], kind.as_pointer())
            builder.call(found, [builder.inttoptr(given[1], pointer)])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), lowered

    @intrinsic
    def call_for_word(_, function, first, second):
        def lowered(__, builder, ___, given):
            pointer = ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.IntType(64), [pointer, pointer])
            found = builder.inttoptr(given[0], kind.as_pointer())
            return builder.call(found, [builder.inttoptr(each, pointer) for each in given[1:]])

        return types.int64(types.int64, types.int64, types.int64), lowered
