"""Chains of dense layers, whose graphs keep the names that NeatapticTS looks for."""

import numpy as np

from neat_onnx.model import Graph, Tensor

_AXES_OF_MATRIX = 2


def is_chain(graph: Graph) -> bool:
    """Whether each node is a dense layer of the tensor before, or the activation of one."""
    constants, before, layers = graph.tensors, graph.inputs[0].name, 0
    for node in graph.node:
        if [name for name in node.input if name and name not in constants] != [before]:
            return False
        weights = [constants[name] for name in node.input if name in constants]
        if weights and not _is_dense(weights[0]):
            return False
        layers += bool(weights)
        before = node.output[0]
    return layers > 0


def _is_dense(weights: Tensor) -> bool:
    """Whether these are the weights of a dense layer, not of neurons that read one input each."""
    if len(weights.dims) != _AXES_OF_MATRIX:
        return False
    return int(np.count_nonzero(weights.values)) * 2 > weights.size
