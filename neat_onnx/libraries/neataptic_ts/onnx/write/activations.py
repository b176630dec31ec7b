"""Activations: the operator that the dialect writes for each, and what is lost by it."""

from neat_onnx.errors import OptionError
from neat_onnx.model import node_classes
from neat_onnx.network.activations import ACTIVATIONS

_BY_PART_OF_NAME = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}


def operator_of(activation: str) -> str:
    """The op_type of an activation. NeatapticTS goes by parts of names; the rest is Identity."""
    for part, op_type in _BY_PART_OF_NAME.items():
        if part in activation:
            return op_type
    return "Identity"


def is_exact(activation: str, op_type: str) -> bool:
    """Whether the operator computes the activation. A standard name is the op_type's own."""
    return activation == op_type.lower()


def check_operator(op_type: str, where: str) -> None:
    """Refuse an op_type from a mapping that is no activation.

    Raises:
        OptionError: the hint lists those that are.
    """
    known = [name for name in node_classes() if name.lower() in ACTIVATIONS]
    if op_type not in known:
        raise OptionError(
            f"'{op_type}' is no activation's operator",
            where=where,
            hint=f"Known: {', '.join(known)}",
        )
