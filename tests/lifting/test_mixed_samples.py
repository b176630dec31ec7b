"""Graphs that mix the samples of a batch are refused; others that only move them are imported."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from support.examples.graphs import computed, graph, is_right, node

from neat_onnx import ModelError, NeatOnnxWarning, import_model, load_model
from neat_onnx.genome import imported
from neat_onnx.lifting.axes import input_axes
from neat_onnx.verification.imported.check import check_import

RNG = np.random.default_rng(0)

RECURRENT = {"W": RNG.normal(size=(1, 2, 3)), "R": RNG.normal(size=(1, 2, 2))}

RNN = node("RNN", "t W R", "steps last", hidden_size=2)

REFUSED_BY_RULE = {
    "Gather": graph([node("Gather", "x at", "y", axis=0)], at=[2, 1, 0]),
    "Slice": graph([node("Slice", "x a b a", "y")], a=[0], b=[1]),
    "CumSum": graph([node("CumSum", "x axis", "y")], axis=0),
    "Flatten": graph([node("Flatten", "x", "y", axis=0)]),
    "Softmax": graph([node("Softmax", "x", "y", axis=0)]),
    "Gemm": graph([node("Gemm", "x w", "y", transA=1)], w=RNG.normal(size=(3, 2))),
    "merged": graph([node("Reshape", "x shape", "y")], shape=[-1, 6]),
    "shuffled": graph(
        [
            node("Reshape", "x wide", "t"),
            node("Transpose", "t", "u"),
            node("Reshape", "u rows", "y"),
        ],
        wide=[3, -1],
        rows=[-1, 3],
    ),
    "matrix": graph([node("Transpose", "x", "t"), node("MatMul", "x t", "y")]),
    "over all": graph(
        [
            node("Reshape", "x row", "t"),
            node("Softmax", "t", "s"),
            node("Reshape", "s rows", "y"),
        ],
        row=[1, -1],
        rows=[-1, 3],
    ),
    "windows": graph(
        [
            node("Transpose", "x", "t"),
            node("Unsqueeze", "t first", "u"),
            node("MaxPool", "u", "v", kernel_shape=[3], pads=[1, 1]),
            node("Squeeze", "v first", "w"),
            node("Transpose", "w", "y"),
        ],
        first=[0],
    ),
}

IMPORTED = {
    "back and forth": graph(
        [
            node("Transpose", "x", "t"),
            node("Relu", "t", "r"),
            node("Transpose", "r", "u"),
            node("MatMul", "u w", "y"),
        ],
        w=RNG.normal(size=(3, 2)),
    ),
    "an axis in front": graph(
        [
            node("Unsqueeze", "x first", "t"),
            node("Tanh", "t", "s"),
            node("Squeeze", "s first", "y"),
        ],
        first=[0],
    ),
    "rows as planes": graph(
        [
            node("Unsqueeze", "x first", "t"),
            node("MatMul", "t w", "s"),
            node("Squeeze", "s first", "y"),
        ],
        first=[0],
        w=RNG.normal(size=(3, 3)),
    ),
}


@pytest.mark.parametrize("name", REFUSED_BY_RULE)
def test_what_works_along_the_batch_is_refused(name: str):
    with pytest.raises(ModelError):
        import_model(REFUSED_BY_RULE[name], check=False)


def test_rows_that_are_a_sequence_are_imported_as_one():
    model = graph(
        [node("Unsqueeze", "x axis", "t"), RNN, node("Squeeze", "steps axes", "y")],
        x=("rows", 3),
        axis=[1],
        axes=[1, 2],
        **RECURRENT,
    )
    with pytest.warns(NeatOnnxWarning, match="runs along the axis 'rows': it is taken for time"):
        net = import_model(model)
    x = RNG.normal(size=(4, 3)).astype(np.float32)
    np.testing.assert_allclose(net.run(x), computed(model, x), atol=1e-6)


@pytest.mark.parametrize("name", IMPORTED)
def test_a_batch_that_comes_back_is_imported(name: str):
    assert is_right(import_model(IMPORTED[name]), IMPORTED[name])


def test_a_sequence_with_the_batch_first():
    """Its last state has no time axis; each prefix of a sequence has one of its own."""
    nodes = [node("Transpose", "x", "t", perm=[1, 0, 2]), RNN, node("Squeeze", "last first", "y")]
    model = graph(nodes, x=("batch", "seq", 3), first=[0], **RECURRENT)
    net = import_model(model)
    x = RNG.normal(size=(5, 2, 3)).astype(np.float32)
    np.testing.assert_allclose(net.run(x)[-1], computed(model, x.swapaxes(0, 1)), atol=1e-6)


def test_an_axis_called_batch_is_the_batch_whatever_the_next_is_called():
    """Attention over the second axis: with the first for time it was plausible, and wrong."""
    nodes = [node("Softmax", "x", "y", axis=1)]
    with pytest.raises(ModelError, match="works along"):
        import_model(graph(nodes, x=("batch", "tokens", 3)))
    assert input_axes(["batch", "tokens", 3]) == input_axes(["batch_size", "n_agents"]) == (1, 0)
    assert input_axes(["steps", "batch", 3]) == input_axes(["a", "b_2", 3]) == (0, 1)


def test_samples_in_one_row_are_not_taken_one_by_one():
    """Of one sample, shares of the row that all of them make are its own."""
    apart = graph([node("Softmax", "x", "y", axis=1)])
    found = imported(load_model(apart), "auto", None)
    together = graph(
        [node("Reshape", "x row", "r"), node("Softmax", "r", "y", axis=1)], row=[1, -1]
    )
    together.graph.output[0].CopyFrom(
        onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, "M"])
    )
    with pytest.raises(ModelError, match="does not compute what the model does"):
        check_import(replace(found, model=load_model(together)))


def test_attention_over_a_sequence_of_any_length_is_refused_where_shapes_are_computed():
    """PyTorch puts the heads beside the samples, so that its Reshapes lose sight of both axes."""
    nodes = [
        node("Shape", "x", "samples", start=0, end=1),
        node("Shape", "x", "steps", start=1, end=2),
        node("Mul", "samples two", "heads"),
        node("Concat", "steps heads three", "in_rows", axis=0),
        node("Concat", "samples two steps three", "in_heads", axis=0),
        node("Transpose", "x", "t", perm=[1, 0, 2]),
        node("Reshape", "t in_rows", "rows"),
        node("Transpose", "rows", "u", perm=[1, 0, 2]),
        node("Reshape", "u in_heads", "q"),
        node("Transpose", "q", "k", perm=[0, 1, 3, 2]),
        node("MatMul", "q k", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares q", "read"),
        node("ReduceMax", "read axes", "y", keepdims=0),
    ]
    model = graph(nodes, x=("a", "b", 6), two=[2], three=[3], axes=[1])
    with pytest.raises(ModelError, match=r"make_shares \(Softmax\): it works along the batch"):
        import_model(model, check=False)
