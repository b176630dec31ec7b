"""If whose condition is computed from the values of the inputs: both branches, and a choice."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph, node, operators
from support.harness.sessions import open_session

from neat_onnx import Model, ModelError, NeatOnnxWarning, canonicalize, import_model

SIZES = (3, 4)
RANDOM = np.random.default_rng(0)
MEAN = [node("ReduceMean", "x", "m", keepdims=0), node("Greater", "m zero", "is_so")]
GIVEN = {"zero": 0.0, "w": RANDOM.normal(size=(4, 4)), "last": [1]}


def branch(*nodes: onnx.NodeProto, outputs: str = "r") -> onnx.GraphProto:
    results = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs.split()
    ]
    return helper.make_graph(list(nodes), "branch", [], results)


def choice(reads: str, gives: str, one: onnx.GraphProto, other: onnx.GraphProto) -> onnx.NodeProto:
    return node("If", reads, gives, then_branch=one, else_branch=other)


def chosen(one: onnx.GraphProto, other: onnx.GraphProto, **constants: object) -> onnx.ModelProto:
    """One of two branches of x by the sign of its mean."""
    return graph([*MEAN, choice("is_so", "y", one, other)], x=SIZES, **GIVEN | constants)


def assert_equal(model: onnx.ModelProto) -> None:
    """The network chooses as onnxruntime does, in samples that take each of the branches."""
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        net = import_model(model, check=False)
    session = open_session(model)
    means = np.linspace(-1.5, 1.5, 12).reshape(-1, 1, 1)
    x = (RANDOM.normal(size=(12, *SIZES)) + means).astype(np.float32)
    got = net.activate({"x": x})
    for k, sample in enumerate(x):
        names = [output.name for output in session.get_outputs()]
        for name, want in zip(names, session.run(names, {"x": sample}), strict=True):
            np.testing.assert_allclose(got[name][k], want, rtol=2e-6, atol=2e-6)


BRANCHES = {
    "functions": (branch(node("Sin", "x", "r")), branch(node("Cos", "x", "r"))),
    "layers": (
        branch(node("MatMul", "x w", "h"), node("Tanh", "h", "r")),
        branch(node("Relu", "x", "h"), node("MatMul", "h w", "r")),
    ),
    "what is there": (branch(node("Abs", "x", "r")), branch(node("Identity", "x", "r"))),
    "values that only one has": (branch(node("Neg", "x", "r")), branch(node("Log", "m", "h"),
                                 node("Mul", "x h", "r"))),
    "weights of their own": (
        branch(node("Constant", "", "k", value_float=2.5), node("Mul", "x k", "r")),
        branch(node("Constant", "", "k", value_float=-0.5), node("Mul", "x k", "r")),
    ),
    "one in the other": (
        branch(node("Sin", "x", "r")),
        branch(
            node("ReduceMax", "x", "h", keepdims=0),
            node("Greater", "h unit", "c"),
            choice("c", "r", branch(node("Cos", "x", "q"), outputs="q"),
                   branch(node("MatMul", "x w", "q"), outputs="q")),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", BRANCHES)
def test_the_branch_is_chosen_sample_by_sample(form: str) -> None:
    one, other = BRANCHES[form]
    assert_equal(chosen(one, other, unit=1.0))
    assert_equal(chosen(other, one, unit=1.0))


def test_branches_with_several_results() -> None:
    one = branch(node("Sin", "x", "r"), node("ReduceSum", "x", "s", keepdims=0), outputs="r s")
    other = branch(node("Cos", "x", "r"), node("ReduceMin", "x", "s", keepdims=0), outputs="r s")
    nodes = [*MEAN, choice("is_so", "y z", one, other)]
    assert_equal(graph(nodes, x=SIZES, outputs=("y", "z"), **GIVEN))


def test_a_condition_of_one_element_in_axes() -> None:
    nodes = [node("ReduceMean", "x", "m"), node("Greater", "m zero", "is_so")]
    nodes.append(choice("is_so", "y", *BRANCHES["functions"]))
    assert_equal(graph(nodes, x=SIZES, **GIVEN))


def test_choices_in_a_loop() -> None:
    """As PyTorch scripts `for` around `if`."""
    infos = [
        helper.make_tensor_value_info(*entry)
        for entry in [
            ("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []),
            ("h", TensorProto.FLOAT, SIZES), ("on", TensorProto.BOOL, []),
            ("k", TensorProto.FLOAT, SIZES),
        ]
    ]  # fmt: skip
    body = [
        node("Identity", "go", "on"),
        node("ReduceMax", "h", "m", keepdims=0),
        node("Greater", "m zero", "c"),
        choice("c", "k", branch(node("MatMul", "h w", "r")), branch(node("Sin", "h", "r"))),
    ]
    inner = helper.make_graph(body, "body", infos[:3], infos[3:])
    nodes = [node("Loop", "n _ x", "y", body=inner)]
    assert_equal(graph(nodes, x=SIZES, n=np.int64(3), **GIVEN))


def test_results_of_different_shapes_are_refused() -> None:
    model = chosen(branch(node("ReduceSum", "x last", "r")), branch(node("Cos", "x", "r")))
    with pytest.raises(ModelError, match="computed, and its branches have results of different"):
        import_model(model, batch_axis=None)


def test_a_canonical_model_keeps_its_branches() -> None:
    """A runtime would compute both."""
    model = canonicalize(Model.from_proto(chosen(*BRANCHES["functions"])))
    assert operators(model) == ["ReduceMean", "Greater", "If"]
