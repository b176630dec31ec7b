"""Populations: networks of different shapes with the same ports, computed together.

The neurons of all members are computed in common steps (`stages`); a `layout` pads each stage to
one width and numbers the columns; `population` evaluates it with batched matrix products, and
`lower` writes it as one ONNX model.
"""
