"""Networks with several named inputs and outputs, all the way: out, run elsewhere, and back."""

from typing import Any

import numpy as np
import onnx
import pytest
from support.harness.sessions import open_session
from support.harness.sweep import pairs

import neat_onnx
from neat_onnx import (
    Network,
    NetworkError,
    OptionError,
    export,
    import_model,
    load_model,
    load_network,
    validate,
    verify,
)
from neat_onnx.network.port import TIME_NAMES

Arrays = dict[str, np.ndarray[Any, Any]]
FORMS: list[dict[str, Any]] = [
    {},
    {"dtype": "float64"},
    {"batch_dimension": False},
    {"mixed_activations": "per_neuron"},
    {"opset": 13},
    {"sequence": True, "dtype": "float64"},
    {"sequence": True, "batch_dimension": False},
    {"sequence": True, "batch_dimension": "rooms", "opset": 21},
]


def port(name: str, shape: list[int], *neurons: int) -> dict[str, Any]:
    return {"name": name, "shape": shape, "neurons": list(neurons)}


def robot(memory: bool) -> Network:
    """An image, a scalar and what nothing reads; neurons in two outputs; an input as an output."""
    edges = [(ear, 20 + k, 0.25 * k - 0.125 * ear) for ear in range(6) for k in range(4)]
    edges += [(6, 22, 1.5), (20, 30, 1.0), (21, 30, -0.5), (22, 31, 0.75), (23, 31, 0.5)]
    genes: list[Any] = [{"source": s, "target": t, "weight": weight} for s, t, weight in edges]
    if memory:
        genes += [
            {"source": 30, "target": 20, "weight": 0.5, "delay": 1},
            {"source": 22, "target": 22, "weight": -0.25, "delay": 2, "reads_state": True},
            {"source": 6, "target": 23, "weight": 0.5, "gater": 31, "gate_delay": 1},
        ]
    names = ["tanh", "relu", "tanh", "neat_sigmoid"]
    neurons = [{"id": k, "name": f"pixel {k}"} for k in range(6)]
    neurons += [{"id": 6, "name": "speed"}, {"id": 7}, {"id": 8}]
    neurons += [{"id": 20 + k, "activation": name, "bias": k / 8} for k, name in enumerate(names)]
    neurons += [{"id": 30, "activation": "tanh"}, {"id": 31, "aggregation": "max"}]
    document = {
        "format": "neat-onnx",
        "version": 1,
        "inputs": [
            port("eye", [2, 3], *range(6)),
            port("speed", [], 6),
            port("spare", [2, 1], 7, 8),
        ],
        "outputs": [
            port("move", [2], 31, 30),
            port("Layer_1", [1, 2, 2], 20, 21, 22, 23),
            port("seen/again", [3], 30, 6, 0),
            port("wish", [], 30),
        ],
        "neurons": neurons,
        "connections": genes,
    }
    return load_network(document)


NETS = {"without memory": robot(memory=False), "with memory": robot(memory=True)}
both = pytest.mark.parametrize("net", NETS.values(), ids=list(NETS))


def sequences(net: Network, steps: int = 4, samples: int = 3) -> Arrays:
    """For each input port (T, N, *shape), of numbers that float32 holds."""
    random = np.random.default_rng(7)
    return {
        name: random.normal(size=(steps, samples, *shape)).astype(np.float32)
        for name, shape in shapes(net.inputs)
    }


def shapes(ports: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(each.name, each.shape) for each in ports]


def played(model: neat_onnx.Model, x: Arrays) -> Arrays:
    """What onnxruntime makes of sequences: at once, or step by step, and sample by sample."""
    session = open_session(model)
    names = [output.name for output in session.get_outputs()]
    entries = {entry.name: entry for entry in session.get_inputs()}
    element = np.float64 if "double" in entries["speed"].type else np.float32
    whole = entries["speed"].shape[0] == "T"
    if entries["speed"].shape[-1] == 1 and next(iter(x.values())).shape[1] > 1:
        count = next(iter(x.values())).shape[1]
        each = [
            played(model, {name: part[:, [k]] for name, part in x.items()}) for k in range(count)
        ]
        return {name: np.concatenate([one[name] for one in each], axis=1) for name in each[0]}
    if whole:
        results = session.run(names, {name: part.astype(element) for name, part in x.items()})
        return dict(zip(names, results, strict=True))
    samples = x["speed"].shape[1]
    states = {
        name: np.zeros((samples, *entry.shape[1:]), element)
        for name, entry in entries.items()
        if name not in x
    }
    history: list[Arrays] = []
    for step in range(len(x["speed"])):
        feed = {name: part[step].astype(element) for name, part in x.items()}
        history.append(dict(zip(names, session.run(names, feed | states), strict=True)))
        states = {name: history[-1][name.replace("prev", "next")] for name in states}
    return {name: np.stack([found[name] for found in history]) for name in names}


