"""Which signals may overflow: a zero of a dense matrix must never meet them, as 0 · ∞ is NaN."""

import numpy as np

from neat_onnx.lowering.signals import GraphSignals
from neat_onnx.network.activations import activation_named
from neat_onnx.network.genes import Bools
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network


def overflowing_signals(net: Network, signals: GraphSignals) -> Bools:
    """Whether each signal may overflow on moderate inputs, now or after any number of steps."""
    found = overflowing(net)
    wild = np.zeros(signals.count, np.bool_)
    wild[: len(net)], wild[signals.state] = found.activation, found.state
    bounded = np.array([activation_named(name).bounded for name in net.activations])
    calm = np.zeros(signals.count, np.bool_)
    calm[: len(net)] = bounded[net.neurons.activation] & ~net.is_input
    registers = signals.registers
    pairs = zip(registers.signal.tolist(), registers.origin.tolist(), strict=True)
    for signal, origin in pairs:  # a register stands after the one it follows
        wild[signal], calm[signal] = wild[origin], calm[origin]
    if len(signals.products):
        value, gain = signals.products.T  # a product of two without a bound is one without
        numbers = signals.first_product + np.arange(len(signals.products))
        wild[numbers] = wild[value] | wild[gain] | ~(calm[value] | calm[gain])
    return wild
