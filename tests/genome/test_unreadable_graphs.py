"""Graphs that import does not read: the export is right."""

import pytest

from neat_onnx import Network, export, verify


@pytest.mark.parametrize("formula", ["z / 0.0", "z * (z / 0.0)", "exp(z / 0.0)"])
def test_a_quotient_by_zero_is_exported(formula):
    neurons = [{"id": 1, "activation": f"formula: {formula}"}, 2]
    connections = [(0, 1, 1.0), (1, 2, 1.0)]
    net = Network.build(inputs=1, outputs=[2], neurons=neurons, connections=connections)
    model = export(net)
    assert verify(net, model, runtime="onnxruntime").passed
