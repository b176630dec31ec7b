"""A fixed batch of several samples, in a graph whose shapes state how many they are."""

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, import_model, verify

SAMPLES = 4


def fixed(
    *nodes: onnx.NodeProto, sizes: Sequence[int] = (6,), **constants: object
) -> onnx.ModelProto:
    """A graph from x [4, sizes] to y."""
    return graph(nodes, x=(SAMPLES, *sizes), **constants)


def assert_has_a_batch(model: onnx.ModelProto) -> None:
    """The first axis is the batch, and the network gives what onnxruntime gives."""
    net = assert_lifts(model, rows=SAMPLES)
    shape = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim]
    assert net.inputs[0].shape == tuple(shape[1:])
    import_model(model)  # nor does the check differ


def assert_is_features(model: onnx.ModelProto) -> None:
    """Every axis is features, and the network gives what onnxruntime gives."""
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        net = import_model(model)
    x = np.random.default_rng(0).normal(size=net.inputs[0].shape).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_allclose(net.activate({"x": x[None]})["y"][0], want, rtol=2e-6, atol=2e-6)


W = [[0.5, -1.0], [2.0, 0.25], [1.5, -0.75]]
RESHAPED = {
    "leading size": fixed(node("Reshape", "x s", "h"), node("Tanh", "h", "y"), s=[4, 3, 2]),
    "open size": fixed(node("Reshape", "x s", "h"), node("Tanh", "h", "y"), s=[4, -1]),
    "copied size": fixed(
        node("Reshape", "x s", "h"), node("Tanh", "h", "y"), s=[0, 3, 2], sizes=(2, 3)
    ),
    "one before": fixed(
        node("Reshape", "x s", "h"),
        node("Gather", "h zero", "only", axis=0),
        node("Tanh", "only", "y"),
        s=[1, 4, 6],
        zero=0,
    ),
    "as many features": fixed(
        node("Reshape", "x s", "h"),
        node("ReduceSum", "h one", "y", keepdims=0),
        sizes=(8,),
        s=[4, 4, 2],
        one=[1],
    ),
    "joined and parted": fixed(
        node("Reshape", "x rows", "joined"),
        node("MatMul", "joined w", "product"),
        node("Reshape", "product parts", "parted"),
        node("ReduceMax", "parted one", "y", keepdims=0),
        sizes=(2, 3),
        rows=[8, 3],
        w=W,
        parts=[4, 2, 2],
        one=[1],
    ),
    "steps first": fixed(
        node("Transpose", "x", "steps", perm=[1, 0, 2]),
        node("Reshape", "steps heads", "joined"),
        node("Tanh", "joined", "h"),
        node("Reshape", "h parts", "parted"),
        node("Transpose", "parted", "y", perm=[1, 0, 2]),
        sizes=(3, 6),
        heads=[3, 8, 3],
        parts=[3, 4, 6],
    ),
    "flattened": fixed(
        node("Reshape", "x s", "h"),
        node("Flatten", "h", "flat", axis=2),
        node("Reshape", "flat t", "y"),
        s=[4, 3, 2],
        t=[4, 6],
    ),
    "a row of numbers": fixed(
        node("ReduceSum", "x one", "h"),
        node("Reshape", "h s", "numbers"),
        node("Tanh", "numbers", "y"),
        s=[4],
        one=[1],
    ),
}
MIXED = {
    "other rows": fixed(node("Reshape", "x s", "h"), node("Tanh", "h", "y"), s=[6, 4]),
    "two samples": fixed(node("Reshape", "x s", "h"), node("Tanh", "h", "y"), s=[2, 12]),
    "one row": fixed(node("Reshape", "x s", "h"), node("Tanh", "h", "y"), s=[1, -1]),
    "shares of all": fixed(
        node("Reshape", "x s", "row"),
        node("Softmax", "row", "share"),
        node("Reshape", "share t", "y"),
        s=[1, -1],
        t=[-1, 6],
    ),
    "features first": fixed(
        node("Transpose", "x", "turned", perm=[1, 0]),
        node("Reshape", "turned s", "h"),
        node("Tanh", "h", "y"),
        sizes=(4,),
        s=[4, 2, 2],
    ),
    "samples as features": fixed(
        node("Reshape", "x s", "table"),  # [4, 4, 2]
        node("Gather", "x first", "two", axis=1),  # [4, 2], added as if its samples were features
        node("Unsqueeze", "two zero", "row"),
        node("Add", "table row", "sum"),
        node("ReduceSum", "sum one", "y", keepdims=0),
        sizes=(8,),
        s=[4, 4, 2],
        first=[0, 1],
        zero=[0],
        one=[1],
    ),
}


