"""The first few of many elements: as few neurons as rounds need, and a Hardmax for each round."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session
from support.harness.usual_form import usual_form

from neat_onnx import export, import_model, verify

SIZE = 40
K = {"k": np.array([3])}
RANDOM = np.random.default_rng(0)


def top(*outputs, **attributes):
    return graph(
        [node("TopK", "x k", "v i", **attributes), node("Cast", "i", "p", to=1)],
        x=("N", SIZE),
        outputs=outputs,
        **K,
    )


@pytest.mark.parametrize("outputs", [["v", "p"], ["p"], ["v"]], ids=str)
@pytest.mark.parametrize("largest", [0, 1])
def test_values_and_places_are_those_of_onnxruntime(outputs, largest):
    net = assert_lifts(top(*outputs, largest=largest))
    assert len(net) <= 12 * SIZE + 8
    model = export(net)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


@pytest.mark.parametrize(
    ("size", "count", "rounds"), [(5, 2, 2), (3, 3, 0), (6, 6, 0), (30, 5, 5), (24, 20, 0)]
)
def test_a_few_are_rounds_of_three_nodes_each(size, count, rounds):
    nodes = [node("TopK", "x k", "v i", largest=0), node("Cast", "i", "y", to=1)]
    net = assert_lifts(graph(nodes, x=("N", size), k=np.array([count])))
    written = export(net)
    assert import_model(written.to_json()) == net


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_is_taken_stays_below_the_smallest_number_that_there_is(kind):
    most = np.finfo(kind).max
    model = graph([node("TopK", "x k", "y i")], x=("N", 16), k=np.array([3]))
    for each in (*model.graph.input, *model.graph.output):
        each.type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    net = import_model(model)
    x = np.where(np.random.default_rng(0).random((20, 16)) < 0.9, -most, most).astype(kind)
    written = export(net, dtype=np.dtype(kind).name)
    want = -np.sort(-x)[:, :3]
    for found in (net.activate({"x": x})["y"], open_session(written).run(None, {"x": x})[0]):
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("largest", [0, 1])
def test_equal_elements_come_in_their_order_and_each_once(largest):
    model = top("v", "p", largest=largest)
    net = import_model(model)
    random = np.random.default_rng(0)
    x = random.integers(-1, 2, size=(50, SIZE)).astype(np.float32)
    x[:3] = [[0.0] * SIZE, [-1e30] * SIZE, [1e30] * SIZE]
    x[3:9] *= np.finfo(np.float32).max
    want = open_session(model).run(None, {"x": x})
    again = open_session(export(net).to_proto()).run(None, {"x": x})
    for got in (list(net.activate({"x": x}).values()), again):
        np.testing.assert_array_equal(np.reshape(got[0], want[0].shape), want[0])
        np.testing.assert_array_equal(np.reshape(got[1], want[1].shape), want[1])


@pytest.mark.parametrize("labels", [[0, 1], [3, -2, 7]], ids=str)
def test_labels_of_places_need_no_comparison(labels):
    """As of the nearest neighbours of scikit-learn."""
    table = np.resize(labels, SIZE)
    table[1] = labels[0]
    model = top("y", largest=0)
    del model.graph.node[1:]
    model.graph.initializer.append(onnx.numpy_helper.from_array(table[None, :], "table"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1, 3]), "shape"))
    model.graph.node.extend(
        [
            node("Flatten", "i", "flat"),
            node("ArrayFeatureExtractor", "table flat", "l", domain="ai.onnx.ml"),
            node("Reshape", "l shape", "r"),
            node("Cast", "r", "y", to=1),
        ]
    )
    model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", 3))
    net = assert_lifts(model)
    again = export(net)
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net


TABLES = {
    "a row for each output": (np.arange(10.0).reshape(2, 5) ** 2, [1, 0, 2], [2, -1, 3]),
    "rows of rows": (np.sin(np.arange(20.0)).reshape(2, 2, 5), [2, 0, 1, 3], [2, 2, -1, 3]),
    "one row": (np.cos(np.arange(5.0))[None], [1, 0, 2], [1, -1, 3]),
    "a vector": (np.cos(np.arange(5.0)), [1, 0, 2], [1, -1, 3]),
}


@pytest.mark.parametrize("name", TABLES)
def test_computed_places_in_a_table(name):
    """As of the nearest neighbours of scikit-learn that have several outputs."""
    table, order, shape = TABLES[name]
    nodes = [
        node("TopK", "x k", "v i", largest=0),
        node("Flatten", "i", "flat"),
        node("ArrayFeatureExtractor", "table flat", "found", domain="ai.onnx.ml"),
        node("Reshape", "found shape", "apart"),
        node("Transpose", "apart", "y", perm=order),
    ]
    model = graph(nodes, x=("N", 5), k=np.array([3]), table=table, shape=np.array(shape))
    model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", 3))
    net = assert_lifts(model)
    again = export(net)
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net


def test_a_table_of_one_row_for_each_output_with_the_batch_behind_it():
    """As of the trees of scikit-learn that have several outputs."""
    table = np.arange(12.0).reshape(2, 2, 3) ** 2
    nodes = [
        node("ArgMax", "x", "i", axis=1, keepdims=0),
        node("Reshape", "i row", "place"),
        node("ArrayFeatureExtractor", "table place", "found", domain="ai.onnx.ml"),
        node("Transpose", "found", "y", perm=[0, 2, 1]),
    ]
    model = graph(nodes, x=(None, 3), table=table, row=np.array([1, -1]))
    model.graph.output[0].CopyFrom(
        onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, None, 2])
    )
    model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.ml", 3))
    net = import_model(model)
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_array_equal(net.activate({"x": x})["y"], want.transpose(1, 0, 2))
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(export(net).to_json()) == net


def test_values_that_a_layer_reads_are_one_product_of_all_rounds():
    nodes = [
        node("Gemm", "x w", "h"),
        node("TopK", "h k", "v i"),
        node("Gemm", "v u", "y"),
    ]
    weights = {"w": RANDOM.normal(size=(4, 12)), "u": RANDOM.normal(size=(3, 2))}
    net = assert_lifts(graph(nodes, x=("N", 4), **K, **weights))
    written = export(net)
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net
