"""Attributes in models of float64, which ONNX holds in float32 as everywhere."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from neat_onnx import import_model, load_model, verify


def model_of(operator, **attributes):
    entries = [
        helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["N", 2]) for name in ("x", "y")
    ]
    nodes = [helper.make_node(operator, ["x"], ["y"], **attributes)]
    body = helper.make_graph(nodes, "graph", entries[:1], entries[1:])
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [("LeakyRelu", {}), ("LeakyRelu", {"alpha": 0.1}), ("Elu", {"alpha": 0.3}), ("HardSigmoid", {}),
     ("HardSwish", {}), ("Selu", {}), ("ThresholdedRelu", {"alpha": 0.7})],
)  # fmt: skip
def test_they_are_read_as_runtimes_read_them(operator, attributes):
    model = model_of(operator, **attributes)
    onnx.checker.check_model(model, full_check=True)
    document = load_model(model).to_json()
    for value in attributes.values():  # JSON may have more digits
        single = repr(float(np.float32(value)))
        assert single in document
        document = document.replace(single, repr(value))
    nets = [import_model(model), import_model(document)]
    assert nets[0] == nets[1]
    for runtime in ("reference", "onnxruntime"):
        assert verify(nets[0], model, runtime=runtime).passed
