"""Samples whose outputs no runtime owes: NaN inside a network, and outputs that are numbers.

NaN has no place in an order, so that runtimes differ in which number is the largest beside it: the
place that ArgMax gives is another one. Policies compute logarithms of masks, which random inputs
make negative.
"""

import numpy as np

from neat_onnx.network.genes import Bools, Floats
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program

_AT_ONCE = 1 << 24  # values of neurons


def unordered(net: Network, x: Floats, outputs: Floats) -> Bools:
    """Find the sequences in which a neuron is NaN, and all outputs are finite.

    Args:
        net: the network.
        x: the inputs (T, N, I).
        outputs: the network's, (T, N, O).

    Returns:
        (N,), true where a sequence is such.
    """
    found: Bools = np.all(np.isfinite(outputs), axis=(0, 2))
    program = Program(net, dense=False)
    count = max(1, _AT_ONCE // max(1, len(x) * len(net.neurons.id)))
    for start in range(0, x.shape[1], count):
        values = program.neuron_values(x[:, start : start + count])
        found[start : start + count] &= np.any(np.isnan(values), axis=(0, 1))
    return found
