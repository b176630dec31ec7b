"""Neurons of a graph that are one neuron of the genome.

Export writes a neuron in several nodes where no operator computes all of it: a maximum and the bias
that is added to it, or a formula of several steps. Import may make a neuron of each step.
"""

from dataclasses import replace

import numpy as np

from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.genes import NONE, Ints, Neurons, owned
from neat_onnx.network.network import Network

_MAX_SIZE = 1 << 12  # of a formula of several neurons


def joined(net: Network, place: Ints) -> Network:
    """The network with each neuron that has no place made part of the one neuron that reads it.

    Where p = f(b + r·w·h) reads h = g(c + s·a) alone and nobody else does, p is
    f(b + r·w·g(z)) of z = c + s·a. The neuron h stays, and nothing reads it.

    Args:
        net: the network of a graph.
        place: the place in the genome of each of its neurons, NONE for others, (n,).
    """
    live, neurons, fan_in = net.live, net.neurons, net.fan_in
    readers = np.bincount(live.source, minlength=len(net))
    gated = live.gater != NONE
    readers += np.bincount(live.gater[gated], minlength=len(net))
    readers += np.bincount(net.output_neurons, minlength=len(net))
    states = np.zeros(len(net), np.bool_)
    states[live.source[live.reads_state]] = True
    alone = (place[live.source] == NONE) & (readers[live.source] == 1) & (fan_in[live.target] == 1)
    builtin = np.array([aggregation_named(name).builtin for name in net.aggregations], np.bool_)
    alone &= (
        builtin[neurons.aggregation[live.target]]
        & ~net.is_input[live.source]
        & (live.delay == 0)
        & ~gated
        & ~live.reads_state
    )
    edges = np.flatnonzero(alone)
    edges = edges[np.argsort(live.source[edges], kind="stable")]  # by levels, as import numbers
    if not len(edges):
        return net
    bias, response, target = neurons.bias.copy(), neurons.response.copy(), live.target.copy()
    activation, aggregation = net.activation_names.tolist(), net.aggregation_names.tolist()
    kept = np.ones(len(live), np.bool_)
    into = np.arange(len(net))  # that the inputs of each neuron are now those of
    for edge in edges.tolist():
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
    for edge in reversed(edges.tolist()):
        into[live.source[edge]] = into[into[live.source[edge]]]
    genes = replace(live, target=owned(into[target])).take(kept)
    genes = genes.take(np.argsort(genes.target, kind="stable"))
    made, activations, aggregations = Neurons.of(
        neurons.id.tolist(),
        activation=activation,
        aggregation=aggregation,
        bias=bias,
        response=response,
        initial=neurons.initial,
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


def _line(formula: Expression, factor: float, shift: float) -> Expression:
    scaled = formula if factor == 1.0 else factor * formula
    return scaled if shift == 0.0 else scaled + shift
