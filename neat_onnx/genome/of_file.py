"""The network of a graph whose numbers are rounded, as a file holds them.

A gene that is one of a graph's numbers is the same whether it is rounded before import or after.
One that import computes of several, as the weight of two parallel connections, may differ in its
last bit, and the checksum of genes with it.
"""

import numpy as np

from neat_onnx.errors import ModelError, warn
from neat_onnx.genome.canonical_order import rounded
from neat_onnx.lifting.core import Lifted, lift
from neat_onnx.model import DataType, Model, Tensor
from neat_onnx.model.budget import LimitReached
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.passes.draft import copied, with_graph

_WITHOUT_NUMBERS = (0.0, 1.0)  # genes that a graph need not write


def lifted_again(model: Model) -> Lifted | None:
    """The network of a model alone; None, with a warning, where import cannot read it.

    Runtimes have no kernels of float64 for some functions: a formula of many of these is written in
    more parts than a formula may have.
    """
    try:
        return lift(_without_vanishing(model))
    except LimitReached:
        raise
    except ModelError as error:
        warn(f"the file has no genome, since import cannot read its graph again: {error}")
        return None


def lifted_of_file(model: Model, lifted: Lifted) -> Lifted:
    """The network of the file that a model is saved as.

    Args:
        model: in float32 or float64, with the numbers of the genome.
        lifted: the network of these numbers.

    Returns:
        `lifted` itself where rounding changes nothing but each gene by itself, or, as it makes
        tiny numbers 0, neurons as well.
    """
    tensors = [_rounded(each) for each in model.graph.initializer]
    numbers = [each.values.ravel() for each in tensors if each.data_type is DataType.FLOAT]
    if not numbers or _are_among(lifted.network, np.concatenate(numbers)):
        return lifted
    if all(map(_are_equal, tensors, model.graph.initializer)):
        return lifted
    again = lift(with_graph(model, initializer=tensors))
    return again if _sizes(again) == _sizes(lifted) else lifted


def _without_vanishing(model: Model) -> Model:
    """The model with its numbers rounded, where that makes 0 of some: its graph is another then.

    Of all other models import reads the same neurons and connections before and after.
    """
    tensors = [_rounded(each) for each in model.graph.initializer]
    pairs = zip(model.graph.initializer, tensors, strict=True)
    if all(np.count_nonzero(one.values) == np.count_nonzero(other.values) for one, other in pairs):
        return model
    return with_graph(model, initializer=tensors)


def _sizes(lifted: Lifted) -> dict[str, int]:
    return {tensor: len(neurons) for tensor, neurons in lifted.tensors.items()}


def _rounded(tensor: Tensor) -> Tensor:
    if tensor.data_type is not DataType.FLOAT:
        return tensor
    return copied(tensor, values=tensor.values.astype(np.float32).astype(np.float64))


def _are_equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers, none of which is NaN."""
    return np.array_equal(one.values, other.values)


def _are_among(net: Network, numbers: Floats) -> bool:
    """Whether all genes of a network, each rounded to float32, are some of these numbers."""
    known = np.unique(rounded(np.append(numbers, _WITHOUT_NUMBERS), DataType.FLOAT))
    neurons, connections = net.neurons, net.connections
    genes = neurons.bias, neurons.response, neurons.initial, connections.initial_gain
    written = [rounded(each, DataType.FLOAT) for each in (*genes, connections.weight)]
    return len(np.unique(np.concatenate([known, *written]))) == len(known)
