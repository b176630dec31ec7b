"""Chains whose every link needs the one before it simple: their length is no number of rounds."""

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph, node
from support.harness.canonical import simple

from neat_onnx import ModelError, import_model

LENGTH = 70
Link = Callable[[int, str, str], list[onnx.NodeProto]]
CONSTANTS = {
    "zero": np.int64(0), "one": np.int64(1), "three": np.int64(3), "ones": np.ones(3),
    "first": [0], "second": [1], "last": [2],
}  # fmt: skip


def branches(at: int, condition: str, source: str, target: str) -> onnx.NodeProto:
    """An If of Tanh or Neg."""
    yes, no = (
        helper.make_graph(
            [node(operator, source, name)],
            "branch",
            [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)],
        )
        for operator, name in (("Tanh", f"yes{at}"), ("Neg", f"no{at}"))
    )
    return node("If", condition, target, then_branch=yes, else_branch=no)


def loop(at: int, count: str, source: str, target: str, nodes: list[onnx.NodeProto]):
    """A Loop whose body makes `w` of `v`, each with the number `at`."""
    entries = {
        name: helper.make_tensor_value_info(name, kind, None if kind == TensorProto.FLOAT else [])
        for name, kind in (
            (f"i{at}", TensorProto.INT64),
            (f"go{at}", TensorProto.BOOL),
            (f"v{at}", TensorProto.FLOAT),
            (f"w{at}", TensorProto.FLOAT),
        )
    }
    step, going, before, after = entries.values()
    body = helper.make_graph(nodes, "body", [step, going, before], [going, after])
    return node("Loop", f"{count} _ {source}", target, body=body)


LINKS: dict[str, Link] = {
    "reshape": lambda k, a, b: [node("Shape", a, f"s{k}"), node("Reshape", f"{a} s{k}", b)],
    "function": lambda k, a, b: [
        node("Shape", a, f"s{k}"),
        node("Reshape", f"{a} s{k}", f"r{k}"),
        node("Tanh", f"r{k}", b),
    ],
    "filled": lambda k, a, b: [
        node("Shape", a, f"s{k}"),
        node("ConstantOfShape", f"s{k}", f"f{k}"),
        node("Add", f"{a} f{k}", b),
    ],
    "slice": lambda k, a, b: [
        node("Shape", a, f"s{k}"),
        node("Slice", f"s{k} second last", f"e{k}"),
        node("Slice", f"{a} first e{k} second", f"c{k}"),
        node("Tanh", f"c{k}", b),
    ],
    "expand": lambda k, a, b: [
        node("Shape", a, f"s{k}"),
        node("Expand", f"ones s{k}", f"e{k}"),
        node("Mul", f"{a} e{k}", b),
    ],
    "branch": lambda k, a, b: [
        node("Shape", a, f"s{k}"),
        node("Gather", f"s{k} one", f"g{k}"),
        node("Div", f"g{k} one", f"d{k}"),
        node("Equal", f"d{k} three", f"q{k}"),
        branches(k, f"q{k}", a, b),
    ],
    "loop": lambda k, a, b: [
        node("Shape", a, f"s{k}"),
        node("Gather", f"s{k} zero", f"g{k}"),
        loop(k, f"g{k}", a, b, [node("Tanh", f"v{k}", f"w{k}")]),
    ],
}


def chain(link: Link, length: int = LENGTH) -> onnx.ModelProto:
    names = ["x", *(f"between{k}" for k in range(length - 1)), "y"]
    nodes = [each for k in range(length) for each in link(k, names[k], names[k + 1])]
    return graph(nodes, x=(2, 3), **CONSTANTS)


@pytest.mark.parametrize("kind", LINKS)
def test_a_chain_is_simple_whatever_its_length(kind: str):
    """A pass that needed a round for each link would give up."""
    left = set(simple(chain(LINKS[kind])))
    assert left.isdisjoint({"Shape", "ConstantOfShape", "Expand", "If", "Loop"}), left


def test_normalizations_after_one_another_fold_into_one_layer():
    statistics = {"s": np.full(3, 0.9), "b": np.ones(3), "m": np.ones(3), "v": np.ones(3)}
    names = ["h", *(f"between{k}" for k in range(LENGTH)), "y"]
    nodes = [node("Gemm", "x w b", "h")]
    nodes += [node("BatchNormalization", f"{a} s b m v", b) for a, b in pairwise(names)]
    assert simple(graph(nodes, w=np.eye(3), **statistics)) == ["Gemm"]


def test_transposes_within_transposes_go():
    swaps = [[0, 2, 1, 3] if k % 2 else [0, 1, 3, 2] for k in range(LENGTH)]
    nodes, name = list[onnx.NodeProto](), "x"
    for k, perm in enumerate(swaps + swaps[::-1]):
        nodes += [node("Transpose", name, f"t{k}", perm=perm), node("Tanh", f"t{k}", f"f{k}")]
        name = f"f{k}"
    model = graph([*nodes, node("Identity", name, "y")], x=("N", 2, 3, 4))
    x = np.random.default_rng(0).normal(size=(2, 2, 3, 4)).astype(np.float32)
    assert set(simple(model, x)) == {"Tanh"}


@pytest.mark.parametrize("depth", [15, 30])
def test_loops_within_loops_are_counted_before_they_are_unrolled(depth: int):
    """Nothing is made of 2^depth nodes, so refusing them takes no longer for more."""

    def inside(at: int, source: str, target: str) -> list[onnx.NodeProto]:
        if at == depth:
            return [node("Tanh", source, target)]
        return [loop(at, "two", source, target, inside(at + 1, f"v{at}", f"w{at}"))]

    model = graph(inside(0, "x", "y"), two=np.int64(2))
    start = time.process_time()
    with pytest.raises(ModelError, match="nodes, and the limit is"):
        import_model(model)
    assert time.process_time() - start < 2
