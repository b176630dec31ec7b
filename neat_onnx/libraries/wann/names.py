"""The activations of WANN and prettyNEAT, by their numbers."""

import math

from neat_onnx.network.activations import FORMULA

ACTIVATION_NAMES = {
    "1": "identity",
    "2": "step",
    "3": f"{FORMULA}sin({math.pi!r} * z)",
    "4": f"{FORMULA}exp(-(z * z) / 2.0)",
    "5": "tanh",
    "6": "sigmoid",
    "7": f"{FORMULA}-z",
    "8": "abs",
    "9": "relu",
    "10": f"{FORMULA}cos({math.pi!r} * z)",
    "11": "square",
}
"""The library takes the identity for any other number. Only prettyNEAT knows 11."""
