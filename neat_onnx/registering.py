"""Registering operators of one's own: the operators of the package are imported when needed."""

from collections.abc import Callable
from typing import Any

from neat_onnx.arguments import TEXT, takes


@takes(domain=TEXT, op_type=TEXT)
def operator(domain: str, op_type: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as an operator of a domain of your own.

        @neat_onnx.operator("my.domain", "Bump")
        def bump(z, width: float = 1.0):
            return exp(-(width * z * z))

    Import puts the formula in place of such a node; export writes the node in place of an
    activation that is the formula, for any values of attributes that stand in it themselves. One
    with numbers that are computed of attributes is written in ONNX's own operators.

    Args:
        domain: the node's domain, none of ONNX's.
        op_type: the node's operator.

    Returns:
        The decorator. The function takes a formula and the attributes, float or int, and gives a
        formula; it stays as it is.

    Raises:
        OptionError: the domain is ONNX's, or the function is no such function.
        ModelError: an operator of that name is known already.
    """
    from neat_onnx.operators.export.custom import operator as registered  # noqa: PLC0415 - many classes

    return registered(domain, op_type)
