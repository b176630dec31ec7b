"""The registry of import: the function that lifts the nodes of each operator."""

from collections.abc import Callable
from typing import Any, TypeVar

from neat_onnx.errors import ModelError
from neat_onnx.model import Node

Lift = Callable[[Any, Any], None]
"""Takes the context of an import and a node."""

LIFTS: dict[str, Lift] = {}
INFINITE: set[str] = set()
"""Operators that can read constants with infinities."""
HINTS: dict[str, str] = {}
"""The hints of the errors for operators that cannot be lifted."""
Operator = TypeVar("Operator", bound=Lift)


def never_lifted(op_type: str, hint: str) -> None:
    """Register the hint of the error for an operator that cannot be lifted.

    Raises:
        ModelError: it has such a hint already.
    """
    if op_type in HINTS:
        raise ModelError(f"{op_type} has two hints")
    HINTS[op_type] = hint


def lifts(*operators: type[Node], infinite: bool = False) -> Callable[[Operator], Operator]:
    """Register the decorated function to lift nodes of these operators.

    Args:
        operators: their classes.
        infinite: the function takes constants with infinities, which no neuron can have; without
            it they are refused.

    Raises:
        ModelError: one of them has one already.
    """

    def register(function: Operator) -> Operator:
        for operator in operators:
            if operator.__name__ in LIFTS:
                raise ModelError(f"two functions lift {operator.__name__}")
            LIFTS[operator.__name__] = function
            if infinite:
                INFINITE.add(operator.__name__)
        return function

    return register
