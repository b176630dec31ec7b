"""`encoding="sparse"` on its way through the product: smaller files, and nothing else changes."""

import json

import numpy as np
import pytest
from support.examples.cases import case
from support.examples.networks import NETWORKS
from support.harness.page import convert
from support.harness.routes import Trip, assert_same_genome, follows_the_schema

import neat_onnx
from neat_onnx import Network
from neat_onnx.cli import main


def partly_connected(inputs=120, hidden=80, fan_in=2) -> Network:
    """One layer in which each neuron reads `fan_in` of the inputs, and an output that reads all."""
    random = np.random.default_rng(5)
    neurons = [{"id": inputs + k, "activation": "tanh", "bias": 0.1 * k} for k in range(hidden)]
    edges = [
        (int(source), gene["id"], float(random.normal()))
        for gene in neurons
        for source in random.choice(inputs, fan_in, replace=False)
    ]
    last = inputs + hidden
    edges += [(gene["id"], last, float(random.normal())) for gene in neurons]
    return Network.build(inputs=inputs, outputs=[last], neurons=[*neurons, last], connections=edges)


NET = partly_connected()


@pytest.fixture
def files(tmp_path, monkeypatch):
    """An empty directory with the network in it; commands run there."""
    monkeypatch.chdir(tmp_path)
    NET.save("net.json")
    return tmp_path


def tensors(text: str) -> dict[str, dict]:
    return {tensor["name"]: tensor for tensor in json.loads(text)["graph"]["initializer"]}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_only_the_json_of_partly_connected_layers_changes(dtype):
    sparse = neat_onnx.export(NET, encoding="sparse", dtype=dtype)
    dense = neat_onnx.export(NET, dtype=dtype)
    assert (len(sparse.to_json()), sparse.to_bytes()) < (len(dense.to_json()) / 3, dense.to_bytes())
    assert sparse.to_bytes() == dense.to_bytes()
    assert sparse.to_json(encoding="numbers") == dense.to_json()
    assert dense.to_json(encoding="sparse") == sparse.to_json()
    found, before = tensors(sparse.to_json()), tensors(dense.to_json())
    assert list(found) == list(before)
    assert len(found["W0"]["sparse"]["values"]) == 160
    assert [name for name in found if found[name] != before[name]] == ["W0"]
    assert neat_onnx.load_model(sparse.to_json()).to_json() == dense.to_json()


@pytest.mark.parametrize("name", ["evolved_large", "partly_connected", "overflow", "shaped_ports"])
def test_the_genome_comes_back_to_the_last_bit(name):
    trip = Trip(NETWORKS[name], {"encoding": "sparse"})
    assert_same_genome(neat_onnx.import_model(trip.model.to_json()), trip)


def test_the_genome_of_a_sequence_comes_back():
    """The weights are in the body of a Scan."""
    net = neat_onnx.load_network(case("nts-net-back-5").source)
    model = neat_onnx.export(net, sequence=True, encoding="sparse", fused_recurrent=False)
    assert neat_onnx.import_model(model.to_json()) == net


def test_the_published_schema_describes_it():
    trip = Trip(NETWORKS["evolved_large"], {"encoding": "sparse"})
    assert "coordinates" in trip.model.to_json()
    follows_the_schema(trip)


def test_every_command_takes_it(files, capsys):
    assert main(["export", "net.json", "net.onnx.json", "--encoding", "sparse", "--verify"]) == 0
    assert main(["export", "net.json", "dense.onnx.json"]) == 0
    text = (files / "net.onnx.json").read_text()
    assert text == neat_onnx.export(NET, encoding="sparse").to_json()
    assert main(["validate", "net.onnx.json"]) == 0
    assert main(["verify", "net.json", "net.onnx.json", "--runtime", "onnxruntime"]) == 0
    assert main(["import", "net.onnx.json", "back.json"]) == 0
    assert neat_onnx.load_network("back.json") == NET
    capsys.readouterr()
    printed = []
    for name in ("net.onnx.json", "dense.onnx.json"):
        assert main(["inspect", name, "--json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0]["model"] == printed[1]["model"]
    assert printed[0]["network"] == printed[1]["network"]


def test_a_wrong_file_is_one_line_of_every_command(files, capsys):
    document = neat_onnx.export(NET, encoding="sparse").to_document()
    document["graph"]["initializer"][0]["dims"] = [10**6, 10**6]
    (files / "bad.json").write_text(json.dumps(document))
    for arguments in (["import", "bad.json", "x.json"], ["inspect", "bad.json"]):
        assert main(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: initializer W0: dims [1000000, 1000000] are too large: ")
    assert main(["validate", "bad.json"]) == 1
    assert "error: schema: initializer W0: dims" in capsys.readouterr().out
    assert sorted(path.name for path in files.iterdir()) == ["bad.json", "net.json"]


def test_the_page_writes_it_too():
    data = NET.to_json().encode()
    reply, blobs = convert(data, name="net.json", options={"encoding": "sparse"})
    assert reply["result"]["report"]["passed"]
    assert blobs["json"].decode() == neat_onnx.export(NET, encoding="sparse").to_json()
    assert blobs["onnx"] == neat_onnx.export(NET).to_bytes()
