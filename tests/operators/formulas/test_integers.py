"""Quotients and means of integers: whole to the last one, in the network and its export."""

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import export, import_model

INT64 = TensorProto.INT64
DIVISORS = [1, 2, 3, 7, 49, 98, 103, 107, -8, -49]
RULES = [("Div", {}), ("Mod", {}), ("Mod", {"fmod": 1})]


def integers(made, sizes: dict[str, int], **constants) -> ModelProto:
    ends = [helper.make_tensor_value_info(name, INT64, ["N", size]) for name, size in sizes.items()]
    result = [helper.make_tensor_value_info("z", INT64, None)]
    tensors = [numpy_helper.from_array(np.int64(each), name) for name, each in constants.items()]
    graph = helper.make_graph([made], "graph", ends, result, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def assert_whole(model: ModelProto, feed: dict[str, np.ndarray]) -> None:
    """The network, and its export in both types, give what onnxruntime gives of the model."""
    (want,) = open_session(model).run(None, feed)
    net = import_model(model, check=False)
    np.testing.assert_array_equal(net.activate(feed)["z"], want)
    for dtype in ("float32", "float64"):
        (got,) = open_session(export(net, dtype=dtype)).run(None, feed)
        np.testing.assert_array_equal(got, want)


MULTIPLES = np.arange(-400, 401)[:, None]


@pytest.mark.parametrize(("operator", "attributes"), RULES)
@pytest.mark.parametrize("divisor", DIVISORS)
def test_quotients_by_a_constant(operator, attributes, divisor):
    made = node(operator, "x c", "z", **attributes)
    assert_whole(integers(made, {"x": 1}, c=divisor), {"x": MULTIPLES})


@pytest.mark.parametrize(("operator", "attributes"), RULES)
def test_quotients_by_one_constant_for_each_element(operator, attributes):
    made = node(operator, "x c", "z", **attributes)
    width = len(DIVISORS)
    x = np.repeat(MULTIPLES, width, axis=1)
    assert_whole(integers(made, {"x": width}, c=DIVISORS), {"x": x})


@pytest.mark.parametrize(("operator", "attributes"), RULES)
def test_computed_divisors(operator, attributes):
    x, y = np.meshgrid(MULTIPLES.ravel(), DIVISORS)
    made = node(operator, "x y", "z", **attributes)
    feed = {"x": x.reshape(-1, 1), "y": y.reshape(-1, 1)}
    assert_whole(integers(made, {"x": 1, "y": 1}), feed)


@pytest.mark.parametrize(("operator", "attributes"), RULES)
def test_constants_by_computed_divisors(operator, attributes):
    made = node(operator, "c y", "z", **attributes)
    y = np.setdiff1d(MULTIPLES, [0])[:, None]
    assert_whole(integers(made, {"y": 1}, c=98), {"y": y})


@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2, 3])
def test_powers_are_cut_off(exponent):
    x = np.array([[-3], [-1], [1], [2], [7]])
    assert_whole(integers(node("Pow", "x c", "z"), {"x": 1}, c=exponent), {"x": x})


@pytest.mark.filterwarnings("ignore:.*no number")
@pytest.mark.parametrize("operator", ["ReduceMean", "ReduceL2", "ReduceLogSum"])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 49])
def test_reductions_are_cut_off(operator, count):
    made = node(operator, "x", "z", axes=[1], keepdims=0)
    x = np.random.default_rng(count).integers(1, 60, (50, count))
    x[0] = 49 // count * count
    assert_whole(integers(made, {"x": count}), {"x": x})


def clipped(most: float, last: str) -> ModelProto:
    """Numbers rounded towards zero, their sizes cut off at a bound, as floats, then as said."""
    nodes = [
        node("Cast", "x", "i", to=INT64),
        node("Cast", "i", "f", to=TensorProto.FLOAT),
        node("Abs", "f", "a"),
        node("Clip", "a least most", "c"),
        node(last, "c", "z", **({"to": INT64} if last == "Cast" else {})),
    ]
    bounds = {"least": np.float32(0), "most": np.float32(most)}
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1])
    kind = INT64 if last == "Cast" else TensorProto.FLOAT
    tensors = [numpy_helper.from_array(np.asarray(each), name) for name, each in bounds.items()]
    result = helper.make_tensor_value_info("z", kind, None)
    graph = helper.make_graph(nodes, "graph", [entry], [result], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_a_formula_with_another_number_is_rounded():
    net = import_model(clipped(4.5, "Cast"))
    assert net.activate([[7.3], [-3.3]]).ravel().tolist() == [4.0, 3.0]


@pytest.mark.parametrize("base", [-3, 2, 7])
def test_powers_with_computed_exponents_are_whole(base):
    model = integers(node("Pow", "base b", "z"), {"b": 3}, base=base)
    exponents = np.array([[-2, -1, 0], [1, 2, 3], [4, 5, 6]])
    assert_whole(model, {"b": exponents})


@pytest.mark.parametrize("fmod", [0, 1])
def test_a_remainder_of_a_sum_reads_the_sum_itself(fmod):
    """A sum that one node alone reads may take other weights, but not where that reads it twice."""
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
    g (int64[N, 3] a, int64[N, 3] b) => (int64[N, 3] y) <int64[1] k = {{3}}> {{
        c = Div (a, k) d = Add (c, b) y = Mod <fmod = {fmod}> (d, k)
    }}""")
    net = import_model(model, check=False)
    a, b = np.array([[5, 200, -7]]), np.array([[1, 100, 3]])
    (want,) = open_session(model).run(None, {"a": a, "b": b})
    np.testing.assert_array_equal(net.activate({"a": a, "b": b})["y"], want)
