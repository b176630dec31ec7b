"""Layers that are no convolutions, although some are nearly one: nothing is inferred."""

import numpy as np
import pytest
from convolving import convolution, convolutions, convolving, dense, network
from support.examples.graphs import operators
from support.examples.made import evolved
from support.examples.networks import NETWORKS
from support.harness.sweep import unlike

from neat_onnx import (
    export,
)

# --- nothing to find ------------------------------------------------------------------------------

NOTHING = {
    "dense": network(dense(64, 36), dense(36, 16)),
    "dense, without biases": network((dense(64, 36)[0], np.zeros(36), "tanh")),
    "dense, coarse": network((np.round(dense(64, 36)[0] * 4), np.zeros(36), "tanh")),
    "dense, signs": network((np.sign(dense(16, 16)[0]), np.zeros(16), "tanh")),
    "dense, one weight": network((np.full((16, 25), 0.5), np.zeros(16), "tanh")),
    "one to one": network((np.eye(16) * 0.5, np.zeros(16), "tanh")),
    "a window over all": network(convolving((5, 5), 4, 2, 5, 5)),
    "windows that share nothing": network(
        (np.kron(np.eye(4), np.ones(9)) * np.arange(1.0, 37.0), np.zeros(4), "tanh")
    ),
    "evolved": evolved(60, seed=1),
    "evolved, wide": evolved(200, seed=2, fan_in=2),
}


@pytest.mark.parametrize("name", NOTHING)
def test_finds_nothing_where_there_is_nothing(name: str):
    assert convolutions(NOTHING[name]) == []
    assert export(NOTHING[name], infer_conv=True) == export(NOTHING[name])


@pytest.mark.parametrize("name", unlike(NETWORKS))
def test_finds_nothing_in_other_networks(name: str):
    assert export(NETWORKS[name], infer_conv=True) == export(NETWORKS[name])


def test_one_weight_that_differs_is_no_convolution():
    matrix, bias, name = convolving((8, 8), 2, 1, 3, 3)
    for change in (0.0, 1e-16, 1.0):
        other = matrix.copy()
        row, column = np.argwhere(matrix)[len(matrix) // 2]
        other[row, column] = other[row, column] * (1.0 + 4.0 * change) if change else 0.0
        assert convolutions(network((other, bias, name))) == []
        assert convolutions(network((other, bias, name), zeros=False)) == []


def test_one_bias_that_differs_is_no_convolution():
    matrix, bias, name = convolving((8, 8), 2, 1, 3, 3)
    bias[5] += 1e-9
    assert convolutions(network((matrix, bias, name))) == []


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("below", ["cube", "softsign"])
def test_zeros_that_would_touch_what_may_overflow_make_none(below: str, zeros: bool):
    """0 · ∞ is no 0: a window reads nothing that the neuron does not, nor the other way round."""
    kernel = np.array([1.0, 0.0, 2.0, 3.0]).reshape(1, 1, 1, 4)
    first = (dense(36, 36)[0], np.arange(36.0), below)
    second = (convolution(kernel, (6, 6)), np.zeros(18), "tanh")
    model = export(network(first, second, zeros=zeros), infer_conv=True)
    assert operators(model).count("Conv") == (below == "softsign")
