"""If and Loop of constants are their bodies; others stay."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import graph, node
from support.harness.canonical import simple

from neat_onnx import canonicalize


def body(name: str, operator: str) -> onnx.GraphProto:
    out = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    return helper.make_graph([helper.make_node(operator, ["x"], ["r"])], name, [], [out])


@pytest.mark.parametrize(("condition", "operator"), [(True, "Tanh"), (False, "Abs")])
def test_a_branch_whose_condition_is_constant(condition: bool, operator: str):
    branches = {"then_branch": body("yes", "Tanh"), "else_branch": body("no", "Abs")}
    model = graph([node("Cast", "c", "b", to=TensorProto.BOOL), node("If", "b", "y", **branches)],
                  c=float(condition))  # fmt: skip
    assert simple(model) == [operator]


def loop(count: int) -> onnx.ModelProto:
    infos = [helper.make_tensor_value_info(*entry) for entry in [
        ("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("h", TensorProto.FLOAT, None),
        ("on", TensorProto.BOOL, []), ("k", TensorProto.FLOAT, None),
    ]]  # fmt: skip
    inner = helper.make_graph(
        [node("Identity", "go", "on"), node("Tanh", "h", "t"), node("Add", "t x", "k")],
        "body", infos[:3], infos[3:],
    )  # fmt: skip
    return graph([node("Loop", "n _ x", "y", body=inner)], n=np.int64(count))


def loop_of(nodes: list[onnx.NodeProto], condition: str) -> onnx.ModelProto:
    """A Loop of three iterations over `x`, whose body computes `next` and a condition."""
    kinds = {"step": TensorProto.INT64, "go": TensorProto.BOOL, condition: TensorProto.BOOL}
    entries = {
        name: helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), None)
        for name in ("step", "go", "value", condition, "next")
    }
    body = helper.make_graph(
        nodes,
        "body",
        [entries[name] for name in ("step", "go", "value")],
        [entries[name] for name in (condition, "next")],
    )
    model = graph([node("Loop", "n t x", "y", body=body)], outputs=("y",))
    model.graph.initializer.extend(
        [numpy_helper.from_array(np.array(3), "n"), numpy_helper.from_array(np.array(True), "t")]
    )
    return model


def test_a_loop_whose_condition_is_computed_from_itself_stays():
    circle = [node("Identity", "a", "b"), node("Identity", "b", "a"), node("Relu", "value", "next")]
    assert [each.op_type for each in canonicalize(loop_of(circle, "a")).graph.node] == ["Loop"]
