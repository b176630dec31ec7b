"""Several states of one value that start differently: each beyond the first is of a copy."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import node

from neat_onnx import Model, Network, export, import_model, load_model, verify


def stepped(nodes: list, starts: dict[str, float]) -> Model:
    """A model of one step with the input x and the output y; state `a` is fed by `a_next`."""
    names = list(starts)
    entries = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 1])
        for name in ("x", "y", *names, *(f"{name}_next" for name in names))
    }
    inputs = [entries["x"], *(entries[name] for name in names)]
    outputs = [entries["y"], *(entries[f"{name}_next"] for name in names)]
    made = helper.make_model(
        helper.make_graph(nodes, "graph", inputs, outputs),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
    )
    said = {
        "neat_onnx.state": [[name, f"{name}_next"] for name in names],
        "neat_onnx.initial_state": {name: [start] for name, start in starts.items() if start},
    }
    helper.set_model_props(made, {key: json.dumps(value) for key, value in said.items()})
    return load_model(made)


def assert_steps(model: Model, most: int) -> Network:
    """The network steps as onnxruntime does, has no more neurons, and comes back of its export."""
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    assert len(net) <= most
    assert import_model(export(net)) == net
    return net


STARTS = [(0.0, 0.5), (0.5, 0.0), (0.5, -0.25), (0.5, 0.5)]


@pytest.mark.parametrize("value", ["Identity", "Neg", "Tanh"])
@pytest.mark.parametrize(("a", "b"), STARTS)
def test_two_states_of_one_value(value: str, a: float, b: float):
    nodes = [
        node(value, "x", "t"),
        node("Identity", "t", "a_next"),
        node("Identity", "t", "b_next"),
    ]
    nodes.append(node("Add", "a b", "y"))
    alike = import_model(stepped(nodes, {"a": a, "b": a}))
    net = assert_steps(stepped(nodes, {"a": a, "b": b}), 4)
    assert len(net) == len(alike) + (a != b)


@pytest.mark.parametrize(("a", "b"), STARTS)
def test_a_state_of_an_activation_and_one_of_its_sum(a: float, b: float):
    nodes = [
        node("Add", "x a", "s"),
        node("Identity", "s", "a_next"),
        node("Tanh", "s", "t"),
        node("Identity", "t", "b_next"),
        node("Add", "b t", "y"),
    ]
    assert_steps(stepped(nodes, {"a": a, "b": b}), 5)


@pytest.mark.parametrize("starts", [(0.5, 0.0, 0.0), (0.0, 0.5, 0.25), (0.5, 0.5, 0.0), (0, 0, 1)])
@pytest.mark.parametrize("last", ["Identity", "Add"])
def test_a_chain_of_states(starts: tuple[float, ...], last: str):
    """The first step reads the last state's value, the second the one before, …"""
    nodes = [
        node("Identity", "x", "a_next"),
        node("Identity", "a", "b_next"),
        node("Identity", "b", "c_next"),
        node(last, "c" if last == "Identity" else "c a", "y"),
    ]
    assert_steps(stepped(nodes, dict(zip("abc", starts, strict=True))), 5)


@pytest.mark.parametrize(("a", "b"), STARTS)
def test_states_that_multiply(a: float, b: float):
    nodes = [
        node("Tanh", "x", "t"),
        node("Identity", "t", "a_next"),
        node("Identity", "a", "b_next"),
        node("Mul", "x b", "m"),
        node("Add", "m a", "y"),
    ]
    assert_steps(stepped(nodes, {"a": a, "b": b}), 6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_network_whose_values_are_one_comes_back(dtype: str):
    """A neuron that hands on another is the other's value in the graph."""
    loops = [{"source": k, "target": 4, "weight": 0.5 * k, "delay": k} for k in (1, 2, 3)]
    neurons = [1, {"id": 2, "initial": 0.5}, {"id": 3, "initial": -0.25}, 4]
    links = [(0, 1, 0.5), (1, 2, 1.0), (2, 3, 1.0), *loops]
    net = Network.build(inputs=1, outputs=[4], neurons=neurons, connections=links)
    x = np.random.default_rng(0).normal(size=(9, 1))
    for sequence in (False, True):
        model = export(net, dtype=dtype, sequence=sequence)
        assert import_model(model) == net
        bare = model.model_copy(
            update={"metadata_props": [p for p in model.metadata_props if "state" in p.key]}
        )
        found = import_model(bare)
        np.testing.assert_allclose(found.run(x), net.run(x), rtol=1e-6)
