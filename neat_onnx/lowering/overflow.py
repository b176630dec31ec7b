"""Which signals may overflow: a zero of a dense matrix must never meet them, as 0 · ∞ is NaN.

The product of a value and a gain may overflow although the network does not, which multiplies the
value by its weight first. So the value is scaled before such a product, by about that weight.
"""

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.bounds import interval_of
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import remembering
from neat_onnx.network.signals import Registers

_MIN_EXPONENT = -100  # of a power of two that float32 has, and one over it


def overflowing_values(
    net: Network, pre_activation: Ints, registers: Registers, count: int
) -> tuple[Bools, Bools]:
    """Whether each signal that is no product may overflow on moderate inputs, now or after any
    number of steps, and whether it has a bound, whatever it reads.

    Args:
        pre_activation: the signal of each neuron's, (n,).
        count: the number of these signals.
    """
    found = overflowing(net)
    overflows, bounded = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    overflows[: len(net)], overflows[pre_activation] = found.activation, found.pre_activation
    bounded[: len(net)] = found.bounded
    pairs = zip(registers.signal.tolist(), registers.origin.tolist(), strict=True)
    for signal, origin in pairs:  # a register stands after the one it follows
        overflows[signal], bounded[signal] = overflows[origin], bounded[origin]
    return overflows, bounded


def remembered_values(
    net: Network, pre_activation: Ints, registers: Registers, count: int
) -> Bools:
    """Whether each signal that is no product depends on an earlier step.

    Args:
        pre_activation: the signal of each neuron's, (n,).
        count: the number of these signals.
    """
    found = remembering(net)
    remembered = np.zeros(count, np.bool_)
    remembered[: len(net)] = remembered[pre_activation] = found
    remembered[registers.signal] = True
    return remembered


def at_most_one(net: Network, registers: Registers, count: int) -> Bools:
    """Whether each signal that is no product is an activation from −1 to 1, or was one: a product
    with it overflows no earlier than its other factor.

    Args:
        count: the number of these signals.
    """
    intervals = [interval_of(activation_named(name).expression) for name in net.activations]
    small = np.array([low >= -1.0 and high <= 1.0 for low, high in intervals], np.bool_)
    found = np.zeros(count, np.bool_)
    found[: len(net)] = small[net.neurons.activation] & ~net.is_input
    starts_small = (np.abs(registers.initial) <= 1.0).tolist()
    pairs = zip(registers.signal.tolist(), registers.origin.tolist(), starts_small, strict=True)
    for signal, origin, starts in pairs:  # a register stands after the one it follows
        found[signal] = starts and found[origin]
    return found


def exponents_of(weights: Floats) -> Ints:
    """Exponents of the largest powers of two that are no larger than weights below 1; 0 for others.

    Scaled by that power, a value times its gain does not overflow where the network's product of
    value, weight and gain does not; over it, the weight keeps every bit.
    """
    exponent = np.clip(np.frexp(weights)[1] - 1, _MIN_EXPONENT, 0)
    return np.where(weights == 0.0, 0, exponent).astype(np.int64)
