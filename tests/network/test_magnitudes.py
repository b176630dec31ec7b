"""Values with a bound far from overflow, by the intervals of what they are computed from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import BOUNDED, GROWING, networks

from neat_onnx.network.magnitudes import moderate_values
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port

CLIPPED = "formula: clip(z, -2, 3)"
EXP, ROOT = "formula: exp(z)", "formula: reciprocal(sqrt(z))"


def moderate(net):
    """Whether activations, and pre-activations, are moderate, by ids."""
    found = moderate_values(net, np.full(len(net), np.inf))
    return tuple(set(net.neurons.id[each].tolist()) for each in found)


def chain(*names, bias=0.0, aggregation="sum", last=-1.0):
    """Neurons that read one another, from an input on, by −1, the last one by another weight."""
    neurons = [
        {"id": k + 1, "activation": name, "bias": bias, "aggregation": aggregation}
        for k, name in enumerate(names)
    ]
    weights = [*[-1.0] * (len(names) - 1), last]
    connections = [(k, k + 1, weight) for k, weight in enumerate(weights)]
    return Network.build(inputs=1, outputs=[len(names)], neurons=neurons, connections=connections)


def test_an_input_has_no_bound_and_what_reads_a_clip_of_it_has():
    assert moderate(chain("square", CLIPPED, "square", EXP, "identity")) == ({3, 4, 5}, {3, 4, 5})


@pytest.mark.parametrize("aggregation", ["sum", "mean", "max", "min", "median"])
def test_a_root_has_one_where_all_that_it_reads_is_above_zero(aggregation):
    names, both = (CLIPPED, "square", ROOT), {"bias": 0.5, "aggregation": aggregation}
    assert moderate(chain(*names, **both))[0] == {2}
    assert moderate(chain(*names, **both, last=1.0))[0] == {2, 3}


def test_a_gain_multiplies_and_a_product_is_not_followed():
    """The signs of others on its level do not matter to a root."""
    gated = {"source": 2, "target": 3, "weight": 2.0, "gater": 1}
    neurons = [
        {"id": 1, "activation": CLIPPED},
        {"id": 2, "activation": "sigmoid"},
        {"id": 3, "bias": -6.5},
        {"id": 4, "aggregation": "product"},
        {"id": 5, "activation": ROOT, "bias": 0.25},
        {"id": 6, "activation": ROOT},
    ]
    read = [(0, 1, 1.0), (0, 2, 1.0), gated, (1, 4, 1.0), (2, 4, 1.0), (2, 5, 1.0), (3, 6, 1.0)]
    net = Network.build(inputs=1, outputs=[3, 4, 5, 6], neurons=neurons, connections=read)
    activations, pre_activations = moderate(net)
    assert activations == {3, 5}
    assert pre_activations == {3, 5, 6}


def test_bounds_that_are_far_too_large_are_none():
    steep = chain(CLIPPED, "cube", "cube", "cube", "cube")  # 3 to the power of 27, at the fourth
    assert moderate(steep)[0] == {2, 3}


@given(networks(activations=[*BOUNDED, *GROWING], memory=False), st.integers(0, 2**32 - 1))
def test_no_input_takes_a_moderate_value_beyond_its_bound(net, seed):
    found, _ = moderate_values(net, np.full(len(net), np.inf))
    if not np.any(found):
        return
    seen = np.flatnonzero(found)
    net = replace(net, outputs=(Port("seen", seen.shape, seen),))
    sizes = np.logspace(0.0, 30.0, 64)[:, None]
    values = np.random.default_rng(seed).normal(size=(64, len(net.input_neurons))) * sizes
    assert np.all(np.abs(net.run(values)) <= 2.0**30)
