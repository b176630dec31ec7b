"""SharpNEAT's activation functions, as versions 2 and 4 compute them.

The names that only version 2 has stand last, so that a written file has the names of version 4.
"""

from neat_onnx.network.activations import FORMULA

_QUADRATIC = (
    "where(less(abs(z), 0.999), 0.999 - (abs(z) - 0.999) * (abs(z) - 0.999), "
    "0.999 + (abs(z) - 0.999) * 1e-05)"
)
_POLYNOMIAL = (
    "1.0 + abs(4.9 * z) + (4.9 * z) * (4.9 * z) * 0.555"
    " + ((4.9 * z) * (4.9 * z)) * ((4.9 * z) * (4.9 * z)) * 0.143"
)


def _srelu(x: str) -> str:
    low, high = f"0.001 + ({x} - 0.001) * 1e-05", f"0.999 + ({x} - 0.999) * 1e-05"
    return f"where(less_or_equal({x}, 0.001), {low}, where(less({x}, 0.999), {x}, {high}))"


_FORMULAS = {
    "ArcSinH": "1.2567348023993685 * ((asinh(z) + 1.0) * 0.5)",
    "ArcTan": "atan(z)",
    "BipolarGaussian": "2.0 * exp(-((z * 2.5) * (z * 2.5))) - 1.0",
    "BipolarSigmoid": "2.0 / (1.0 + exp(-4.9 * z)) - 1.0",
    "Gaussian": "exp(-((z * 2.5) * (z * 2.5)))",
    "LeakyReLU": "leaky_relu(z, 0.001)",
    "LeakyReLUShifted": "leaky_relu(z + 0.5, 0.001)",
    "LogisticSteep": "sigmoid(4.9 * z)",
    "MaxMinusOne": "maximum(z, -1.0)",
    "NullFn": "clip(z, 0.0, 0.0)",
    "PolynomialApproximantSteep": (
        f"where(greater(z, 0.0), 1.0 / (1.0 + 1.0 / ({_POLYNOMIAL})), "
        f"1.0 / (1.0 + ({_POLYNOMIAL})))"
    ),
    "QuadraticSigmoid": f"where(less(z, 0.0), -1.0, 1.0) * ({_QUADRATIC}) * 0.5 + 0.5",
    "Sine": "sin(2.0 * z)",
    "SoftSignSteep": "0.5 + z / (2.0 * (0.2 + abs(z)))",
    "SReLU": _srelu("z"),
    "SReLUShifted": _srelu("(z + 0.5)"),
}

ACTIVATION_NAMES = {
    "Linear": "hard_tanh",
    "Logistic": "sigmoid",
    "ReLU": "relu",
    "ScaledELU": "selu",
    "TanH": "tanh",
    **{name: FORMULA + text for name, text in _FORMULAS.items()},
    "LogisticFunction": "sigmoid",
    "LogisticFunctionSteep": FORMULA + _FORMULAS["LogisticSteep"],
    "PlainSigmoid": "sigmoid",
    "SteepenedSigmoid": FORMULA + _FORMULAS["LogisticSteep"],
}

NAMES_OF_VERSION_2 = {
    **ACTIVATION_NAMES,
    "QuadraticSigmoid": f"{FORMULA}sign(z) * ({_QUADRATIC}) * 0.5 + 0.5",
}
"""Version 2 gives the quadratic sigmoid of 0 as 0.5."""

RADIAL = "RbfGaussian"
"""A function of version 2 whose centre and width each node has for itself."""

_UNIT = {
    "Logistic", "LogisticSteep", "LogisticFunction", "LogisticFunctionSteep", "PlainSigmoid",
    "SteepenedSigmoid", "Gaussian", "SoftSignSteep", "PolynomialApproximantSteep", "NullFn", RADIAL,
}  # fmt: skip


def radial(center: float, epsilon: float) -> str:
    """Return our name of a radial basis function."""
    d = f"((z - ({center!r})) * sqrt({epsilon!r}) * 4.0)"
    return f"{FORMULA}exp(-({d} * {d}))"


def stays_in_unit(name: str) -> bool:
    """Whether the values of a function are between 0 and 1."""
    return name in _UNIT
