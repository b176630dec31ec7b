"""Exports of imported networks are no larger than the graph that they came from has to be."""

import json
from typing import Any

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import export, import_model, verify

_RNG = np.random.default_rng(0)


def _normal(*shape: int) -> Any:
    return _RNG.normal(size=shape).astype(np.float32)


def _of_rows() -> dict[str, onnx.ModelProto]:
    """Rows of products with what may not join their neurons."""
    linear = node("MatMul", "x W", "a")
    end, parameters = node("Relu", "s", "y"), {"x": ("N", 10, 16), "W": _normal(16, 16)}
    gated = [
        node("Split", "x", "u v w", axis=2, num_outputs=3),
        node("MatMul", "u W", "a"),
        node("Mul", "v w", "b"),
    ]
    return {
        "another product": graph(
            [linear, node("Sigmoid", "x", "t"), node("MatMul", "t V", "b"),
             node("Add", "a b", "s"), end], V=_normal(16, 16), **parameters),
        "a gated value": graph(
            [*gated, node("Add", "a b", "s"), end], **parameters | {"x": ("N", 10, 48)}),
        "positions": graph(
            [linear, node("Add", "a P", "s"), end], P=_normal(10, 16), **parameters),
        "factors of rows": graph(
            [linear, node("Mul", "a P", "s"), end], P=_normal(10, 1), **parameters),
        "a gated input": graph(
            [node("Split", "x", "u v", axis=2, num_outputs=2), node("Mul", "u v", "b"),
             node("MatMul", "b W", "s"), end], **parameters | {"W": _normal(8, 16)}),
    }  # fmt: skip


@pytest.mark.parametrize("model", _of_rows().values(), ids=_of_rows().keys())
def test_rows_of_a_product_stay_one_matrix_whatever_joins_them(model: onnx.ModelProto) -> None:
    net = assert_lifts(model)
    written = export(net)
    assert len(written.to_bytes()) <= 2 * model.ByteSize() + 2000
    assert verify(net, written, runtime="onnxruntime").passed


def test_branches_with_inputs_of_their_own_have_a_matrix_each_and_copies_share_it() -> None:
    nodes = [node("Split", "x", "x0 x1 x2", axis=1, num_outputs=3)]
    for k in range(3):
        nodes += [
            node("Gemm", f"x{k} W B", f"a{k}"),
            node("Relu", f"a{k}", f"b{k}"),
            node("Gemm", f"b{k} V B", f"c{k}"),
            node("Tanh", f"c{k}", f"d{k}"),
        ]
    nodes.append(node("Concat", "d0 d1 d2", "y", axis=1))
    model = graph(nodes, x=("N", 24), W=_normal(8, 32), B=_normal(32), V=_normal(32, 32))
    net = assert_lifts(model)
    written = export(net)
    proto = written.to_proto()
    matrices = [each for each in proto.graph.initializer if list(each.dims) == [32, 32]]
    assert len(matrices) == 1
    assert len(written.to_bytes()) <= 2 * model.ByteSize() + 2000
    assert verify(net, written, runtime="onnxruntime").passed


def test_two_tables_read_at_the_same_places_compare_them_once() -> None:
    model = graph(
        [node("Abs", "x", "a"), node("Floor", "a", "f"), node("Min", "f most", "m"),
         node("Cast", "m", "k", to=onnx.TensorProto.INT64),
         node("Gather", "T k", "t"), node("Gather", "U k", "u"), node("Mul", "t u", "y")],
        x=("N", 10), most=30.0, T=_normal(200), U=_normal(200),
    )  # fmt: skip
    net = assert_lifts(model, scale=9.0)
    assert len(net.neurons.bias) < 2 * 10 * 200
    written = export(net)
    assert len(written.to_bytes()) <= 2 * model.ByteSize() + 2000
    assert verify(net, written, runtime="onnxruntime").passed


def test_a_constant_matrix_times_a_computed_one_is_a_product_where_no_axis_is_the_batch() -> None:
    model = graph(
        [node("Reshape", "x shape", "r"), node("Relu", "r", "a"),
         node("MatMul", "W a", "m"), node("Add", "m P", "s"), node("Relu", "s", "y")],
        x=(40, 3), shape=np.array([12, 10]), W=_normal(12, 12), P=_normal(12, 10),
    )  # fmt: skip
    net = import_model(model, batch_axis=None)
    written = export(net)
    assert len(written.to_bytes()) <= 2 * model.ByteSize() + 2000


