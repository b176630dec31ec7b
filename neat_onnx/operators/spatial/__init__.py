"""Operators that slide a window: Conv, ConvTranspose, and the pools."""

from neat_onnx.operators.spatial import convolution, find, pools

__all__ = ["convolution", "find", "pools"]
