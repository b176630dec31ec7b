"""The cells that are built neuron by neuron, for several tests."""

from collections.abc import Callable

import numpy as np

from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network

INPUTS, UNITS = 3, 5
BUILDERS: dict[str, Callable[..., Network]] = {
    "rnn": Network.rnn,
    "gru": Network.gru,
    "gru_linear": lambda *args, **more: Network.gru(*args, linear_before_reset=True, **more),
    "lstm": Network.lstm,
}
NODES = {"rnn": "RNN", "gru": "GRU", "gru_linear": "GRU", "lstm": "LSTM"}


def sequences(steps: int = 9, samples: int = 4, inputs: int = INPUTS) -> Floats:
    x = np.random.default_rng(7).normal(size=(steps, samples, inputs))
    return x.astype(np.float32).astype(np.float64)