def test_a_convolution_that_is_quantized_behind_a_relu_keeps_its_genome_short():
    """The picture is arranged for the next convolution after its neurons are scaled."""
    random = np.random.default_rng(0)
    kernels = {
        "w": random.integers(-9, 9, (12, 3, 3, 3)) / 8,
        "v": random.integers(-9, 9, (12, 1, 3, 3)) / 8,
    }
    constants = {"s": np.float32(0.0123), "z": np.array(0, np.uint8)}
    nodes = [
        node("Conv", "x w", "a", pads=[1, 1, 1, 1]),
        node("Relu", "a", "b"),
        node("QuantizeLinear", "b s z", "q"),
        node("DequantizeLinear", "q s z", "d"),
        node("Conv", "d v", "y", pads=[1, 1, 1, 1], group=12),
    ]
    model = graph(nodes, x=("N", 3, 12, 12), **kernels, s=constants["s"])
    model.graph.initializer.append(onnx.numpy_helper.from_array(constants["z"], "z"))
    net = import_model(model)
    small = export(net)
    assert verify(net, small, samples=16, runtime="onnxruntime").passed
    assert import_model(small.to_bytes()) == net
    assert "neat_onnx.genome" not in small.metadata


def test_a_value_times_a_number_plus_a_bias_is_one_neuron_where_the_value_is_an_output() -> None:
    """The spread of a policy is exp(0 · mean + c): the graph is read to the same connections."""
    model = graph(
        [node("Gemm", "x w b", "mean", transB=1), node("Mul", "mean zero", "m"),
         node("Add", "m c", "s"), node("Exp", "s", "spread"), node("Mul", "mean half", "h"),
         node("Add", "h c", "y")],
        x=("N", 64), outputs=["mean", "spread", "y"],
        w=_normal(64, 64) / 8, b=_normal(64), zero=0.0, half=0.5, c=_normal(1, 64),
    )  # fmt: skip
    net = assert_lifts(model)
    assert len(net) == 64 * 4
    written = export(net)
    assert len(written.to_bytes()) <= model.ByteSize() + 6000
    assert import_model(written.to_bytes()) == net


def turned(x: str, at: str) -> list[onnx.NodeProto]:
    """The halves of vectors, turned by an angle for each position, as LLaMA turns them."""
    return [
        node("Split", x, f"{at}1 {at}2", axis=-1, num_outputs=2),
        node("Neg", f"{at}2", f"{at}minus"),
        node("Concat", f"{at}minus {at}1", f"{at}across", axis=-1),
        node("Mul", f"{x} cos", f"{at}along"),
        node("Mul", f"{at}across sin", f"{at}beside"),
        node("Add", f"{at}along {at}beside", f"{at}turned"),
    ]


def test_positions_that_turn_queries_and_keys_are_no_matrix_of_zeros() -> None:
    """Where the mask adds -inf, the values of later positions are multiplied by one neuron's 0."""
    angles = np.arange(10.0)[:, None] * np.array([1.0, 0.5, 0.2, 0.1] * 2)
    nodes = [
        node("MatMul", "x W", "qkv"),
        node("Split", "qkv", "q k v", axis=-1, num_outputs=3),
        *turned("q", "q"),
        *turned("k", "k"),
        node("Transpose", "kturned", "keys", perm=[0, 2, 1]),
        node("MatMul", "qturned keys", "scores"),
        node("Add", "scores mask", "masked"),
        node("Softmax", "masked", "shares", axis=-1),
        node("MatMul", "shares v", "y"),
    ]
    mask = np.triu(np.full((10, 10), -np.inf), 1)
    model = graph(
        nodes,
        x=("N", 10, 16),
        W=0.2 * _normal(16, 24),
        mask=mask,
        cos=np.cos(angles),
        sin=np.sin(angles),
    )
    net = assert_lifts(model)
    written = export(net)
    assert len(written.to_bytes()) <= 6 * model.ByteSize()
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written) == net


def test_rows_of_a_product_have_activations_of_their_own() -> None:
    """As linear attention has them: queries and keys become positive, values stay."""
    nodes = [
        node("MatMul", "x W", "qv"),
        node("Split", "qv parts", "q v", axis=-1),
        node("Elu", "q", "positive"),
        node("Transpose", "positive", "turned", perm=[0, 2, 1]),
        node("MatMul", "turned v", "y"),
    ]
    model = graph(nodes, x=("N", 12, 16), W=_normal(16, 32), parts=[20, 12])
    net = assert_lifts(model, scale=0.3)
    written = export(net)
    assert len(written.to_bytes()) <= 2 * model.ByteSize() + 2000
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written) == net


