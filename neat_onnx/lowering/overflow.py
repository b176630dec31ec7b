"""Which signals may overflow: a zero of a dense matrix must never meet them, as 0 · ∞ is NaN."""

import numpy as np

from neat_onnx.lowering.signals import GraphSignals
from neat_onnx.network.activations import activation_named
from neat_onnx.network.genes import Bools
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule


def overflowing_signals(net: Network, signals: GraphSignals, plan: Schedule) -> Bools:
    """Whether each signal may overflow on moderate inputs; a product of two may."""
    wild = np.zeros(signals.count, np.bool_)
    wild[: len(net)] = overflowing(net, plan)
    wild[signals.state[net.live.target[wild[net.live.source]]]] = True
    registers = signals.registers
    pairs = list(zip(registers.signal.tolist(), registers.origin.tolist(), strict=True))
    for signal, origin in pairs:
        wild[signal] = wild[origin]
    if len(signals.products):
        bounded = np.array([activation_named(name).bounded for name in net.activations])
        calm = np.zeros(len(wild), np.bool_)
        calm[: len(net)] = bounded[net.neurons.activation] & ~net.is_input
        for signal, origin in pairs:
            calm[signal] = calm[origin]
        value, gain = signals.products.T
        either = calm[value] | calm[gain]
        numbers = signals.first_product + np.arange(len(signals.products))
        wild[numbers] = wild[value] | wild[gain] | ~either
    return wild
