"""Graphs that import cannot read: the export is right, and has no genome."""

import pytest

from neat_onnx import NeatOnnxWarning, Network, export, verify


@pytest.mark.parametrize("formula", ["pow(acos(z), z)", "mod(z, acos(z))", "pow(atan(z), z)"])
def test_a_function_that_float64_has_no_kernel_of_is_exported(formula):
    net = Network.build(
        inputs=1,
        outputs=[2],
        neurons=[{"id": 2, "activation": f"formula: {formula}"}],
        connections=[(0, 2, 1.0)],
    )
    with pytest.warns(NeatOnnxWarning, match="the file has no genome"):
        model = export(net, dtype="float64")
    assert "neat_onnx.genome" not in model.metadata
    assert verify(net, model, runtime="onnxruntime").passed
