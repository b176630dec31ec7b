"""BatchNormalization: folded into the layer that it follows, or neurons of its own."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, verify

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(3)
NORMS = {
    "scale": RANDOM.normal(size=3),
    "shift": RANDOM.normal(size=3),
    "mean": RANDOM.normal(size=3),
    "variance": RANDOM.uniform(0.5, 2.0, size=3),
}


def graph(nodes: list[onnx.NodeProto], shape: list[int], **tensors: Array) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *shape])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    constants = [
        numpy_helper.from_array(values.astype(np.float32), name)
        for name, values in (NORMS | tensors).items()
    ]
    made = helper.make_graph(nodes, "g", [x], [y], constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def normalized(source: str, target: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node("BatchNormalization", [source, *NORMS], [target], **attributes)


AFTER_CONV = graph(
    [helper.make_node("Conv", ["x", "w", "b"], ["c"]), normalized("c", "n", epsilon=1e-3),
     helper.make_node("Relu", ["n"], ["y"])],
    [2, 4, 4], w=RANDOM.normal(size=(3, 2, 2, 2)), b=RANDOM.normal(size=3),
)  # fmt: skip
AFTER_GEMM = graph(
    [helper.make_node("Gemm", ["x", "w"], ["c"], transB=1), normalized("c", "y")],
    [4], w=RANDOM.normal(size=(3, 4)),
)  # fmt: skip
ALONE = graph([normalized("x", "n"), helper.make_node("Tanh", ["n"], ["y"])], [3, 2])
AFTER_A_POOL = graph(
    [helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2]), normalized("p", "y")],
    [3, 4, 4],
)  # fmt: skip
READ_TWICE = graph(
    [helper.make_node("Gemm", ["x", "w"], ["c"], transB=1), normalized("c", "n"),
     helper.make_node("Add", ["c", "n"], ["y"])],
    [4], w=RANDOM.normal(size=(3, 4)),
)  # fmt: skip


@pytest.mark.parametrize("model", [AFTER_CONV, AFTER_GEMM, ALONE, AFTER_A_POOL, READ_TWICE])
def test_it_computes_what_onnxruntime_does(model: onnx.ModelProto):
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim[1:]]
    x = np.random.default_rng(0).normal(size=(5, *shape)).astype(np.float32)
    net = import_model(model)
    got = net.activate({"x": x})["y"]
    for proto in (model, export(net).to_proto()):
        session = open_session(proto)
        (want,) = session.run(None, {"x": x})
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("model", "operator"), [(AFTER_CONV, "Conv"), (AFTER_GEMM, "Gemm")])
def test_it_folds_into_the_layer_before_it(model: onnx.ModelProto, operator: str):
    net = import_model(model)
    assert len(net) == len(net.input_neurons) + len(net.output_neurons)
    assert operator in [node.op_type for node in export(net).graph.node]


def with_inputs(model: onnx.ModelProto, *names: str, shape: tuple[int | str, ...] = (3,)):
    """The model with initializers as inputs."""
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    kept = [each for each in changed.graph.initializer if each.name not in names]
    del changed.graph.initializer[:]
    changed.graph.initializer.extend(kept)
    changed.graph.input.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names
    )
    return changed


@pytest.mark.parametrize("names", [("mean", "variance"), ("scale", "shift"), tuple(NORMS)])
def test_parameters_may_be_inputs(names: tuple[str, ...]):
    model = with_inputs(ALONE, *names)
    net = import_model(model)
    assert [port.batch_axis for port in net.inputs] == [0, *[None] * len(names)]
    written = export(net)
    for each in (model, written):
        assert verify(net, each, samples=64, runtime="onnxruntime").passed


def test_parameters_of_each_sample_are_refused():
    with pytest.raises(ModelError, match="mean"):
        import_model(with_inputs(ALONE, "mean", shape=("N", 3)))


def test_what_does_not_fit_is_refused_by_name():
    wrong = graph([normalized("x", "y")], [4])
    with pytest.raises(ModelError, match="scale has 3 values, expected 4"):
        import_model(wrong)
    training = graph([normalized("x", "y", training_mode=1)], [3])
    with pytest.raises(ModelError, match="training_mode"):
        import_model(training)
