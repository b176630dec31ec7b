"""Operators that are many neurons come back as themselves, where the network is the same."""

from itertools import product

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators
from support.harness.sweep import every

from neat_onnx import Network, export, import_model, verify
from neat_onnx.genome import CHECKSUM, GENOME

DENSE = node("Gemm", "x w", "h")
WEIGHTS = np.random.default_rng(3).normal(size=(6, 7))


def order(source="x", gives="y _", shape=("N", 7), count=None, **attributes):
    values, places = (name.replace("_", f"unread{k}") for k, name in enumerate(gives.split()))
    nodes = [node("TopK", f"{source} k", f"{values} places", **attributes)]
    if not places.startswith("unread"):
        nodes += [node("Cast", "places", places, to=1)]
    constants = {"k": np.array([count or shape[attributes.get("axis", -1)]])}
    if source == "h":
        nodes, constants, shape = [DENSE, *nodes], {**constants, "w": WEIGHTS}, ("N", 6)
    return nodes, gives.replace("_", "").split(), shape, constants


def one(operator, attributes, **constants):
    return (
        [node(operator, " ".join(["x", *constants]), "y", **attributes)],
        ["y"],
        ("N", 7),
        constants,
    )


def places(operator, **attributes):
    nodes = [node(operator, "x", "places", axis=1, **attributes), node("Cast", "places", "y", to=1)]
    return nodes, ["y"], ("N", 3, 4, 5), {}


CASES = {
    "place of the largest": places("ArgMax", keepdims=0),
    "place of the least": places("ArgMin", keepdims=1),
    "sort": order(largest=0),
    "sort down": order(largest=1),
    "sort dense": order("h", largest=0),
    "sort columns": order(shape=("N", 5, 3), axis=1, largest=0),
    "argsort": order(gives="_ y", largest=0),
    "argsort dense": order("h", gives="_ y", largest=1),
    "largest": order(count=3, gives="y _", largest=1),
    "places": order(count=3, gives="_ y", largest=0),
    "both": order(count=2, gives="y z", largest=0),
    "accumulated": one("CumSum", {}, k=np.array(1)),
    "accumulated channels": (
        [node("CumSum", "x k", "y")],
        ["y"],
        ("N", 4, 5),
        {"k": np.array(1)},
    ),
    "sums": (
        [node("ReduceSum", "x k", "y", keepdims=0)],
        ["y"],
        ("N", 3, 4),
        {"k": np.array([2])},
    ),
    "sums of sizes": (
        [node("Abs", "x", "a"), node("ReduceSum", "a k", "y", keepdims=0)],
        ["y"],
        ("N", 3, 4),
        {"k": np.array([1])},
    ),
    "norm": one("ReduceL2", {"keepdims": 1}, k=np.array([1])),
    "shares of a norm": (
        [node("ReduceL2", "x k", "n", keepdims=1), node("Div", "x n", "y")],
        ["y"],
        ("N", 3),
        {"k": np.array([1])},
    ),
    "shares of a value": (
        [node("Gemm", "x w", "h"), node("Exp", "h", "e"), node("Div", "x e", "y")],
        ["y"],
        ("N", 6),
        {"w": WEIGHTS[:, :1]},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("opset", [13, 18])
def test_it_is_one_operator_again(case, opset):
    nodes, outputs, shape, constants = case
    net = assert_lifts(graph(nodes, x=shape, outputs=outputs, **constants))
    short = export(net, opset=opset)
    operators = [each.op_type for each in short.graph.node]
    want = [each.op_type for each in nodes if each.op_type != "Cast"]
    assert [name for name in operators if name not in {"Cast", "Identity"}] == want
    assert import_model(short.to_bytes()) == net or "w" in constants
    assert verify(net, short, runtime="onnxruntime").passed
    assert export(import_model(short), opset=opset).to_bytes() == short.to_bytes()


def test_the_axis_of_running_sums_is_one_number():
    """As ONNX wants it: tract refuses a list of one."""
    nodes, outputs, shape, constants = CASES["accumulated"]
    net = assert_lifts(graph(nodes, x=shape, outputs=outputs, **constants))
    (axis,) = export(net).graph.initializer
    assert list(axis.dims) == []


def test_a_masked_policy_is_a_choice_and_needs_no_genome():
    nodes = [
        node("Greater", "mask half", "may"),
        node("Gemm", "x w", "h"),
        node("Where", "may h never", "chosen"),
        node("Softmax", "chosen", "y", axis=1),
        node("ArgMax", "chosen", "place", axis=1, keepdims=0),
        node("Cast", "place", "z", to=1),
    ]
    constants = {"w": WEIGHTS, "half": np.array(0.5), "never": np.array(-1e8)}
    model = graph(nodes, x=("N", 6), outputs=["y", "z"], **constants)
    mask = onnx.helper.make_tensor_value_info("mask", onnx.TensorProto.FLOAT, ["N", 7])
    model.graph.input.append(mask)
    net = import_model(model)
    short = export(net)
    assert [each.op_type for each in short.graph.node].count("Where") == 1
    assert GENOME not in short.metadata
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


def test_a_choice_between_inputs_is_one():
    """The number that the condition compares is one of them, so it is copied in other forms."""
    nodes = [node("Greater", "x none", "is"), node("Where", "is x z", "y")]
    model = graph(nodes, x=("N", 4), none=np.array(0.0))
    z = onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, ["N", 4])
    model.graph.input.append(z)
    net = import_model(model)
    short = export(net)
    assert [each.op_type for each in short.graph.node] == ["Greater", "Where"]
    assert import_model(short) == net
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, short, runtime="onnxruntime").passed


