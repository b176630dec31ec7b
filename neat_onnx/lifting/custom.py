"""Operators that are a formula of one number, with attributes that are numbers in it."""

from collections.abc import Callable, Mapping
from typing import Any

from neat_onnx.errors import NetworkError
from neat_onnx.lifting.neurons import formula
from neat_onnx.lifting.operator import OPERATORS, Operator, Refusal, add_operator, attribute_of
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.network.expression import Expression


def register_formula(
    domain: str, op_type: str, attributes: Mapping[str, tuple[type, Any]],
    made: Callable[[dict[str, Any]], Expression],
) -> None:  # fmt: skip
    """Register an operator of one input, each element of which becomes that of a formula.

    One of onnxruntime's domain takes the place of the package's own.

    Args:
        domain, op_type: of its nodes.
        attributes: the type and the default of each, ... where it has to be given.
        made: gives the formula for values of the attributes.

    Raises:
        ModelError: there is one already.
    """
    defaults = {name: default for name, (_, default) in attributes.items() if default is not ...}

    def function(x: Any, **given: Any) -> Any:
        try:
            found = made(defaults | given)
        except NetworkError as error:
            raise Refusal(error.message) from error
        return formula(found)(x)

    if domain == RUNTIME_DOMAIN:
        import neat_onnx.operators.families  # noqa: F401, PLC0415 - many, and they register first

        OPERATORS.pop((domain, op_type), None)
    kinds = {
        name: attribute_of(f"{op_type}.{name}", kind, default is ...)
        for name, (kind, default) in attributes.items()
    }
    add_operator(Operator(op_type, domain, 1, function, ("x",), 1, False, kinds))
