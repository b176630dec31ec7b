"""Activation and aggregation functions of neat-python: its own, and those that users add.

Names are the library's, formulas are ours. A user's `tanh` need not be neat-python's tanh(2.5 z):
it is known by the formula that it computes, or by one that was registered for its name.
"""

import builtins
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.libraries.names import formula_of, is_users_own
from neat_onnx.libraries.neat_python.pickled import Name
from neat_onnx.network.activations import ACTIVATIONS, Activation
from neat_onnx.network.aggregations import AGGREGATIONS, Aggregation

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
Kind = Literal["activation", "aggregation"]
_PYTHONS = ("sum", "max", "min", "abs")
"""Python's functions that compute what neat-python's do."""
_POINTS = [0.0, *(s * x for x in (1e-9, 0.1, 0.3, 0.77, 1.0, 1.9, 3.1, 4.5, 13.0) for s in (1, -1))]
_LISTS = [[0.5], [-1.5, 0.25], [2.0, -3.5, 1.25], [0.3, 0.7, -0.7, 4.0], [3.0, 1.0, 2.0, 5.0, -9.0]]


class Function(NamedTuple):
    """A function by the library's name; `formula` is ours, for live ones that we recognise."""

    name: str
    custom: bool = False
    formula: str | None = None


def described(kind: Kind, name: str, function: Any) -> Function:
    """Return a function of the gene or the configuration by its name.

    `function` is the function itself, live or a stand-in; None if it is not at hand.
    """
    if _is_own(function, kind, name):
        return Function(name)
    registered = formula_of(LIBRARY, name, kind) is not None
    if function is None:  # an INI file names functions only
        return Function(name, registered)
    if registered or is_users_own(name, _table(kind)) or not callable(function):
        return Function(name, True)
    formula = _formula(kind, function)
    if formula is not None:
        warn(f"the custom {kind} '{name}' computes what neat_onnx calls {formula}")
    return Function(name, True, formula)


def name_of(function: Any, kind: str) -> str:
    """Return the name by which neat-python, or the user, calls a function."""
    own = function.name if isinstance(function, Name) else getattr(function, "__name__", None)
    return str(own or type(function).__name__).removesuffix(f"_{kind}")


def _is_own(function: Any, kind: str, name: str) -> bool:
    """Whether the function is neat-python's own one of that name, or Python's."""
    if name in _PYTHONS and function in (getattr(builtins, name), Name("builtins", name)):
        return True
    if isinstance(function, Name):
        return str(function) == f"neat.{kind}s.{name}_{kind}"
    module = sys.modules.get(f"neat.{kind}s")
    return module is not None and getattr(module, f"{name}_{kind}", None) is function


def _formula(kind: str, function: Callable[[Any], Any]) -> str | None:
    """Our name of the function that gives the same values, to the last bits; None if none does."""
    samples = _POINTS if kind == "activation" else _LISTS
    try:
        values = [float(function(sample)) for sample in samples]
    except Exception:  # noqa: BLE001 (the user's code may raise anything: then it is none of ours,
        return None  # and the caller refuses it by name)
    for name, ours in _table(kind).items():
        with np.errstate(all="ignore"):
            same = [float(ours(np.asarray(sample))) for sample in samples]
        if np.allclose(values, same, rtol=1e-14, atol=1e-300):
            return name
    return None


def _table(kind: str) -> Mapping[str, Activation | Aggregation]:
    return ACTIVATIONS if kind == "activation" else AGGREGATIONS


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


_SLOPES = {
    "sigmoid": NeatActivation(Function("sigmoid"), 5.0),
    "tanh": NeatActivation(Function("tanh"), 2.5),
    "bipolar_sigmoid": NeatActivation(Function("tanh"), 5.0),
    "gaussian": NeatActivation(Function("gauss"), 5.0**0.5),
    "complement": NeatActivation(Function("identity"), -1.0, 1.0),
}


def called(activation: str) -> NeatActivation | None:
    """Return how neat-python computes an activation of ours; None if it does not."""
    users = _of_user(ACTIVATIONS.of_libraries, activation)
    if users is not None:
        return NeatActivation(users)
    for name, ours in ACTIVATION_NAMES.items():
        if ours == activation:
            return NeatActivation(Function(name))
    return _SLOPES.get(activation)


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
