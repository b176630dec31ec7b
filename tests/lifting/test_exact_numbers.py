"""Numbers of integers and of float64 have more digits than float32, and weights have them all."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import import_model, verify

INT64, FLOAT, DOUBLE = TensorProto.INT64, TensorProto.FLOAT, TensorProto.DOUBLE


def model(
    nodes: list[onnx.NodeProto], given: int, wanted: int, **constants: np.ndarray
) -> onnx.ModelProto:
    """From x of one type to y of another."""
    tensors = [numpy_helper.from_array(values, name) for name, values in constants.items()]
    ends = [
        helper.make_tensor_value_info(*each, ["N", 1]) for each in (("x", given), ("y", wanted))
    ]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("factor", [16777217, 50331651, 1103515245, 2**36 + 1])
@pytest.mark.parametrize("divisor", [None, 1000])
def test_a_factor_of_integers_is_a_weight_to_the_last_digit(factor, divisor):
    nodes, constants = [node("Mul", "x k", "y")], {"k": np.int64(factor)}
    if divisor:
        nodes = [node("Mul", "x k", "m"), node("Mod", "m d", "y")]
        constants["d"] = np.int64(divisor)
    made = model(nodes, INT64, INT64, **constants)
    x = np.int64([[1], [2], [3], [999], [-5]])
    (want,) = open_session(made).run(None, {"x": x})
    net = import_model(made)
    np.testing.assert_array_equal(net.activate(x), want)
    assert verify(net, made).verdict == "equal"


@pytest.mark.parametrize("given", [INT64, FLOAT])
def test_a_factor_of_float64_in_a_model_of_another_type_is_exact(given):
    nodes = [node("Cast", "x", "d", to=DOUBLE), node("Mul", "d k", "y")]
    net = import_model(model(nodes, given, DOUBLE, k=np.float64(50331651)))
    assert net.activate([[1.0], [3.0]]).tolist() == [[50331651], [150994953]]
