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


@np.errstate(all="ignore")
def evaluate(net: Structure, x: Floats) -> Floats:
    """Run one sequence from the reset state.

    Args:
        x: (T, I), the inputs of all ports one after the other.

    Returns:
        (T, O), the outputs of all ports one after the other.
    """
    genes, live = net.neurons, net.live
    order = [int(j) for level in schedule(net).levels for j in level if not net.is_input[j]]
    a = np.zeros((len(x), len(net)))  # activations
    z = np.zeros((len(x), len(net)))  # pre-activations
    a[:, net.input_neurons] = z[:, net.input_neurons] = x

    def weighted(e: int, t: int) -> float:
        """w · gain(t) · v(t) of connection e."""
        source, gater, then = live.source[e], live.gater[e], t - int(live.delay[e])
        values = z if live.reads_state[e] else a
        value = values[then, source] if then >= 0 else genes.initial[source]
        gain, then = 1.0, t - int(live.gate_delay[e])
        if gater != NONE:
            gain = a[then, gater] if then >= 0 else live.initial_gain[e]
        return float(live.weight[e] * gain * value)

    for t in range(len(x)):
        for j in order:
            values = [weighted(e, t) for e in np.flatnonzero(live.target == j).tolist()]
            aggregation = aggregation_named(net.aggregation_names[j])
            aggregate = aggregation(np.array(values)) if values else aggregation.empty
            z[t, j] = genes.bias[j] + genes.response[j] * aggregate
            a[t, j] = activation_named(net.activation_names[j])(z[t, j])
    return a[:, net.output_neurons]