def test_many_sums_of_what_may_not_be_finite_are_gathered() -> None:
    """As in a liquid time-constant cell, whose state has been divided."""
    nodes = [
        node("Reciprocal", "x", "state"),
        node("Unsqueeze", "state last", "spread"),
        node("Sub", "spread centres", "away"),
        node("Mul", "away slopes", "steep"),
        node("Sigmoid", "steep", "open"),
        node("Mul", "open weights", "parts"),
        node("ReduceSum", "parts one", "y", keepdims=0),
    ]
    square = {name: _normal(16, 16) for name in ("centres", "slopes", "weights")}
    model = graph(nodes, x=("N", 16), last=[-1], one=[1], **square)
    net = assert_lifts(model)
    written = export(net)
    assert len(written.graph.node) < 20
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written) == net


def test_both_sides_of_a_choice_of_a_formula_come_back_without_a_list_of_connections() -> None:
    nodes = [
        node("MatMul", "x W", "a"),
        node("GreaterOrEqual", "a bound", "c"),
        node("MatMul", "x V", "b"),
        node("Where", "c a b", "s"),
        node("Tanh", "s", "y"),
    ]
    model = graph(nodes, x=("N", 4), W=_normal(4, 30), V=_normal(4, 30), bound=_normal(30))
    net = assert_lifts(model)
    written = export(net)
    genome = json.loads(written.metadata.get("neat_onnx.genome", "{}"))
    assert not {"connections", "added"} & genome.keys()
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net


def _lattices(count: int, inputs: int) -> onnx.ModelProto:
    """An ensemble of lattices: sums over the corners of a cube, which products interpolate."""
    size, constants = inputs + 2, {"one": np.float32(1.0), "ends": np.float32([0.0, 1.0])}
    nodes = [node("Split", "x", " ".join(f"x{k}" for k in range(size)), axis=1, num_outputs=size)]
    for at in range(count):
        corners = ""
        for k, column in enumerate(sorted(_RNG.permutation(size)[:inputs].tolist()), 1):
            d, a, m, h, row, p, q = (f"{name}{at}_{k}" for name in "damhrpq")
            nodes += [node("Sub", f"x{column} ends", d), node("Abs", d, a),
                      node("Min", f"{a} one", m), node("Sub", f"one {m}", h),
                      node("Unsqueeze", f"{h} {'row' if corners else 'column'}", row)]  # fmt: skip
            if corners:
                nodes += [node("Mul", f"{corners} {row}", p), node("Reshape", f"{p} shape{k}", q)]
            constants[f"shape{k}"], corners = np.array([-1, 2**k, 1]), q if corners else row
        nodes += [node("Reshape", f"{corners} flat", f"f{at}"),
                  node("MatMul", f"f{at} W{at}", f"y{at}")]  # fmt: skip
        constants[f"W{at}"] = _normal(2**inputs, 1)
    nodes.append(node("Concat", " ".join(f"y{at}" for at in range(count)), "y", axis=1))
    axes = {"row": np.array([1]), "column": np.array([2]), "flat": np.array([-1, 2**inputs])}
    return graph(nodes, x=("N", size), **axes, **constants)


def test_sums_of_many_products_each_are_a_matrix_each() -> None:
    model = _lattices(9, 9)
    net = import_model(model)
    written = export(net)
    assert len(written.to_bytes()) <= model.ByteSize()
    assert import_model(written) == net
    assert verify(net, written, samples=16, runtime="onnxruntime").passed
    assert verify(net, model, samples=16, runtime="onnxruntime").passed


def test_products_that_are_gathered_in_another_order_have_no_list_of_their_own() -> None:
    first, second = np.divmod(_RNG.permutation(500 * 500)[:5000], 500)
    nodes = [
        node("Gather", "x first", "a", axis=1),
        node("Gather", "x second", "b", axis=1),
        node("Mul", "a b", "p"),
        node("Tanh", "p", "y"),
    ]
    model = graph(nodes, x=("N", 500), first=first, second=second)
    written = export(import_model(model))
    assert [each.op_type for each in written.graph.node].count("Gather") == 2
