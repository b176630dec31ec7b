"""Operators along rows of elements: softmax, normalizations, and places in an order.

Import makes several neurons of an element of such a node; export finds these neurons, checks every
gene of them against a table, and writes the node again, or a node for each part where no runtime
has the operator.
"""
