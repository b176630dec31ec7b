"""Neurons of a graph that are one neuron of the genome.

Export writes a neuron in several nodes where no operator computes all of it: a maximum and the bias
that is added to it, or a formula of several steps. Import may make a neuron of each step.
"""

from dataclasses import replace

import numpy as np

from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.genes import NONE, Bools, Ints, Neurons, owned
from neat_onnx.network.network import Network

_MAX_SIZE = 1 << 12  # of a formula of several neurons


def joined(net: Network, place: Ints) -> Network:
    """The network with each neuron that has no place made part of the one neuron that reads it.

    Where p = f(b + r·w·h) reads h = g(c + s·a) alone and nobody else does, p is
    f(b + r·w·g(z)) of z = c + s·a. Where p = f(h), h is the pre-activation of p, and others that
    read h read the state of p. The neuron h stays, and nothing reads it.

    Args:
        net: the network of a graph.
        place: the place in the genome of each of its neurons, NONE for others, (n,).
    """
    edges, several = _joints(net, place)
    if not len(edges):
        return net
    live, neurons = net.live, net.neurons
    bias, response, initial = neurons.bias.copy(), neurons.response.copy(), neurons.initial.copy()
    source, reads_state = live.source.copy(), live.reads_state.copy()
    activation, aggregation = net.activation_names.tolist(), net.aggregation_names.tolist()
    states = np.zeros(len(net), np.bool_)
    states[source[reads_state]] = True
    kept = np.ones(len(live), np.bool_)
    into = np.arange(len(net))  # that the inputs of each neuron are now those of
    for edge, is_state in zip(edges.tolist(), several.tolist(), strict=True):
        inner, outer = int(live.source[edge]), int(live.target[edge])
        first = activation_named(activation[inner]).expression
        factor = float(response[outer] * live.weight[edge])
        if first == VARIABLE:
            bias[outer] += factor * bias[inner]
            response[outer] = factor * response[inner]
        else:
            second = activation_named(activation[outer]).expression
            formula = second.substitute(_line(first, factor, float(bias[outer])))
            if states[outer] or formula.size > _MAX_SIZE:
                continue
            bias[outer], response[outer] = bias[inner], response[inner]
            activation[outer] = f"{FORMULA}{formula}"
        aggregation[outer] = aggregation[inner]
        into[inner] = outer
        kept[edge] = False
        if is_state:
            others = kept & (source == inner)
            source[others], reads_state[others] = outer, True
            initial[outer] = initial[inner]
    for edge in reversed(edges.tolist()):
        into[live.source[edge]] = into[into[live.source[edge]]]
    columns = {"source": source, "target": into[live.target], "reads_state": reads_state}
    genes = replace(live, **{name: owned(column) for name, column in columns.items()}).take(kept)
    genes = genes.take(np.argsort(genes.target, kind="stable"))
    made, activations, aggregations = Neurons.of(
        neurons.id.tolist(),
        activation=activation,
        aggregation=aggregation,
        bias=bias,
        response=response,
        initial=initial,
        name=net.neuron_names,
        spelling=net.spellings,
    )
    return replace(
        net,
        neurons=made,
        activations=activations,
        aggregations=aggregations,
        connections=genes,
    )


@np.errstate(all="ignore")
def _joints(net: Network, place: Ints) -> tuple[Ints, Bools]:
    """The connections from neurons without a place to those that they are part of, and whether
    others read the pre-activation there.
    """
    live, neurons, codes = net.live, net.neurons, net.neurons.aggregation
    source, target, gated = live.source, live.target, live.gater != NONE
    count = len(net)
    builtin = np.array([aggregation_named(name).builtin for name in net.aggregations], np.bool_)
    one_input = (net.fan_in == 1) & builtin[codes]
    shown = np.bincount(np.concatenate([live.gater[gated], net.output_neurons]), minlength=count)
    readers = np.bincount(source, minlength=count) + shown
    fits = (place[source] == NONE) & ~net.is_input[source] & one_input[target]
    fits &= (live.delay == 0) & ~gated & ~live.reads_state
    late = np.zeros(count, np.bool_)
    late[source[live.delay > 0]] = True
    plain = net.activation_names == "identity"
    alike = ~late[target] | (neurons.initial[source] == neurons.initial[target])
    is_state = plain[source] & (shown[source] == 0) & (place[target] != NONE) & alike
    is_state &= (neurons.response[target] * live.weight == 1.0) & (neurons.bias[target] == 0.0)
    is_state &= ~plain[target]
    edges = np.flatnonzero(fits & ((readers[source] == 1) | is_state))
    _, first = np.unique(source[edges], return_index=True)  # in levels, as import numbers
    edges = edges[first]
    return edges, readers[source[edges]] > 1


def _line(formula: Expression, factor: float, shift: float) -> Expression:
    scaled = formula if factor == 1.0 else factor * formula
    return scaled if shift == 0.0 else scaled + shift
