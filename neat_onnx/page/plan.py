"""A network compiled for another language: arrays and formulas, which web/live/evaluator.js runs.

For each step t, in the plan's order, a neuron j of the edges first[j] … first[j + 1] − 1 computes

    z_j = bias_j + response_j · aggregate_j(weight_e · gain_e · v_e)
    a_j = activation_j(z_j)

where v_e is the source's a (z, if the edge reads the state), `delay` steps ago, and gain_e is the
gater's a, `gate_delay` steps ago, or 1. A formula is a tree: a number, "z" (the variable), or a
list of a primitive's name and its arguments; `neat_onnx.network.expression` defines the primitives.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.expression import Expression
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

Tree = str | float | list[Any]
MAX_CONNECTIONS = 200_000  # that a page computes as it draws


class Plan(NamedTuple):
    """The formulas and sizes, which are JSON, and the arrays: int32 and float64, little-endian."""

    document: dict[str, Any]
    arrays: dict[str, bytes]


def plan_of(net: Network) -> Plan:
    """Compile `net`.

    Returns:
        `document`: neurons and registers as numbers; `activations`, `aggregations`: trees, which
        the arrays of the same names count from 0, with -1 for a sum. `arrays`: `order`, `inputs`,
        `outputs`, `bias`, `response`, `initial`, `activation`, `aggregation` by neuron, and
        `first`, `source`, `weight`, `delay`, `state`, `gater`, `gate_delay`, `initial_gain`.
    """
    live, genes = net.live, net.neurons
    first = net.first_edge
    trees, aggregation = _aggregations(net, net.fan_in)
    order = np.concatenate(schedule(net).levels)
    ints = {
        "order": order[~net.is_input[order]],
        "inputs": net.input_neurons,
        "outputs": net.output_neurons,
        "activation": genes.activation,
        "aggregation": aggregation,
        "first": first,
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
    formulas = [_tree(activation_named(name).expression) for name in net.activations]
    past = max(0, *live.delay.tolist(), *live.gate_delay.tolist(), 0)
    document = {"activations": formulas, "aggregations": trees, "past": past}
    return Plan(document, arrays)


def _aggregations(net: Network, counts: np.ndarray) -> tuple[list[Tree], np.ndarray]:
    """Return a tree for each aggregation and number of inputs, and which of them a neuron has."""
    trees: list[Tree] = []
    known: dict[tuple[str, int], int] = {}
    chosen = np.full(len(net), -1, np.int64)
    for neuron, name in enumerate(net.aggregation_names.tolist()):
        count = int(counts[neuron])
        if name == "sum" or net.is_input[neuron]:
            continue
        if (name, count) not in known:
            known[name, count] = len(trees)
            trees.append(_aggregate(aggregation_named(name), count))
        chosen[neuron] = known[name, count]
    return trees, chosen


def _aggregate(function: Aggregation, count: int) -> Tree:
    return _tree(function.expression(count)) if count else _number(function.empty)


def _tree(formula: Expression) -> Tree:
    if formula.is_constant:
        return _number(formula.value)
    return "z" if formula.op == "variable" else [formula.op, *map(_tree, formula.args)]


def _number(value: float) -> Tree:
    """A number, or its name where JSON has none."""
    return value if math.isfinite(value) else str(value)


def named_ports(net: Network) -> dict[str, Any]:
    """The inputs and outputs of a step, by name where there is one, and the memory, as a page shows
    them.
    """

    def named(neurons: Ints, noun: str) -> list[str]:
        names = (net.neuron_names[neuron] for neuron in neurons.tolist())
        return [name or f"{noun} {place}" for place, name in enumerate(names, start=1)]

    return {
        "inputs": named(net.input_neurons, "input"),
        "input_neurons": net.input_neurons.tolist(),
        "output_neurons": net.output_neurons.tolist(),
        "outputs": named(net.output_neurons, "output"),
        "state": net.initial_state(1)[0].tolist() if net.has_memory else [],
    }
