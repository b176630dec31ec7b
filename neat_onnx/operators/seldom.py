"""The operators that few models of others have: imports of all others do without them."""

from neat_onnx.operators import bits, determinant, fourier, ml, sampling

__all__ = ["bits", "determinant", "fourier", "ml", "sampling"]
