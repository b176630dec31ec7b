"""Models that round to 16 bits: neurons do not, and a warning says so."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from neat_onnx import ModelError, NeatOnnxWarning, import_model, verify

WEIGHTS = np.array([[0.5, -1.25, 3.0], [2.0, 0.125, -0.75]], np.float32)


def model(kind: int, *nodes: onnx.NodeProto, inside: int | None = None) -> onnx.ModelProto:
    """Nodes from x to y of this type, with the weights W in the type `inside`."""
    ends = [helper.make_tensor_value_info(name, kind, ["N", 3]) for name in "xy"]
    inside = kind if inside is None else inside
    weights = helper.make_tensor("W", inside, WEIGHTS.shape, WEIGHTS.ravel())
    del ends[1].type.tensor_type.shape.dim[:]
    graph = helper.make_graph(list(nodes), "graph", ends[:1], ends[1:], [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


GEMM = helper.make_node("Gemm", ["x", "W"], ["z"], name="gemm", transB=1)
TANH = helper.make_node("Tanh", ["z"], ["y"], name="squash")


HALVES = ["FLOAT16", "BFLOAT16"]


def test_bfloat16_in_between_is_refused_with_the_nodes():
    with pytest.raises(ModelError, match=r"rounded to BFLOAT16 at node gemm .*, squash") as refused:
        import_model(model(TensorProto.BFLOAT16, GEMM, TANH))
    assert "float32" in refused.value.hint


def test_float16_in_between_is_warned_of_with_the_nodes():
    made = model(TensorProto.FLOAT16, GEMM, TANH)
    with pytest.warns(NeatOnnxWarning, match=r"rounded to FLOAT16 at node gemm \(Gemm\): the"):
        net = import_model(made)
    assert net.activate([1, 2, 3]) == pytest.approx(np.tanh(WEIGHTS @ [1, 2, 3]), abs=1e-15)
    x = np.float16([[0.3, 0.1, -0.2]])
    (want,) = ReferenceEvaluator(made).run(None, {"x": x})
    np.testing.assert_allclose(net.activate(x), want.astype(np.float64), atol=2.0**-9)


def test_a_cast_in_between_rounds():
    down = helper.make_node("CastLike", ["x", "W"], ["h"], name="down")
    up = helper.make_node("Cast", ["h"], ["y"], to=1)
    with pytest.warns(NeatOnnxWarning, match="rounded to FLOAT16 at node down"):
        import_model(model(TensorProto.FLOAT, down, up, inside=TensorProto.FLOAT16))
    with pytest.raises(ModelError, match="rounded to BFLOAT16 at node down"):
        import_model(model(TensorProto.FLOAT, down, up, inside=TensorProto.BFLOAT16))


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("product", [False, True])
def test_constants_are_rounded_as_the_model_rounds_them(kind, product):
    """Numbers that are none of the type, rounded to it and back, and a product of such."""
    half = getattr(TensorProto, kind)
    nodes = [helper.make_node("Cast", ["W"], ["h"], to=half)]
    nodes.append(helper.make_node("Mul" if product else "Max", ["h", "h"], ["p"]))
    nodes.append(helper.make_node("Cast", ["p"], ["V"], to=1))
    nodes.append(helper.make_node("Gemm", ["x", "V"], ["y"], transB=1))
    made = model(TensorProto.FLOAT, *nodes)
    made.graph.initializer[0].CopyFrom(numpy_helper.from_array(WEIGHTS / 7, "W"))
    (want,) = ReferenceEvaluator(made).run(None, {"x": np.eye(3, dtype=np.float32)})
    net = import_model(made)
    assert net.activate(np.eye(3)).tolist() == want.tolist()
    assert verify(net, made).passed


@pytest.mark.parametrize("kind", [TensorProto.BFLOAT16, TensorProto.FLOAT16])
def test_weights_alone_are_exact(kind):
    cast = helper.make_node("Cast", ["W"], ["W32"], to=1)
    gemm = helper.make_node("Gemm", ["x", "W32"], ["z"], transB=1)
    net = import_model(model(TensorProto.FLOAT, cast, gemm, TANH, inside=kind))
    assert net == import_model(model(TensorProto.FLOAT, GEMM, TANH))


@pytest.mark.parametrize("kind", [TensorProto.BFLOAT16, TensorProto.FLOAT16])
def test_choosing_numbers_is_exact_and_what_follows_a_cast_is_not_rounded(kind):
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Transpose", ["r"], ["t"], perm=[0, 1]),
        helper.make_node("Cast", ["t"], ["f"], to=1),
        helper.make_node("Exp", ["f"], ["y"]),
    ]
    given = model(kind, *nodes)
    given.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    assert import_model(given).activate([1, -2, 0]) == pytest.approx(np.exp([1, 0, 0]))


def test_a_table_of_bfloat16_is_rounded_after_it_was_chosen_from():
    table = helper.make_node("Gather", ["W", "zero"], ["row"], axis=0)
    scaled = helper.make_node("Mul", ["x", "row"], ["y"], name="scaled")
    given = model(TensorProto.BFLOAT16, table, scaled)
    given.graph.initializer.append(numpy_helper.from_array(np.array(0), "zero"))
    given.graph.node.append(helper.make_node("Neg", ["y"], ["z"]))
    given.graph.output[0].name = "z"
    with pytest.raises(ModelError, match="at node scaled"):
        import_model(given)


def as_float(given: onnx.ModelProto) -> onnx.ModelProto:
    """The model with inputs and outputs of float32, as mixed precision has them."""
    for entry in (*given.graph.input, *given.graph.output):
        entry.type.tensor_type.elem_type = TensorProto.FLOAT
    return given


DOWN = helper.make_node("Cast", ["x"], ["h"], name="down", to=TensorProto.FLOAT16)
HALF = helper.make_node("Gemm", ["h", "W"], ["z"], name="gemm", transB=1)
UP = helper.make_node("Cast", ["z"], ["y"], name="up", to=TensorProto.FLOAT)


@pytest.mark.parametrize("given", [TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL])
def test_half_precision_inside_is_warned_of_and_compared_as_such(given):
    made = as_float(model(TensorProto.FLOAT16, DOWN, HALF, UP))
    made.graph.input[0].type.tensor_type.elem_type = given
    with pytest.warns(NeatOnnxWarning, match=r"rounded to FLOAT16 at node down .*, gemm") as warned:
        net = import_model(made)
    assert len(warned) == 1
    assert net.activate([1, 0, 1]) == pytest.approx(WEIGHTS @ [1, 0, 1], abs=1e-15)
    report = verify(net, made)
    assert (report.passed, report.dtype) == (True, "float16")
    other = replace(net, connections=replace(net.connections, weight=net.connections.weight * 1.02))
    assert not verify(other, made).passed


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
def test_numbers_that_are_rounded_to_float16_as_they_become_outputs_are_compared(runtime):
    """Without a warning, since their type says so."""
    out = helper.make_node("Cast", ["x"], ["y"], name="out", to=TensorProto.FLOAT16)
    made = model(TensorProto.FLOAT16, out)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
    net = import_model(made)
    assert net.activate([0.1, 1, 2]).tolist() == [0.1, 1, 2]
    report = verify(net, made, runtime=runtime)
    assert (report.verdict, report.dtype) == ("equal", "float16")


@pytest.mark.parametrize("ports", [False, True])
def test_bfloat16_inside_is_not_compared(ports):
    kind = TensorProto.BFLOAT16 if ports else TensorProto.FLOAT
    down = helper.make_node("Cast", ["x"], ["h"], name="down", to=TensorProto.BFLOAT16)
    up = helper.make_node("Cast", ["h"], ["y"], to=kind)
    net = import_model(model(TensorProto.FLOAT, helper.make_node("Identity", ["x"], ["y"])))
    with pytest.raises(ModelError, match="BFLOAT16") as refused:
        verify(net, model(kind, down, up))
    assert "not compared" in refused.value.hint
