"""Runs of steps that one node computes: of the same weights, and with nothing read out of them.

Only the hidden units of every step, and the other states after the last one, are outputs of a node.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.network import Network
from neat_onnx.operators.rnn.parameters import StepReader
from neat_onnx.operators.rnn.reads import MIN_STEPS, Reads, Steps


def runs_of(reads: Reads, layer: Steps) -> Iterator[Steps]:
    """The runs of a layer, each from where the step before it ended; single steps are left out."""
    reader, hidden = StepReader(reads, layer), layer.hidden
    later = [reader.step(k, before) for k, before in enumerate(hidden[:-1], 1)]
    steps = [later[0] and reader.first(later[0]), *later]
    alone, last = _read_by_others(reads.net, layer)
    breaks = alone[:-1] | alone[1:] | last[:-1]
    cuts = [
        k
        for k, (one, other) in enumerate(pairwise(steps), 1)
        if breaks[k - 1] or one is None or other is None or not one.is_alike(other)
    ]
    for first, end in pairwise([0, *cuts, len(hidden)]):
        if end - first >= MIN_STEPS:
            yield replace(layer, steps=layer.steps[first:end], start=layer.states_after(first))


def _read_by_others(net: Network, layer: Steps) -> tuple[Bools, Bools]:
    """Find steps with inner neurons that others read, and steps with states that others read.

    Others are all neurons beside the step; those in the next one keep the states.

    Returns:
        Two flags for each step, (T,).
    """
    step, is_hidden, is_state = _places(net, layer)
    alone, last = np.zeros((2, len(layer.steps)), np.bool_)

    def mark(neurons: Ints, shown: Bools) -> None:
        alone[step[neurons[~shown]]] = True
        last[step[neurons[shown]]] = True

    live = net.live
    never = np.zeros(len(live), np.bool_)
    for end, delay, reads_state in (
        (live.source, live.delay, live.reads_state),
        (live.gater, live.gate_delay, never),
    ):
        inner = (end != NONE) & (step[end] != NONE) & (~is_hidden[end] | reads_state)
        neurons, target = end[inner], live.target[inner]
        later = np.where(step[target] == NONE, NONE, step[target] - step[neurons])
        later[delay[inner] > 0] = NONE  # in the next step of the network
        shown = is_state[neurons] & ~reads_state[inner]
        read = reads_state[inner] | (later != 0) & ~(shown & (later == 1))
        mark(neurons[read], shown[read])
    ends = net.output_neurons[(step[net.output_neurons] != NONE) & ~is_hidden[net.output_neurons]]
    mark(ends, is_state[ends])
    return alone, last


def _places(net: Network, layer: Steps) -> tuple[Ints, Bools, Bools]:
    """For each neuron its step or NONE, and whether it is a hidden one, or a state, (n,)."""
    step = np.full(len(net), NONE, np.int64)
    is_hidden, is_state = np.zeros((2, len(net)), np.bool_)
    for k, parts in enumerate(layer.steps):
        step[np.concatenate(list(parts.values()))] = k
        is_hidden[parts["hidden"]] = True
        for state in layer.cell.states:
            is_state[parts[state]] = True
    return step, is_hidden, is_state
