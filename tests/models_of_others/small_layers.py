"""Layers of other tools in few nodes, whose one weight stands for many connections."""

import numpy as np
import onnx
from small_models import Weights
from support.examples.graphs import graph, node


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


MODELS = {
    "two towers": two_towers(),
    "mean": mean_of_exponentials(),
    "divided": divided(),
    "basis": basis(),
    "coordinates": coordinates(),
    "related": related(),
    "means so far": means_so_far(),
}
