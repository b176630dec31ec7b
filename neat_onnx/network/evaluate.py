"""The plain evaluator: the definition of a Network, written to be obviously right.

It computes one sequence, neuron by neuron and connection by connection, in Python floats. The
compiled evaluator (`program`) is tested against it.
"""

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Floats
from neat_onnx.network.schedule import schedule
from neat_onnx.network.structure import Structure


def evaluate(net: Structure, x: Floats) -> Floats:
    """Run one sequence from the reset state.

    Args:
        x: (T, I), the inputs of all ports one after the other.

    Returns:
        (T, O), the outputs of all ports one after the other.
    """
    order = [int(j) for level in schedule(net).levels for j in level]
    incoming: dict[int, list[int]] = {j: [] for j in range(len(net))}
    for edge, target in enumerate(net.live.target):
        incoming[int(target)].append(edge)
    activations: list[dict[int, float]] = []
    pre_activations: list[dict[int, float]] = []
    outputs = []
    for row in np.asarray(x, np.float64):
        activations.append(dict(zip(net.input_neurons.tolist(), row.tolist(), strict=True)))
        pre_activations.append(dict(activations[-1]))
        for j in order:
            if not net.is_input[j]:
                values = [
                    _weighted(net, edge, activations, pre_activations) for edge in incoming[j]
                ]
                pre_activations[-1][j] = _pre_activation(net, j, values)
                function = activation_named(net.activation_names[j])
                activations[-1][j] = float(function(np.array(pre_activations[-1][j])))
        outputs.append([activations[-1][j] for j in net.output_neurons.tolist()])
    return np.array(outputs, np.float64).reshape(len(outputs), len(net.output_neurons))


def _weighted(
    net: Structure,
    edge: int,
    activations: list[dict[int, float]],
    pre_activations: list[dict[int, float]],
) -> float:
    """w · gain(t) · v(t) of one connection, at the step that is being computed."""
    live, now = net.live, len(activations) - 1
    source, gater = int(live.source[edge]), int(live.gater[edge])
    values = pre_activations if live.reads_state[edge] else activations
    then = now - int(live.delay[edge])
    value = values[then][source] if then >= 0 else float(net.neurons.initial[source])
    gain = 1.0
    if gater != NONE:
        then = now - int(live.gate_delay[edge])
        gain = activations[then][gater] if then >= 0 else float(live.initial_gain[edge])
    return float(live.weight[edge]) * gain * value


def _pre_activation(net: Structure, j: int, values: list[float]) -> float:
    """bias + response · aggregate(values)."""
    function = aggregation_named(net.aggregation_names[j])
    aggregate = float(function(np.array(values))) if values else function.empty
    return float(net.neurons.bias[j]) + float(net.neurons.response[j]) * aggregate