ROW = [0.5, -1.0, 2.0, 0.25, -0.5, 1.0]
ALIKE = {
    "zeros for each": fixed(
        node("ConstantOfShape", "s", "zeros"),
        node("Concat", "zeros x", "row", axis=1),
        node("Tanh", "row", "y"),
        s=[4, 1],
    ),
    "a row for each": fixed(node("Add", "x c", "h"), node("Tanh", "h", "y"), c=[ROW] * 4),
    "a choice for each": fixed(
        node("Greater", "x zero", "positive"),
        node("Where", "positive x c", "y"),
        zero=np.float32(0),
        c=[ROW] * 4,
    ),
    "a matrix for each": fixed(
        node("MatMul", "x w", "h"), node("Tanh", "h", "y"), sizes=(2, 3), w=[W] * 4
    ),
    "as many rows of weights": fixed(
        node("MatMul", "x w", "h"), node("Tanh", "h", "y"), sizes=(4,), w=[[1.0, -2.0]] * 4
    ),
    "steps first": fixed(
        node("Transpose", "x", "steps", perm=[1, 0, 2]),
        node("Add", "c steps", "h"),
        node("ReduceMax", "h zero", "y", keepdims=0),
        sizes=(3, 6),
        c=[[ROW] * 4],
        zero=[0],
    ),
}
MIXED["samples last"] = fixed(
    node("Tanh", "x", "h"), node("Transpose", "h", "y", perm=[1, 2, 0]), sizes=(1, 3)
)
MIXED["a row of its own for each"] = fixed(
    node("Add", "x c", "h"), node("Tanh", "h", "y"), c=np.arange(24.0).reshape(4, 6).tolist()
)


EXPANDED = {
    "a norm": fixed(
        node("ReduceL2", "x one", "norm"),
        node("Expand", "norm s", "norms"),
        node("Div", "x norms", "y"),
        one=[1],
        s=[4, 6],
    ),
    "several of each": fixed(
        node("Expand", "x s", "several"),
        node("Mul", "several w", "h"),
        node("ReduceMax", "h zero", "y", keepdims=0),
        s=[3, 1, 1],
        w=[[[1.0]], [[-0.5]], [[2.0]]],
        zero=[0],
    ),
    "as many as samples": fixed(
        node("Expand", "x s", "several"),
        node("Mul", "several w", "h"),
        node("ReduceMax", "h zero", "y", keepdims=0),
        s=[4, 4, 6],
        w=[[[1.0]], [[-0.5]], [[2.0]], [[0.25]]],
        zero=[0],
    ),
    "an outer product": fixed(
        node("Einsum", "x x", "h", equation="bi,bj->bij"),
        node("Reshape", "h s", "y"),
        sizes=(3,),
        s=[4, 9],
    ),
    "joined with heads": fixed(
        node("Reshape", "x s", "heads"),
        node("Expand", "heads t", "more"),
        node("Reshape", "more u", "y"),
        s=[8, 1, 3],
        t=[8, 2, 3],
        u=[4, 12],
    ),
}


WHOLE = {
    "larger images": fixed(
        node("Resize", "x _ _ s", "h", mode="nearest"),
        node("Tanh", "h", "y"),
        sizes=(1, 2, 3),
        s=[4, 1, 4, 6],
    ),
    "smooth images": fixed(
        node("Resize", "x _ _ s", "h", mode="linear"),
        node("Tanh", "h", "y"),
        sizes=(1, 2, 3),
        s=[4, 1, 3, 5],
    ),
    "all samples": fixed(
        node("Slice", "x starts ends", "part"),
        node("Tanh", "part", "y"),
        starts=[0, 1],
        ends=[4, 3],
    ),
}
MIXED |= {
    "more samples": fixed(
        node("Resize", "x _ _ s", "h", mode="nearest"),
        node("Tanh", "h", "y"),
        sizes=(1, 2, 3),
        s=[8, 1, 2, 3],
    ),
    "some samples": fixed(
        node("Slice", "x starts ends", "part"), node("Tanh", "part", "y"), starts=[0], ends=[3]
    ),
}


