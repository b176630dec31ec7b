"""Inputs and outputs of FLOAT16: a network that was imported leaves with them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node

from neat_onnx import export, import_model, load_network, verify

HALF, FLOAT = TensorProto.FLOAT16, TensorProto.FLOAT
WEIGHTS = np.float16(np.random.default_rng(0).normal(size=(3, 3)))
Entry = tuple[str, int, list[str | int]]


def model(
    nodes: list[onnx.NodeProto], inputs: list[Entry], outputs: list[Entry]
) -> onnx.ModelProto:
    ends = [[helper.make_tensor_value_info(*each) for each in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "graph", *ends, [numpy_helper.from_array(WEIGHTS, "W")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


LAYER = [node("Gemm", "x W", "h"), node("Tanh", "h", "y")]
EXP = [node("Cast", "t", "f", to=FLOAT), node("Exp", "f", "e"), node("Cast", "e", "y", to=HALF)]
X, Y = ("x", HALF, ["N", 3]), ("y", HALF, ["N", 3])
GRAPHS = {
    "layer": model(LAYER, [X], [Y]),
    "one sample": model(LAYER, [("x", HALF, [1, 3])], [("y", HALF, [1, 3])]),
    "cast": model([node("Cast", "x", "y", to=FLOAT)], [X], [("y", FLOAT, ["N", 3])]),
    "rounded": model([node("Cast", "x", "y", to=HALF)], [("x", FLOAT, ["N", 3])], [Y]),
    "image": model(
        [node("Relu", "x", "y")], [("x", HALF, ["N", 2, 3])], [("y", HALF, ["N", 2, 3])]
    ),
    "batch last": model(
        [node("Transpose", "x", "t", perm=[1, 0]), *EXP],
        [("x", HALF, [3, "N"])],
        [Y],
    ),
    "two": model(
        [*LAYER, node("Cast", "s", "z", to=FLOAT)],
        [X, ("s", HALF, ["N", 2])],
        [Y, ("z", FLOAT, ["N", 2])],
    ),
}


@pytest.mark.filterwarnings("ignore:numbers are rounded to FLOAT16")
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(
    "options", [{}, {"include_metadata": False}, {"dtype": "float64"}], ids=str
)
def test_an_export_has_the_types_of_the_model(name, options):
    given = GRAPHS[name]
    net = import_model(given)
    made = export(net.without_source(), **options)
    number = TensorProto.DOUBLE if options.get("dtype") == "float64" else FLOAT
    for ours, theirs in (
        (made.graph.inputs, given.graph.input),
        (made.graph.outputs, given.graph.output),
    ):
        kinds = [entry.type.tensor_type.elem_type for entry in theirs]
        assert [entry.elem_type for entry in ours] == [
            kind if kind == HALF else number for kind in kinds
        ]
    for runtime in ("reference", "onnxruntime"):
        assert verify(net, made, runtime=runtime).verdict == "equal"


@pytest.mark.filterwarnings("ignore:numbers are rounded to FLOAT16")
@pytest.mark.parametrize("name", sorted(GRAPHS.keys() - {"image", "batch last"}))  # without weights
def test_the_types_of_ports_come_back(name):
    net = import_model(GRAPHS[name])
    again = import_model(export(net.without_source()))
    assert again == net
    stated = [port.dtype for port in net.inputs + net.outputs]
    assert "float16" in stated
    for each in (again, load_network(net.to_json())):
        assert [port.dtype for port in each.inputs + each.outputs] == stated
