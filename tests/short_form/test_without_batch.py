"""Models of a single sample come back as the operators that they were, without a batch inside."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node, operators
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify
from neat_onnx.model.single_sample import BATCH_AXIS

DRAW = np.random.default_rng(0)
ROWS = DRAW.normal(size=(3, 4))
FORMS = {
    "functions": ([node("Tanh", "x", "a"), node("Mul", "a r", "y")], {"r": ROWS}),
    "a constant with an axis of one": (
        [node("Add", "x r", "a"), node("Relu", "a", "y")],
        {"r": ROWS[None]},
    ),
    "rows by a matrix": ([node("MatMul", "x w", "y")], {"w": DRAW.normal(size=(4, 5))}),
    "a matrix by rows": ([node("MatMul", "w x", "y")], {"w": DRAW.normal(size=(5, 3))}),
    "a transposed product": (
        [node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "x t", "y")],
        {},
    ),
    "shares of the first axis": ([node("Softmax", "x", "y", axis=0)], {}),
    "shares of the last axis": ([node("Softmax", "x", "y", axis=-1)], {}),
    "a reduction of the first axis": (
        [node("ReduceMax", "x axes", "y", keepdims=0)],
        {"axes": [0]},
    ),
    "a mean": ([node("ReduceMean", "x axes", "y")], {"axes": [-1, 0]}),
    "a part": (
        [node("Slice", "x begin end axes", "s"), node("Exp", "s", "y")],
        {"begin": [1], "end": [3], "axes": [1]},
    ),
    "parts side by side": (
        [node("Sigmoid", "x", "s"), node("Concat", "s x", "y", axis=0)],
        {},
    ),
    "another shape": (
        [node("Tanh", "x", "t"), node("Reshape", "t shape", "y")],
        {"shape": [2, 18]},
    ),
    "one place after the other": (
        [node("Reshape", "x shape", "s"), node("Softmax", "s", "y", axis=0)],
        {"shape": [-1]},
    ),
}
ROWS_AT_ONCE = {"rows by a matrix": "MatMul", "parts side by side": "Concat"}
SIZES = (3, 3, 4)


@pytest.mark.parametrize("form", FORMS)
def test_the_operators_are_those_of_the_model(form):
    nodes, constants = FORMS[form]
    model = graph(nodes, x=SIZES, **constants)
    net = import_model(model, batch_axis=None)
    written = export(net)
    if form in ROWS_AT_ONCE:  # the first two axes are one inside
        assert ROWS_AT_ONCE[form] in operators(written)
    else:
        assert operators(written) == operators(model)
    assert not {"Squeeze", "Unsqueeze"} & {*operators(written)}
    assert written.metadata.keys() == {BATCH_AXIS}
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=16, runtime="onnxruntime").passed
    x = {"x": DRAW.normal(size=SIZES).astype(np.float32)}
    (want,), (got,) = (open_session(each).run(None, x) for each in (model, written))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_batch_that_is_asked_for_is_inside_as_well(form):
    nodes, constants = FORMS[form]
    net = import_model(graph(nodes, x=SIZES, **constants), batch_axis=None)
    written = export(net, batch_dimension="N")
    assert [(each.shape or ())[0] for each in written.graph.inputs] == ["N"]
    assert verify(net, written, samples=16, runtime="onnxruntime").passed
    assert import_model(written.to_bytes()) == net


def test_an_operator_of_samples_keeps_the_batch():
    nodes = [node("Gemm", "x w", "h"), node("Tanh", "h", "y")]
    model = graph(nodes, x=(3, 4), w=DRAW.normal(size=(4, 5)))
    model.graph.input.append(onnx.helper.make_tensor_value_info("z", 1, [4]))
    model.graph.node.append(node("Relu", "z", "v"))
    model.graph.output.append(onnx.helper.make_tensor_value_info("v", 1, [4]))
    net = import_model(model, batch_axis=None)
    written = export(net)
    assert [each.shape for each in written.graph.inputs] == [(3, 4), (4,)]
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=16, runtime="onnxruntime").passed