@pytest.mark.parametrize("name", RESHAPED)
def test_shapes_that_state_the_samples_keep_the_batch(name: str):
    assert_has_a_batch(RESHAPED[name])


@pytest.mark.parametrize("name", MIXED)
def test_samples_that_meet_are_features(name: str):
    assert_is_features(MIXED[name])


@pytest.mark.parametrize("name", ALIKE)
def test_constants_that_are_the_same_for_each_sample_are_read_once(name: str):
    assert_has_a_batch(ALIKE[name])


@pytest.mark.parametrize("name", EXPANDED)
def test_samples_that_are_repeated_for_each_stay_apart(name: str):
    assert_has_a_batch(EXPANDED[name])


@pytest.mark.parametrize("name", WHOLE)
def test_sizes_of_all_samples_leave_the_batch_alone(name: str):
    assert_has_a_batch(WHOLE[name])


def test_a_single_sample_that_is_squeezed_is_features():
    model = graph(
        [node("Unsqueeze", "x one", "h"), node("Tanh", "h", "t"), node("Squeeze", "t", "y")],
        x=(1, 3),
        one=[1],
    )
    model.graph.output[0].type.tensor_type.shape.dim.add(dim_value=3)
    assert_is_features(model)


def test_an_output_may_state_the_batch_on_another_axis():
    model = fixed(node("Transpose", "x", "h", perm=[1, 0, 2]), node("Tanh", "h", "y"), sizes=(1, 6))
    for size in (1, SAMPLES, 6):
        model.graph.output[0].type.tensor_type.shape.dim.add(dim_value=size)
    assert import_model(model).inputs[0].shape == (1, 6)


def test_a_batch_of_another_size_may_be_stated_for_an_output():
    """As of a label that was converted for one sample: runtimes warn of it, and go on."""
    model = fixed(node("Tanh", "x", "y"))
    for size in (1, 6):
        model.graph.output[0].type.tensor_type.shape.dim.add(dim_value=size)
    assert import_model(model).outputs[0].shape == (6,)


def test_where_neither_a_batch_nor_features_can_be_both_reasons_are_told():
    """The rows are mixed, and NonZero depends on the data in any case."""
    model = fixed(node("ReduceSum", "x rows", "s"), node("NonZero", "s", "y"), rows=np.array([0]))
    with pytest.raises(ModelError, match="NonZero"):
        import_model(model)
    model = fixed(node("ReduceSum", "x rows", "s"), node("Mod", "x s", "y"), rows=np.array([0]))
    with pytest.raises(ModelError) as raised:
        import_model(model)
    assert "it works along the batch" in str(raised.value)
    assert "With every axis as features: node" in str(raised.value)
    assert "batch_axis=None" not in str(raised.value)


def test_rows_of_mostly_zeros_are_no_block_where_it_would_be_too_large():
    model = graph([node("MatMul", "x e", "y")], x=(10, 1000), e=np.eye(1000))
    net = import_model(model, batch_axis=None)
    assert len(net.connections) == 10_000
    assert not net.blocks


@pytest.mark.parametrize(("operator", "shape"), [("Add", (4, 6)), ("Concat", (5, 6))])
def test_inputs_of_different_numbers_of_samples_are_features(operator: str, shape: tuple[int, ...]):
    """One row is added to each of four, or stands before them: there is no batch that all have."""
    attributes = {"axis": 0} if operator == "Concat" else {}
    model = fixed(node(operator, "row x", "y", **attributes))
    model.graph.input.append(helper.make_tensor_value_info("row", TensorProto.FLOAT, [1, 6]))
    with pytest.warns(NeatOnnxWarning, match="features: the inputs have 1 and 4 samples"):
        net = import_model(model)
    assert [port.shape for port in (*net.inputs, *net.outputs)] == [(4, 6), (1, 6), shape]
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_number_beside_fixed_sizes_leaves_every_axis_to_be_features():
    model = fixed(
        node("Transpose", "x", "turned"),
        node("MatMul", "x turned", "products"),
        node("Mul", "products scale", "y"),
    )
    model.graph.input.append(helper.make_tensor_value_info("scale", TensorProto.FLOAT, []))
    with pytest.warns(NeatOnnxWarning, match="features: .* would mix samples"):
        net = import_model(model)
    assert [port.shape for port in (*net.inputs, *net.outputs)] == [(4, 6), (), (4, 4)]
    assert verify(net, model, runtime="onnxruntime").passed
