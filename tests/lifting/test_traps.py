"""Graphs that no network of neurons computes for every batch and length: refused, or right.

Each is a few nodes around one that mixes samples, reads the size of the batch, or walks time in
another order. What is imported all the same is held against onnxruntime on batches and lengths that
neither the trace nor its proof has seen.
"""

import os
from collections.abc import Callable
from itertools import cycle

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from neat_onnx.errors import ModelError
from neat_onnx.lifting.trace import trace_model
from neat_onnx.model import Model
from neat_onnx.network.network import Network

FEATURES = 4
Rng = np.random.Generator


class Builder:
    """Nodes from `x` on, the last tensor of which is `at`."""

    def __init__(self, rng: Rng, shape: list[int | str]) -> None:
        self.rng, self.shape, self.at = rng, shape, "x"
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def number(self, values: object, kind: object = np.int64) -> str:
        self.tensors.append(
            numpy_helper.from_array(np.array(values, kind), f"c{len(self.tensors)}")
        )
        return self.tensors[-1].name

    def weights(self, *shape: int) -> str:
        return self.number(self.rng.normal(size=shape), np.float32)

    def add(self, op: str, *others: str, first: str | None = None, **attributes: object) -> str:
        read = [self.at if first is None else first, *others]
        self.at = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, read, [self.at], **attributes))
        return self.at

    def layer(self) -> None:
        self.add("MatMul", self.weights(FEATURES, FEATURES))
        self.add(str(self.rng.choice(["Tanh", "Relu", "Sigmoid", "Sin"])))

    def model(self) -> onnx.ModelProto:
        self.nodes.append(helper.make_node("Identity", [self.at], ["y"]))
        kind = onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes, "trap", [helper.make_tensor_value_info("x", kind, self.shape)],
            [helper.make_empty_tensor_value_info("y")], self.tensors,
        )  # fmt: skip
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def reduced(b: Builder, axis: int) -> None:
    """The mean over the axis is taken from each element, as a normalization of the batch."""
    before = b.at
    op = str(b.rng.choice(["ReduceMean", "ReduceMax", "ReduceSum", "ReduceMin"]))
    b.add("Sub", b.add(op, b.number([axis]), keepdims=1), first=before)


def shares(b: Builder, axis: int) -> None:
    b.add("Softmax", axis=axis)


def running(b: Builder, axis: int) -> None:
    b.add("CumSum", b.number(axis), reverse=int(b.rng.integers(2)))


def reversed_(b: Builder, axis: int) -> None:
    last = np.iinfo(np.int64).min
    b.add("Slice", b.number([-1]), b.number([last]), b.number([axis]), b.number([-1]))


def rolled(b: Builder, axis: int) -> None:
    before = b.at
    one, end, start, at = b.number([1]), b.number([1 << 40]), b.number([0]), b.number([axis])
    rest = b.add("Slice", one, end, at, first=before)
    b.add("Concat", b.add("Slice", start, one, at, first=before), first=rest, axis=axis)


def first_of_all(b: Builder, axis: int) -> None:
    before = b.at
    b.add("Add", b.add("Gather", b.number([0]), axis=axis), first=before)


def sized(b: Builder, axis: int) -> None:
    before = b.at
    b.add("Shape", start=axis, end=axis + 1)
    b.add("Mul", b.add("Cast", to=onnx.TensorProto.FLOAT), first=before)


def flat(b: Builder, axis: int) -> None:
    """A softmax over all elements."""
    before = b.at
    row = b.add("Softmax", first=b.add("Reshape", b.number([1, -1])), axis=1)
    shape = b.add("Shape", first=before)
    b.add("Reshape", shape, first=row)


def ranked(b: Builder, axis: int) -> None:
    """The largest along the axis, beside each element."""
    before = b.at
    b.nodes.append(helper.make_node("TopK", [before, b.number([1])], ["top", "at"], axis=axis))
    b.add("Sub", "top", first=before)


def turned(b: Builder, axis: int) -> None:
    """Samples read as features, and back."""
    before = b.at
    b.add("Reshape", b.number([FEATURES, -1]))
    b.add("Transpose", perm=[1, 0])
    b.add("Reshape", b.add("Shape", first=before), first=b.nodes[-1].output[0])


