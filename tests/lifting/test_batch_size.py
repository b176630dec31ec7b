"""The size of the batch in a graph: as a shape it is right, as a number it is refused."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import assert_lifts, graph
from support.harness.sessions import open_session

from neat_onnx import ModelError, import_model, verify

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NUMBERS = {
    "zero": np.int64(0),
    "one": np.int64(1),
    "axis0": np.array([0]),
    "axis1": np.array([1]),
    "two": np.array([2]),
    "weight": np.float32(0.5),
    "table": np.array([[1.0, -2.0], [0.5, 3.0]], np.float32),
}


def model(*nodes: onnx.NodeProto, output: list[Any] | None = None) -> onnx.ModelProto:
    """A graph from x [N, 2] to y."""
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info("x", FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", FLOAT, output or ["N", 2])],
        [numpy_helper.from_array(np.array(v), k) for k, v in NUMBERS.items() if k in used],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def node(op: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], **attributes)


def assert_equal(made: onnx.ModelProto) -> None:
    x = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
    (want,) = open_session(made).run(None, {"x": x})
    np.testing.assert_allclose(import_model(made).activate(x), want, rtol=1e-6, atol=1e-6)


def zeros_like_a_column() -> list[onnx.NodeProto]:
    """As exporters write zeros_like(x[:, 0]): a constant in the size of the batch."""
    return [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "count", axis=0),
        node("Unsqueeze", "count axis0", "size"),
        node("ConstantOfShape", "size", "zeros"),
    ]


def test_a_constant_in_the_size_of_the_batch():
    column = node("Gather", "x one", "column", axis=1)
    rest = [
        node("Mul", "column weight", "scaled"),
        node("Add", "zeros scaled", "sum"),
        node("Unsqueeze", "sum axis1", "y"),
    ]
    assert_equal(model(*zeros_like_a_column(), column, *rest, output=["N", 1]))


def test_a_constant_expanded_to_the_batch():
    assert_equal(
        model(
            node("Shape", "x", "shape"),
            node("Expand", "weight shape", "offset"),
            node("Add", "x offset", "y"),
        )
    )


def test_a_constant_repeated_for_the_batch():
    """As RLlib's policies repeat the logarithm of their spread."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape axis0", "count", axis=0),
        node("Concat", "count one_more", "repeats", axis=0),
        node("Tile", "spread repeats", "spreads"),
        node("Concat", "x spreads", "y", axis=1),
    ]
    constants = {"axis0": [0], "one_more": [1], "spread": [[0.5, -1.0]]}
    net = assert_lifts(graph(nodes, **constants))
    assert net.outputs[0].shape == (5,)
    with pytest.raises(ModelError, match="would mix samples"):
        import_model(graph(nodes, **constants | {"spread": np.ones((2, 2))}), check=False)
    nodes[3] = node("Tile", "x repeats", "spreads")
    with pytest.raises(ModelError, match="would mix samples"):
        import_model(graph([*nodes[:-1], node("Neg", "spreads", "y")], **constants), check=False)


def test_a_reshape_to_the_batch():
    assert_equal(
        model(
            node("MatMul", "x table", "h"),
            node("Shape", "h", "shape"),
            node("Gather", "shape axis0", "count", axis=0),
            node("Concat", "count two", "size", axis=0),
            node("Reshape", "h size", "y"),
        )
    )


@pytest.mark.parametrize("op", ["Mul", "Div", "Add"])
def test_the_number_of_samples_is_no_number(op: str):
    made = model(
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "count", axis=0),
        node("Cast", "count", "number", to=FLOAT),
        node(op, "x number", "y"),
    )
    with pytest.raises(ModelError, match=r"'number' is the size of the batch, used as a number"):
        import_model(made)


def test_a_constant_in_the_shape_of_another():
    """As exporters write zeros_like(x).scatter_add(1, i, x), and index_add."""
    made = model(
        node("Shape", "x", "shape"),
        node("ConstantOfShape", "shape", "zeros"),
        node("Shape", "zeros", "whole"),
        node("ConstantOfShape", "whole", "none"),
        node("Cast", "none", "places", to=INT64),
        node("ScatterElements", "none places x", "sums", axis=1, reduction="add"),
        node("Add", "zeros sums", "y"),
    )
    assert_equal(made)


def test_a_slice_up_to_the_size_of_the_batch():
    """As exporters write zeros.scatter_add(1, places, x): places in the shape of x."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Expand", "places shape", "many"),
        node("Slice", "many axes_from shape", "whole"),
        node("ScatterElements", "x whole x", "y", axis=1, reduction="add"),
    ]
    constants = {"places": [[1, 0, 0]], "axes_from": [0, 0]}
    assert_lifts(graph(nodes, **constants))
    table = {"places": [[1, 0, 0], [0, 0, 1]], "axes_from": [0, 0]}
    rows = [nodes[0], node("Slice", "places axes_from shape", "whole"), *nodes[3:]]
    features = [nodes[0], node("Gather", "shape zero", "count"),
                node("Slice", "x zero count one", "y")]  # fmt: skip
    for made in (graph(rows, **table), graph(features, zero=[0], one=[1])):
        with pytest.raises(ModelError, match=r"is the size of the batch, used as a number"):
            import_model(made, check=False)


def test_a_table_cut_to_the_length_of_time_asks_for_that_length():
    """As positions of a transformer are: the error has the argument with which it is imported."""
    rows = np.arange(40.0).reshape(20, 2)
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape one", "count"),
        node("Slice", "rows zero count zero", "positions"),
        node("Add", "x positions", "y"),
    ]
    made = graph(nodes, x=("batch", "time", 2), rows=rows, zero=[0], one=[1])
    with pytest.raises(ModelError, match="the size of the batch or of time") as caught:
        import_model(made, check=False)
    (advice,) = caught.value.hints
    net = import_model(made, **advice.arguments)
    assert verify(net, made, runtime="onnxruntime").passed


def test_the_number_of_samples_in_a_constant_is_no_number():
    made = model(
        *zeros_like_a_column(),
        node("Shape", "zeros", "count2"),
        node("Cast", "count2", "number", to=FLOAT),
        node("Mul", "x number", "y"),
    )
    with pytest.raises(ModelError, match=r"'number' is the size of the batch, used as a number"):
        import_model(made, check=False)


def test_without_a_batch_an_axis_of_no_fixed_size_is_a_single_sample():
    """As torch.flatten takes the batch for a feature: the model runs single samples alone."""
    weights = np.random.default_rng(0).normal(size=(6, 2))
    nodes = [node("Flatten", "x", "f", axis=0), node("Gemm", "f w", "y")]
    model = graph(nodes, x=("batch_size", 2, 3), w=weights)
    with pytest.raises(ModelError, match="batch_axis=None"):
        import_model(model)
    net = import_model(model, batch_axis=None)
    assert [port.shape for port in (*net.inputs, *net.outputs)] == [(1, 2, 3), (1, 2)]
    assert verify(net, model, runtime="onnxruntime").passed
