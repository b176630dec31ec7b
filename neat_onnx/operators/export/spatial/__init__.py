"""Operators on images and other grids: Conv, ConvTranspose, the pools, Resize, GridSample."""
