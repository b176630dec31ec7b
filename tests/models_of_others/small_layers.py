"""Layers of other tools in few nodes, whose one weight stands for many connections."""

import numpy as np
import onnx
from small_models import Weights
from support.examples.graphs import graph, node


def few_rows() -> onnx.ModelProto:
    """One small matrix over three rows."""
    w = Weights()
    nodes = [
        node("MatMul", f"x {w(4, 4)}", "m"),
        node("Add", f"m {w(4)}", "a"),
        node("Tanh", "a", "y"),
    ]
    return graph(nodes, x=("N", 3, 4), **w.given)


def two_towers() -> onnx.ModelProto:
    """One layer over both halves of an input."""
    w = Weights()
    layer, halves = f"{w(8, 5)} {w(8)}", w.put([5, 5])
    nodes = [
        node("Split", f"x {halves}", "u v", axis=1),
        node("Gemm", f"u {layer}", "a", transB=1),
        node("Gemm", f"v {layer}", "b", transB=1),
        node("Sub", "a b", "d"),
        node("Abs", "d", "y"),
    ]
    return graph(nodes, x=("N", 10), opset=13, **w.given)


def mean_of_exponentials() -> onnx.ModelProto:
    """The mean over rows of values that may overflow."""
    nodes = [
        node("Exp", "x", "e"),
        node("ReduceMean", "e", "m", axes=[1], keepdims=0),
        node("Log", "m", "y"),
    ]
    return graph(nodes, x=("N", 5, 4), opset=13)


def largest_channel() -> onnx.ModelProto:
    """The largest channel of each pixel."""
    nodes = [node("Tanh", "x", "t"), node("ReduceMax", "t", "y", axes=[1])]
    return graph(nodes, x=("N", 4, 6, 6), opset=13)


