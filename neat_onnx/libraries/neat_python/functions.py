"""Activation and aggregation functions of neat-python: its own, and those that users add.

Names are the library's, formulas are ours. A user's `tanh` need not be neat-python's tanh(2.5 z):
it is known by the formula that was registered for its name.
"""

import builtins
import sys
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.names import (
    formula_of,
    how_to_register,
    is_users_own,
    reversed_names,
    translated,
)
from neat_onnx.libraries.neat_python.pickled import Name
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS

LIBRARY = "neat-python"
name = LIBRARY

ACTIVATION_NAMES = {
    "sigmoid": "neat_sigmoid",
    "tanh": "neat_tanh",
    "sin": "neat_sin",
    "gauss": "neat_gauss",
    "relu": "relu",
    "elu": "elu",
    "lelu": "neat_lelu",
    "selu": "selu",
    "softplus": "neat_softplus",
    "identity": "identity",
    "clamped": "hard_tanh",
    "inv": "neat_inv",
    "log": "neat_log",
    "exp": "neat_exp",
    "abs": "abs",
    "hat": "hat",
    "square": "square",
    "cube": "cube",
}
AGGREGATION_NAMES = {
    key: key for key in ("sum", "product", "max", "min", "maxabs", "median", "mean")
}
Role = Literal["activation", "aggregation"]
"""What a function is for in a node."""
ROLES: tuple[Role, Role] = ("activation", "aggregation")
_NAMES: dict[Role, Mapping[str, str]] = {
    "activation": ACTIVATION_NAMES,
    "aggregation": AGGREGATION_NAMES,
}
_PYTHONS = ("sum", "max", "min", "abs")
"""Python's functions that compute what neat-python's do."""


class Function(NamedTuple):
    """A function by the library's name, its own or a custom one."""

    name: str
    custom: bool = False


def described(kind: Role, function: Any, name: str | None = None) -> Function:
    """Return a function of a gene or a configuration.

    Args:
        kind: activation or aggregation.
        function: itself, live or the name in a pickle; None if only `name` is known.
        name: the name that a configuration gives to it; its own if None.
    """
    if name is None:
        own = function.name if isinstance(function, Name) else getattr(function, "__name__", None)
        name = str(own or type(function).__name__).removesuffix(f"_{kind}")
    if function is None:
        return Function(name, formula_of(LIBRARY, name, kind) is not None)
    return Function(name, not _is_own(function, kind, name))


def _is_own(function: Any, kind: Role, name: str) -> bool:
    """Whether the function is neat-python's own one of that name, or Python's."""
    if name in _PYTHONS and function in (getattr(builtins, name), Name("builtins", name)):
        return True
    if isinstance(function, Name):
        return str(function) == f"neat.{kind}s.{name}_{kind}"
    module = sys.modules.get(f"neat.{kind}s")
    return module is not None and getattr(module, f"{name}_{kind}", None) is function


def name_in_network(function: Function, kind: Role, where: str) -> str:
    """Return the name in a Network of a function, or refuse it."""
    if not function.custom:
        return translated(function.name, _NAMES[kind], kind, where, LIBRARY)
    if formula_of(LIBRARY, function.name, kind) or is_users_own(function.name, kind):
        return translated(function.name, {}, kind, where, LIBRARY)
    text = f"the {kind} '{function.name}' is custom: its formula is unknown"
    raise NetworkError(text, where=where, hint=how_to_register(function.name, kind, LIBRARY))


class NeatActivation(NamedTuple):
    """How neat-python computes an activation of ours.

    Its sigmoid is sigmoid(5 z) and its tanh is tanh(2.5 z): the slope is divided out of the bias
    and the response, and leaves the weights as they are. Where a function of neat-python is clamped
    so that it differs from ours, it is no equal one: its sin stops at ±60, its softplus at 12.

    Attributes:
        function: its own, or one that the user adds.
        slope: the function takes z / slope where ours takes z.
        shift: added to z / slope.
    """

    function: Function
    slope: float = 1.0
    shift: float = 0.0


_COMPUTED = {
    ours: NeatActivation(Function(name)) for ours, name in reversed_names(ACTIVATION_NAMES).items()
} | {
    "sigmoid": NeatActivation(Function("sigmoid"), 5.0),
    "tanh": NeatActivation(Function("tanh"), 2.5),
    "bipolar_sigmoid": NeatActivation(Function("tanh"), 5.0),
    "gaussian": NeatActivation(Function("gauss"), 5.0**0.5),
    "complement": NeatActivation(Function("identity"), -1.0, 1.0),
}


def called(activation: str) -> NeatActivation | None:
    """Return how neat-python computes an activation of ours; None if it does not."""
    users = _of_user(ACTIVATIONS.of_libraries, activation)
    return NeatActivation(users) if users else _COMPUTED.get(activation)


def aggregation_called(aggregation: str) -> Function | None:
    """Return neat-python's name of an aggregation of ours; None if it has none."""
    if aggregation in AGGREGATION_NAMES:
        return Function(aggregation)
    return _of_user(AGGREGATIONS.of_libraries, aggregation)


def _of_user(registered: Mapping[tuple[str, str], str], ours: str) -> Function | None:
    """The function that the user registered for neat-python as one of ours."""
    found = (
        name for (library, name), own in registered.items() if (library, own) == (LIBRARY, ours)
    )
    return next((Function(name, custom=True) for name in found), None)
