"""`functions=True`: activations as functions of the model, which runtimes and import inline."""

import json

import numpy as np
import onnx
import pytest
from support.examples.cases import assert_within, case
from support.examples.made import layered, samples
from support.examples.networks import NETWORKS
from support.harness.playing import played, sequences
from support.harness.routes import ROUTES, Route, Trip, run_onnxruntime

from neat_onnx import (
    ModelError,
    Network,
    OptionError,
    export,
    import_model,
    load_model,
    register_activation,
    validate,
)
from neat_onnx.network.expression import sigmoid

OPTIONS = {"functions": True}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.__name__)
def test_every_activation_takes_every_route(route: Route, dtype: str):
    route(Trip(NETWORKS["every_activation"], OPTIONS | {"dtype": dtype}))


@pytest.mark.parametrize("more", [{"fold": True}, {"mixed_activations": "per_neuron"}], ids=str)
def test_other_layouts_call_functions_too(more):
    trip = Trip(NETWORKS["every_activation"], OPTIONS | more)
    for route in ROUTES:
        if "fold" not in more or ("json" not in route.__name__ and "binary" not in route.__name__):
            route(trip)
    assert "mish" in [function.name for function in trip.model.functions]


def test_an_activation_is_written_once_and_operators_stay_operators():
    net = layered([2, 4, 3, 1], [["mish", "tanh", "mish", "gelu"], "mish", "relu"])
    model = export(net, functions=True)
    assert sorted(function.name for function in model.functions) == ["gelu", "mish"]
    calls = [node.op_type for node in model.graph.node if node.domain == "neat_onnx"]
    assert sorted(calls) == ["gelu", "mish", "mish"]
    assert len(model.to_bytes()) < len(export(net).to_bytes())
    assert import_model(load_model(model.to_json())) == net


def test_formulas_without_a_name_and_registered_ones():
    register_activation("2 x/π!", lambda z: z * sigmoid(1.25 * z))
    net = layered([2, 3, 2], [["2 x/π!", "formula: z * sigmoid(1.75 * z)", "mish"], "tanh"])
    model = export(net, functions=True, dtype="float64")
    assert [function.name for function in model.functions] == ["f_2_x___", "formula", "mish"]
    assert validate(model) == []
    assert import_model(load_model(model.to_json())) == net
    x = samples(net)
    assert np.allclose(run_onnxruntime(model, net, x), net.activate(x), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["np-rec-10", "nts-net-gate-3", "nap-net-narx-2"])
@pytest.mark.parametrize("sequence", [False, True])
def test_memory(name: str, sequence: bool):
    """In a single step, and in the body of a Scan."""
    chosen = case(name)
    model = export(chosen.network(), functions=True, sequence=sequence)
    x, want, tolerance, _ = sequences(chosen)
    assert_within(played(model, x), want, tolerance)
    assert import_model(load_model(model.to_json())) == chosen.network()


def test_protobufs_own_json_holds_functions():
    model = export(NETWORKS["every_activation"], functions=True)
    text = model.to_json(spelling="protobuf")
    proto = onnx.load_model_from_string(text.encode(), format="json")
    onnx.checker.check_model(proto, full_check=True)
    assert load_model(text).to_bytes() == load_model(proto).to_bytes() == model.to_bytes()


def test_a_changed_function_is_another_graph():
    """The genome is that of the functions as they were written."""
    net = layered([2, 3, 1], ["mish", "identity"])
    document = json.loads(export(net, functions=True).to_json())
    document["functions"][0]["node"][1]["op_type"] = "Sigmoid"
    with pytest.warns(match="changed after the export"):
        changed = import_model(document)
    names = set(changed.activation_names) - {"identity"}
    assert all("softplus" in name for name in names) and "mish" not in names


def test_functions_that_no_export_writes_are_inlined():
    """Other domains, other opsets and nested calls: by onnx, when they are read."""
    net = layered([2, 3, 1], ["mish", "identity"])
    document = json.loads(export(net, functions=True).to_json())
    document["functions"].append(
        {
            "name": "outer",
            "domain": "neat_onnx",
            "inputs": ["x"],
            "outputs": ["y"],
            "opset_import": [{"version": 18}, {"domain": "neat_onnx", "version": 1}],
            "node": [{"op_type": "mish", "domain": "neat_onnx", "input": ["x"], "output": ["y"]}],
        }
    )
    call = next(node for node in document["graph"]["node"] if node["op_type"] == "mish")
    call["op_type"] = "outer"
    model = load_model(document)
    assert not model.functions
    assert all(not node.domain for node in model.graph.node)
    document["functions"][1]["node"][0]["op_type"] = "outer"
    with pytest.raises(ModelError, match="'outer' calls itself"):
        load_model(document)


def test_a_call_that_does_not_fit_its_function_is_refused():
    document = json.loads(export(layered([2, 3], ["mish"]), functions=True).to_json())
    call = next(node for node in document["graph"]["node"] if node["op_type"] == "mish")
    call["input"] *= 2
    with pytest.raises(ModelError, match="2 inputs, expected 1"):
        import_model(document)


def test_the_neataptic_dialect_has_no_functions():
    with pytest.raises(OptionError, match="functions cannot be True"):
        export(Network.mlp([2, 2, 1]), functions=True, dialect="neataptic")
