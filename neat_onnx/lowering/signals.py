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
from functools import cached_property, partial

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
        followed = partial(_followed, own.registers, pre_activation, first_product)
        found, nothing = overflowing(net), np.zeros(len(net), np.bool_)
        overflows = followed(found.activation, found.pre_activation)
        bounded = followed(found.bounded, nothing)
        gated = own.gain != NONE
        value, gain, weight = own.source[gated], own.gain[gated], net.live.weight
        # A product of two without a bound is one without.
        may_overflow = overflows[value] | overflows[gain] | ~(bounded[value] | bounded[gain])
        exponent = np.zeros(len(may_overflow), np.int64)
        if net.has_memory and np.any(may_overflow):
            # Without memory nothing grows: one product serves connections of all weights.
            kept = followed(remembering(net), remembering(net))
            kept[own.registers.signal] = True
            # A product with a value from -1 to 1 overflows no earlier than its other factor.
            starts = np.abs(own.registers.initial) <= 1.0
            small = followed(_at_most_one(net), nothing, starts)
            grows = may_overflow & (kept[value] | kept[gain]) & ~(small[value] | small[gain])
            exponent = np.where(grows, _exponents_of(weight[gated]), 0)
        factors = np.stack([value, gain, exponent], axis=1)
        products, first, number = factors, value, value  # of none, where `unique` is slow
        if len(factors):
            products, first, number = np.unique(
                factors, axis=0, return_index=True, return_inverse=True
            )
        read = own.source.copy()
        read[gated] = first_product + number.reshape(-1)
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

    @cached_property
    def origin(self) -> Ints:
        """The signal that each register holds the previous value of; NONE for other signals."""
        found = np.full(self.count, NONE, np.int64)
        found[self.registers.signal] = self.registers.origin
        return found


def _followed(
    registers: Registers,
    pre_activation: Ints,
    count: int,
    of_activation: Bools,
    of_pre_activation: Bools,
    at_first: Bools | None = None,
) -> Bools:
    """Whether something holds of each of the first `count` signals, as it does of each neuron's
    activation and pre-activation; of registers, if it holds of what they follow, and `at_first`.
    """
    found = np.zeros(count, np.bool_)
    found[pre_activation], found[: len(of_activation)] = of_pre_activation, of_activation
    first = np.ones(len(registers), np.bool_) if at_first is None else at_first
    pairs = zip(registers.signal.tolist(), registers.origin.tolist(), first.tolist(), strict=True)
    for signal, origin, starts in pairs:  # a register stands after the one it follows
        found[signal] = starts and found[origin]
    return found


def _at_most_one(net: Network) -> Bools:
    """Whether each neuron's activation is from -1 to 1, whatever it reads."""
    intervals = [interval_of(activation_named(name).expression) for name in net.activations]
    small = np.array([low >= -1.0 and high <= 1.0 for low, high in intervals], np.bool_)
    found: Bools = small[net.neurons.activation] & ~net.is_input
    return found


def _exponents_of(weights: Floats) -> Ints:
    """Exponents of the largest powers of two that are no larger than weights below 1; 0 for others.

    Scaled by that power, a value times its gain does not overflow where the network's product of
    value, weight and gain does not; over it, the weight keeps every bit.
    """
    exponent = np.clip(np.frexp(weights)[1] - 1, _MIN_EXPONENT, 0)
    return np.where(weights == 0.0, 0, exponent).astype(np.int64)
