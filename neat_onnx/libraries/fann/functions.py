"""Our activations as FANN's, which have a steepness and limit the sum.

FANN computes f(x) of x = s·z, limited to ±150/s, of a sum z and a steepness s. Where a function of
ours has no such limit, the sum is multiplied by 2^40 and the steepness divided by it: the same to
the last bit, up to |z| = 150·2^40.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from neat_onnx.libraries.fann.names import CODES, activation_name
from neat_onnx.network.activations import FORMULA, activation_named

FAR = 2.0**40
_FACTOR = re.compile(r"(-?\d+\.?\d*(?:e[-+]?\d+)?) \* z")


class FannActivation(NamedTuple):
    """How FANN computes an activation a(z): as scale · f(gain · z + shift).

    Attributes:
        code: the number of the function.
        steepness: its steepness.
        gain, shift: on weights and bias of the neuron.
        scale: on the weights of those who read it.
    """

    code: str
    steepness: float
    gain: float = 1.0
    shift: float = 0.0
    scale: float = 1.0


IDENTITY = FannActivation("0", 1.0 / FAR, gain=FAR)
_CALLED = {
    "identity": IDENTITY,
    "complement": FannActivation("0", 1.0 / FAR, gain=-FAR, shift=FAR),
    "relu": FannActivation("12", 1.0 / FAR, scale=FAR),
    "bipolar": FannActivation("2", 1.0, gain=-1.0, scale=-1.0),
    "neat_sigmoid": FannActivation("3", 2.5),
    "bipolar_sigmoid": FannActivation("5", 0.5),
    "neat_tanh": FannActivation("5", 2.5),
    "gaussian": FannActivation("7", 1.0),
    "neat_gauss": FannActivation("7", 5.0**0.5),
    "softsign": FannActivation("11", 1.0 / FAR, gain=FAR),
    "hard_tanh": FannActivation("13", 1.0),
    "sin": FannActivation("14", 1.0 / FAR, gain=FAR),
    "neat_sin": FannActivation("14", 2.5, gain=2.0),
}


@lru_cache(maxsize=1024)
def called(activation: str) -> FannActivation | None:
    """Return how FANN computes an activation of ours; None if it does not."""
    if activation in _CALLED:
        return _CALLED[activation]
    ours = activation_named(activation).expression
    for code, steepness in _candidates(activation):
        name = activation_name(code, steepness)
        if name and activation_named(name).expression == ours:
            return FannActivation(code, steepness)
    return None


def _candidates(activation: str) -> Iterator[tuple[str, float]]:
    """The functions of FANN with the factors of z in a formula as their steepness, or its half."""
    factors = {float(text) for text in _FACTOR.findall(activation.removeprefix(FORMULA))}
    for steepness in sorted({0.5, 1.0, *factors, *(factor / 2.0 for factor in factors)} - {0.0}):
        for code in CODES:
            yield code, steepness
