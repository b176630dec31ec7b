"""Quantized models, and whether a network is the one that such a model computes."""

import warnings

import numpy as np

from neat_onnx.errors import NeatOnnxError, NeatOnnxWarning
from neat_onnx.genome.read import genome_of_graph
from neat_onnx.lifting.trace import trace_model
from neat_onnx.model import Graph, Model
from neat_onnx.model.wiring import nodes_within
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network

_INTEGER = frozenset(
    {"DequantizeLinear", "ConvInteger", "MatMulInteger"}
    | {"QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"}
)
_PREFIX = "QLinear"


def is_quantized(graph: Graph) -> bool:
    """Whether a node of the graph, or of a graph inside it, computes with quantized numbers."""
    return any(
        node.op_type in _INTEGER or node.op_type.startswith(_PREFIX) for node in nodes_within(graph)
    )


def has_its_weights(net: Network, model: Model) -> bool:
    """Whether a network has the weights and biases that a quantized model computes with.

    They are compared as float32, whatever their order. The network that an import gives has them;
    the network that was quantized has others, however small the difference.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)  # of an import that nobody asked for
        try:
            imported = genome_of_graph(trace_model(model).network)
        except NeatOnnxError:
            return False
    return np.array_equal(_numbers(net), _numbers(imported))


def _numbers(net: Network) -> Floats:
    genes = np.concatenate([net.live.weight, net.neurons.bias])
    return np.sort(genes[genes != 0].astype(np.float32)).astype(np.float64)
