"""A Scan over a sequence of a fixed length is neurons for each step."""

import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph_of_inputs, node

from neat_onnx import import_model, verify


@pytest.mark.parametrize("operator", ["Add", "Mul"])
@pytest.mark.parametrize("function", ["Identity", "Tanh"])
def test_a_tensor_of_the_graph_around_it_is_read_at_every_step(operator: str, function: str):
    """A constant that joins a sum becomes its bias, once: here are three of them."""
    entries = [
        helper.make_value_info(name, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
        for name in ("step", "r")
    ]
    nodes = [node(operator, "sum step", "m"), node(function, "m", "r")]
    body = helper.make_graph(nodes, "body", entries[:1], entries[1:])
    scan = helper.make_node("Scan", ["sequence"], ["rows"], "scan", body=body, num_scan_inputs=1)
    around = [node("MatMul", "x w", "sum"), scan, node("Transpose", "rows", "y", perm=[1, 0, 2])]
    constants = {"sequence": [[1.0], [2.0], [3.0]], "w": [[1.0, 2.0], [3.0, 4.0]]}
    model = graph_of_inputs(around, {"x": ("N", 2)}, outputs={"y": ("N", 3, 2)}, **constants)
    net = import_model(model, check=False)
    assert verify(net, model, samples=32, runtime="onnxruntime").passed
