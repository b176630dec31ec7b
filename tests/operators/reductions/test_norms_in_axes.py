"""Normalizations without an operator that fits, and distances, are computed in the axes of x."""

import numpy as np
import pytest
from support.examples.graphs import (
    assert_lifts,
    assert_valid_in_any_form,
    graph,
    graph_of_inputs,
    node,
    operators,
)
from support.harness.sweep import each

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(0)
FEW = {"Reshape", "Sum"}  # parameters get axes; copies
MEANS = ["ReduceMean", "Sub", "Mul", "ReduceMean"]
MVN = [*MEANS, "Sqrt", "Add", "Reciprocal", "Mul"]
ROOT = ["Add", "Sqrt", "Reciprocal"]
PICTURE = (3, 4, 5)


def with_parameters(operator, *sizes, x=PICTURE, opset=18, **attributes):
    """A normalization whose factors, and shifts if any, are inputs of the graph."""
    shapes = {"x": (7, *x), "s": sizes[:1], "b": sizes[1:]}
    shapes = {name: shape for name, shape in shapes.items() if shape}
    norm = node(operator, " ".join(shapes), "y", **attributes)
    return graph_of_inputs([norm], shapes, outputs={"y": (7, *x)}, opset=opset)


NORMS = {
    "instances": (
        with_parameters("InstanceNormalization", 3, 3),
        [*MEANS, *ROOT, "Mul", "Mul", "Add"],
    ),
    "few elements": (
        with_parameters("InstanceNormalization", 2, 2, x=(2, 1, 3)),
        [*MEANS, *ROOT, "Mul", "Mul", "Add"],
    ),
    "layers": (with_parameters("LayerNormalization", 5, 5), [*MEANS, *ROOT, "Mul", "Mul", "Add"]),
    "layers, not shifted": (
        with_parameters("LayerNormalization", 5),
        [*MEANS, *ROOT, "Mul", "Mul"],
    ),
    "groups": (
        with_parameters("GroupNormalization", 4, 4, x=(4, 3, 5), opset=21, num_groups=2),
        [*MEANS, *ROOT, "Mul", "Mul", "Add"],
    ),
    "roots": (
        with_parameters("RMSNormalization", 5, opset=23),
        ["Mul", "ReduceMean", *ROOT, "Mul", "Mul"],
    ),
}


@pytest.mark.parametrize("case", each(2, list(NORMS)))
def test_parameters_may_be_inputs(case):
    model, _ = NORMS[case]
    net = import_model(model)
    short = export(net)
    assert import_model(short.to_bytes()) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize("axes", [[2, 3], [1, 2, 3], [1, 3], [1]])
def test_means_and_variances_are_taken_along_the_axes(axes):
    model = graph([node("MeanVarianceNormalization", "x", "y", axes=axes)], x=("N", *PICTURE))
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short.to_bytes()) == net
    assert verify(
        net, short, runtime="onnxruntime"
    ).passed  # not so the operator, of equal elements


def test_means_and_variances_of_all_samples_have_axes_of_their_own():
    model = graph([node("MeanVarianceNormalization", "x", "y")], x=(4, *PICTURE))
    net = import_model(model, batch_axis=None)
    short = export(net)
    assert import_model(short.to_bytes()) == net


def distances(steps, *more, **constants):
    """Squared distances of each step's vector from each of four centers."""
    nodes = [
        node("Unsqueeze", "x two", "u"),
        node("Sub", "u c", "d"),
        node("Mul", "d d", "q"),
        node("ReduceSum", "q last", "s", keepdims=0),
        *more,
    ]
    numbers = {"two": np.array([2]), "last": np.array([3]), "c": RANDOM.normal(size=(4, 6))}
    return graph(nodes, x=("N", steps, 6), **numbers, **constants)


CENTERS = {
    "clusters": (
        [
            node("Neg", "s", "n"),
            node("Softmax", "n", "p", axis=-1),
            node("ReduceMean", "p one", "y", keepdims=0),
        ],
        {"one": np.array([1])},
    ),
    "radial functions": (
        [node("Mul", "s g", "n"), node("Exp", "n", "r"), node("MatMul", "r w", "y")],
        {"g": np.array([-0.5]), "w": RANDOM.normal(size=(4, 2))},
    ),
}


@pytest.mark.parametrize("case", CENTERS)
@pytest.mark.parametrize("steps", [5, 24])
def test_centers_are_there_once(case, steps):
    nodes, constants = CENTERS[case]
    model = distances(steps, *nodes, **constants)
    net = assert_lifts(model)
    short = export(net)
    assert "Tile" not in operators(short)
    assert import_model(short.to_bytes()) == net
    assert verify(net, short, runtime="onnxruntime").passed
