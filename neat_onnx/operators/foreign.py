"""The operators that only models of others have: an export, and its check, start without them."""

from neat_onnx.operators import (
    bits,
    branches,
    determinant,
    fourier,
    generated,
    integer_products,
    ml,
    padding,
    resize,
    running,
    sampling,
)

__all__ = [
    "bits",
    "branches",
    "determinant",
    "fourier",
    "generated",
    "integer_products",
    "ml",
    "padding",
    "resize",
    "running",
    "sampling",
]
