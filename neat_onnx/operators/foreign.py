"""The operators that only models of others have: an export, and its check, start without them."""

from neat_onnx.operators import (
    branches,
    generated,
    integer_products,
    ml,
    padding,
    resize,
    running,
)

__all__ = [
    "branches",
    "generated",
    "integer_products",
    "ml",
    "padding",
    "resize",
    "running",
]
