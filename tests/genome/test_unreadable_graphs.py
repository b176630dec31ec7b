"""Graphs that import hardly reads, or not at all: then the export is right, and has no genome."""

import pytest

from neat_onnx import NeatOnnxWarning, Network, export, import_model, verify


@pytest.mark.parametrize("formula", ["mod(z, acos(z))", "mod(atan(z), z)"])
def test_a_remainder_of_two_functions_is_exported_and_comes_back(formula):
    net = Network.build(
        inputs=1,
        outputs=[2],
        neurons=[{"id": 2, "activation": f"formula: {formula}"}],
        connections=[(0, 2, 1.0)],
    )
    model = export(net, dtype="float64")
    assert import_model(model.to_bytes()) == net
    assert verify(net, model, runtime="onnxruntime").passed


@pytest.mark.parametrize("formula", ["z / 0.0", "z * (z / 0.0)", "exp(z / 0.0)"])
def test_a_quotient_by_zero_is_exported(formula):
    net = Network.build(
        inputs=1,
        outputs=[2],
        neurons=[{"id": 1, "activation": f"formula: {formula}"}, 2],
        connections=[(0, 1, 1.0), (1, 2, 1.0)],
    )
    with pytest.warns(NeatOnnxWarning, match=r"the file has no genome.*: node \w+ \(\w+\)"):
        model = export(net)
    assert verify(net, model, runtime="onnxruntime").passed
