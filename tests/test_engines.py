"""Presets of engines, and other names for inputs and outputs."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import neat_onnx
from neat_onnx import Model, Network, OptionError

PRESETS = ("ml-agents", "sentis", "godot-rl", "onnxruntime-web")
PLAIN = Network.mlp([3, 4, 2], seed=0)
RECURRENT = Network.rnn(3, 4, seed=0)
SPATIAL = neat_onnx.load_network(
    {
        "format": "neat-onnx",
        "version": 1,
        "inputs": [{"name": "view", "shape": [1, 2, 2], "neurons": [0, 1, 2, 3]}],
        "outputs": [{"name": "go", "shape": [1], "neurons": [4]}],
        "neurons": [{"id": k} for k in range(5)],
        "connections": [{"source": k, "target": 4, "weight": 0.5 + k} for k in range(4)],
    }
)


def ran(model: Model, given: dict[str, Any]) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(model.to_bytes())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, given), strict=True))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("net", [PLAIN, RECURRENT, SPATIAL], ids=["plain", "recurrent", "spatial"])
@pytest.mark.filterwarnings("ignore:outputs that no network computes")
def test_a_preset_is_valid_and_equal_and_brings_the_genome_back(preset: Any, net: Network):
    if preset == "godot-rl" and net.has_memory:
        pytest.skip("it carries no memory")
    model = neat_onnx.export(net, preset=preset)
    assert not neat_onnx.validate(model)
    for runtime in ("reference", "onnxruntime"):
        assert neat_onnx.verify(net, model, runtime=runtime, samples=16).passed
    back = neat_onnx.import_model(model)
    assert back.neurons.id.tolist() == net.neurons.id.tolist()
    assert back.connections.weight.tolist() == net.connections.weight.tolist()
    assert (back.has_memory, [port.shape for port in back.inputs]) == (
        net.has_memory,
        [port.shape for port in net.inputs],
    )


def test_ml_agents_finds_its_tensors():
    x, memory = np.ones((5, 3), np.float32), np.zeros((5, 1, 4), np.float32)
    found = ran(neat_onnx.export(PLAIN, preset="ml-agents"), {"obs_0": x})
    want = {"version_number": [3.0], "memory_size": [0.0], "continuous_action_output_shape": [2.0]}
    for name, value in want.items():
        assert (found[name].dtype, found[name].tolist()) == (np.float32, value)
    for name in ("continuous_actions", "deterministic_continuous_actions"):
        np.testing.assert_allclose(found[name], PLAIN.activate(x), rtol=1e-5)
    model = neat_onnx.export(RECURRENT, preset="ml-agents")
    once = ran(model, {"obs_0": x, "recurrent_in": memory})
    twice = ran(model, {"obs_0": x, "recurrent_in": once["recurrent_out"]})
    assert once["memory_size"].tolist() == [4.0]
    want = RECURRENT.run(np.stack([x, x]))
    np.testing.assert_allclose(twice["continuous_actions"], want[1], rtol=1e-5)


def test_memory_that_no_output_reads_is_carried():
    dead = {"source": 4, "target": 5, "weight": 1.0, "delay": 1}
    net = Network.build(inputs=1, outputs=[4], neurons=[4, 5], connections=[(0, 4, 1.0), dead])
    model = neat_onnx.export(net, preset="ml-agents")
    assert [entry.name for entry in model.graph.inputs] == ["obs_0", "recurrent_in"]
    assert neat_onnx.verify(net, model, runtime="onnxruntime", samples=16).passed


def test_godot_rl_passes_its_state_through():
    given = {"obs": np.ones((2, 3), np.float32), "state_ins": np.array([0.5, 2], np.float32)}
    found = ran(neat_onnx.export(PLAIN, preset="godot-rl"), given)
    assert found["state_outs"].tolist() == [0.5, 2.0]
    np.testing.assert_allclose(found["output"], PLAIN.activate(given["obs"]), rtol=1e-5)


def two_outputs() -> Network:
    ports = [{"name": name, "shape": [1], "neurons": [k]} for k, name in enumerate("abcd")]
    return neat_onnx.load_network(
        {
            "format": "neat-onnx",
            "version": 1,
            "inputs": ports[:2],
            "outputs": ports[2:],
            "neurons": [{"id": k} for k in range(4)],
            "connections": [{"source": k, "target": k + 2, "weight": 1.5} for k in (0, 1)],
        }
    )


def test_several_ports_are_chosen_by_name():
    net = two_outputs()
    with pytest.raises(OptionError, match=r"one output, and the network 2: c, d.*Say which it is"):
        neat_onnx.export(net, preset="ml-agents")
    model = neat_onnx.export(net, preset="ml-agents", rename={"d": "continuous_actions"})
    assert [entry.name for entry in model.graph.inputs] == ["obs_0", "obs_1"]
    assert [entry.name for entry in model.graph.outputs][:3] == [
        "c",
        "continuous_actions",
        "deterministic_continuous_actions",
    ]
    assert neat_onnx.verify(net, model).passed


@pytest.mark.parametrize(
    ("net", "options", "text"),
    [
        (RECURRENT, {"preset": "godot-rl"}, "carries no memory"),
        (PLAIN, {"preset": "sentis", "dtype": "float64"}, r"Sentis needs dtype='float32'"),
        (PLAIN, {"preset": "sentis", "opset": 26}, r"reads up to opset 25 \(opset\)"),
        (PLAIN, {"preset": "sentis", "dialect": "neataptic"}, "names of its own"),
        (PLAIN, {"preset": "unreal"}, "preset is 'unreal', expected 'none', 'ml-agents'"),
        (PLAIN, {"rename": {"inptu": "x"}}, "no input or output 'inptu'.* Its ports are"),
        (PLAIN, {"rename": {"input": "output"}}, "two tensors would be called 'output'"),
        (RECURRENT, {"rename": {"hidden_prev": "input"}}, "two tensors would be called 'input'"),
    ],
)
def test_what_an_engine_cannot_take_is_refused(net: Network, options: dict[str, Any], text: str):
    with pytest.raises(OptionError, match=text):
        neat_onnx.export(net, **options)


def test_ports_and_memory_have_other_names_and_the_genome_comes_back():
    names = {"input": "x", "output": "y", "hidden_prev": "h", "hidden_next": "h_after"}
    model = neat_onnx.export(RECURRENT, rename=names, state="joined")
    assert [(state.input, state.output) for state in model.states] == [("h", "h_after")]
    assert model.metadata["neat_onnx.memory"] == "h_after feeds h"
    assert neat_onnx.verify(RECURRENT, model, samples=16).passed
    back = neat_onnx.import_model(model)
    assert [port.name for port in back.inputs + back.outputs] == ["x", "y"]
    assert back.connections.weight.tolist() == RECURRENT.connections.weight.tolist()


def test_names_that_are_no_single_words_are_told_in_words():
    names = {"hidden_prev": "h/in", "hidden_next": "h/out"}
    model = neat_onnx.export(RECURRENT, rename=names, state="joined", include_metadata=False)
    net = neat_onnx.import_model(model, memory={"h/in": "h/out"}).without_source()
    again = neat_onnx.export(net, rename={"h/in": "h", "h/out": "after"})
    assert again.metadata["neat_onnx.memory"] == "after feeds h"


def test_the_model_of_an_import_keeps_its_graph_under_other_names():
    text = """
    <ir_version: 9, opset_import: ["": 18]>
    agraph (float[N, 3] x) => (float[N, 3] y) { z = Tanh (x) y = Relu (z) }
    """
    net = neat_onnx.import_model(neat_onnx.load_model(text.encode()))
    model = neat_onnx.export(net, rename={"x": "obs", "y": "action"})
    assert [node.op_type for node in model.graph.node] == ["Tanh", "Relu"]
    assert (model.graph.inputs[0].name, model.graph.outputs[0].name) == ("obs", "action")
    assert neat_onnx.verify(net, model, samples=16).passed


def test_the_command_takes_both(tmp_path: Path):
    from neat_onnx.cli import main

    PLAIN.save(tmp_path / "net.json")
    line = ["export", str(tmp_path / "net.json"), str(tmp_path / "a.onnx"), "--preset", "godot-rl"]
    assert main([*line, "--rename", "output=output", "--verify"]) == 0
    model = neat_onnx.load_model(tmp_path / "a.onnx")
    assert [entry.name for entry in model.graph.inputs] == ["obs", "state_ins"]
    assert main([*line, "--rename", "output"]) == 2