def neighbours(points, count):
    """The scores of the nearest of many points: a table by their places, and a mean."""
    w = np.random.default_rng(5).normal(size=(points, 3))
    nodes = [
        node("Unsqueeze", "x one", "wide"),
        node("Sub", "wide w", "apart"),
        node("ReduceSumSquare", "apart two", "square", keepdims=0),
        node("Sqrt", "square", "far"),
        node("TopK", "far k", "near places", largest=0),
        node("Gather", "table places", "rows"),
        node("ReduceMean", "rows one", "y", keepdims=0),
    ]
    table = np.random.default_rng(6).normal(size=(points, 2))
    constants = {"w": w, "table": table, "one": [1], "two": [2], "k": [count]}
    return graph(nodes, x=("N", 3), opset=18, **constants)


@pytest.mark.parametrize(("points", "count"), [(24, 9), (120, 9), (60, 31)])
def test_rows_of_a_table_are_gathered_at_the_places_of_the_nearest(points, count):
    """In rounds for each of the nearest; of many genes; and by comparisons of all pairs."""
    model = neighbours(points, count)
    net = import_model(model)
    short = export(net)
    assert {"TopK", "Gather"} <= {each.op_type for each in short.graph.node}
    assert len(short.to_bytes()) <= 2 * len(model.SerializeToString())
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def far(steps):
    """The distance of each step to each other one."""
    return np.abs(np.subtract.outer(np.arange(steps), np.arange(steps)))


MASKS = {
    "causal": np.tri,
    "band": lambda steps: far(steps) < 3,
    "prefix": lambda steps: np.maximum(np.tri(steps), np.arange(steps) < 3),
    "graph": lambda steps: (
        (np.random.default_rng(8).random((steps, steps)) < 0.4) | (far(steps) < 1)
    ),
}


