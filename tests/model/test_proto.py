import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from onnx import TensorProto, helper
from sample_models import mlp, models, node
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import import_model
from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Model, load_model


@settings(max_examples=count(25, 60), deadline=None)
@given(models())
def test_binary_gives_the_same_model_back_but_for_float32(model):
    data = model.to_bytes()
    again = load_model(data)
    assert again.to_bytes() == data
    assert again.graph.node == model.graph.node or "alpha" in model.to_json()
    for old, new in zip(model.graph.initializer, again.graph.initializer, strict=True):
        rounded = np.float32 if old.data_type is DataType.FLOAT else np.float64
        assert new.values.tobytes() == old.values.astype(rounded).astype(np.float64).tobytes()
    document = again.to_document()
    for key in ("doc_string", "producer_name", "metadata_props"):
        assert document.get(key) == model.to_document().get(key)
    assert again.graph.inputs == model.graph.inputs
    assert again.graph.outputs == model.graph.outputs


@pytest.mark.parametrize("data_type", [DataType.FLOAT, DataType.DOUBLE])
def test_onnxruntime_computes_what_the_model_says(data_type):
    model = mlp(data_type=data_type)
    x = np.array([[1.0, -2.0], [0.3, 0.7]])
    weights, bias = (model.graph.tensors[name].values for name in ("W0", "B0"))
    session = open_session(model)
    (y,) = session.run(None, {"input": x.astype("f4" if data_type is DataType.FLOAT else "f8")})
    tolerance = 1e-6 if data_type is DataType.FLOAT else 1e-15
    np.testing.assert_allclose(y, np.tanh(2.5 * x @ weights.T + bias), rtol=tolerance)


def test_what_onnx_wants_and_the_model_leaves_out_is_filled_in():
    proto = Model(graph=mlp().graph.model_copy(update={"name": ""})).to_proto()
    assert (proto.ir_version, proto.graph.name) == (8, "graph")
    assert [(entry.domain, entry.version) for entry in proto.opset_import] == [("", 18)]


def test_overflow_of_float32_names_tensor_and_position():
    with pytest.raises(ModelError, match=r"tensor W0: value 1 is .* too large for float32"):
        mlp([[0.0, -1e39]]).to_proto()
    model = mlp()
    model.graph.node[0] = node("Gemm", ["input", "W0"], ["Gemm_1"], alpha=1e39)
    with pytest.raises(ModelError, match=r"gemm_1 \(Gemm\): alpha is too large for float32"):
        model.to_proto()


def test_what_no_model_of_ours_has_is_refused():
    proto = mlp().to_proto()
    proto.graph.sparse_initializer.add()
    with pytest.raises(ModelError, match="sparse initializers are not read"):
        load_model(proto)
    with pytest.raises(ModelError, match="not an ONNX model: it has no graph"):
        load_model(onnx.ModelProto())


def test_text_that_is_not_utf8_is_refused():
    data = mlp().to_bytes().replace(b"gemm_1", b"gemm\xff1")
    with pytest.raises(ModelError, match="UTF-8"):
        load_model(data)
    half = mlp().model_copy(update={"doc_string": "\ud800"})
    assert load_model(half.to_json()) == half
    with pytest.raises(ModelError, match="half a surrogate pair"):
        half.to_proto()


def test_a_size_of_minus_one_varies():
    """As some converters write the batch, and onnxruntime reads it."""
    entry = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [-1, 3])
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 3])
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    model = load_model(helper.make_model(helper.make_graph(nodes, "g", [entry], [result])))
    assert model.graph.inputs[0].shape == (None, 3)
    entry.type.tensor_type.shape.dim[0].dim_value = -2
    with pytest.raises(ModelError, match="dim_value is -2"):
        load_model(helper.make_model(helper.make_graph(nodes, "g", [entry], [result])))


def test_outputs_that_are_named_alone_have_the_types_that_onnx_infers():
    """As tensors inside a graph become outputs, to look at them."""
    entry = helper.make_tensor_value_info("x", onnx.TensorProto.DOUBLE, ["N", 3])
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Shape", ["r"], ["y"])]
    results = [onnx.ValueInfoProto(name="r"), onnx.ValueInfoProto(name="y")]
    model = load_model(helper.make_model(helper.make_graph(nodes, "g", [entry], results)))
    assert [node.op_type for node in model.graph.node] == [node.op_type for node in nodes]
    types = [(value.elem_type, value.shape) for value in model.graph.outputs]
    assert types == [(DataType.DOUBLE, ("N", 3)), (DataType.INT64, (2,))]


def test_a_cycle_behind_an_output_without_a_type_is_refused_as_any_other():
    entry = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 3])
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    with pytest.raises(ModelError, match="cycle"):
        import_model(helper.make_model(helper.make_graph(nodes, "g", [entry], [untyped("b")])))


def test_an_output_added_by_its_name_has_the_type_that_the_graph_states_for_it():
    entry, stated = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 3]) for name in "xt"
    )
    nodes = [helper.make_node("Tanh", ["x"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    graph = helper.make_graph(
        nodes, "g", [entry], [untyped("y"), untyped("t")], value_info=[stated]
    )
    net = import_model(helper.make_model(graph))
    assert [(port.name, port.shape) for port in net.outputs] == [("y", (3,)), ("t", (3,))]


def untyped(name: str) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name)


def test_empty_texts_take_no_bytes_and_are_read_as_empty():
    made = helper.make_node("Relu", ["x"], ["y"])
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])] for name in "xy"]
    proto = helper.make_graph([made], "g", *ends)
    model = load_model(helper.make_model(proto, opset_imports=[helper.make_opsetid("", 18)]))
    written = model.to_proto()
    (inner,) = written.graph.node
    said = [inner.HasField("name"), inner.HasField("domain"), inner.HasField("doc_string")]
    said += [written.opset_import[0].HasField("domain"), written.graph.HasField("doc_string")]
    assert said == [False] * 5
    onnx.checker.check_model(written, full_check=True)
    again = load_model(written)
    assert again == model
    assert (again.graph.node[0].name, again.opset_import[0].domain) == ("", "")
