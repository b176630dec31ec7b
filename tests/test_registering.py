"""A user's own activation, aggregation and operator: one call each, from outside the package."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.examples.made import aggregating, layered
from support.harness.routes import ROUTES, Trip

import neat_onnx.operators.families  # noqa: F401 (fills the registry)
from neat_onnx import (
    ModelError,
    NetworkError,
    export,
    import_model,
    json_schema,
    load_model,
    load_network,
    register_activation,
    register_aggregation,
    verify,
)
from neat_onnx.extend import Tensor, formula, operator
from neat_onnx.lifting.operator import OPERATORS
from neat_onnx.model import Node, node_classes
from neat_onnx.model.node import _REGISTRY
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.aggregations import AGGREGATIONS
from neat_onnx.network.expression import (
    clip,
    exp,
    greater,
    largest,
    sigmoid,
    smallest,
    tanh,
    total,
    where,
)
from neat_onnx.network.runtime_formulas import writable

OWN_ACTIVATIONS = {
    "own_swish": lambda z: z * sigmoid(1.5 * z),
    "own_steep": lambda z: sigmoid(4.9 * z),
    "own_ramp": lambda z: where(greater(z, 0.5), 0.5 + 0.1 * (z - 0.5), clip(z, -1.0, 2.0)),
    "own_bump": lambda z: 3.0 * exp(-(0.7 * (z * z))) - tanh(z) / 4.0,
}
OWN_AGGREGATIONS = {
    "own_range": lambda v, k: largest(v) - smallest(v),
    "own_rms": lambda v, k: total(v * v) / float(k),
}


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """What a test registers is gone after it; two operators of ours stand aside meanwhile."""
    node_classes()  # make them all
    tables = (ACTIVATIONS, AGGREGATIONS, OPERATORS, _REGISTRY)
    before = [dict(table) for table in tables]
    for name in ("HardSwish", "ThresholdedRelu"):
        _REGISTRY.pop(name, None)
    OPERATORS.pop(("", "HardSwish"))
    yield
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OWN_ACTIVATIONS)
@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"fold": True}, {"opset": 13}])
def test_an_activation_is_evaluated_exported_recognised_and_run(name, options):
    register_activation(name, OWN_ACTIVATIONS[name])
    trip = Trip(layered([2, 3, 2], [[name, "tanh", name], name]), options)
    for route in ROUTES:
        route(trip)
    assert name in set(import_model(export(trip.net, include_metadata=False)).activation_names)


@pytest.mark.parametrize("name", ["softsign", "neat_lelu", "swish", "neat_sigmoid"])
@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"fold": True}])
def test_one_that_is_written_as_the_packages_own_is_told_from_it(name, options):
    written = writable(ACTIVATIONS[name].expression, np.dtype(np.float64), far_from_zero=True)
    register_activation("own_alike", lambda z: written)
    for each in (name, "own_alike"):
        net = layered([2, 3, 2], [["cube", each, "tanh"], each])
        back = import_model(export(net, **options))
        assert back.activation_names.tolist() == net.activation_names.tolist()
        np.testing.assert_array_equal(back.neurons.id, net.neurons.id)


@pytest.mark.parametrize("name", OWN_AGGREGATIONS)
@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"fold": True}, {"opset": 13}])
def test_an_aggregation_is_evaluated_exported_recognised_and_run(name, options):
    register_aggregation(name, OWN_AGGREGATIONS[name])
    trip = Trip(aggregating(name, 4, response=0.5), options)
    for route in ROUTES:
        route(trip)


@pytest.mark.parametrize("name", OWN_AGGREGATIONS)
def test_an_aggregation_comes_back_as_neurons_of_its_steps_without_metadata(name):
    register_aggregation(name, OWN_AGGREGATIONS[name])
    net = aggregating(name, 4)
    back = import_model(export(net, include_metadata=False))
    assert name not in back.aggregation_names and len(back) > len(net)
    assert name == "own_rms" or {"max", "min"} <= set(back.aggregation_names)
    x = np.random.default_rng(0).normal(size=(8, len(net.input_neurons)))
    np.testing.assert_allclose(back.activate(x), net.activate(x), rtol=1e-12)


def test_one_that_was_registered_and_is_gone_is_unknown():
    register_activation("own_ramp", OWN_ACTIVATIONS["own_ramp"])
    net = layered([2, 1], ["own_ramp"])
    model = export(net, include_metadata=False, dtype="float64")
    want = net.activate(np.eye(2))
    del ACTIVATIONS["own_ramp"]
    register_activation("own_bump", OWN_ACTIVATIONS["own_bump"])
    back = import_model(model)
    assert back.activation_names[-1].startswith("formula: ")  # a formula needs no name
    np.testing.assert_array_equal(back.activate(np.eye(2)), want)
    with pytest.raises(NetworkError, match="unknown activation 'own_ramp'"):
        load_network(net.to_json())


@pytest.mark.parametrize("name", ["own_bump", "own_range"])
def test_a_file_that_names_one_of_another_formula_is_read_by_its_graph(name):
    is_activation = name in OWN_ACTIVATIONS
    table, register, formulas = (
        (ACTIVATIONS, register_activation, OWN_ACTIVATIONS)
        if is_activation
        else (AGGREGATIONS, register_aggregation, OWN_AGGREGATIONS)
    )
    register(name, formulas[name])
    net = layered([4, 2], [name]) if is_activation else aggregating(name, 4)
    model, want = export(net, dtype="float64", embed_network=True), net.activate(np.eye(4))
    del table[name]
    register(name, formulas["own_swish" if is_activation else "own_rms"])
    with pytest.warns(match="registered with another formula"):
        back = import_model(model)
    np.testing.assert_allclose(back.activate(np.eye(4)), want, rtol=1e-12)


# --- an operator ----------------------------------------------------------------------------------


def define_hard_swish() -> type[Node]:
    """ONNX's HardSwish, to be read as x · clip(x/6 + 0.5)."""

    class HardSwish(Node):
        since = 14

    return HardSwish