@pytest.mark.parametrize("form", FORMS, ids=str)
@both
def test_there_and_back(net: Network, form: dict[str, Any]) -> None:
    model = export(net, **form)
    assert validate(model) == []
    onnx.checker.check_model(model.to_proto(), full_check=True)
    x, double = sequences(net), form.get("dtype") == "float64"
    want, got = net.run(x), played(model, x)
    for name, shape in shapes(net.outputs):
        assert got[name].shape == (4, 3, *shape)
        np.testing.assert_allclose(got[name], want[name], rtol=0, atol=1e-14 if double else 1e-5)
    assert verify(net, model, samples=4, runtime="onnxruntime").passed
    assert import_model(load_model(model.to_json())) == net
    bare = load_model(export(net, **form, include_metadata=False).to_json())
    for source in (model.to_bytes(), bare):
        back = import_model(source, check=False)
        assert shapes(back.inputs) == shapes(net.inputs)
        assert shapes(back.outputs) == shapes(net.outputs)
        found = back.run(x)
        for name in want:
            np.testing.assert_allclose(found[name], want[name], rtol=0, atol=1e-6)


@both
def test_the_graph_names_ports_first_and_in_order(net: Network) -> None:
    for form in ({}, {"sequence": True}):
        graph = export(net, **form).graph
        given, found = ([entry.name for entry in ends] for ends in (graph.inputs, graph.outputs))
        assert given[:3] == ["eye", "speed", "spare"]
        assert found[:4] == ["move", "Layer_1", "seen/again", "wish"]
        assert len(given) - 3 == len(found) - 4 == (0 if form or not net.has_memory else 3)


# --- names that look like something else ----------------------------------------------------------


def renamed(inputs: list[str], outputs: list[str], memory: bool) -> Network:
    edges: list[Any] = [(0, 2, 1.5), (1, 3, 0.5)]
    edges = [{"source": s, "target": t, "weight": weight} for s, t, weight in edges]
    if memory:
        edges.append({"source": 2, "target": 3, "weight": 0.75, "delay": 1})
    neurons = [{"id": 0}, {"id": 1}, {"id": 2, "activation": "tanh"}, {"id": 3}]
    document = {
        "format": "neat-onnx",
        "version": 1,
        "inputs": [port(name, [1], k) for k, name in enumerate(inputs)],
        "outputs": [port(name, [1], k) for k, name in enumerate(outputs, 2)],
        "neurons": neurons,
        "connections": edges,
    }
    return load_network(document)


NAMES = [
    (["hidden_prev", "x"], ["hidden_next", "y"]),
    (["x", "hidden_prev"], ["y", "z"]),
    (["hidden_next", "x"], ["hidden_next_2", "y"]),
    (["a", "a_step"], ["y_step", "y"]),
    (["a_flat", "a"], ["y_sequence", "hidden_prev_start"]),
    (["N", "T"], ["a b/c:0", "🙂"]),
    (["W0", "B0"], ["gemm_l1", "Layer_2"]),
]


@pytest.mark.parametrize(
    ("at", "sequence", "memory"), pairs(range(len(NAMES)), *[[False, True]] * 2)
)
def test_any_name_will_do(at: int, sequence: bool, memory: bool) -> None:
    net = renamed(*NAMES[at], memory)
    model = export(net, sequence=sequence)
    assert validate(model) == []
    assert verify(net, model, samples=8).passed
    assert import_model(model.to_json()) == net
    assert shapes(import_model(model.to_bytes()).inputs) == shapes(net.inputs)


def test_a_state_finds_its_output_without_metadata_whatever_ports_are_called() -> None:
    net = renamed(["hidden_next", "x"], ["y", "z"], memory=True)
    back = import_model(load_model(export(net, include_metadata=False).to_json()))
    assert shapes(back.inputs) == shapes(net.inputs)
    x = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(back.run(x), net.run(x), rtol=1e-12)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_a_port_of_no_neurons_has_no_form_in_onnx(side: str) -> None:
    document = NETS["with memory"].to_document().model_dump()
    document[side].append({"name": "nothing", "shape": [0], "neurons": []})
    with pytest.raises(NetworkError, match="port 'nothing' has no neurons"):
        export(load_network({"format": "neat-onnx", "version": 1, **document}))


@pytest.mark.parametrize("name", ["", "T", "Steps", *sorted(TIME_NAMES)])
def test_the_batch_dimension_has_a_name_that_time_has_not(name: str) -> None:
    with pytest.raises(OptionError, match="batch_dimension should be a name"):
        export(NETS["with memory"], batch_dimension=name)


@pytest.mark.parametrize("name", ["N", "time_of_day", "lengths", "S", "1", "?", " "])
@pytest.mark.parametrize("net", NETS)
def test_each_other_name_comes_back_as_the_batch(net: str, name: str) -> None:
    assert import_model(export(NETS[net], batch_dimension=name)) == NETS[net]


def test_inputs_by_wrong_names_or_shapes_are_refused_by_name() -> None:
    net = NETS["without memory"]
    right = {name: part[0] for name, part in sequences(net).items()}
    with pytest.raises(NetworkError, match=r"\['eye', 'speed'\]"):
        net.activate({name: right[name] for name in ("eye", "speed")})
    with pytest.raises(NetworkError, match=r"x\['eye'\] has shape \[3, 3, 2\]"):
        net.activate(right | {"eye": right["eye"].transpose(0, 2, 1)})
    with pytest.raises(NetworkError, match=r"x\['speed'\] has other leading axes"):
        net.activate(right | {"speed": right["speed"][:2]})
