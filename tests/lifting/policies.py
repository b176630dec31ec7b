"""Policies as exporters of reinforcement learning shape them."""

import numpy as np
from onnx import ModelProto
from support.examples.graphs import graph_of_inputs

RNG = np.random.default_rng(0)
WEIGHTS = {
    "W": RNG.normal(size=(3, 3)),
    "R": RNG.normal(size=(3, 3)),
    "version": np.array([3.0]),
    "half": np.array(0.5),
}


def policy(nodes, inputs, outputs, **constants) -> ModelProto:
    reads = {name for each in nodes for name in each.input}
    read = {name: np.asarray(values, np.float32) for name, values in (WEIGHTS | constants).items()
            if name in reads}  # fmt: skip
    return graph_of_inputs(nodes, inputs, outputs=outputs, **read)
