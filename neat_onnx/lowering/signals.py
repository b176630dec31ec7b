"""The signals of a graph: the network's, and those that only a graph needs a column for.

First come the signals of the network (`neat_onnx.network.signals`): activations, pre-activations
that are read, registers. Then the pre-activation of every neuron, read or not; then, for gated
connections, the products of a value and a gain; last a spare signal for each neuron, for columns
that nothing reads.

A zero of a dense matrix must never meet a signal that may overflow, as 0 · ∞ is NaN. The product of
a value and a gain may overflow although the network does not, which multiplies the value by its
weight first. So the value is scaled before such a product, by about that weight.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.bounds import interval_of
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import remembering
from neat_onnx.network.signals import Registers, signals_of

_MIN_EXPONENT = -100  # of a power of two that float32 has, and one over it


@dataclass(frozen=True, eq=False)
class GraphSignals:
    """Numbers of all signals of an export.

    Attributes:
        count: how many there are.
        pre_activation: the one of each neuron, (n,).
        pre_activation_is_read: whether some connection reads it, (n,).
        read: the signal that each live connection multiplies with its weight, (m,).
        weight: its weight there: divided by the scale of a product, (m,).
        overflows: whether each signal may overflow on moderate inputs, now or after many steps.
        registers: those that carry values from one step to the next.
        products: (value, gain, exponent) of the signals from `first_product` on: the value is
            multiplied by two to this power, and by the gain.
        first_product: number of the first product.
        spare: for each neuron, a signal that nothing reads, (n,).
    """

    count: int
    pre_activation: Ints
    pre_activation_is_read: Bools
    read: Ints
    weight: Floats
    overflows: Bools
    registers: Registers
    products: Ints
    first_product: int
    spare: Ints

    @classmethod
    def of(cls, net: Network) -> "GraphSignals":
        """Number the signals of a network."""
        own = signals_of(net)
        pre_activation = np.where(
            own.pre_activation == NONE, own.count + np.arange(len(net)), own.pre_activation
        )
        first_product = own.count + len(net)
        overflows, bounded = _overflowing_values(net, pre_activation, own.registers, first_product)
        gated = own.gain != NONE
        value, gain, weight = own.source[gated], own.gain[gated], net.live.weight
        # A product of two without a bound is one without.
        may_overflow = overflows[value] | overflows[gain] | ~(bounded[value] | bounded[gain])
        exponent = np.zeros(len(may_overflow), np.int64)
        if net.has_memory and np.any(may_overflow):
            # Without memory nothing grows: one product serves connections of all weights.
            kept = _remembered_values(net, pre_activation, own.registers, first_product)
            small = _at_most_one(net, own.registers, first_product)
            grows = may_overflow & (kept[value] | kept[gain]) & ~(small[value] | small[gain])
            exponent = np.where(grows, _exponents_of(weight[gated]), 0)
        factors = np.stack([value, gain, exponent], axis=1)
        first, number = _each_product(factors, first_product)
        products = factors[first]
        read = own.source.copy()
        read[gated] = first_product + number
        if np.any(exponent):
            weight = weight.copy()
            weight[gated] = np.ldexp(weight[gated], -exponent)
        return cls(
            count=first_product + len(products) + len(net),
            pre_activation=pre_activation,
            pre_activation_is_read=own.pre_activation != NONE,
            read=read,
            weight=weight,
            overflows=np.concatenate(
                [overflows, may_overflow[first], np.zeros(len(net), np.bool_)]
            ),
            registers=own.registers,
            products=products,
            first_product=first_product,
            spare=first_product + len(products) + np.arange(len(net)),
        )

    def are_products(self, signals: Ints) -> Bools:
        """Whether each signal is the product of a value and a gain."""
        inside: Bools = (signals >= self.first_product) & (
            signals < self.first_product + len(self.products)
        )
        return inside

    def factors(self, products: Ints) -> tuple[Ints, Ints, Floats]:
        """(values, gains, scales of the values) of signals that are products."""
        value, gain, exponent = self.products[products - self.first_product].T
        return value, gain, np.ldexp(1.0, exponent)

    def origin_of(self, signals: Ints) -> Ints:
        """Return the signal that each register holds the previous value of; NONE for others."""
        registers = self.registers
        if not len(registers):
            return np.full(signals.shape, NONE, np.int64)
        position = signals - registers.signal[0]
        inside = (position >= 0) & (position < len(registers))
        return np.where(inside, registers.origin[np.where(inside, position, 0)], NONE)


def _each_product(factors: Ints, count: int) -> tuple[Ints, Ints]:
    """The first place of each product that differs, in the order of their factors, and for each
    place the number of its product.

    Args:
        factors: (value, gain, exponent), a row a place; values and gains are below `count`.
        count: of signals.
    """
    value, gain, exponent = factors.T
    if np.any(exponent):
        _, first, number = np.unique(factors, axis=0, return_index=True, return_inverse=True)
    else:  # to sort numbers is quicker than to sort rows
        _, first, number = np.unique(value * count + gain, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


def _overflowing_values(
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


def _remembered_values(
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


def _at_most_one(net: Network, registers: Registers, count: int) -> Bools:
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


def _exponents_of(weights: Floats) -> Ints:
    """Exponents of the largest powers of two that are no larger than weights below 1; 0 for others.

    Scaled by that power, a value times its gain does not overflow where the network's product of
    value, weight and gain does not; over it, the weight keeps every bit.
    """
    exponent = np.clip(np.frexp(weights)[1] - 1, _MIN_EXPONENT, 0)
    return np.where(weights == 0.0, 0, exponent).astype(np.int64)
