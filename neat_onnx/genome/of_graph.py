"""The genome that a graph gives by itself."""

import numpy as np

from neat_onnx.lifting.core import Lifted
from neat_onnx.model import DataType
from neat_onnx.network.genes import Floats
from neat_onnx.network.idle import without_idle
from neat_onnx.network.network import Network
from neat_onnx.network.responses import with_weights_for_responses


def genome_of_graph(lifted: Network) -> Network:
    """The network of a graph without metadata: no neurons that no output needs, and weights for
    responses.
    """
    return with_weights_for_responses(without_idle(lifted))


def is_of_graph(net: Network, lifted: Lifted, data_type: DataType) -> bool:
    """Whether import makes this very network of the graph alone.

    So it does of most networks that were imported from another tool's model and not changed.
    """
    if lifted.network.library != net.library or any(net.spellings):
        return False
    genes = net.connections
    numbers = (genes.weight, genes.initial_gain, net.neurons.bias, net.neurons.response)
    if not all(_stay(each, data_type) for each in numbers):
        return False
    return genome_of_graph(lifted.network) == net


def _stay(values: Floats, data_type: DataType) -> bool:
    """Whether none but zeros become 0 in a type."""
    if data_type is not DataType.FLOAT:
        return True
    return bool(np.all((values == 0.0) | (values.astype(np.float32) != 0.0)))
