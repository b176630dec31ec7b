"""The operators that only models of others have: an export, and its check, start without them."""

from neat_onnx.model.node import find_operators_with
from neat_onnx.operators import (
    branches,
    generated,
    integer_products,
    padding,
    resize,
    running,
)

__all__ = [
    "branches",
    "generated",
    "integer_products",
    "padding",
    "resize",
    "running",
]


@find_operators_with
def _import_seldom() -> None:
    import neat_onnx.operators.seldom  # noqa: F401, PLC0415 (the page fetches it for them alone)
