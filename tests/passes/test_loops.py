"""Loops that end by a condition, as TensorFlow writes them: unrolled where it is known."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, canonicalize, import_model, load_model

KINDS = {"step": TensorProto.INT64, "go": TensorProto.BOOL, "on": TensorProto.BOOL}
KINDS |= {"at": TensorProto.INT64, "next_at": TensorProto.INT64}


def entry(name: str) -> onnx.ValueInfoProto:
    shape = [] if name in KINDS else None
    return helper.make_tensor_value_info(name, KINDS.get(name, TensorProto.FLOAT), shape)


def while_loop(*condition: onnx.NodeProto, most: int | None = None) -> onnx.ModelProto:
    """A recurrent layer over [N, 4, 3]: at = 0; while on: h = tanh(h + x[at]), collected."""
    body = helper.make_graph(
        [
            node("Gather", "steps at", "row", axis=0),
            node("Add", "row h", "sum"),
            node("Tanh", "sum", "next_h"),
            node("Identity", "next_h", "kept"),
            node("Add", "at one", "next_at"),
            *condition,
        ],
        "body",
        [entry(name) for name in ("step", "go", "at", "h")],
        [entry(name) for name in ("on", "next_at", "next_h", "kept")],
    )
    limit = "" if most is None else "most"
    reads, gives = [limit, "start", "zero", "h0"], ["count", "last", "all"]
    loop = helper.make_node("Loop", reads, gives, "while", body=body)
    return graph(
        [
            node("Transpose", "x", "steps", perm=[1, 0, 2]),
            node("Cast", "one", "start", to=TensorProto.BOOL),
            loop,
            node("Transpose", "all", "rows", perm=[1, 0, 2]),
            node("Identity", "last", "y"),
            node("Identity", "rows", "z"),
        ],
        x=("N", 4, 3),
        outputs=("y", "z"),
        one=np.int64(1),
        zero=np.int64(0),
        four=np.int64(4),
        h0=np.full((1, 3), 0.25),
        **({} if most is None else {"most": np.int64(most)}),
    )


BELOW_FOUR = node("Less", "next_at four", "on")


@pytest.mark.parametrize(("most", "rows"), [(None, 4), (3, 3), (9, 4)])
def test_a_condition_that_counts(most: int | None, rows: int):
    model = while_loop(BELOW_FOUR, most=most)
    simple = canonicalize(model)
    operators = [each.op_type for each in simple.graph.node]
    assert operators.count("Tanh") == rows
    assert "Loop" not in operators
    x = np.random.default_rng(0).normal(size=(5, 4, 3)).astype(np.float32)
    for got, want in zip(
        *(open_session(each).run(None, {"x": x}) for each in (simple.to_proto(), model)),
        strict=True,
    ):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert_lifts(model)


def test_the_types_of_a_body_may_be_left_out():
    model = while_loop(BELOW_FOUR)
    body = next(each.attribute[0].g for each in model.graph.node if each.op_type == "Loop")
    stated = [each.type.tensor_type.elem_type for each in (*body.input, *body.output)]
    for each in (*body.input[2:], *body.output):
        each.ClearField("type")
    (loop,) = (each for each in load_model(model).graph.node if each.op_type == "Loop")
    ((_, _, found),) = loop.attributes.given()
    assert [each.elem_type for each in (*found.inputs, *found.outputs)] == stated
    assert_lifts(model)


def test_a_condition_on_the_number_of_the_step():
    model = while_loop(node("Less", "step one", "on"))
    assert [each.op_type for each in canonicalize(model).graph.node].count("Tanh") == 2


def test_a_counter_in_the_type_of_another():
    """PyTorch's function of EmbeddingBag counts so."""
    model = while_loop(node("CastLike", "four step", "most"), node("Less", "next_at most", "on"))
    assert_lifts(model)
    assert "Loop" not in [each.op_type for each in canonicalize(load_model(model)).graph.node]


def test_a_condition_with_constants_in_the_body():
    """As PyTorch's TorchScript exporter writes a `while`."""
    limit = helper.make_node("Constant", [], ["limit"], value_int=3)
    model = while_loop(limit, node("Less", "next_at limit", "on"))
    assert [each.op_type for each in canonicalize(model).graph.node].count("Tanh") == 3
    assert_lifts(model)


def test_a_condition_on_the_inputs_is_refused():
    total = node("ReduceSum", "next_h", "total", keepdims=0)
    model = while_loop(total, node("Less", "total h0", "ons"), node("ReduceMax", "ons", "on"))
    with pytest.raises(ModelError, match="Loop") as caught:
        import_model(model)
    assert "fixed length" in str(caught.value.hint)


def test_a_condition_that_always_holds_is_refused():
    with pytest.raises(ModelError, match="nodes, and the limit is"):
        import_model(while_loop(node("Less", "zero four", "on")))


@pytest.mark.parametrize("reads", ["none _ x", "_ never x", "three never x", "less _ x"])
def test_a_loop_that_does_not_run_hands_on(reads: str):
    inner = [node("Identity", "go", "on"), node("Tanh", "h", "next_h"), node("Neg", "h", "kept")]
    body = helper.make_graph(
        inner,
        "body",
        [entry(name) for name in ("step", "go", "h")],
        [entry(name) for name in ("on", "next_h", "kept")],
    )
    made = [node("Cast", "none", "never", to=TensorProto.BOOL), node("Abs", "last", "y")]
    made.insert(1, node("Loop", reads, "last all", body=body))
    given = {"none": np.int64(0), "three": np.int64(3), "less": np.int64(-1)}
    model = graph(made, **given)
    assert [each.op_type for each in canonicalize(model).graph.node] == ["Abs"]
    assert_lifts(model)
    collected = graph([*made, node("ReduceSum", "all", "z")], outputs=("y", "z"), **given)
    assert "Loop" in [each.op_type for each in canonicalize(collected).graph.node]
