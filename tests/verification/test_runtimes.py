"""Runtimes as judges: each that is installed runs a network; one that is not is asked for in words.

`make runtimes` runs them all on all corpora (docs/runtimes.md).
"""

import json
import shutil
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from models_of_others.small_models import recurrent
from support.examples.graphs import graph, node
from support.examples.networks import NETWORKS

from neat_onnx import Network, OptionError, export, import_model, verify
from neat_onnx.runtimes import RUNTIMES

PACKAGES = {"onnxruntime": "onnxruntime", "tract": "tract", "opencv": "cv2", "openvino": "openvino"}
ROOT = Path(__file__).parents[2]
INSTALLED = [name for name, package in PACKAGES.items() if find_spec(package)]
COMPILED = ["c"] * any(map(shutil.which, ("cc", "gcc", "clang")))
GENERATED = [*COMPILED, "javascript"]
NET = Network.mlp([3, 5, 2], activation="tanh", seed=1)


def memory() -> Network:
    """A network of every kind of memory that a single step has: a state of two columns."""
    return Network.gru(2, 3, 1, seed=0)


@pytest.mark.parametrize("runtime", [*INSTALLED, *GENERATED])
def test_a_runtime_runs_a_network(runtime):
    report = verify(NET, export(NET), runtime=runtime)
    assert report.verdict == "equal"
    assert report.runtime.startswith(f"{runtime} ")
    assert any(char.isdigit() for char in report.runtime)


def test_a_quantized_model_is_run_as_it_is_written():
    """onnxruntime's rewrites make QLinearSoftmax of it, which has 254 steps to 1 instead of 255."""
    pairs = [
        node(op, f"{reads} {scale}", gives)
        for reads, scale, between, gives in (("x", "s", "q", "v"), ("p", "t", "r", "y"))
        for op, reads, gives in (("QuantizeLinear", reads, between),
                                 ("DequantizeLinear", between, gives))
    ]  # fmt: skip
    nodes = [*pairs[:2], node("Softmax", "v", "p", axis=-1), *pairs[2:]]
    model = graph(nodes, x=("N", 4), s=np.float32(0.02), t=np.float32(1 / 255))
    report = verify(import_model(model), model, runtime="onnxruntime")
    assert report.quantized
    assert report.passed, str(report)
    assert report.runtime.endswith("without rewrites")


@pytest.mark.parametrize("runtime", [*INSTALLED, *GENERATED])
def test_a_runtime_plays_sequences(runtime):
    net = memory()
    assert verify(net, export(net), runtime=runtime, samples=8).verdict == "equal"


@pytest.mark.parametrize("runtime", sorted({*INSTALLED} - {"opencv"}))
@pytest.mark.parametrize("name", ["LSTM all 17", "GRU last 17", "RNN two layers 17"])
def test_a_runtime_runs_recurrent_layers_of_an_open_batch(runtime, name):
    """tract needs the number of samples; OpenCV has no such layers but LSTM's."""
    net = import_model(dict(recurrent())[name])
    model = export(net)
    assert {"LSTM", "GRU", "RNN"} & {node.op_type for node in model.graph.node}
    assert verify(net, model, runtime=runtime, samples=4).verdict == "equal"


@pytest.mark.parametrize("runtime", INSTALLED)
@pytest.mark.parametrize("aggregation", ["max", "product", "median", "maxabs"])
def test_a_runtime_adds_each_bias_to_its_own_reduction(runtime, aggregation):
    """OpenVINO adds it to another where a reduction drops its axis (docs/runtimes.md)."""
    neurons = [{"id": 3 + k, "aggregation": aggregation, "bias": 0.25 * k} for k in range(3)]
    links = [(source, 3 + k, 0.5 + source - k) for k in range(3) for source in range(3)]
    net = Network.build(inputs=3, outputs=[3, 4, 5], neurons=neurons, connections=links)
    assert verify(net, export(net), runtime=runtime, samples=8).verdict == "equal"


@pytest.mark.parametrize("runtime", GENERATED)
def test_it_is_run_as_scan_and_with_named_ports(runtime):
    net = memory()
    model = export(net, sequence=True, dtype="float64")
    assert verify(net, model, runtime=runtime, samples=8).verdict == "equal"
    net = NETWORKS["ports_named_like_tensors"]
    report = verify(net, export(net, dtype="float64"), runtime=runtime, samples=8)
    assert (report.verdict, report.dtype) == ("equal", "float64")


@pytest.mark.parametrize("runtime", GENERATED)
@pytest.mark.parametrize("net", [NET, memory()], ids=["mlp", "gru"])
def test_generated_code_is_that_of_the_model(runtime, net):
    """Of another network's model, which has the same ports: different, and the neuron is named."""
    other = export(Network.from_document(shifted(net)))
    report = verify(net, other, runtime=runtime, samples=8)
    assert report.verdict == "different"
    assert report.first_error


def shifted(net):
    """The document of the network with one weight changed."""
    document = json.loads(net.to_json())
    document["connections"][0]["weight"] += 0.1
    return document


@pytest.mark.parametrize("runtime", PACKAGES)
def test_what_is_not_installed_is_told(runtime, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[runtime], None)
    with pytest.raises(OptionError, match=f"{runtime} is not installed") as caught:
        verify(NET, export(NET), runtime=runtime)
    distribution = "opencv-python-headless" if runtime == "opencv" else runtime
    assert caught.value.hint == f"pip install {distribution}"


@pytest.mark.parametrize("runtime", ["c", "javascript"])
def test_generated_code_needs_a_compiler_or_node(runtime, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(OptionError, match=f"{runtime} is not installed") as caught:
        verify(NET, export(NET), runtime=runtime)
    assert {"c": "gcc", "javascript": "node"}[runtime] in caught.value.hint


def test_the_extras_are_named_like_the_runtimes():
    """So the hint of one that is not installed names its extra; `runtime` is an alias."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras.pop("runtime") == extras["onnxruntime"]
    assert set(extras) - {"torch"} == set(PACKAGES)


def test_every_runtime_is_known():
    others = {"reference", "c", "javascript"}
    assert set(PACKAGES) | others == set(RUNTIMES)
