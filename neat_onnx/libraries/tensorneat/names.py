"""TensorNEAT's functions: its activations have no slopes, unlike neat-python's."""

from neat_onnx.network.activations import FORMULA

_INVERSE = "where(greater(z, 0.0), reciprocal(maximum(z, 1e-07)), reciprocal(minimum(z, -1e-07)))"

ACTIVATION_NAMES = {
    "sigmoid": "sigmoid",
    "scaled_sigmoid": f"{FORMULA}3.0 * sigmoid(z)",
    "tanh": "tanh",
    "scaled_tanh": f"{FORMULA}3.0 * tanh(z)",
    "sin": "sin",
    "relu": "relu",
    "lelu": "neat_lelu",
    "identity": "identity",
    "inv": FORMULA + _INVERSE,
    "log": "neat_log",
    "exp": f"{FORMULA}exp(z)",
    "abs": "abs",
}

AGGREGATION_NAMES = {name: name for name in ("sum", "product", "max", "min", "maxabs", "mean")}
