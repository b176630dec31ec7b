"""Weights and values in steps of 8 bits."""
