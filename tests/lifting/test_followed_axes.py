"""The batch behind a Transpose or a Reshape: steps are taken apart, samples never mixed."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import ModelError, NeatOnnxWarning, import_model, verify

STEPS = node("Transpose", "x", "steps", perm=[1, 0, 2])  # [N, 3, 2] to [3, N, 2]
END = 2**31 - 1


def along(*nodes: onnx.NodeProto, **constants: object) -> onnx.ModelProto:
    return graph([STEPS, *nodes], x=("N", 3, 2), **constants)


APART = {
    "split": along(
        node("Split", "steps", "a b c", axis=0, num_outputs=3),
        node("Squeeze", "b zero", "only"),
        node("Tanh", "only", "y"),
        zero=[0],
    ),
    "last": along(node("Gather", "steps last", "end", axis=0), node("Tanh", "end", "y"), last=-1),
    "slice": along(
        node("Slice", "steps one end zero", "end_steps"),
        node("Transpose", "end_steps", "y", perm=[1, 0, 2]),
        one=[1],
        end=[END],
        zero=[0],
    ),
    "mean": along(node("ReduceMean", "steps zero", "y", keepdims=0), zero=[0]),
    "softmax": along(
        node("Softmax", "steps", "share", axis=0), node("Transpose", "share", "y", perm=[1, 2, 0])
    ),
    "stack": along(
        node("ReduceMax", "steps zero", "top", keepdims=1),
        node("Concat", "steps top", "both", axis=0),
        node("ReduceSum", "both zero", "y", keepdims=0),
        zero=[0],
    ),
    "several models": graph(
        [
            node("Einsum", "x w", "each", equation="ab,cbd->acd"),
            node("Einsum", "each", "models", equation="acd->cad"),
            node("ReduceMean", "models zero", "y", keepdims=0),
        ],
        x=("N", 3),
        w=np.arange(18.0).reshape(3, 3, 2) - 8.0,
        zero=[0],
    ),
    "reshaped": graph(
        [
            node("Reshape", "x shape", "row"),
            node("Concat", "row row", "rows", axis=0),
            node("ReduceSum", "rows zero", "total", keepdims=0),
            node("Identity", "total", "y"),
        ],
        x=("N", 3),
        shape=[1, -1, 3],
        zero=[0],
    ),
    "size of the batch": graph(
        [
            node("Shape", "x", "n", end=1),
            node("Concat", "n open", "shape", axis=0),
            node("Reshape", "x shape", "rows"),
            node("ReduceSum", "rows one", "y", keepdims=0),
        ],
        x=("N", 2, 3),
        open=[-1, 3],
        one=[1],
    ),
    "weights first": graph(
        [
            node("Gemm", "w x", "columns", transB=1),  # [2, 3] times [N, 3] transposed
            node("Transpose", "columns", "rows", perm=[1, 0]),
            node("Tanh", "rows", "y"),
        ],
        x=("N", 3),
        w=[[1.0, -2.0, 0.5], [0.25, 1.5, -1.0]],
    ),
    "several of each": graph(
        [
            node("Expand", "x s", "several"),
            node("Mul", "several w", "h"),
            node("ReduceMax", "h zero", "y", keepdims=0),
        ],
        x=("N", 4),
        s=[3, 1, 1],
        w=[[[1.0]], [[-0.5]], [[2.0]]],
        zero=[0],
    ),
    "an ensemble": graph(
        [
            node("Einsum", "x w", "each", equation="bi,eio->ebo"),
            node("ReduceMin", "each zero", "y", keepdims=0),
        ],
        x=("N", 3),
        w=[[[1.0, -1.0], [0.5, 2.0], [0.25, 1.5]], [[-0.5, 1.0], [2.0, -2.0], [1.0, 0.75]]],
        zero=[0],
    ),
    "single elements": along(
        node("ReduceSum", "steps axes", "one", keepdims=1),
        node("Squeeze", "one", "numbers"),
        node("Tanh", "numbers", "y"),
        axes=[0, 2],
    ),
    "all samples": graph(
        [node("Slice", "x starts ends axes", "part"), node("Tanh", "part", "y")],
        x=("N", 3),
        starts=[0, 1],
        ends=[END, 3],
        axes=[0, 1],
    ),
}
MIXED = {
    "sum": along(node("ReduceSum", "steps one", "y", keepdims=1), one=[1]),
    "first sample": along(node("Gather", "steps zero", "y", axis=1), zero=0),
    "softmax": along(node("Softmax", "steps", "y", axis=1)),
    "product": graph([node("Gemm", "x x", "y", transA=1)], x=("N", 3)),
    "models of one sample": graph(
        [node("Einsum", "x", "turned", equation="ab->ba"), node("CumSum", "turned one", "y")],
        x=("N", 3),
        one=np.int64(1),
    ),
    "reordered": graph([node("Reshape", "x shape", "y")], x=("N", 6), shape=[3, -1]),
    "once for each": graph(
        [
            node("Shape", "x", "n", end=1),
            node("Concat", "n n three", "shape", axis=0),
            node("Expand", "x shape", "pairs"),
            node("ReduceSum", "pairs zero", "y", keepdims=0),
        ],
        x=("N", 3),
        three=[3],
        zero=[0],
    ),
    "einsum": graph([node("Einsum", "x x", "y", equation="bi,bj->ij")], x=("N", 3)),
    "one sample": graph(
        [node("Slice", "x starts ends axes", "y")],
        x=("N", 3),
        starts=[0],
        ends=[1],
        axes=[0],
    ),
}


@pytest.mark.parametrize("name", APART)
def test_steps_before_the_batch_are_features(name: str):
    assert_lifts(APART[name])


@pytest.mark.parametrize("name", MIXED)
def test_samples_are_not_mixed(name: str):
    with pytest.raises(ModelError, match="mix samples"):
        import_model(MIXED[name], check=False)


def test_samples_are_not_combined():
    model = along(node("Add", "x steps", "y"))
    with pytest.raises(ModelError, match="every sample with every other"):
        import_model(model, check=False)


def test_the_batch_inside_of_an_axis():
    """[N, 3, 2] to [3, N, 2] to [3·N, 2], and back after a product of matrices."""
    rows = node("Reshape", "steps rows_of_two", "rows")
    assert_lifts(
        along(
            rows,
            node("MatMul", "rows w", "product"),
            node("Reshape", "product as_steps", "again"),
            node("Gather", "again last", "end", axis=0),
            node("Tanh", "end", "y"),
            rows_of_two=[-1, 2],
            as_steps=[3, -1, 4],
            w=[[0.5, 1.0, -1.0, 2.0], [1.5, -0.5, 0.25, 1.0]],
            last=-1,
        )
    )


def test_samples_that_a_reshape_would_mix_are_refused():
    with pytest.raises(ModelError, match="batch"):
        import_model(along(node("Reshape", "steps shape", "y"), shape=[-1, 6]), check=False)


def test_an_empty_tensor_has_no_batch():
    model = graph(
        [
            node("Transpose", "x", "turned", perm=[1, 0]),
            node("Slice", "turned zero zero", "nothing"),
            node("Reshape", "nothing shape", "row"),
            node("ReduceSum", "row zero", "total", keepdims=1),
            node("Add", "total x", "y"),
        ],
        x=(1, 3),
        zero=[0],
        shape=[-1],
    )
    net = import_model(model, batch_axis=None)
    assert net.activate([1.0, 2.0, 3.0]).tolist() == [1.0, 2.0, 3.0]


def test_a_batch_that_meets_constants_is_refused():
    model = graph([node("Add", "x c", "y")], x=("N",), c=[[1.0, 2.0, 3.0]])
    with pytest.raises(ModelError, match="is not the batch"):
        import_model(model, check=False)


def test_batches_one_after_the_other_are_taken_apart():
    """[N, 1] twice is [2·N, 1], then [2, N], and [N, 2] as scores."""
    assert_lifts(
        graph(
            [
                node("ReduceSum", "x axis", "one"),
                node("ReduceMax", "x axis", "other"),
                node("Concat", "one other", "joined", axis=0),
                node("Reshape", "joined rows", "table"),
                node("Transpose", "table", "scores", perm=[1, 0]),
                node("Softmax", "scores", "y", axis=1),
            ],
            axis=[1],
            rows=[2, -1],
        )
    )


def test_a_gemm_of_vectors_has_one_axis():
    """NeatapticTS gives one sample without a batch; no runtime loads it."""
    layers = [node("Gemm", "x w b", "z"), node("Relu", "z", "h"), node("Gemm", "h v b", "y")]
    model = graph(layers, x=(1,), w=[[2.0, -1.0]], v=[[1.0, -1.0], [3.0, 5.0]], b=[0.5, 0.25])
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        net = import_model(model)
    assert net.activate([3.0]).tolist() == [7.0, -6.25]


def test_the_lengths_of_sequences_are_made_in_the_size_of_the_batch():
    nodes = [
        node("Shape", "x", "sizes"),
        node("Gather", "sizes first", "count", axis=0),
        node("Expand", "three count", "lengths"),
        node("ReverseSequence", "steps lengths", "back", batch_axis=1, time_axis=0),
        node("Gather", "back zero", "last", axis=0),
        node("Mul", "last half", "y"),
    ]
    model = along(
        *nodes, first=np.array([0]), three=np.array([3]), zero=np.array(0), half=np.array(0.5)
    )
    assert len(assert_lifts(model)) == 8


def test_axes_behind_values_in_place_of_constants():
    """As zeros(4, 3).index_add(0, places, x) is exported; it ran into itself."""
    nodes = [
        node("Reshape", "x spread", "rows"),
        node("ScatterND", "zeros places rows", "found", reduction="add"),
        node("Reshape", "found wide", "y"),
    ]
    constants = {"spread": [2, 3], "zeros": np.zeros((4, 3)), "places": [[1], [3]], "wide": [1, 12]}
    model = graph(nodes, x=(2, 3), **constants)
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed


def test_the_batch_alone_behind_flat_features():
    """As x[:, i, j] is exported: the places of features among all of them, the batch behind."""
    nodes = [
        node("Transpose", "x", "last", perm=[1, 2, 0]),
        node("Flatten", "last", "flat", axis=2),
        node("Gather", "flat places", "some", axis=0),
        node("Transpose", "some", "y", perm=[1, 0]),
    ]
    assert_lifts(graph(nodes, x=("N", 2, 3), places=[0, 4, 5]))
    nodes[1:2] = [node("Flatten", "last", "flat", axis=1)]  # the batch and features in one axis
    with pytest.raises(ModelError, match="batch_axis=None"):
        import_model(graph([*nodes[:2], node("Gather", "flat places", "y", axis=1)],
                           x=("N", 2, 3), places=[0, 1, 2]), check=False)  # fmt: skip


@pytest.mark.parametrize("opset", [13, 18])
def test_no_axes_to_reduce_are_all_of_them(opset: int):
    reduced = node("ReduceMax", "x" if opset < 18 else "x none", "y", keepdims=0)
    if opset < 18:
        empty = onnx.AttributeProto(name="axes", type=onnx.AttributeProto.INTS)
        reduced.attribute.append(empty)
    constants = {} if opset < 18 else {"none": np.zeros(0, np.int64)}
    model = graph([reduced], x=(1, 2, 4), opset=opset, **constants)
    net = import_model(model, batch_axis=None)
    assert net.outputs[0].shape == ()
    assert verify(net, model, runtime="onnxruntime").passed
