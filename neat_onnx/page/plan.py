"""A network compiled for another language: arrays and formulas, which web/live/evaluator.js runs.

For each step t, in the plan's order, a neuron j of the edges first[j] … first[j + 1] − 1 computes

    z_j = bias_j + response_j · aggregate_j(weight_e · gain_e · v_e)
    a_j = activation_j(z_j)

where v_e is the source's a (z, if the edge reads the state), `delay` steps ago, and gain_e is the
gater's a, `gate_delay` steps ago, or 1. A formula is a tree: a number, "z" (the variable), or a
list of a primitive's name and its arguments; `neat_onnx.network.expression` defines the primitives.
"""

import math
from typing import Any

import numpy as np

from neat_onnx.drawing.scene import labels_of
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import Expression, constant
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

Tree = str | float | list[Any]
MAX_CONNECTIONS = 200_000  # that a page computes as it draws


def plan_of(net: Network) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Compile `net`.

    Returns:
        A document: `activations` and `aggregations`, trees, and `past`, the longest delay. Arrays,
        of int32 or float64, little-endian: `order`, `inputs`, `outputs`; by neuron `bias`,
        `response`, `initial`, `activation`, `aggregation`, which count the trees from 0, with -1
        for a sum, and `first`; by edge `source`, `weight`, `delay`, `state`, `gater`,
        `gate_delay`, `initial_gain`.
    """
    live, genes = net.live, net.neurons
    kinds = list(zip(net.aggregation_names.tolist(), net.fan_in.tolist(), strict=True))
    computes = (net.aggregation_names != "sum") & ~net.is_input
    known = list(dict.fromkeys(kinds[place] for place in np.flatnonzero(computes)))
    aggregation = [known.index(kind) if kind in known else -1 for kind in kinds]
    order = np.concatenate(schedule(net).levels)
    ints = {
        "order": order[~net.is_input[order]],
        "inputs": net.input_neurons,
        "outputs": net.output_neurons,
        "activation": genes.activation,
        "aggregation": aggregation,
        "first": net.first_edge,
        "source": live.source,
        "delay": live.delay,
        "state": live.reads_state,
        "gater": live.gater,
        "gate_delay": live.gate_delay,
    }
    floats = {
        "bias": genes.bias,
        "response": genes.response,
        "initial": genes.initial,
        "weight": live.weight,
        "initial_gain": live.initial_gain,
    }
    arrays = {name: np.asarray(array, "<i4").tobytes() for name, array in ints.items()}
    arrays |= {name: np.asarray(array, "<f8").tobytes() for name, array in floats.items()}
    document = {
        "activations": [_tree(activation_named(name).expression) for name in net.activations],
        "aggregations": [_aggregate(*kind) for kind in known],
        "past": max([0, *live.delay.tolist(), *live.gate_delay.tolist()]),
    }
    return document, arrays


def _aggregate(name: str, count: int) -> Tree:
    function = aggregation_named(name)
    return _tree(function.expression(count) if count else constant(function.empty))


def _tree(formula: Expression) -> Tree:
    if formula.is_constant:
        value = formula.value
        return value if math.isfinite(value) else str(value)  # JSON has no number for it
    return "z" if formula.op == "variable" else [formula.op, *map(_tree, formula.args)]


def named_ports(net: Network) -> dict[str, Any]:
    """Return the neurons and names of a step's inputs and outputs, and the memory, for people."""
    labels = labels_of(net)
    inputs = net.input_neurons.tolist()
    return {
        "inputs": [labels[neuron] for neuron in inputs],
        "outputs": [labels[neuron] for neuron in net.output_neurons.tolist()],
        "input_neurons": inputs,
        "state": net.initial_state(1)[0].tolist() if net.has_memory else [],
    }