def attention(b: Builder, axis: int) -> None:
    before = b.at
    rank = len(b.shape)
    if axis != rank - 2:
        reduced(b, axis)
        return
    b.add("Transpose", perm=[*range(rank - 2), rank - 1, rank - 2])
    scores = b.add("Softmax", first=b.add("MatMul", b.at, first=before), axis=-1)
    b.add("MatMul", before, first=scores)


def branched(b: Builder, axis: int) -> None:
    """Larger batches are computed in another way."""
    before = b.at
    b.add("Shape", start=axis, end=axis + 1)
    many = b.add("Greater", b.number([2]))
    b.add("Where", before, b.add("Tanh", first=before), first=many)


def positioned(b: Builder, axis: int) -> None:
    """The place of each sample, or step, is added to it."""
    before = b.at
    size = b.add("Gather", b.number(axis), first=b.add("Shape"), axis=0)
    places = b.add("Range", size, b.number(1), first=b.number(0))
    shape = [-1 if k == axis else 1 for k in range(len(b.shape))]
    b.add("Reshape", b.number(shape), first=b.add("Cast", first=places, to=1))
    b.add("Add", before)


def summed(b: Builder, axis: int) -> None:
    before, letters = b.at, "abc"[: len(b.shape)]
    rest = letters.replace(letters[axis], "")
    total = b.add("Einsum", equation=f"{letters}->{rest}")
    b.add("Sub", b.add("Unsqueeze", b.number([axis]), first=total), first=before)


def shifted(b: Builder, axis: int) -> None:
    """Each is in the place of the one after it."""
    pads = np.zeros(2 * len(b.shape), int)
    pads[axis] = 1
    b.add("Pad", b.number(pads))
    b.add("Slice", b.number([0]), b.number([-1]), b.number([axis]))


def windowed(b: Builder, axis: int) -> None:
    """The mean of neighbours."""
    rank = len(b.shape)
    order = [k for k in range(rank) if k != axis] + [axis]
    order = order if rank > 2 else [0, 1][:: -1 if axis == 0 else 1]
    b.add("Transpose", perm=order)
    before = b.at if rank > 2 else b.add("Unsqueeze", b.number([0]))
    b.add("AveragePool", first=before, kernel_shape=[3], pads=[1, 1])
    if rank == 2:
        b.add("Squeeze", b.number([0]))
    b.add("Transpose", perm=np.argsort(order).tolist())


def compared(b: Builder, axis: int) -> None:
    before = b.at
    largest = b.add("ReduceMax", b.number([axis]))
    b.add("Cast", first=b.add("Equal", largest, first=before), to=1)


def unit(b: Builder, axis: int) -> None:
    before = b.at
    b.add("Div", b.add("ReduceL2", b.number([axis])), first=before)


def picked(b: Builder, axis: int) -> None:
    """The element of the largest one's place, from each."""
    before = b.at
    places = b.add("ArgMax", axis=axis)
    b.add("Sub", b.add("GatherElements", places, first=before, axis=axis), first=before)


def looped(b: Builder, axis: int) -> None:
    """As many rounds as samples, or steps."""
    size = b.add("Gather", b.number(axis), first=b.add("Shape", first=b.at), axis=0)
    before = b.nodes[-2].input[0]
    kinds = {"i": onnx.TensorProto.INT64, "c": onnx.TensorProto.BOOL, "d": onnx.TensorProto.BOOL}
    entries = {
        name: helper.make_tensor_value_info(name, kinds.get(name, 1), [] if name in kinds else None)
        for name in "icsdt"
    }
    nodes = [helper.make_node("Tanh", ["s"], ["t"]), helper.make_node("Identity", ["c"], ["d"])]
    sides = ([entries[name] for name in names] for names in ("ics", "dt"))
    body = helper.make_graph(nodes, "body", *sides)
    b.add("Loop", "", before, first=size, body=body)


def _along(op: str) -> Callable[[Builder, int], None]:
    def trap(b: Builder, axis: int) -> None:
        given = {"axes": [axis]} if op == "MeanVarianceNormalization" else {"axis": axis}
        b.add(op, **given)

    return trap


TRAPS = (
    reduced, shares, running, reversed_, rolled, first_of_all, sized, flat, ranked, turned,
    attention, branched, positioned, summed, shifted, windowed, compared, unit, picked, looped,
    *map(_along, ("MeanVarianceNormalization", "LogSoftmax", "Hardmax", "LpNormalization")),
)  # fmt: skip
SHAPES: tuple[tuple[list[int | str], tuple[int, ...]], ...] = (
    (["N", FEATURES], (0,)),
    (["batch", 3, FEATURES], (0,)),
    (["T", "N", FEATURES], (0, 1)),
    (["batch", "time", FEATURES], (0, 1)),
)
COUNT = 600