def attention() -> onnx.ModelProto:
    """Queries, keys and values out of one product, and the output of both heads."""
    w = Weights()
    nodes = [
        node("MatMul", f"x {w(8, 24)}", "all"),
        node("Reshape", f"all {w.put([0, 5, 3, 2, 4])}", "apart"),
        node("Transpose", "apart", "heads", perm=[2, 0, 3, 1, 4]),
        node("Split", f"heads {w.put([1, 1, 1])}", "q1 k1 v1", axis=0),
        *(node("Squeeze", f"{each}1 {w.put([0])}", each) for each in "qkv"),
        node("Transpose", "k", "kt", perm=[0, 1, 3, 2]),
        node("MatMul", "q kt", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares v", "mixed"),
        node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
        node("Reshape", f"back {w.put([0, 5, 8])}", "rows"),
        node("MatMul", f"rows {w(8, 8)}", "y"),
    ]
    return graph(nodes, x=("N", 5, 8), opset=13, **w.given)


def excited() -> onnx.ModelProto:
    """Channels of a picture times a gate each."""
    nodes = [
        node("GlobalAveragePool", "x", "p"),
        node("Sigmoid", "p", "g"),
        node("Mul", "x g", "y"),
    ]
    return graph(nodes, x=("N", 6, 8, 8))


def enlarged(channels: int, axes: int) -> onnx.ModelProto:
    """Each pixel of a picture four times, or each element of a volume eight times."""
    w = Weights()
    scales = w.put(np.array([1.0, 1.0, *[2.0] * axes]))
    nodes = [node("Tanh", "x", "t"), node("Resize", f"t _ {scales}", "y", mode="nearest")]
    return graph(nodes, x=("N", channels, *[4] * axes), **w.given)


def normalized() -> onnx.ModelProto:
    """Elements over their length, which is spread before the division."""
    w = Weights()
    nodes = [
        node("ReduceL2", "x", "norm", axes=[1]),
        node("Clip", f"norm {w.put(1e-3)}", "least"),
        node("Expand", f"least {w.put([1, 8])}", "spread"),
        node("Div", "x spread", "y"),
    ]
    return graph(nodes, x=("N", 8), opset=13, **w.given)


def leaky() -> onnx.ModelProto:
    """A step of a leaky recurrent layer."""
    w = Weights()
    nodes = [
        node("MatMul", f"x {w(8, 8)}", "i"),
        node("Tanh", "i", "t"),
        node("MatMul", f"t {w(8, 8)}", "r"),
        node("Tanh", "r", "u"),
        node("Mul", f"t {w.put(0.7)}", "kept"),
        node("Mul", f"u {w.put(0.3)}", "new"),
        node("Add", "kept new", "h"),
        node("MatMul", f"h {w(8, 8)}", "n"),
        node("Tanh", "n", "m"),
        node("Mul", f"h {w.put(0.7)}", "kept2"),
        node("Mul", f"m {w.put(0.3)}", "new2"),
        node("Add", "kept2 new2", "y"),
    ]
    return graph(nodes, x=("N", 8), **w.given)


def divided() -> onnx.ModelProto:
    """A quotient that a layer reads with others, and a sum of its elements after that."""
    w = Weights()
    nodes = [
        node("Gemm", f"x {w(4, 6)} {w(6)}", "a"),
        node("Gemm", f"x {w(4, 6)} {w(6)}", "b"),
        node("Exp", "b", "e"),
        node("Div", "a e", "q"),
        node("Gemm", f"q {w(6, 6)} {w(6)}", "r"),
        node("Gemm", f"x {w(4, 6)} {w(6)}", "i"),
        node("Add", "i r", "c"),
        node("Tanh", "c", "t"),
        node("Add", "q t", "y"),
    ]
    return graph(nodes, x=("N", 4), **w.given)


def basis() -> onnx.ModelProto:
    """Steps on both sides of a grid, which the basis of a spline begins with, and its base."""
    w = Weights()
    grid = w.put(np.linspace(-1.0, 1.0, 12))
    nodes = [
        node("Unsqueeze", f"x {w.put([2])}", "points"),
        node("Sub", f"points {grid}", "apart"),
        node("GreaterOrEqual", f"points {grid}", "above"),
        node("Cast", "above", "one", to=1),
        node("Mul", "apart one", "half"),
        node("Flatten", "half", "flat"),
        node("Sigmoid", "x", "s"),
        node("Mul", "x s", "base"),
        node("Concat", "base flat", "all", axis=1),
        node("Gemm", f"all {w(39, 2)} {w(2)}", "y"),
    ]
    return graph(nodes, x=("N", 3), opset=16, **w.given)


def deviations() -> onnx.ModelProto:
    """Deviations of channels, with one less in the divisor, as torch.std is exported."""
    w = Weights()
    nodes = [
        node("Tanh", "x", "t"),
        node("ReduceMean", "t", "m", axes=[2, 3]),
        node("Sub", "t m", "d"),
        node("Mul", "d d", "q"),
        node("ReduceMean", "q", "v", axes=[2, 3]),
        node("Mul", f"v {w.put(np.array(36.0))}", "sum"),
        node("Div", f"sum {w.put(np.array(35.0))}", "u"),
        node("Sqrt", "u", "y"),
    ]
    return graph(nodes, x=("N", 4, 6, 6), opset=13, **w.given)


def coordinates() -> onnx.ModelProto:
    """A convolution over a picture and constant channels."""
    w = Weights()
    nodes = [
        node("Shape", "x", "sizes", start=0, end=1),
        node("Concat", f"sizes {w.put([2, 6, 6])}", "wanted", axis=0),
        node("Expand", f"{w(1, 2, 6, 6)} wanted", "more"),
        node("Concat", "x more", "wide", axis=1),
        node("Conv", f"wide {w(2, 3, 3, 3)} {w(2)}", "y"),
    ]
    return graph(nodes, x=("N", 1, 6, 6), opset=16, **w.given)


def scores() -> onnx.ModelProto:
    """Rows times columns of other rows."""
    w = Weights()
    nodes = [
        node("MatMul", f"x {w(4, 4)}", "q"),
        node("MatMul", f"x {w(4, 4)}", "k"),
        node("Transpose", "k", "kt", perm=[0, 2, 1]),
        node("MatMul", "q kt", "y"),
    ]
    return graph(nodes, x=("N", 5, 4), **w.given)


def related() -> onnx.ModelProto:
    """A layer over all pairs of five objects, an object with itself as well, and their sum."""
    w = Weights()
    nodes = [
        node("Unsqueeze", f"x {w.put([1])}", "a1"),
        node("Expand", f"a1 {w.put([1, 5, 5, 6])}", "a"),
        node("Unsqueeze", f"x {w.put([2])}", "b1"),
        node("Expand", f"b1 {w.put([1, 5, 5, 6])}", "b"),
        node("Concat", "a b", "pairs", axis=-1),
        node("MatMul", f"pairs {w(12, 4)}", "m"),
        node("Add", f"m {w(4)}", "h"),
        node("Relu", "h", "r"),
        node("ReduceSum", f"r {w.put([1, 2])}", "y", keepdims=0),
    ]
    return graph(nodes, x=("N", 5, 6), opset=13, **w.given)


def means_so_far() -> onnx.ModelProto:
    """Of each of a few values, the means of the first ones of a sequence."""
    w = Weights()
    nodes = [
        node("CumSum", f"x {w.put(np.array(1))}", "sums"),
        node("Div", f"sums {w.put(np.arange(1.0, 7.0).reshape(1, 6, 1))}", "y"),
    ]
    return graph(nodes, x=("N", 6, 8), **w.given)


def scaled_shares() -> onnx.ModelProto:
    """A softmax times a number, which a layer reads."""
    w = Weights()
    nodes = [
        node("Softmax", "x", "s", axis=-1),
        node("Mul", f"s {w.put(np.array(2.5))}", "m"),
        node("Gemm", f"m {w(9, 3)}", "y"),
    ]
    return graph(nodes, x=("N", 9), **w.given)


def weighed_shares() -> onnx.ModelProto:
    """A softmax along channels times a number for each."""
    w = Weights()
    nodes = [node("Softmax", "x", "s", axis=1), node("Mul", f"s {w(3, 1)}", "y")]
    return graph(nodes, x=("N", 3, 5), opset=13, **w.given)


MODELS = {
    "few rows": few_rows(),
    "two towers": two_towers(),
    "mean": mean_of_exponentials(),
    "largest": largest_channel(),
    "attention": attention(),
    "excited": excited(),
    "enlarged": enlarged(8, 2),
    "enlarged volume": enlarged(2, 3),
    "normalized": normalized(),
    "leaky": leaky(),
    "divided": divided(),
    "basis": basis(),
    "deviations": deviations(),
    "coordinates": coordinates(),
    "scores": scores(),
    "related": related(),
    "means so far": means_so_far(),
    "scaled shares": scaled_shares(),
    "weighed shares": weighed_shares(),
}
