"""The signals of a graph: the network's, and those that only a graph needs a column for.

First come the signals of the network (`neat_onnx.network.signals`): activations, pre-activations
that are read, registers. Then the pre-activation of every neuron, read or not; then, for gated
connections, the products of a value and a gain; last a spare signal for each neuron, for columns
that nothing reads.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.overflow import (
    at_most_one,
    exponents_of,
    overflowing_values,
    remembered_values,
)
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.signals import Registers, signals_of


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
        overflows, bounded = overflowing_values(net, pre_activation, own.registers, first_product)
        gated = own.gain != NONE
        value, gain, weight = own.source[gated], own.gain[gated], net.live.weight
        # A product of two without a bound is one without.
        may_overflow = overflows[value] | overflows[gain] | ~(bounded[value] | bounded[gain])
        exponent = np.zeros(len(may_overflow), np.int64)
        if net.has_memory and np.any(may_overflow):
            # Without memory nothing grows: one product serves connections of all weights.
            kept = remembered_values(net, pre_activation, own.registers, first_product)
            small = at_most_one(net, own.registers, first_product)
            grows = may_overflow & (kept[value] | kept[gain]) & ~(small[value] | small[gain])
            exponent = np.where(grows, exponents_of(weight[gated]), 0)
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
