"""Inputs that all samples share have no batch in an export either."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from stated_models import ends, model_of, without_hints
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import (
    Model,
    Network,
    NetworkError,
    export,
    import_model,
    load_network,
    validate,
    verify,
)
from neat_onnx.model import ValueInfo

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
DRAW = np.random.default_rng(3)
WEIGHTS = DRAW.normal(size=(3, 2))


def step(shape: tuple[int, ...] = (), kind: int = FLOAT, *, first: bool = False) -> Model:
    """x + dt · tanh(x W), whose dt stands before or behind x among the inputs."""
    nodes = [
        *([] if kind == FLOAT else [node("Cast", "dt", "d", to=FLOAT)]),
        node("MatMul", "x W", "h"),
        node("Tanh", "h", "t"),
        node("Mul", "t dt" if kind == FLOAT else "t d", "s"),
        node("Add", "s b", "y"),
    ]
    inputs = {"x": (FLOAT, ["N", 3]), "dt": (kind, [*shape])}
    if first:
        inputs = dict(reversed(inputs.items()))
    return model_of(nodes, inputs, {"y": (FLOAT, ["N", 2])}, W=WEIGHTS, b=[0.5, -0.25])


def conditioned(operator: str) -> Model:
    """A layer that combines x with features of a number that all samples share."""
    nodes = [
        node("Unsqueeze", "c first", "u"),
        node("Mul", "u V", "v"),
        node("MatMul", "x W", "h"),
        node(operator, "h v", "s"),
        node("Tanh", "s", "y"),
    ]
    inputs = {"x": (FLOAT, ["N", 3]), "c": (FLOAT, [])}
    given: dict[str, Any] = {"W": WEIGHTS, "V": DRAW.normal(size=(1, 2)), "first": [0]}
    return model_of(nodes, inputs, {"y": (FLOAT, ["N", 2])}, **given)


def columns() -> Model:
    """Samples are the columns of x, and two inputs are shared."""
    nodes = [
        node("Transpose", "x", "t", perm=[1, 0]),
        node("MatMul", "t W", "h"),
        node("Unsqueeze", "a first", "u"),
        node("Mul", "u V", "v"),
        node("Add", "h v", "s"),
        node("Mul", "s b", "y"),
    ]
    inputs = {"x": (FLOAT, [3, "N"]), "a": (FLOAT, []), "b": (FLOAT, [2])}
    given: dict[str, Any] = {"W": WEIGHTS, "V": DRAW.normal(size=(1, 2)), "first": [0]}
    return model_of(nodes, inputs, {"y": (FLOAT, ["N", 2])}, **given)


def remembering() -> Model:
    """A state that decays by a factor that all samples share."""
    nodes = [node("Mul", "h decay", "d"), node("Add", "d x", "s"), node("Tanh", "s", "h_next")]
    sizes = (FLOAT, ["N", 3])
    inputs = {"x": sizes, "decay": (FLOAT, []), "h": sizes}
    return model_of(
        [*nodes, node("Identity", "h_next", "y")], inputs, {"y": sizes, "h_next": sizes}
    )


def drawn(entry: ValueInfo) -> np.ndarray:
    """Numbers for an input, of six samples where it has a batch."""
    sizes = [size if isinstance(size, int) else 6 for size in entry.shape or ()]
    return DRAW.integers(1, 4, sizes).astype(entry.elem_type.dtype)


MODELS = {
    "a number": step(),
    "before the samples": step(first=True),
    "an integer": step(kind=INT64),
    "one for each feature": step((2,)),
    "added to a layer": conditioned("Add"),
    "a factor of a layer": conditioned("Mul"),
    "two, and samples behind": columns(),
}


@pytest.mark.parametrize("case", MODELS)
def test_the_export_runs_in_the_program_of_the_first_file(case):
    first = MODELS[case]
    net = import_model(first)
    model = export(net.without_source())
    assert ends(model) == ends(first)
    feed = {entry.name: drawn(entry) for entry in first.graph.inputs}
    (want,), (got,) = (open_session(each).run(None, feed) for each in (first, model))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    rows = {
        port.name: np.moveaxis(feed[port.name], port.batch_axis, 0)
        for port in net.inputs
        if port.batch_axis is not None
    }
    np.testing.assert_allclose(net.activate(feed | rows)["y"], want, rtol=1e-5, atol=1e-6)
    for each in (first, model):
        assert verify(net, each, samples=32, runtime="onnxruntime").passed


@pytest.mark.parametrize("case", MODELS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_dimension": "samples"},
        {"batch_dimension": False},
        {"profile": "sonnx"},
        {"opset": 13},
    ],
    ids=str,
)
def test_it_comes_back(case, options):
    net = import_model(MODELS[case])
    model = export(net.without_source(), **options)
    again = import_model(model.to_bytes())
    assert again == net
    assert without_hints(again) == without_hints(net)
    if "profile" in options:
        assert validate(model, profile="sonnx") == []


def test_evolved_networks_keep_it():
    net = import_model(MODELS["added to a layer"])
    genes = net.to_document().model_dump()
    genes["connections"][0]["weight"] = 0.75
    genes["library"] = "neat-onnx"
    evolved = load_network(Network.from_document(genes).to_json())
    model = export(evolved.without_source())
    assert ends(model)[1] == ("c", "FLOAT", [])
    again = import_model(model)
    assert again == evolved
    assert [port.batch_axis for port in again.inputs] == [0, None]


def test_values_that_differ_are_run_one_after_the_other():
    """verify gives each sample a number of its own."""
    net = import_model(step())
    other = import_model(step())
    weights = other.connections.weight * np.where(other.connections.weight == 1.0, 1.01, 1.0)
    changed = replace(other, connections=replace(other.connections, weight=weights))
    assert verify(net, export(net.without_source()), samples=16).passed
    assert not verify(net, export(changed), samples=16).passed


def test_memory_has_a_batch_all_the_same():
    net = import_model(remembering(), memory={"h": "h_next"})
    model = export(net.without_source())
    assert ends(model) == ends(remembering())
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model) == net


def test_values_of_other_shapes_are_refused():
    net = import_model(step())
    x = DRAW.normal(size=(6, 3))
    for compute in (net.activate, net.run):
        once, each = (compute({"x": x, "dt": dt})["y"] for dt in (0.5, np.full(6, 0.5)))
        np.testing.assert_array_equal(once, each)
    for wrong in (np.zeros(5), np.zeros((6, 1))):
        with pytest.raises(NetworkError, match="'dt'"):
            net.activate({"x": x, "dt": wrong})
    with pytest.raises(NetworkError, match="'x'"):
        net.activate({"x": 0.5, "dt": 0.5})


OF_SHARED = {
    "MatMul": ((3,), [node("MatMul", "s M", "t"), node("Add", "x t", "y")]),
    "Softmax": ((3,), [node("Softmax", "s", "t"), node("Mul", "x t", "y")]),
    "sum": ((3,), [node("ReduceSum", "s last", "t"), node("Mul", "x t", "y")]),
    "mean of all": ((3,), [node("ReduceMean", "s", "t", keepdims=0), node("Mul", "x t", "y")]),
    "sum of rows": ((2, 3), [node("ReduceSum", "s first", "t"), node("Mul", "x t", "y")]),
    "Gather": ((3,), [node("Gather", "s places", "t"), node("Mul", "x t", "y")]),
    "Concat": (
        (3,),
        [
            node("Concat", "s s", "c", axis=0),
            node("Slice", "c from to", "t"),
            node("Mul", "x t", "y"),
        ],
    ),
    "LayerNormalization": ((3,), [node("LayerNormalization", "s v", "t"), node("Mul", "x t", "y")]),
    "one number": ((1,), [node("Exp", "s", "t"), node("Mul", "x t", "y")]),
    "x · s": ((3, 3), [node("MatMul", "x s", "y")]),
    "x · s transposed": ((2, 3), [node("Gemm", "x s", "y", transB=1)]),
    "x · s, a vector": ((3,), [node("MatMul", "x s", "t"), node("Unsqueeze", "t last", "y")]),
    "given to each": (
        (3,),
        [
            node("Shape", "x", "sizes"),
            node("Gather", "sizes first", "count"),
            node("Concat", "count three", "wanted", axis=0),
            node("Expand", "s wanted", "e"),
            node("Concat", "x e", "y", axis=1),
        ],
    ),
}


@pytest.mark.parametrize("name", OF_SHARED)
@pytest.mark.parametrize("behind", [False, True])
def test_nodes_of_shared_tensors_alone_give_shared_ones(name, behind):
    shape, nodes = OF_SHARED[name]
    nodes = [*nodes, node("Tanh", "y", "z")] if behind else nodes
    constants = {
        "M": DRAW.normal(size=(3, 3)), "v": DRAW.normal(size=3), "last": [-1], "first": [0],
        "places": [2, 0, 1], "from": [1], "to": [4], "three": [3],
    }  # fmt: skip
    read = {each for one in nodes for each in one.input}
    given = {key: value for key, value in constants.items() if key in read}
    inputs = {"x": (FLOAT, ["N", 3]), "s": (FLOAT, [*shape])}
    model = model_of(nodes, inputs, {"z" if behind else "y": (FLOAT, None)}, **given)
    net = import_model(model)
    made = export(net.without_source())
    assert [entry.shape for entry in made.graph.inputs] == [("N", 3), shape]
    assert import_model(made) == net
    for each in (model, made):
        assert verify(net, each, runtime="onnxruntime").passed
