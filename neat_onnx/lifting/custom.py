"""Operators that are a formula of one number, with attributes that are numbers in it."""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any

from neat_onnx.errors import NetworkError
from neat_onnx.lifting.formulas import formula
from neat_onnx.lifting.operator import OPERATORS, Refusal, operator
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

    def function(x: Any, **given: Any) -> Any:
        try:
            found = made(given)
        except NetworkError as error:
            raise Refusal(error.message) from error
        return formula(found)(x)

    keywords = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is ... else default,
            annotation=kind,
        )
        for name, (kind, default) in attributes.items()
    ]
    first = Parameter("x", Parameter.POSITIONAL_OR_KEYWORD, annotation=Any)
    function.__signature__ = Signature([first, *keywords])  # type: ignore[attr-defined]
    function.__annotations__ = {"x": Any} | {name: kind for name, (kind, _) in attributes.items()}
    if domain == RUNTIME_DOMAIN:
        import neat_onnx.operators.families  # noqa: F401, PLC0415 - many, and they register first

        OPERATORS.pop((domain, op_type), None)
    operator(op_type, domain=domain)(function)
