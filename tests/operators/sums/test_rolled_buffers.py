"""Channels that each weigh the last steps of their own: the state of a convolution in a policy."""

import numpy as np
import pytest
from support.examples.graphs import graph_of_inputs, node

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(2)


def rolled(channels: int, kept: int):
    """c [N, channels, kept] without its oldest step and with x [N, channels], weighed and added."""
    weights = RANDOM.normal(size=(channels, kept)).astype(np.float32)
    constants = {"one": [1], "end": [kept], "axis": [2], "w": weights}
    nodes = [
        node("Slice", "c one end axis", "t"),
        node("Unsqueeze", "x axis", "u"),
        node("Concat", "t u", "next", axis=2),
        node("Mul", "next w", "p"),
        node("ReduceSum", "p axis", "y", keepdims=0),
    ]
    states = {"c": ("N", channels, kept), "x": ("N", channels)}
    given = {"y": ("N", channels), "next": ("N", channels, kept)}
    return graph_of_inputs(nodes, states, outputs=given, **constants)


@pytest.mark.parametrize(("channels", "kept"), [(16, 4), (64, 4), (24, 7)])
def test_they_are_no_matrix_of_zeros(channels, kept):
    model = rolled(channels, kept)
    net = import_model(model)
    written = export(net)
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written) == net
