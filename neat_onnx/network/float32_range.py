"""Genes beyond the range of float32, and integers among them that it rounds."""

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import parts_of
from neat_onnx.network.genes import Bools
from neat_onnx.network.structure import Structure


def beyond_float32(net: Structure, neurons: Bools) -> str | None:
    """Return the first gene, in words, that float32 has no finite number for; None without one.

    Args:
        net: the network.
        neurons: those whose genes have to fit, and the weights of the connections into them.
    """
    largest = float(np.finfo(np.float32).max)
    for name in ("bias", "response", "initial"):
        values = getattr(net.neurons, name)
        found = np.flatnonzero(neurons & (np.abs(values) > largest))
        if found.size:
            return _in_words(net, int(found[0]), name, values[found[0]])
    live = net.live
    found = np.flatnonzero(neurons[live.target] & (np.abs(live.weight) > largest))
    if not found.size:
        return None
    edge = found[0]
    gene = f"weight from {net.label(int(live.source[edge]))}"
    return _in_words(net, int(live.target[edge]), gene, live.weight[edge])


def _in_words(net: Structure, neuron: int, gene: str, value: float) -> str:
    article = "an" if gene[0] in "aeiou" else "a"
    return f"{net.label(neuron)} has {article} {gene} of {value:.6g}, beyond the range of float32"


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
