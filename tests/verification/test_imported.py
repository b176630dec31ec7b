"""The check of an import: which models are run, by which runtime, and what it finds."""

import itertools
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from support.examples.graphs import computed, graph, is_right, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, Network, export, import_model, load_model
from neat_onnx.genome import imported
from neat_onnx.lifting.context import LiftingContext
from neat_onnx.lifting.registry import LIFTS
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, log, maximum
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.verification import open_batch
from neat_onnx.verification.imported.check import check_import

RNG = np.random.default_rng(0)

WEIGHTS = np.array([[1.0, -2.0], [0.5, 3.0], [0.25, 1.5]], np.float32)


def test_the_check_finds_a_lift_that_is_wrong(monkeypatch):
    def handed_on(ctx: LiftingContext, node: Node) -> None:
        ctx.operands[node.output[0]] = ctx.value(node, 0)

    monkeypatch.setitem(LIFTS, "Sin", handed_on)
    model = graph([node("Tanh", "x", "t"), node("Sin", "t", "s"), node("Relu", "s", "y")])
    assert not is_right(import_model(model, check=False), model)
    with pytest.raises(ModelError, match="does not compute what the model does") as caught:
        import_model(model)
    assert caught.value.where == "from tensor 's' of node make_s (Sin) on"
    assert "check=False" in str(caught.value.hint)


def test_the_check_finds_a_number_in_place_of_an_infinity(monkeypatch):
    """Only the few large inputs overflow: infinities of most others are the model's own."""

    def cut_off(ctx: LiftingContext, node: Node) -> None:
        logarithm = maximum(log(VARIABLE), -80.0)
        ctx.operands[node.output[0]] = formula_of(ctx, ctx.value(node, 0), logarithm)

    monkeypatch.setitem(LIFTS, "Log", cut_off)
    model = graph([node("Sign", "x", "s"), node("Relu", "s", "r"), node("Log", "r", "y")])
    with pytest.raises(ModelError, match="does not compute what the model does"):
        import_model(model)


def test_quantized_values_are_rounded_where_the_graph_says():
    """A runtime that makes one node of all rounds the kernel, too."""
    nodes = [
        node("QuantizeLinear", "x s z", "aq"),
        node("DequantizeLinear", "aq s z", "a"),
        node("Conv", "a k", "h"),
        node("QuantizeLinear", "h s z", "yq"),
        node("DequantizeLinear", "yq s z", "y"),
    ]
    kernel = np.random.default_rng(1).normal(size=(3, 1, 3, 3))
    model = graph(nodes, x=("N", 1, 8, 8), k=kernel, s=0.02)
    model.graph.initializer.append(numpy_helper.from_array(np.array(3, np.int8), "z"))
    x = RNG.normal(size=(4, 1, 8, 8)).astype(np.float32)
    plain = open_session(
        model, graph_optimization_level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    )
    (want,) = plain.run(None, {"x": x})
    assert not np.allclose(computed(model, x), want, atol=0.01)
    got = import_model(model).activate({"x": x})["y"]
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_integers_are_checked():
    model = graph([node("Cast", "x", "f", to=1), node("Exp", "f", "y")])
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    assert import_model(model).activate([1.0, 2.0, 0.0]) == pytest.approx(np.exp([1.0, 2.0, 0.0]))


def test_models_that_no_evaluator_runs_are_not_checked():
    gelu = onnx.helper.make_node("QuickGelu", ["x"], ["y"], domain="com.microsoft")
    model = graph([gelu])
    model.opset_import[0].version, model.ir_version = 28, 14
    model.opset_import.add(domain="com.microsoft", version=1)
    with pytest.warns(NeatOnnxWarning, match="is not compared with the model"):
        assert len(import_model(model)) == 6


def test_a_model_of_too_many_nodes_is_not_checked_and_a_warning_says_so():
    names = ["x", *(f"h{k}" for k in range(2_000)), "y"]
    model = graph([node("Neg", *pair) for pair in itertools.pairwise(names)])
    with pytest.warns(NeatOnnxWarning, match="not compared with the model: 2001 nodes take"):
        import_model(model)
    import_model(model, check=False)