def masked_attention(steps, heads, mask, absent):
    """Attention of fixed length that looks where a mask says."""
    random = np.random.default_rng(7)
    w = {f"w{part}": 0.3 * random.normal(size=(8, 8)) for part in "qkv"}
    nodes = []
    for part in "qkv":
        nodes += [
            node("MatMul", f"x w{part}", f"{part}1"),
            node("Reshape", f"{part}1 apart", f"{part}2"),
            node("Transpose", f"{part}2", part, perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        node("MatMul", "q k", "raw"),
        node("Mul", "raw half", "scores"),
        node("Cast", "ones", "mask", to=onnx.TensorProto.BOOL),
        node("Where", "mask scores absent", "masked"),
        node("Softmax", "masked", "shares", axis=-1),
        node("MatMul", "shares v", "mixed"),
        node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
        node("Reshape", "back together", "y"),
    ]
    constants = {
        **w,
        "apart": [0, steps, heads, 8 // heads],
        "half": np.array(0.5),
        "ones": np.array(MASKS[mask](steps), float),
        "absent": np.array(absent),
        "together": [0, steps, 8],
    }
    return graph(nodes, x=("N", steps, 8), opset=17, **constants)


@pytest.mark.parametrize(
    ("mask", "form"),
    [
        ("causal", ((64, 4), -np.inf)),
        *every(MASKS, product([(5, 1), (12, 2)], [-np.inf, -1e9])),
    ],
)
def test_attention_is_masked_by_a_choice(mask, form):
    """Of one head and of more, and of more genes than have short names."""
    (steps, heads), absent = form
    model = masked_attention(steps, heads, mask, absent)
    net = import_model(model)
    short = export(net)
    operators = {each.op_type for each in short.graph.node}
    assert "Where" in operators
    assert operators.isdisjoint({"Gather", "Concat"})
    assert short.metadata.keys() == {CHECKSUM}
    assert len(short.to_bytes()) <= len(model.SerializeToString()) + 200
    assert import_model(short) == net
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, short, runtime="onnxruntime").passed


def test_a_mask_that_is_added_makes_no_neurons():
    """Of scores that are products, as PyTorch's scaled_dot_product_attention has them."""
    steps, random = 64, np.random.default_rng(7)
    nodes = [node("MatMul", "x w", "q"), node("Transpose", "x", "k", perm=[0, 2, 1]),
             node("MatMul", "q k", "scores"), node("Add", "scores mask", "masked"),
             node("Softmax", "masked", "shares", axis=-1),
             node("MatMul", "shares x", "y")]  # fmt: skip
    mask = np.where(np.tri(steps), 0.0, -np.inf)
    model = graph(nodes, x=("N", steps, 4), w=random.normal(size=(4, 4)), mask=mask)
    net = assert_lifts(model)
    short = export(net)
    assert {"Where", "Trilu"} <= {*operators(short)}
    assert len(short.to_bytes()) < 800
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


@pytest.mark.parametrize("picked", [[5, 2, 0], [3]])
def test_one_share_of_a_row_is_an_output_without_axes(picked):
    """As the probability of one class."""
    nodes = [
        DENSE,
        node("Gather", "h some", "scores", axis=1),
        node("Softmax", "scores", "shares", axis=-1),
        node("Gather", "shares first", "y", axis=1),
    ]
    constants = {"w": WEIGHTS, "some": np.array(picked), "first": np.array(0)}
    net = assert_lifts(graph(nodes, x=("N", 6), **constants))
    assert net.outputs[0].shape == ()
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_an_evolved_layer_stays_one():
    net = Network.build(
        inputs=3,
        outputs=[3, 4, 5],
        neurons=[{"id": 3 + k, "activation": "identity"} for k in range(3)],
        connections=[(i, 3 + k, 1.0) for k in range(3) for i in range(k + 1)],
    )
    assert "CumSum" not in [each.op_type for each in export(net).graph.node]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_another_network_is_not_written(monkeypatch, dtype):
    def wrong(model):
        nodes = [
            each.model_copy(update={"op_type": "Tanh"}) if each.op_type == "Relu" else each
            for each in model.graph.node
        ]
        return [model.model_copy(update={"graph": model.graph.model_copy(update={"node": nodes})})]

    monkeypatch.setattr("neat_onnx.lowering.shortened.with_larger_operators", wrong)
    weights = WEIGHTS.astype(np.float32).astype(dtype)
    net = import_model(graph([DENSE, node("Relu", "h", "y")], x=("N", 6), w=weights))
    assert [each.op_type for each in export(net).graph.node] == ["Gemm", "Relu"]


def test_means_over_outer_axes_of_what_was_moved_are_exported():
    """The reduction is behind a Gather of a flat tensor whose source has axes of its own."""
    nodes = [
        node("ReduceMean", "x k", "m"),
        node("Mul", "x x", "q"),
        node("ReduceMean", "q k", "s"),
        node("Mul", "m m", "p"),
        node("Sub", "s p", "v"),
        node("Sqrt", "v", "d"),
        node("Sub", "x m", "c"),
        node("Div", "c d", "y"),
    ]
    net = assert_lifts(graph(nodes, x=("N", 3, 3, 3), k=np.array([1, 3])))
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_equal_reductions_stay_two():
    """Each of them is neurons, though both read the same constants."""
    nodes = [
        node("ReduceMean", "x k", "m"),
        node("ReduceMean", "x k", "n"),
        node("Sub", "x n", "c"),
        node("Mul", "c c", "q"),
        node("ReduceMean", "q k", "v"),
        node("Add", "v e", "w"),
        node("Sqrt", "w", "d"),
        node("Sub", "x m", "a"),
        node("Div", "a d", "b"),
        node("Transpose", "b", "t", perm=[0, 2, 1]),
        node("MatMul", "t W", "l"),
        node("Transpose", "l", "u", perm=[0, 2, 1]),
        node("Mul", "u d", "r"),
        node("Add", "r m", "y"),
    ]
    matrix = np.random.default_rng(0).normal(size=(12, 4))
    net = assert_lifts(graph(nodes, x=("N", 12, 8), k=np.array([1]), e=1e-5, W=matrix))
    short = export(net)
    assert operators(short).count("ReduceMean") == 3
    assert not short.metadata.keys() & {"neat_onnx.genome"}
    assert max(tensor.values.size for tensor in short.graph.initializer) == matrix.size
    assert import_model(short) == net
