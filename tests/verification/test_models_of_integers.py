"""Models of integers alone are compared to the last digit: rounding is no excuse."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node

from neat_onnx import ModelError, import_model, verify

INT64, FLOAT = TensorProto.INT64, TensorProto.FLOAT


def product(factor: int, after: list[onnx.NodeProto], kind: int) -> onnx.ModelProto:
    """x [N, 1] of integers, times a factor, and what comes after it."""
    nodes = [node("Mul", "x k", "m"), *after]
    constants = {"k": np.int64(factor), "d": np.int64(1000)}
    read = {name for each in nodes for name in each.input}
    tensors = [
        numpy_helper.from_array(each, name) for name, each in constants.items() if name in read
    ]
    given = [helper.make_tensor_value_info("x", INT64, ["N", 1])]
    wanted = [helper.make_tensor_value_info("y", kind, ["N", 1])]
    graph = helper.make_graph(nodes, "graph", given, wanted, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        ([node("Identity", "m", "y")], INT64),
        ([node("Mod", "m d", "y")], INT64),
        ([node("Mod", "m d", "r"), node("Cast", "r", "y", to=FLOAT)], FLOAT),
    ],
    ids=["product", "remainder", "remainder as numbers"],
)
def test_a_factor_that_float32_rounds_is_another(after, kind):
    made = product(50331651, after, kind)
    net = import_model(made)
    assert verify(net, made).verdict == "equal"
    report = verify(net, product(int(np.float32(50331651)), after, kind))
    assert not report.passed
    assert report.rounding is None


def test_numbers_that_are_rounded_to_float32_as_they_become_outputs_are_equal():
    made = product(50331651, [node("Cast", "m", "y", to=FLOAT)], FLOAT)
    assert verify(import_model(made), made).verdict == "equal"


def test_products_beyond_the_integers_of_float64_are_refused():
    with pytest.raises(ModelError, match="does not compute what the model does"):
        import_model(product(2**53 + 1, [node("Mod", "m d", "y")], INT64))


def test_numbers_that_are_computed_of_integers_are_compared_as_numbers():
    """As words are looked up and multiplied with weights: float32 rounds there."""
    after = [node("Cast", "m", "f", to=FLOAT), node("Sin", "f", "y")]
    made = product(1, after, FLOAT)
    report = verify(import_model(made), made)
    assert report.passed
    assert report.dtype == "float32"
