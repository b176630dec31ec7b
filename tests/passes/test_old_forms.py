"""Forms of operators of old opsets become the modern ones, with the same outputs in onnxruntime."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node
from support.harness.canonical import simple

from neat_onnx import ModelError, canonicalize

OLD = {
    "squeeze": (11, [node("Unsqueeze", "x", "a", axes=[0]), node("Squeeze", "a", "y", axes=[0])]),
    "clip": (7, [node("Clip", "x", "y", min=-0.5, max=0.25)]),
    "pad": (7, [node("Pad", "x", "y", pads=[0, 1, 0, 2], value=0.5)]),
    "slice": (7, [node("Slice", "x", "y", starts=[1], ends=[3], axes=[1])]),
    "split": (11, [node("Split", "x", "y z", axis=1, split=[1, 2])]),
    "topk": (7, [node("TopK", "x", "y i", k=2)]),
    "reduce": (11, [node("ReduceL2", "x", "y", axes=[1], keepdims=0)]),
    "softmax": (11, [node("Unsqueeze", "x", "a", axes=[2]), node("Softmax", "a", "y", axis=1)]),
    "softmax of a rank that is not known": (
        11,
        [
            node("Shape", "x", "shape"),
            node("Abs", "shape", "sizes"),
            node("Reshape", "x sizes", "a"),
            node("LogSoftmax", "a", "y", axis=0),
        ],
    ),
    "dropout": (11, [node("Dropout", "x", "a", ratio=0.3), node("Relu", "a", "y")]),
}


C = np.arange(6.0).reshape(1, 6, 1)


OLD_OF_CONSTANTS = {
    "squeeze": [node("Squeeze", "c", "s", axes=[0])],
    "unsqueeze": [node("Unsqueeze", "c", "s", axes=[3, 1])],
    "reduce": [node("ReduceMax", "c", "s", axes=[1], keepdims=0)],
    "clip": [node("Clip", "c", "s", min=1.0, max=2.5)],
    "pad": [node("Pad", "c", "s", pads=[0, 1, 0, 0, 0, 2], value=0.5)],
    "slice": [node("Slice", "c", "s", starts=[1], ends=[3], axes=[1])],
    "split": [node("Split", "c", "s r", axis=1, split=[2, 4])],
    "topk": [node("TopK", "c", "s i", k=2, axis=1)],
}


@pytest.mark.parametrize("name", OLD)
def test_an_old_form_becomes_the_modern_one(name: str):
    opset, nodes = OLD[name]
    model = graph(nodes, opset=opset, outputs=("y",))
    model.ir_version = 4
    assert canonicalize(model).opset == 18
    if opset > 6:  # older ones no runtime plays
        simple(model)


@pytest.mark.parametrize("opset", [7, 9])
@pytest.mark.parametrize("name", OLD_OF_CONSTANTS)
def test_an_old_form_of_constants_is_computed(name: str, opset: int):
    nodes = [*OLD_OF_CONSTANTS[name], node("Relu", "x", "y"), node("Identity", "s", "z")]
    model = graph(nodes, opset=opset, outputs=("y", "z"), c=C)
    model.ir_version = 4
    assert "Relu" in simple(model) and len(canonicalize(model).graph.node) == 2


@pytest.mark.parametrize(
    ("opset", "made"),
    [
        (7, node("TopK", "x", "y i")),
        (1, node("Upsample", "x", "y", height_scale=2.0)),
        (7, node("Pad", "x", "y")),
        (6, node("Add", "x d", "y", broadcast=1, axis=1)),
        (7, node("BatchNormalization", "x b b b b", "y", spatial=0)),
        (10, node("Resize", "x c", "y")),
        (9, node("MeanVarianceNormalization", "x", "y")),
    ],
    ids=["TopK", "Upsample", "Pad", "an axis", "each element", "Resize", "mean and variance"],
)
def test_what_has_no_modern_form_is_refused(opset: int, made: onnx.NodeProto):
    held = {"b": np.array([1.0, 2.0]), "c": np.array([2.0, 0.5, 1.0]), "d": np.ones(3)}
    model = graph([made], x=(2, 3, 4), opset=opset, outputs=("y",), **held)
    with pytest.raises(ModelError, match="onnx does not convert it from opset"):
        canonicalize(model)


def test_a_clip_for_which_onnx_makes_no_numbers_of_its_type_is_refused():
    text = """<ir_version: 8, opset_import: ["": 7]>
    g (double[N] x) => (double[N] y) { y = Clip <min = -1.0> (x) }"""
    with pytest.raises(ModelError, match=r"Clip.*inconsistent type"):
        canonicalize(onnx.parser.parse_model(text))


def test_a_reshape_of_opset_1_of_computed_sizes():
    """Its shape is an attribute; the sizes are its data, or another operator asks for them."""
    made = [node("Shape", "x", "s"), node("Reshape", "s", "r", shape=[2, 1])]
    model = graph([*made, node("Relu", "x", "y")], opset=1, outputs=("y", "r"))
    reshape = canonicalize(model).graph.node[1]
    assert (reshape.op_type, reshape.input[0]) == ("Reshape", "s")
    assert canonicalize(model).graph.tensors[reshape.input[1]].values.tolist() == [2, 1]
    made = [node("Reshape", "x", "r", shape=[-1, 3]), node("Shape", "x", "s")]
    model = graph([*made, node("Relu", "r", "y")], opset=1, outputs=("y", "s"))
    assert canonicalize(model).graph.node[0].op_type == "Reshape"