def _made(seed: int) -> onnx.ModelProto:
    rng = np.random.default_rng(seed)
    shape, axes = SHAPES[seed % len(SHAPES)]
    trap = TRAPS[seed // len(SHAPES) % len(TRAPS)]
    b = Builder(rng, shape)
    for _ in range(rng.integers(3)):
        b.layer()
    trap(b, int(rng.choice(axes)))
    for _ in range(rng.integers(2)):
        b.layer()
    return b.model()


def _is_right(model: onnx.ModelProto, net: Network, shape: list[int | str]) -> bool:
    """Whether the network gives what onnxruntime does, on other sizes than those of the proof."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    rng = np.random.default_rng(0)
    (port,) = net.inputs
    out = net.outputs[0]
    for sizes in ((3, 4), (4, 3), (6, 2)):
        open_sizes = iter(sizes)
        given = [d if isinstance(d, int) else next(open_sizes) for d in shape]
        x = rng.normal(size=given).astype(np.float32)
        (want,) = session.run(None, {"x": x})
        if port.time_axis is None:
            found = net.activate({"x": np.moveaxis(x, port.batch_axis or 0, 0)})["y"]
            got = np.moveaxis(found, 0, out.batch_axis or 0)
        else:
            steps = x if port.time_axis == 0 else np.swapaxes(x, 0, 1)
            found = net.run({"x": steps})["y"].reshape(*steps.shape[:2], *out.shape)
            got = found if out.time_axis == 0 else np.swapaxes(found, 0, 1)
        if got.shape != want.shape or not np.allclose(got, want, rtol=1e-4, atol=1e-4):
            return False
    return True


@pytest.mark.filterwarnings("ignore")
def test_traps_are_refused_or_right():
    refused, wrong = 0, []
    seeds = range(0, COUNT, 1 if os.environ.get("WHOLE") else 7)
    for seed in seeds:
        model = _made(seed)
        try:
            net = trace_model(Model.from_proto(model), check=True).network
        except ModelError:
            refused += 1
            continue
        if not _is_right(model, net, SHAPES[seed % len(SHAPES)][0]):
            wrong.append(seed)
    assert not wrong
    assert refused >= len(seeds) * 3 // 4  # a few change nothing, as a share of one


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("shape", "seed"), list(zip(cycle(s for s, _ in SHAPES), range(12))))
def test_what_keeps_samples_apart_is_imported(shape: list[int | str], seed: int):
    b = Builder(np.random.default_rng(seed), shape)
    for _ in range(1 + seed % 3):
        b.layer()
    b.add("Softmax", axis=-1)
    model = b.model()
    assert _is_right(model, trace_model(Model.from_proto(model), check=True).network, shape)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("trap", [first_of_all, shifted, positioned])
def test_mixed_samples_of_a_fixed_batch_are_features_beside_what_all_share(trap):
    b = Builder(np.random.default_rng(0), [3, FEATURES])
    trap(b, 0)
    model = b.model()
    model.graph.input.append(helper.make_tensor_value_info("shared", onnx.TensorProto.FLOAT, []))
    net = trace_model(Model.from_proto(model), check=True).network
    assert net.inputs[0].batch_axis is None


@pytest.mark.filterwarnings("ignore")
def test_a_row_that_is_masked_wholly_is_zero():
    """Of a guarded softmax: NaN of no elements, and what is chosen in its place."""
    graph = onnx.parser.parse_graph(
        "g (float[N, 9] x, bool[N, 9] mask) => (float[N, 9] y)"
        "<float low = {-inf}, float zero = {0}>"
        "{ m = Where(mask, x, low) s = Softmax(m) n = IsNaN(s) y = Where(n, zero, s) }"
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    net = trace_model(Model.from_proto(model), check=True).network
    mask = np.arange(9) < np.array([[0], [4], [9]])
    y = net.activate({"x": np.ones((3, 9)), "mask": mask.astype(float)})["y"]
    np.testing.assert_allclose(y, mask / np.maximum(mask.sum(axis=1, keepdims=True), 1))
