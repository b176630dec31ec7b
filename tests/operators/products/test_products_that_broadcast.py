"""Products of two inputs whose leading axes broadcast come back as one MatMul."""

import onnx
import pytest
from support.examples.graphs import graph_of_inputs, node, operators

from neat_onnx import Network, export, import_model, verify

FEATURES = pytest.mark.filterwarnings("ignore:the first axis is no batch")
SHAPES = [
    ((1, 1, 3, 4), (2, 3, 4, 5)),
    ((3, 1, 3, 4), (1, 2, 4, 2)),
    ((2, 3, 4), (1, 4, 3)),
    ((3, 2, 2, 3), (3, 1, 3, 1)),
    ((4, 3, 2), (2,)),
    ((4,), (3, 4, 2)),
]


def product(
    one: tuple[int, ...], other: tuple[int, ...], behind: str = "", operator: str = "MatMul"
) -> onnx.ModelProto:
    """The product of two inputs, and an activation."""
    nodes = [node(operator, "a b", "c"), *([node(behind, "c", "y")] if behind else [])]
    model = graph_of_inputs(nodes, {"a": one, "b": other}, outputs=nodes[-1].output)
    return onnx.shape_inference.infer_shapes(model)


@FEATURES
@pytest.mark.parametrize("behind", ["", "Tanh"])
@pytest.mark.parametrize(("one", "other"), SHAPES, ids=str)
def test_products_come_back(one, other, behind):
    model = product(one, other, behind)
    net = import_model(model)
    written = export(net)
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=16, runtime="onnxruntime").passed


@FEATURES
def test_a_changed_factor_leaves_neurons():
    document = import_model(product(*SHAPES[0])).to_document().model_dump()
    document["connections"][5]["weight"] = 2.0
    changed = Network.from_document(document)
    written = export(changed)
    assert operators(written) != ["MatMul"]
    assert verify(changed, written, samples=16, runtime="onnxruntime").passed


@FEATURES
@pytest.mark.parametrize("one", [(), (1,), (3,)], ids=str)
def test_a_product_with_a_single_number_is_none_of_matrices(one):
    net = import_model(product(one, (), "Relu", "Mul"), batch_axis=None)
    written = export(net)
    assert "MatMul" not in operators(written)
    assert verify(net, written, samples=16, runtime="onnxruntime").passed
