"""Operators that slide a window: Conv, ConvTranspose, and the pools."""

from neat_onnx.operators.spatial import convolution, find, lp_pool, pools

__all__ = ["convolution", "find", "lp_pool", "pools"]
