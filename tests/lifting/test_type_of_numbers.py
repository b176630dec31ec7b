"""The type of a model's numbers, where its first inputs are integers: words, images, masks."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import NeatOnnxWarning, export, import_model

INT64, FLOAT, FLOAT16, DOUBLE = (
    TensorProto.INT64, TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE,
)  # fmt: skip
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(6, 3)).astype(np.float32)
WORDS = np.int64([[1, 5, 0, 2], [3, 3, 4, 1]])


def model(
    nodes: list[onnx.NodeProto],
    given: dict[str, tuple[int, list[Any]]],
    kind: int = FLOAT,
    opset: int = 18,
    **constants: Any,
) -> onnx.ModelProto:
    """From inputs of these types and shapes to y of a kind."""
    tensors = [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items()]
    inputs = [helper.make_tensor_value_info(name, *each) for name, each in given.items()]
    wanted = [helper.make_tensor_value_info("y", kind, None)]
    graph = helper.make_graph(nodes, "graph", inputs, wanted, tensors)
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11 if opset > 18 else 8)


@pytest.mark.parametrize("order", ["tx", "xt", "t"])
def test_truth_values_become_numbers_like_others_whatever_the_order_of_inputs(order):
    nodes = [node("Gather", "table t", "e")]
    nodes += [node("Add", "e x", "s")] if "x" in order else [node("Neg", "e", "s")]
    nodes += [node("Greater", "s zero", "g"), node("CastLike", "g e", "m")]
    nodes += [node("ReduceSum", "m one", "y", keepdims=0)]
    entries = {"t": (INT64, ["N", 4]), "x": (FLOAT, ["N", 4, 3])}
    given = {name: entries[name] for name in order}
    made = model(nodes, given, table=TABLE, zero=np.float32(0), one=np.int64([1]))
    feed = {"t": WORDS, "x": RNG.normal(size=(2, 4, 3)).astype(np.float32)}
    feed = {name: feed[name] for name in order}
    (want,) = open_session(made).run(None, feed)
    np.testing.assert_array_equal(import_model(made).activate(feed)["y"], want)


@pytest.mark.parametrize("opset", [23, 24])
@pytest.mark.parametrize("words", [False, True])
def test_causal_attention_of_three_axes(opset, words):
    """Truth values become numbers of the type of its mask, a constant in a computed shape."""
    nodes = [node("Gather", "table x", "q")] if words else [node("MatMul", "x table", "q")]
    sizes = {"is_causal": 1, "q_num_heads": 2, "kv_num_heads": 2}
    nodes.append(node("Attention", "q q q", "y", **sizes))
    given = {"x": (INT64, ["N", 4]) if words else (FLOAT, ["N", 4, 6])}
    made = model(nodes, given, opset=opset, table=RNG.normal(size=(6, 4)).astype(np.float32))
    x = WORDS if words else RNG.normal(size=(2, 4, 6)).astype(np.float32)
    (want,) = open_session(made).run(None, {"x": x})
    got = import_model(made).activate({"x": x})["y"]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_cast_to_the_half_precision_of_a_later_input():
    nodes = [node("Cast", "t", "c", to=FLOAT16), node("Add", "c x", "y")]
    given = {"t": (INT64, ["N", 4]), "x": (FLOAT16, ["N", 4])}
    with pytest.warns(NeatOnnxWarning, match="rounded to FLOAT16 at node make_c"):
        net = import_model(model(nodes, given, FLOAT16))
    assert net.activate({"t": WORDS, "x": np.full((2, 4), 0.1)})["y"].tolist() == (
        (WORDS + 0.1).tolist()
    )


def test_an_activation_of_float64_has_its_name_after_words():
    """In the way that an export writes it in float64."""
    nodes = [node("Gather", "table t", "e"), node("ReduceSum", "e one", "x", keepdims=0)]
    softsign = [node("Abs", "x", "a"), node("Add", "a unit", "b"), node("Div", "x b", "y")]
    constants = {"table": TABLE.astype(np.float64), "one": np.int64([1]), "unit": np.float64(1)}
    made = model([*nodes, *softsign], {"t": (INT64, ["N", 4])}, DOUBLE, **constants)
    net = import_model(made)
    names = {net.activation_names[at] for at in net.outputs[0].neurons}
    assert names == {"softsign"}
    assert import_model(export(net, dtype="float64")) == net
