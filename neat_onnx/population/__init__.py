"""Populations: networks of different shapes with the same ports, computed together.

A `layout` pads the topological levels of all members to one width and numbers the columns;
`population` evaluates it with batched matrix products, and `lower` writes it as one ONNX model.
"""
