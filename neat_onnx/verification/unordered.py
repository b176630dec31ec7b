"""Samples whose outputs no runtime owes: NaN in an order, and outputs that are numbers.

NaN has no place in an order, so that runtimes differ in which number is the largest beside it: the
place that ArgMax gives is another one. Policies compute logarithms of masks, which random inputs
make negative. All else that reads NaN is the same everywhere.
"""

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import parts_of
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program

_SUMMING = frozenset({"sum", "mean", "product"})
_ORDERING = frozenset({"clip", "maximum", "minimum", "relu", "sign"})
_VALUES_AT_ONCE = 1 << 24  # of neurons


def unordered(net: Network, x: Floats, outputs: Floats) -> Bools:
    """Find the sequences in which a neuron orders NaN, and all outputs are finite.

    Args:
        net: the network.
        x: the inputs (T, N, I).
        outputs: the network's, (T, N, O).

    Returns:
        (N,), true where a sequence is such.
    """
    found: Bools = np.all(np.isfinite(outputs), axis=(0, 2))
    program = Program(net, dense=False)
    read = _ordered(net)
    count = max(1, _VALUES_AT_ONCE // max(1, len(x) * len(net.neurons.id)))
    for start in range(0, x.shape[1], count):
        values = program.neuron_values(x[:, start : start + count])
        found[start : start + count] &= np.any(np.isnan(values[:, read]), axis=(0, 1))
    return found


def _ordered(net: Network) -> Ints:
    """The neurons that others put in an order, as max, a relu or ArgMax does, with their gaters."""
    formulas = [activation_named(name).expression for name in net.activations]
    by_activation = [any(part.op in _ORDERING for part in parts_of(each)) for each in formulas]
    by_aggregation = [name not in _SUMMING for name in net.aggregations]
    orders = np.array(by_activation, np.bool_)[net.neurons.activation]
    orders |= np.array(by_aggregation, np.bool_)[net.neurons.aggregation]
    read = orders[net.live.target]
    found = distinct(np.concatenate([net.live.source[read], net.live.gater[read]]))
    neurons: Ints = found[found != NONE]
    return neurons