def test_a_model_that_takes_too_long_is_loaded_into_one_runtime(monkeypatch):
    def loaded(*given, **options):
        runtimes.append(given[2])
        return load(*given, **options)

    runtimes: list[str] = []
    load = open_batch.loaded
    monkeypatch.setattr("neat_onnx.verification.imported.check.loaded", loaded)
    monkeypatch.setattr("neat_onnx.verification.imported.budget._MAX_PRODUCTS", 1)
    with pytest.warns(NeatOnnxWarning, match="not compared with the model: a run of it takes"):
        import_model(graph([node("Neg", "x", "y")]))
    assert runtimes == ["reference"]


def test_large_pools_are_not_left_to_an_evaluator_that_loops(monkeypatch):
    def run(*_given):
        raise AssertionError("the reference evaluator reads 160,000 elements one by one")

    monkeypatch.setattr("onnx.reference.ops.op_max_pool.MaxPool._run", run)
    pool = graph([node("MaxPool", "x", "y", kernel_shape=[20, 20])], x=("N", 1, 39, 39))
    assert len(import_model(pool).connections) == 160_000


def test_our_own_files_are_not_run():
    model = export(Network.mlp([2, 3, 1], seed=0)).to_json()
    code = (
        "import sys, neat_onnx; neat_onnx.import_model(sys.stdin.read().encode());"
        "assert 'onnx.reference' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], input=model, text=True, check=True)


def _typed(operator, kinds, **attributes):
    """A node from inputs a, b, … to y, of these types, the last that of y."""
    *given, made = [helper.np_dtype_to_tensor_dtype(np.dtype(kind)) for kind in kinds]
    names = ["a", "b"][: len(given)]
    entries = zip(names, given, strict=True)
    body = helper.make_graph(
        [helper.make_node(operator, names, ["y"], **attributes)],
        "graph",
        [helper.make_tensor_value_info(name, kind, ["N", 3]) for name, kind in entries],
        [helper.make_tensor_value_info("y", made, ["N", 3])],
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def test_a_model_from_float64_to_float32_is_as_exact_as_float32():
    assert (
        import_model(_typed("Cast", ["float64", "float32"], to=1)).activate([0.1, 2, 3]).size == 3
    )


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_products_beyond_the_type_of_integers_are_not_compared(kind):
    with pytest.warns(NeatOnnxWarning, match="begin anew at its other end"):
        net = import_model(_typed("Mul", [kind] * 3))
    got = net.activate({"a": np.array([2.0, 3, 4]), "b": np.array([5.0, 6, 7])})
    assert np.ravel(got["y"] if isinstance(got, dict) else got).tolist() == [10, 18, 28]


def test_an_order_of_numbers_that_are_none_is_not_compared():
    """Runtimes differ in which of several elements is the largest if one is NaN."""
    nodes = [
        node("Sub", "more x", "a"),
        node("Log", "a", "l"),
        node("Hardmax", "l", "h"),
        node("MatMul", "h w", "y"),
    ]
    weights = np.array([[5.0], [6.0], [7.0]], np.float32)
    net = import_model(graph(nodes, more=np.full(3, 0.1, np.float32), w=weights))
    assert net.activate([[-2.0, -3.0, -1.0], [0.0, -0.5, -9.0]]).tolist() == [[6.0], [7.0]]


def test_other_differences_are_found_beside_such_an_order():
    nodes = [
        node("Sub", "more x", "a"),
        node("Log", "a", "l"),
        node("Hardmax", "l", "h"),
        node("Mul", "x factor", "t"),
        node("Add", "h t", "y"),
    ]
    more = np.full(3, 0.1, np.float32)
    found = imported(load_model(graph(nodes, more=more, factor=2.0)), "auto", None)
    check_import(found)
    changed = import_model(graph(nodes, more=more, factor=2.5))
    with pytest.raises(ModelError, match="does not compute what the model does"):
        check_import(replace(found, network=changed))


def test_places_along_an_axis_are_sampled_inside():
    """The value of an action: a place that is beyond them is an error in every runtime."""
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["q"]),
        helper.make_node("Unsqueeze", ["action", "one"], ["a"]),
        helper.make_node("GatherElements", ["q", "a"], ["y"], axis=1),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4]),
        helper.make_tensor_value_info("action", TensorProto.INT64, ["N"]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])
    constants = {"w": weights, "one": np.array([1])}
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "graph", inputs, [output], tensors)
    opsets = [helper.make_opsetid("", 18)]
    net = import_model(helper.make_model(graph, opset_imports=opsets, ir_version=8))
    x = np.random.default_rng(1).normal(size=(3, 4))
    got = net.activate({"x": x, "action": np.array([2, 0, 1])})["y"]
    want = np.take_along_axis(x @ weights, np.array([[2], [0], [1]]), 1)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_model_that_runs_single_samples_alone_is_checked():
    """As the number of samples that it was traced with is in its Reshape, whatever it states."""
    model = graph(
        [node("Reshape", "x row", "t"), node("MatMul", "t w", "y")], row=[1, 3], w=WEIGHTS
    )
    with pytest.raises(Exception, match="reshape"):
        open_session(model).run(None, {"x": np.zeros((2, 3), np.float32)})
    found = imported(load_model(model), "auto", None)
    check_import(found)
    changed = import_model(graph([node("MatMul", "x w", "y")], w=WEIGHTS + 0.1))
    with pytest.raises(ModelError, match="does not compute what the model does"):
        check_import(replace(found, network=changed))


