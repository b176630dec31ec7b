"""Operators of one's own: a function of one number, registered in both directions by one call.

    @neat_onnx.operator("my.domain", "Bump")
    def bump(z, width: float = 1.0):
        return exp(-(width * z * z))

The parameters behind the first are the node's attributes. Import puts the formula in place of a
node; export writes the node in place of an activation that is the formula for some attributes.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, get_type_hints

from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.lifting.custom import register_formula
from neat_onnx.model import Node
from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.network.expression import Expression
from neat_onnx.network.formulas import function_of_z
from neat_onnx.operators.export.formula import OWN, Whole
from neat_onnx.operators.export.nodes import declare

Formula = Callable[..., Any]
_PROBE = 0.7390851332151607  # no formula has it by chance


def operator(domain: str, op_type: str) -> Callable[[Formula], Formula]:
    """Register the decorated function as an operator (see `neat_onnx.operator`)."""
    if not domain or domain in (*ONNX_DOMAINS, "ai.onnx.ml"):
        raise OptionError(f"the domain '{domain}' is ONNX's own", where="domain")
    if not op_type.isidentifier():
        raise OptionError(f"'{op_type}' is no name of an operator", where="op_type")

    def register(function: Formula) -> Formula:
        fields = _attributes_of(function)
        try:
            _probed(function, fields)
        except NetworkError as error:
            raise OptionError(error.message, where=op_type, hint=error.hint) from error
        node = declare(op_type, (1, 1), 1, (1, 1), domain, function.__module__, **fields)
        register_formula(domain, op_type, fields, lambda given: _formula(function, given))
        OWN.append(lambda formula: _matched(node, function, fields, formula))
        return function

    return register


_Fields = dict[str, tuple[type, Any]]


def _attributes_of(function: Formula) -> _Fields:
    """The type and the default (... without one) of each parameter behind the first."""
    hints, fields = get_type_hints(function), {}
    for name, parameter in [*inspect.signature(function).parameters.items()][1:]:
        if hints.get(name) not in (float, int):
            raise OptionError(f"the attribute {name} is declared as neither float nor int")
        default = parameter.default
        fields[name] = (hints[name], ... if default is inspect.Parameter.empty else default)
    return fields


def _formula(function: Formula, given: dict[str, Any]) -> Expression:
    """The formula for these attributes.

    Raises:
        NetworkError: the function fails, or gives something else.
    """
    return function_of_z("operator", function.__name__, partial(function, **given))


def _probed(function: Formula, fields: _Fields) -> tuple[Expression, dict[float, str]]:
    """The formula with a number of its own for each attribute, and whose number is whose."""
    names = {(k + 1) * _PROBE if fields[name][0] is float else 99991 + k: name
             for k, name in enumerate(fields)}  # fmt: skip
    return _formula(function, {name: value for value, name in names.items()}), dict(names)


def _matched(
    node: type[Node], function: Formula, fields: _Fields, formula: Expression
) -> Whole | None:
    """The node with the attributes with which the function is `formula`; None if there are none."""
    pattern, names = _probed(function, fields)
    found: dict[str, Any] = {}

    def fits(part: Expression, other: Expression) -> bool:
        if part.is_constant and part.value in names and other.is_constant:
            name = names[part.value]
            value = fields[name][0](other.value)
            return bool(found.setdefault(name, value) == value)
        same = (part.op, part.value, len(part.args)) == (other.op, other.value, len(other.args))
        return same and all(map(fits, part.args, other.args))

    if not fits(pattern, formula):
        found = {}
    required = {name for name, (_, default) in fields.items() if default is ...}
    try:
        is_it = required <= found.keys() and _formula(function, found) == formula
    except NetworkError:  # of attributes that it does not take
        is_it = False
    return (node, found) if is_it else None
