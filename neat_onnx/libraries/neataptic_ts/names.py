"""NeatapticTS's names of activations ("squashes"). One activation of ours has two."""

from neat_onnx.libraries.names import reversed_names

ACTIVATION_NAMES = {
    "logistic": "sigmoid",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "identity": "identity",
    "step": "step",
    "relu": "relu",
    "softsign": "softsign",
    "sinusoid": "sin",
    "gaussian": "gaussian",
    "bentIdentity": "bent_identity",
    "bipolar": "bipolar",
    "bipolarSigmoid": "bipolar_sigmoid",
    "hardTanh": "hard_tanh",
    "absolute": "abs",
    "inverse": "complement",
    "selu": "selu",
    "softplus": "softplus",
    "swish": "swish",
    "gelu": "gelu",
    "mish": "mish",
}
SQUASHES = reversed_names(ACTIVATION_NAMES)
"""Names of ours to the usual one of NeatapticTS's."""


def spelled(activation: str, spelling: str) -> str:
    """Return NeatapticTS's name of an activation.

    Args:
        activation: our name.
        spelling: the name that a neuron was read with, or ""; taken if it means the activation.
    """
    known = ACTIVATION_NAMES.get(spelling) == activation
    return spelling if known else SQUASHES.get(activation, activation)
