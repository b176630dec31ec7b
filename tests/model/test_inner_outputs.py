"""Tensors inside a graph as outputs of it."""

import time

from onnx import TensorProto, helper
from support.examples.graphs import graph, node

from neat_onnx import load_model
from neat_onnx.model.ports import with_inner_outputs


def test_many_names_take_no_time_for_each_of_many_outputs():
    names = [f"part{k}" for k in range(8000)]
    split = helper.make_node("Split", ["x"], names, axis=1, num_outputs=len(names))
    model = load_model(graph([split], x=("N", len(names)), outputs=names))
    start = time.process_time()
    assert with_inner_outputs(model, names) is model
    assert time.process_time() - start < 1


def test_a_tensor_inside_is_an_output_of_the_type_that_it_has():
    model = load_model(graph([node("Shape", "x", "s"), node("Cast", "s", "y", to=1)]))
    shown = with_inner_outputs(model, ["s", "y", "absent"])
    kinds = [(entry.name, entry.elem_type) for entry in shown.graph.outputs]
    assert kinds == [("y", TensorProto.FLOAT), ("s", TensorProto.INT64)]
