"""Sums of many neurons: the same numbers in every form, in bounded memory."""

import tracemalloc

import numpy as np
import pytest
from support.examples.graphs import graph, node

import neat_onnx
from neat_onnx.network.genes import NONE
from neat_onnx.network.program import Padded, Terms, sums_of


def convolution(channels, size):
    weight = np.random.default_rng(0).normal(size=(16, channels, 3, 3))
    conv = node("Conv", "x w", "y", pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    model = graph([conv], x=("N", channels, size, size), w=weight)
    return neat_onnx.import_model(model, check=False)


@pytest.mark.parametrize("gated", [False, True])
def test_padded_neurons_give_the_sums_written_out(gated):
    rng = np.random.default_rng(1)
    shared = [rng.integers(0, 30, 25) for _ in range(9)]
    reads = [shared[j % 9] for j in range(27)] + [rng.integers(0, 30, 3) for _ in range(9)]
    reads += [rng.integers(0, 30, k) for k in (1, 2, 700)]
    rows, counts = np.concatenate(reads), np.array([len(each) for each in reads])
    gain = np.where(rows % 3 == 0, NONE, (rows * 7) % 30) if gated else None
    weight, values = rng.normal(size=len(rows)), rng.normal(size=(31, 400))
    values[-1] = 1.0
    found = sums_of(np.arange(len(counts)), Terms(rows, weight, gain), counts)
    assert {type(each) for each in found} == {Padded}
    out = np.full((len(counts), 400), np.nan)
    for each in found:
        each.write(out, values)
    gains = 1.0 if gain is None else values[gain]
    want = np.add.reduceat(values[rows] * weight[:, None] * gains, np.cumsum(counts) - counts)
    np.testing.assert_allclose(out, want, rtol=1e-10, atol=1e-10)


def test_a_convolution_needs_no_matrix_of_all_places():
    net = convolution(8, 24)
    x = np.random.default_rng(2).normal(size=(256, len(net.input_neurons)))
    tracemalloc.start()
    got = net.activate(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 180e6
    assert np.all(np.isfinite(got))


def test_products_of_two_values_take_no_more_memory_with_more_samples():
    product = node("MatMul", "x t", "y")
    turned = node("Transpose", "x", "t", perm=[0, 2, 1])
    net = neat_onnx.import_model(graph([turned, product], x=("N", 40, 32)), check=False)
    x = np.random.default_rng(4).normal(size=(512, 40, 32))
    tracemalloc.start()
    got = net.activate(x.reshape(512, -1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6
    want = x @ x.swapaxes(1, 2)
    np.testing.assert_allclose(got.reshape(want.shape), want, rtol=1e-9, atol=1e-9)
