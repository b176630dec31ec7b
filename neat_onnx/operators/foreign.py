"""The operators that only models of others have: an export, and its check, start without them."""

from neat_onnx.operators import (
    generated,
    integer_products,
    ml,
    padding,
    quantization,
    resize,
    running,
)

__all__ = [
    "generated",
    "integer_products",
    "ml",
    "padding",
    "quantization",
    "resize",
    "running",
]