def test_integers_that_are_places_do_not_hide_a_difference():
    """Two of them added up are a place in a table, which random ones are beyond."""
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        node("Add", "ids kinds", "at"),
        node("Gather", "table at", "rows"),
        node("MatMul", "rows w", "y"),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["N"]) for name in ("ids", "kinds")
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])]
    tensors = [
        numpy_helper.from_array(RNG.normal(size=(5, 3)).astype(np.float32), "table"),
        numpy_helper.from_array(WEIGHTS, "w"),
    ]
    opsets = [helper.make_opsetid("", 18)]
    body = helper.make_graph(nodes, "graph", inputs, outputs, tensors)
    found = imported(load_model(helper.make_model(body, opset_imports=opsets)), "auto", None)
    check_import(found)
    tensors[1].CopyFrom(numpy_helper.from_array(WEIGHTS + 0.1, "w"))
    body = helper.make_graph(nodes, "graph", inputs, outputs, tensors)
    changed = import_model(helper.make_model(body, opset_imports=opsets), check=False)
    with pytest.raises(ModelError, match="does not compute what the model does"):
        check_import(replace(found, network=changed))


def test_old_hardmax_is_not_checked_by_the_reference_evaluator():
    """It computes Hardmax along one axis in opset 11 too, and nobody else runs float64."""
    kind = onnx.TensorProto.DOUBLE
    ends = [helper.make_tensor_value_info(name, kind, ["N", 3, 4]) for name in "xy"]
    body = helper.make_graph([node("Hardmax", "x", "y", axis=1)], "graph", ends[:1], ends[1:])
    with pytest.warns(NeatOnnxWarning, match="not compared with the model: onnxruntime does not"):
        net = import_model(helper.make_model(body, opset_imports=[helper.make_opsetid("", 11)]))
    x = RNG.normal(size=(5, 3, 4))
    assert np.all(net.activate({"x": x})["y"].sum(axis=(1, 2)) == 1.0)


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
def test_old_shares_of_one_axis_are_found_to_be_wrong(operator: str):
    """The reference evaluator agrees with them: it takes one axis in opset 11, too."""
    model = graph([node(operator, "x", "y", axis=1)], x=("N", 3, 4), opset=11)
    found = imported(load_model(model), "auto", None)
    check_import(found)
    model.opset_import[0].version = 13
    with pytest.raises(ModelError, match="does not compute what the model does in onnxruntime"):
        check_import(replace(found, network=import_model(model)))


def test_old_shares_of_the_last_axis_are_checked_without_onnxruntime(monkeypatch):
    model = graph([node("Relu", "x", "r"), node("Softmax", "r", "y")], x=("N", 4), opset=11)
    found = imported(load_model(model), "auto", None)
    model.graph.node[1].op_type = "LogSoftmax"
    changed = import_model(model)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"what the model does in onnx\.reference"):
        check_import(replace(found, network=changed))


def test_a_network_whose_outputs_have_another_shape_is_refused():
    nodes = [node("Unsqueeze", "x axis", "t"), node("Relu", "t", "y")]
    model = onnx.shape_inference.infer_shapes(graph(nodes, x=("N", 6), axis=[1]))
    found = imported(load_model(model), "auto", None)
    check_import(found)
    other = import_model(
        graph([node("Reshape", "x shape", "t"), nodes[1]], x=("N", 6), shape=[0, 2, 3])
    )
    with pytest.raises(ModelError, match="does not compute what the model does"):
        check_import(replace(found, network=other))
