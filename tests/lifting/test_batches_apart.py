"""Graphs that take their batch apart: a network where samples do not meet, else refused."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, export, import_model, verify

FLAT = [
    node("Shape", "x", "count", end=1),
    node("Reshape", "x minus", "rows"),
    node("Tile", "mean count", "means"),
    node("Sub", "rows means", "moved"),
]
"""All samples in a row, and a number for each of their elements."""


def _model(*nodes: onnx.NodeProto, **constants: np.ndarray) -> onnx.ModelProto:
    constants |= {"minus": np.array([-1]), "mean": np.arange(3.0), "sizes": np.array([-1, 3])}
    return graph([*FLAT, *nodes], **constants)


TOLD = pytest.mark.filterwarnings("ignore:the model takes its batch apart")


def test_samples_that_never_meet_are_the_network_of_one():
    model = _model(node("Tanh", "moved", "bent"), node("Reshape", "bent sizes", "y"))
    with pytest.warns(NeatOnnxWarning, match="in batches of 1, 2 and 3, and is taken for that"):
        net = import_model(model)
    assert [port.shape for port in net.inputs + net.outputs] == [(3,), (3,)]
    exported = export(net)
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, exported, runtime="onnxruntime").passed
    for samples in (1, 4, 9):
        x = np.random.default_rng(0).normal(size=(samples, 3)).astype(np.float32)
        (want,) = open_session(model).run(None, {"x": x})
        (got,) = open_session(exported).run(None, {"x": x})
        np.testing.assert_allclose(got, want, rtol=1e-6)


@TOLD
def test_a_loop_goes_through_the_samples():
    """As a bag of words of PyTorch does, whose words stand one after the other."""
    body = onnx.parser.parse_graph(
        """bag (int64 i, bool on) => (bool on_again, float[3] row) {
            on_again = Identity (on)
            from = Gather (starts, i)
            to = Add (from, length)
            words = Slice (all, from, to)
            row = Gather (table, words)
        }"""
    )
    nodes = [
        node("Shape", "x", "count", end=1),
        node("Squeeze", "count", "samples"),
        node("Mul", "samples three", "numbers"),
        node("Range", "zero numbers three", "from_on"),
        node("Unsqueeze", "from_on one", "starts"),
        node("Reshape", "x minus", "all"),
        node("Loop", "samples _ ", "y", body=body),
    ]
    constants = {
        "zero": np.array(0), "three": np.array(3), "length": np.array([3]), "one": np.array([1]),
        "minus": np.array([-1]), "table": np.linspace(-1, 1, 5),
    }  # fmt: skip
    model = graph(nodes, **constants)
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, export(net), runtime="onnxruntime").passed


SAMPLES = node("Reshape", "moved sizes", "z")
MIXED = {
    "mean": [SAMPLES, node("ReduceMean", "z first", "m"), node("Sub", "z m", "y")],
    "turned": [
        node("Slice", "moved last beyond first last", "turned"),
        node("Reshape", "turned sizes", "y"),
    ],
    "sums": [SAMPLES, node("CumSum", "z zero", "y")],
    "their number": [node("Cast", "count", "n", to=1), SAMPLES, node("Mul", "z n", "y")],
    "their place": [
        node("Squeeze", "count", "n"),
        node("Range", "zero n one", "places"),
        node("Cast", "places", "numbers", to=1),
        node("Unsqueeze", "numbers second", "column"),
        SAMPLES,
        node("Add", "z column", "y"),
    ],
    "one for all": [node("ReduceSum", "moved", "y", keepdims=0)],
}


@pytest.mark.parametrize("name", MIXED)
def test_others_are_refused(name: str):
    constants = {
        "first": np.array([0]), "second": np.array([1]), "last": np.array([-1]),
        "beyond": np.array([-(2**31)]), "zero": np.array(0), "one": np.array(1),
    }  # fmt: skip
    with pytest.raises(ModelError):
        import_model(_model(*MIXED[name], **constants), check=False)
