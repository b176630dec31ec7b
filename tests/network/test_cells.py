"""Cells that are built neuron by neuron compute their equations."""

from dataclasses import replace

import numpy as np
import pytest
from support.examples.rnn_cells import BUILDERS, INPUTS, UNITS, sequences

from neat_onnx import NetworkError
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.network import Network


def _sigmoid(z: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-z))


class _Weights:
    """The genes of a cell, whose layers stand one after the other behind the inputs."""

    def __init__(self, net: Network) -> None:
        self._net = net

    def rows(self, layer: int) -> Ints:
        start = INPUTS + layer * UNITS
        return np.arange(start, start + UNITS)

    def driven(self, layer: int, x: Floats, hidden: int, h: Floats) -> Floats:
        """W · x + R · h + b."""
        return self._from(layer, np.arange(INPUTS), x) + self.recurrent(layer, hidden, h)

    def recurrent(self, layer: int, hidden: int, h: Floats) -> Floats:
        return self._from(layer, self.rows(hidden), h) + self._net.neurons.bias[self.rows(layer)]

    def _from(self, layer: int, sources: Ints, values: Floats) -> Floats:
        genes, rows = self._net.connections, self.rows(layer)
        matrix = np.zeros((len(rows), len(sources)))
        for source, target, weight in zip(genes.source, genes.target, genes.weight, strict=True):
            if source in sources and target in rows:
                matrix[target - rows[0], source - sources[0]] += weight
        return values @ matrix.T


def _rnn(w: _Weights, x: Floats, h: Floats, c: Floats) -> tuple[Floats, Floats]:
    return np.tanh(w.driven(0, x, 0, h)), c


def _gru(w: _Weights, x: Floats, h: Floats, c: Floats) -> tuple[Floats, Floats]:
    update, reset = (_sigmoid(w.driven(k, x, 4, h)) for k in (0, 1))
    candidate = np.tanh(w.driven(2, x, 4, reset * h))
    return (1.0 - update) * candidate + update * h, c


def _gru_linear(w: _Weights, x: Floats, h: Floats, c: Floats) -> tuple[Floats, Floats]:
    update, reset = (_sigmoid(w.driven(k, x, 5, h)) for k in (0, 1))
    candidate = np.tanh(w.driven(3, x, 5, 0.0 * h) + reset * w.recurrent(2, 5, h))
    return (1.0 - update) * candidate + update * h, c


def _lstm(w: _Weights, x: Floats, h: Floats, c: Floats) -> tuple[Floats, Floats]:
    entry, forget, out = (_sigmoid(w.driven(k, x, 6, h)) for k in (0, 1, 4))
    c = forget * c + entry * np.tanh(w.driven(2, x, 6, h))
    return out * np.tanh(c), c


EQUATIONS = {"rnn": _rnn, "gru": _gru, "gru_linear": _gru_linear, "lstm": _lstm}


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_cell_computes_its_equations(kind: str):
    net, x = BUILDERS[kind](INPUTS, UNITS, seed=3), sequences()
    weights = _Weights(net)
    h, c = np.zeros((x.shape[1], UNITS)), np.zeros((x.shape[1], UNITS))
    got = net.run(x)
    for t in range(len(x)):
        h, c = EQUATIONS[kind](weights, x[t], h, c)
        np.testing.assert_allclose(got[t], h, rtol=0.0, atol=1e-12)


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
