"""Weights by gradient: networks as modules of PyTorch, and back."""
