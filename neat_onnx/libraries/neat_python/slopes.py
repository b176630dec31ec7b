"""Our activations as neat-python's, whose sigmoid is sigmoid(5 z) and whose tanh is tanh(2.5 z).

A slope is divided out of the bias and the response, and leaves the weights as they are. Where a
function of neat-python is clamped so that it differs from ours, it is no equal one: its sin stops
at ±60, and its softplus saturates at 12.
"""

from typing import NamedTuple

from neat_onnx.libraries.neat_python.static import ACTIVATION_NAMES, AGGREGATION_NAMES
from neat_onnx.network.activations import LIBRARY_NAMES
from neat_onnx.network.aggregations import LIBRARY_AGGREGATIONS


class NeatActivation(NamedTuple):
    """How neat-python computes an activation.

    Attributes:
        name: its function.
        slope: the function takes z / slope where ours takes z.
        shift: added to z / slope.
        custom: whether it is a function that the user adds.
    """

    name: str
    slope: float = 1.0
    shift: float = 0.0
    custom: bool = False


_SLOPES = {
    "sigmoid": NeatActivation("sigmoid", 5.0),
    "tanh": NeatActivation("tanh", 2.5),
    "bipolar_sigmoid": NeatActivation("tanh", 5.0),
    "gaussian": NeatActivation("gauss", 5.0**0.5),
    "complement": NeatActivation("identity", -1.0, 1.0),
}


def aggregation_called(aggregation: str) -> str | None:
    """Return neat-python's name of an aggregation of ours; None if it has none."""
    if aggregation in AGGREGATION_NAMES:
        return aggregation
    return next(
        (
            name
            for (library, name), ours in LIBRARY_AGGREGATIONS.items()
            if library == "neat-python" and ours == aggregation
        ),
        None,
    )


def called(activation: str) -> NeatActivation | None:
    """Return how neat-python computes an activation of ours; None if it does not."""
    for (library, name), ours in LIBRARY_NAMES.items():
        if library == "neat-python" and ours == activation:
            return NeatActivation(name, custom=True)
    for name, ours in ACTIVATION_NAMES.items():
        if ours == activation:
            return NeatActivation(name)
    return _SLOPES.get(activation)
