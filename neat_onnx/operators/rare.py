"""The operators that few models have: imports of all others do without them."""

# ruff: noqa: F401 (what registers itself)
from neat_onnx.operators.formulas import bits
from neat_onnx.operators.ml import (
    axes,
    encoders,
    features,
    linear,
    newer_trees,
    support_vectors,
    trees,
)
from neat_onnx.operators.products import determinant, fourier
from neat_onnx.operators.spatial import sampling
