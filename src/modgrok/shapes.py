"""Shapes in annotations, as in `Float[Array, "N S p"]`: jaxtyping's types where somebody checks them.

That is a type checker, or the tests, which import jaxtyping first. A command does not wait the twentieth of a second
that it takes to be imported and to make all these types.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import (
        Array,
        Bool,
        Complex,
        Float,
        Float16,
        Float32,
        Inexact,
        Int,
        Int32,
        Integer,
        Shaped,
        UInt16,
        UInt64,
    )
else:

    class Unchecked:
        """An array of any kind and shape."""

        def __class_getitem__(cls, shape: Any) -> Any:
            return Any

    Array = Any
    Bool = Complex = Float = Float16 = Float32 = Inexact = Int = Int32 = Integer = Shaped = UInt16 = UInt64 = Unchecked
