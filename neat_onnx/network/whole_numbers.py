"""Neurons that give whole numbers, or truth values, whatever a network is given.

Both are shown by induction over time: of all neurons that may, those are taken out that read one
which does not, until nothing changes.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE, Expression, parts_of
from neat_onnx.network.genes import NONE, Bools, marked
from neat_onnx.network.structure import Structure

_ROUND = frozenset({"ceil", "floor", "number", "round", "sign"})
_CLOSED = frozenset({"abs", "add", "clip", "maximum", "minimum", "mul", "neg", "relu", "sub"})


def are_whole(numbers: npt.NDArray[Any]) -> bool:
    """Whether all numbers of an array are whole."""
    return bool(np.all(numbers == np.rint(numbers)))


def whole_neurons(net: Structure) -> Bools:
    """Return which activations are whole numbers, (n,), if inputs of integers are."""
    genes = net.neurons
    formulas = [activation_named(name).expression for name in net.activations]
    always = np.array([_is_whole(each, of_whole=False) for each in formulas], np.bool_)
    closed = np.array([_is_whole(each, of_whole=True) for each in formulas], np.bool_)
    adds = np.isin(net.aggregation_names, ["sum", "product", "max", "min", "maxabs"])
    fits = adds & (genes.bias == np.rint(genes.bias)) & (genes.response == np.rint(genes.response))
    weights = net.live.weight == np.rint(net.live.weight)
    return _lasting(net, ("bool", "int", "uint"), always, closed[genes.activation] & fits, weights)


def truth_neurons(net: Structure) -> Bools:
    """Return which activations are 0 or 1, (n,), if inputs of truth values are."""
    genes = net.neurons
    formulas = [activation_named(name).expression for name in net.activations]
    always = np.array([each.is_truth or each.op == "number" for each in formulas], np.bool_)
    hands_on = np.array([each == VARIABLE for each in formulas], np.bool_)[genes.activation]
    chooses = np.isin(net.aggregation_names, ["product", "max", "min"]) | (net.fan_in == 1)
    fits = chooses & (net.fan_in > 0) & (genes.bias == 0.0) & (genes.response == 1.0)
    return _lasting(net, ("bool",), always, hands_on & fits, net.live.weight == 1.0)


def neurons_of_types(net: Structure) -> dict[str, Bools]:
    """Which neurons give numbers that a type of ONNX has, (n,), for each that outputs may have."""
    whole = whole_neurons(net)
    return {"BOOL": truth_neurons(net), "INT32": whole, "INT64": whole}


def _lasting(
    net: Structure, dtypes: tuple[str, ...], always: Bools, closed: Bools, weights: Bools
) -> Bools:
    """The largest set of neurons that holds what it reads.

    Args:
        dtypes: how the types of the input ports begin that have such numbers.
        always: whether each activation of the network gives them of any number.
        closed: whether each neuron gives them if all that it reads are, (n,).
        weights: whether the weight of each live connection is one, (m,).
    """
    live, own = net.live, always[net.neurons.activation]
    given = np.zeros(len(net), np.bool_)
    for port in net.inputs:
        given[port.neurons] = port.dtype.startswith(dtypes)
    starts = net.neurons.initial == np.rint(net.neurons.initial)
    starts &= ~marked(len(net), live.source[live.reads_state & (live.delay > 0)])
    found = np.where(net.is_input, given, (own | closed) & starts)
    while True:
        fine = weights & found[live.source] & ~live.reads_state
        fine &= (live.gater == NONE) | (found[live.gater] & np.isin(live.initial_gain, (0.0, 1.0)))
        spoilt = marked(len(net), live.target[~fine])
        kept = found & (net.is_input | own | ~spoilt)
        if np.array_equal(kept, found):
            return found
        found = kept


def _is_whole(formula: Expression, *, of_whole: bool) -> bool:
    """Whether a formula gives whole numbers, of any number or of whole ones alone."""
    if formula == VARIABLE:
        return of_whole
    if formula.is_constant:
        return not math.isfinite(formula.value) or formula.value.is_integer()
    if formula.is_truth or formula.op in _ROUND:
        return True
    args = formula.args[1:] if formula.op == "where" else formula.args
    closed = formula.op == "where" or formula.op in _CLOSED
    return closed and all(_is_whole(each, of_whole=of_whole) for each in args)


def beyond_float32(net: Structure, neurons: Bools) -> str | None:
    """Return the first gene, in words, that float32 has no finite number for; None without one.

    Args:
        net: the network.
        neurons: those whose genes have to fit, and the weights of the connections into them.
    """
    genes, live = net.neurons, net.live
    columns = [
        (name, np.flatnonzero(neurons), getattr(genes, name)[neurons])
        for name in ("bias", "response", "initial")
    ]
    kept = neurons[live.target]
    columns.append(("weight", live.target[kept], live.weight[kept]))
    for name, owners, values in columns:
        wrong = np.flatnonzero(np.abs(values) > np.finfo(np.float32).max)
        if wrong.size:
            owner, value = net.label(int(owners[wrong[0]])), values[wrong[0]]
            return f"{owner} has the {name} {value:.6g}, beyond the range of float32"
    return None


def rounded_integer(net: Structure) -> int:
    """The largest whole number that float32 does not have, but for its sign, among biases, weights
    and constants of formulas; 0 if there is none.
    """
    formulas = (activation_named(name).expression for name in net.activations)
    constants = {part.value for each in formulas for part in parts_of(each) if part.is_constant}
    numbers = np.concatenate([net.neurons.bias, net.live.weight, np.array([*constants])])
    with np.errstate(over="ignore"):
        rounded = np.isfinite(numbers) & (numbers.astype(np.float32) != numbers)
    whole = numbers[rounded & (numbers == np.rint(numbers))]
    return int(np.abs(whole).max(initial=0.0))
