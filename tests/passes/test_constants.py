"""Constants, and the sizes that are known, are computed; others are left alone."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import graph, node
from support.harness.canonical import simple

from neat_onnx import ModelError, canonicalize, import_model


def test_constant_nodes_are_initializers():
    given = [("value_float", 2.0), ("value_floats", [1.0, 2.0, 3.0])]
    for key, value in [*given, ("value", numpy_helper.from_array(np.float32([[4.0]])))]:
        assert simple(
            graph([node("Constant", "", "c", **{key: value}), node("Mul", "x c", "y")])
        ) == ["Mul"]
    with pytest.raises(ModelError, match="no tensor of numbers"):
        canonicalize(
            graph([node("Constant", "", "c", value_string="a"), node("Identity", "x", "y")])
        )


def test_what_depends_on_constants_alone_is_computed():
    nodes = [
        node("ConstantOfShape", "shape", "zeros"),
        node("Add", "zeros w", "sum"),
        node("Cast", "sum", "cast", to=TensorProto.FLOAT),
        node("Mul", "x cast", "y"),
    ]
    assert simple(graph(nodes, shape=[3], w=[1.0, 2.0, 3.0])) == ["Mul"]


@pytest.mark.parametrize("operator", ["Sigmoid", "Softplus", "Mish", "Celu", "HardSwish", "Shrink"])
def test_every_function_of_constants_is_computed(operator: str):
    nodes = [node(operator, "c", "h"), node("Add", "x h", "y")]
    assert simple(graph(nodes, c=[-1.5, 0.25, 3.0])) == ["Add"]


def test_a_billion_elements_are_left_alone():
    nodes = [node("Expand", "w shape", "wide"), node("Add", "x wide", "y")]
    result = canonicalize(graph(nodes, shape=[1000, 1000, 1000, 3], w=[1.0]))
    assert [each.op_type for each in result.graph.node] == ["Expand", "Add"]


def test_shapes_that_contradict_each_other_are_not_inferred():
    """An initializer is stated as an output of another rank: onnx's inference refuses the graph."""
    nodes = [
        node("Relu", "x", "a"),
        node("Shape", "a", "s"),
        node("Reshape", "a s", "r"),
        node("Add", "r b", "y"),
    ]
    model = graph(nodes, outputs="yb", b=np.ones(3))
    stated = helper.make_tensor_value_info("b", TensorProto.FLOAT, ["N", 3])
    model.graph.output[1].CopyFrom(stated)
    assert next(each.op_type for each in canonicalize(model).graph.node) == "Relu"


@pytest.mark.parametrize("opset", [11, 18])
def test_sizes_that_are_cast_to_nothing_and_sizes_of_unequal_lengths_are_left_alone(opset):
    made = [node("Shape", "x", "s"), node("Cast", "s", "c"), node("Mul", "s three", "m")]
    made += [node("Relu", "x", "y"), node("Reshape", "y m", "r"), node("Reshape", "y c", "q")]
    model = graph(made, opset=opset, outputs=("y", "r", "q"), three=np.array([1, 1, 1]))
    with pytest.raises(ModelError):
        import_model(model)
