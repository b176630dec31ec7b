"""Operators along rows of elements: softmax, normalizations, and places in an order."""
