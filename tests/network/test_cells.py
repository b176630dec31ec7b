"""Cells that are built neuron by neuron; tests/operators/rnn has them against runtimes."""

from dataclasses import replace

import numpy as np
import pytest
from support.examples.rnn_cells import BUILDERS, INPUTS, UNITS, sequences

from neat_onnx import NetworkError
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_readout_is_linear(kind: str):
    net, x = BUILDERS[kind](INPUTS, UNITS, 2, seed=3), sequences()
    hidden = replace(net, outputs=(replace(net.outputs[0], shape=(UNITS,), neurons=_hidden(net)),))
    genes = net.connections
    weights = genes.weight[genes.target >= len(net) - 2].reshape(2, UNITS)
    want = hidden.run(x) @ weights.T + net.neurons.bias[-2:]
    np.testing.assert_allclose(net.run(x), want, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(evaluate(net, x[:, 0]), want[:, 0], rtol=0.0, atol=1e-12)


def _hidden(net: Network) -> Ints:
    genes = net.connections
    return np.unique(genes.source[genes.target >= len(net) - 2])


@pytest.mark.parametrize("kind", BUILDERS)
def test_the_seed_decides(kind: str):
    one, same, other = (BUILDERS[kind](INPUTS, UNITS, seed=seed) for seed in (1, 1, 2))
    assert one == same and one != other


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (1, 1, 0)])
@pytest.mark.parametrize("kind", BUILDERS)
def test_a_cell_has_one_of_each_at_least(kind: str, sizes: tuple[int, ...]):
    with pytest.raises(NetworkError, match="one input or more"):
        BUILDERS[kind](*sizes)