W = np.array([[0.5, -1.25, 2.0], [4.0, 0.75, -0.5]])
MODEL = graph([node("Gemm", "x W", "z", transB=1), node("HardSwish", "z", "y")], W=W)


def test_an_operator_is_read_written_and_imported():
    hard_swish = register_activation("own_hard_swish", lambda z: z * clip(z / 6.0 + 0.5, 0.0, 1.0))

    define_hard_swish()

    @operator("HardSwish", since=14)
    def apply(x: Tensor) -> Tensor:
        return formula(hard_swish.expression)(x)

    model = load_model(MODEL)
    assert load_model(model.to_json()) == model
    assert load_model(model.to_bytes()) == model
    net = import_model(model)
    assert net.activation_names[3:].tolist() == ["own_hard_swish"] * 2
    assert verify(net, export(net), runtime="onnxruntime").passed
    assert_lifts(MODEL, scale=3.0)


class _Part:
    def __call__(self, x: Tensor, *, by: float = 2.0) -> Tensor:
        return x / by


@pytest.mark.parametrize("function", [_Part(), _Part().__call__, partial(_Part(), by=2.0)])
def test_an_operator_is_a_method_a_part_of_a_function_or_an_object_that_is_called(function):
    define_hard_swish()
    operator("HardSwish", since=14)(function)
    halves, whole = import_model(MODEL, check=False), np.eye(3) @ W.T
    np.testing.assert_allclose(halves.activate(np.eye(3)), whole / 2.0)


def test_an_operator_without_a_function_is_read_by_its_function_body():
    define_hard_swish()
    assert verify(import_model(MODEL), MODEL, runtime="onnxruntime").passed


def test_an_operator_nobody_declared_is_refused_with_what_to_do():
    unknown = graph([node("Gemm", "x W", "z", transB=1), node("RoiAlign", "z z z", "y")], W=W)
    with pytest.raises(ModelError, match="the operator RoiAlign is not supported"):
        import_model(unknown)


def test_an_operator_is_in_the_schema():
    class OwnRelu(Node):
        since = 10

    assert node_classes()["OwnRelu"] is OwnRelu
    names = json_schema("model")["$defs"]["Node"]["allOf"][0]["then"]["properties"]["op_type"]
    assert {"OwnRelu", "ThresholdedRelu"} <= set(names["enum"])


def test_two_of_one_name_are_refused():
    define_hard_swish()
    with pytest.raises(ModelError, match="registered twice"):
        define_hard_swish()
    with pytest.raises(ModelError, match="Gemm is registered twice"):
        operator("Gemm")(lambda x: x)
    with pytest.raises(ModelError, match="signature of the operator Own is unknown"):
        operator("Own")(dict)
