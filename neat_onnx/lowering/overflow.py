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
    overflows = np.zeros(signals.count, np.bool_)
    overflows[: len(net)], overflows[signals.state] = found.activation, found.state
    bounded = np.array([activation_named(name).bounded for name in net.activations])
    bounded_now = np.zeros(signals.count, np.bool_)
    bounded_now[: len(net)] = bounded[net.neurons.activation] & ~net.is_input
    registers = signals.registers
    pairs = zip(registers.signal.tolist(), registers.origin.tolist(), strict=True)
    for signal, origin in pairs:  # a register stands after the one it follows
        overflows[signal], bounded_now[signal] = overflows[origin], bounded_now[origin]
    if len(signals.products):
        value, gain = signals.products.T  # a product of two without a bound is one without
        numbers = signals.first_product + np.arange(len(signals.products))
        overflows[numbers] = (
            overflows[value] | overflows[gain] | ~(bounded_now[value] | bounded_now[gain])
        )
    return overflows
