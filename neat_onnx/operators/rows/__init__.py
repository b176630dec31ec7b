"""Operators along rows of neurons: softmax and normalizations, found in the genes.

Import makes several neurons of an element of such a node; export finds these neurons, checks every
gene of them against a table, and writes the node again, or a node for each part where no runtime
has the operator.
"""

from neat_onnx.operators.rows import hardmax, lower

__all__ = ["hardmax", "lower"]
