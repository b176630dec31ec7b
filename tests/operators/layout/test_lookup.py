"""Gather and GatherElements at computed places, and If by the shape of a tensor."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import assert_lifts, graph, node, operators

from neat_onnx import ModelError, export, import_model, verify

TABLE = np.random.default_rng(3).normal(size=(5, 2, 3))
PLACES = [
    node("Clip", "x low high", "near"),  # from the end as well
    node("Cast", "near", "at", to=TensorProto.INT64),
]
BOUNDS: dict[str, Any] = {"low": -2.0, "high": 1.9}


@pytest.mark.parametrize("axis", [0, 1])
def test_slices_of_a_table(axis: int):
    assert_lifts(
        graph([*PLACES, node("Gather", "table at", "rows", axis=axis),
               node("Transpose", "rows", "y", perm=[0, 1, 2, 3] if axis == 0 else [1, 0, 2, 3])],
              table=TABLE, **BOUNDS),
        scale=1.5,
    )  # fmt: skip


@pytest.mark.parametrize("axis", [-1, 1])
def test_a_place_is_one_neuron_for_each_that_there_is(axis: int):
    one_hot = node("OneHot", "at depth values", "y", axis=axis)
    net = assert_lifts(
        graph([*PLACES, one_hot], x=("N", 2), depth=np.array([5]), values=[0.0, 1.0], **BOUNDS),
        scale=1.5,
    )
    assert net.outputs[0].neurons.size == 2 * 5
    model = export(net)
    assert "OneHot" in operators(model) or operators(model).count("Or") == 1
    assert import_model(model.to_json()) == net


def of_two_inputs(data: list[Any], places: list[Any], axis: int) -> onnx.ModelProto:
    """Gather of one input at another."""
    model = graph([node("Tanh", "x", "data"), node("Gather", "data at", "y", axis=axis)], x=data)
    model.graph.input.append(helper.make_tensor_value_info("at", TensorProto.INT64, places))
    return model


@pytest.mark.parametrize(
    ("data", "places", "axis"),
    [([3, 4], [2], 0), ([3, 4], [2, 2], 1), ([2, 3, 4], [1], -1), ([5], [3], 0), ([5, 2], [], 0)],
)
def test_slices_of_computed_data(data: list[int], places: list[int], axis: int):
    model = of_two_inputs(data, places, axis)
    net = import_model(model, batch_axis=None)
    assert net.outputs[0].shape == (*data[:axis], *places, *data[axis:][1:])
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_places_of_each_sample_in_the_data_of_all_samples_are_refused():
    net = import_model(of_two_inputs(["N", 4], [], 1))  # one place for all
    assert (net.inputs[0].shape, net.outputs[0].shape) == ((4,), ())
    with pytest.raises(ModelError, match="would mix samples"):
        import_model(of_two_inputs(["N", 4], ["N", 2], 1))
    with pytest.raises(ModelError, match="would mix samples"):
        import_model(of_two_inputs(["N", 4], [2], 0))


def test_a_single_place_takes_its_axis_away():
    picked = [*PLACES, node("Gather", "at one", "single", axis=1),
              node("Gather", "table single", "y", axis=0)]  # fmt: skip
    assert_lifts(graph(picked, table=TABLE[:, 0], one=np.array(1), **BOUNDS), scale=1.5)


def test_elements_of_computed_data():
    nodes = [*PLACES, node("Sin", "x", "wave"), node("GatherElements", "wave at", "y", axis=1)]
    assert_lifts(graph(nodes, **BOUNDS), scale=1.5)


@pytest.mark.parametrize("shape", [[0, 3], [0, 3, 1], [0, 3, 1, 1]])
@pytest.mark.parametrize("places", [[0, 3, 1], [0, 1, 3, 1], [0, 1]])
def test_slices_of_each_sample(shape: list[int], places: list[int]):
    axis = np.array([0 if len(places) > 2 else 2])  # of the third place, where it is one alone
    nodes = [
        *PLACES,
        node("Sin", "x", "wave"),
        node("Reshape", "wave shape", "data"),
        node("Slice", "at third end one", "only") if len(places) == 2 else node("Identity", "at",
                                                                                "only"),
        node("Reshape", "only places", "index"),
        node("GatherND", "data index", "y", batch_dims=1),
    ]  # fmt: skip
    constants = BOUNDS | {"shape": np.array(shape), "places": np.array(places), "third": axis,
                          "end": np.array([3]), "one": np.array([1])}  # fmt: skip
    assert_lifts(graph(nodes, **constants), scale=1.5)


def test_slices_of_a_table_at_rows_of_places():
    nodes = [*PLACES, node("Unsqueeze", "at last", "rows"), node("GatherND", "table rows", "y")]
    assert_lifts(graph(nodes, table=TABLE, last=np.array([2]), **BOUNDS), scale=1.5)


@pytest.mark.parametrize(
    ("nodes", "constants", "message"),
    [
        ([node("GatherND", "x at", "y", batch_dims=1)], {}, "one axis of places"),
        (
            [node("Unsqueeze", "at last", "rows"), node("GatherND", "x rows", "y")],
            {"last": np.array([2])},
            "batch",
        ),
        ([node("Gather", "x at", "y", axis=1)], {}, "would mix samples"),
        ([node("Gather", "table at", "y", axis=1)], {"table": [[0.0, np.inf, 1.0]]}, "finite"),
        ([node("GatherElements", "table at", "y", axis=1)], {"table": np.eye(3)}, "batch"),
    ],
)
def test_refused_by_name(nodes: Any, constants: Any, message: str):
    with pytest.raises(ModelError, match=message):
        import_model(graph([*PLACES, *nodes], **constants, **BOUNDS))


def branch(operator: str) -> Any:
    result = helper.make_tensor_value_info(f"{operator}_y", TensorProto.FLOAT, None)
    return helper.make_graph([node(operator, "x", f"{operator}_y")], operator, [], [result])


def chosen(length: int, axis: int) -> Any:
    """Sin where the axis of x has this length, else Cos."""
    return graph(
        [
            *PLACES,
            node("GatherElements", "x at", "same", axis=1),
            node("Shape", "same", "shape"),
            node("Gather", "shape axis", "size", axis=0),
            node("Equal", "size length", "is_so"),
            node("If", "is_so", "y", then_branch=branch("Sin"), else_branch=branch("Cos")),
        ],
        axis=np.array([axis]),
        length=np.array([length]),
        **BOUNDS,
    )


@pytest.mark.parametrize("length", [2, 3])
def test_a_branch_by_the_shape_of_a_tensor(length: int):
    assert_lifts(chosen(length, 1))


def test_a_branch_by_the_size_of_the_batch_is_refused():
    with pytest.raises(ModelError, match="size of the batch"):
        import_model(chosen(1, 0))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_constant_is_expanded_along_the_batch_alone(axis: int):
    """As PyTorch writes `token.expand(len(x), -1, -1)`, and `squeeze(1)` of what is made of it."""
    nodes = [
        node("Shape", "x", "of_x"),
        node("Gather", "of_x zero", "samples", axis=0),
        node("Concat", "samples as_it_is", "wish", axis=0),
        node("Equal", "wish minus", "same"),
        node("Where", "same ones wish", "wanted"),
        node("Expand", "token wanted", "tokens"),
        node("Add", "x tokens", "sum"),
        node("Shape", "tokens", "shape"),
        node("Gather", "shape axis", "size", axis=0),
        node("Equal", "size length", "is_so"),
        node("If", "is_so", "y", then_branch=branch("Sin"), else_branch=branch("Cos")),
        node("Tanh", "sum", "z"),
    ]
    one = np.array([1])
    constants = {"zero": [0], "as_it_is": [-1, -1], "minus": [-1], "ones": [1, 1, 1],
                 "token": np.ones((1, 1, 4)), "axis": np.array([axis]), "length": one}  # fmt: skip
    model = graph(nodes, x=("N", 1, 4), outputs=("y", "z"), **constants)
    if axis:
        assert_lifts(model)
    else:
        with pytest.raises(ModelError, match="size of the batch"):
            import_model(model)


REPEATED = [
    node("Unsqueeze", "i last", "column"),
    node("Unsqueeze", "column last", "cell"),
    node("Expand", "cell width", "cells"),
    node("GatherElements", "x cells", "y", axis=1),
]
PAIRED = [
    node("Shape", "i", "many"),
    node("Squeeze", "many", "count"),
    node("Range", "zero count one", "numbers"),
    node("Unsqueeze", "numbers last", "number"),
    node("Unsqueeze", "i last", "column"),
    node("Concat", "number column", "pairs", axis=-1),
    node("GatherND", "x pairs", "y"),
]


BEHIND_A_SHAPE = [
    node("Shape", "x", "shape"),
    node("Gather", "shape first", "batch"),
    node("Concat", "batch rest", "sizes", axis=0),
    node("Neg", "x", "less"),
    node("Reshape", "less sizes", "whole"),
    *REPEATED[:-1],
    node("GatherElements", "whole cells", "y", axis=1),
]


@pytest.mark.parametrize(
    "nodes",
    [REPEATED, PAIRED, BEHIND_A_SHAPE],
    ids=["repeated", "paired with samples", "behind a computed shape"],
)
def test_inputs_that_are_places_of_each_sample_are_verified_there(nodes):
    constants = {"last": [-1], "width": [1, 1, 3], "zero": 0, "one": 1}
    constants |= {"first": [0], "rest": [5, 3]}
    model = graph(nodes, x=("N", 5, 3), **constants)
    model.graph.input.append(helper.make_tensor_value_info("i", TensorProto.INT64, ["N"]))
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_table_at_constant_places_of_each_sample():
    """As torch.bucketize starts its search: in the middle, wherever that is."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Expand", "zero shape", "low"),
        node("Add", "low one", "next"),
        node("Div", "next two", "middle"),
        node("Unsqueeze", "middle last", "places"),
        node("GatherND", "edges places", "edge"),
        node("Sub", "x edge", "y"),
    ]
    constants = {"zero": 0, "one": 3, "two": 2, "last": [-1], "edges": [-1.0, 0.5, 2.0]}
    assert_lifts(graph(nodes, **constants))
    rows = [
        *nodes[:2],
        node("Cast", "low", "same", to=TensorProto.FLOAT),
        node("GatherND", "same one_place", "first"),
        node("Sub", "x first", "y"),
    ]
    with pytest.raises(ModelError, match="would mix samples"):
        import_model(graph(rows, **constants, one_place=[[1]]), check=False)


def test_stacked_choices():
    """As an ensemble votes."""
    nodes = [
        node("ArgMax", "x", "first", axis=1, keepdims=0),
        node("ArgMin", "x", "second", axis=1, keepdims=0),
        node("OneHot", "first three bounds", "one"),
        node("OneHot", "second three bounds", "other"),
        node("Unsqueeze", "one new", "one_row"),
        node("Unsqueeze", "other new", "other_row"),
        node("Concat", "one_row other_row", "stack", axis=0),
        node("ReduceSum", "stack new", "y", keepdims=0),
    ]
    assert_lifts(graph(nodes, three=3, bounds=[0.0, 1.0], new=[0]))


def test_integers_times_zero_are_a_constant_that_indices_are_made_of():
    nodes = [
        node("Cast", "x", "i", to=7),
        node("Mul", "i zero", "none"),
        node("Add", "none offset", "at"),
        node("Div", "at two", "half"),
        node("Gather", "table half", "t"),
        node("Add", "t x", "y"),
    ]
    model = graph(nodes, zero=0, offset=[0, 3, 5], two=2, table=[0.5, 1.5, -2.0])
    net = assert_lifts(model)
    assert len(net) == 6
    assert set(net.aggregation_names.tolist()) == {"sum"}
