"""The published schemas: in step, and with our verdicts in validators of two languages."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from support.examples.cases import case
from support.harness.ajv import verdicts_of_ajv

import neat_onnx

ROOT = Path(__file__).parents[1]
NETWORK = {
    "format": "neat-onnx",
    "version": 1,
    "inputs": [{"name": "input", "shape": [2], "neurons": [0, 1]}],
    "outputs": [{"name": "output", "shape": [1], "neurons": [2]}],
    "neurons": [
        {"id": 0},
        {"id": 1, "name": "speed"},
        {"id": 2, "activation": "tanh", "aggregation": "max", "bias": 0.5, "response": 2},
    ],
    "connections": [
        {"source": 0, "target": 2, "weight": 1.25},
        {"source": 1, "target": 2, "weight": -1e300, "enabled": False, "gater": 2, "gate_delay": 1},
    ],
}
WRONG_NETWORKS = {
    "no neurons": (("neurons",), None),
    "no outputs": (("outputs",), []),
    "unknown key": (("colour",), 1),
    "another format": (("format",), "neat"),
    "a later version": (("version",), 2),
    "port without a name": (("inputs", 0, "name"), ""),
    "negative extent": (("inputs", 0, "shape"), [-2]),
    "neurons not a list": (("neurons",), {"0": {}}),
    "neuron without an id": (("neurons", 0, "id"), None),
    "id as text": (("neurons", 0, "id"), "0"),
    "id beyond 64 bits": (("neurons", 0, "id"), 2**63),
    "bias as text": (("neurons", 2, "bias"), "0.5"),
    "misspelt gene": (("neurons", 2, "bais"), 0.5),
    "activation as object": (("neurons", 2, "activation"), {"name": "tanh"}),
    "no weight": (("connections", 0, "weight"), None),
    "weight as text": (("connections", 0, "weight"), "1.25"),
    "enabled as number": (("connections", 1, "enabled"), 0),
    "negative delay": (("connections", 0, "delay"), -1),
    "fractional delay": (("connections", 0, "delay"), 0.5),
}
RIGHT_OPTIONS = [
    {},
    {"opset": 13, "dtype": "float64", "fold": True},
    {"batch_dimension": "batch", "producer_version": None, "doc_string": "é"},
    {"batch_dimension": False, "encoding": "raw", "mixed_activations": "per_neuron"},
]
WRONG_OPTIONS = [
    {"opset": 12},
    {"opset": 29},
    {"opset": 18.5},
    {"opset": "18"},
    {"dtype": "float16"},
    {"fold": 1},
    {"batch_dimension": 4},
    {"encoding": "sparse"},
    {"colour": "red"},
    {"doc_string": None},
]


def changed(document, path, value):
    """A copy with `value` at `path`; None takes the key away."""
    document = owner = copy.deepcopy(document)
    for step in path[:-1]:
        owner = owner[step]
    if value is None:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return document


def right(name):
    if name == "options":
        return RIGHT_OPTIONS
    dag = neat_onnx.load_network(case("nts-net-dag-01").source)
    return [NETWORK, json.loads(dag.to_json()), *neat_onnx.json_schema("network")["examples"]]


def wrong(name):
    if name == "options":
        return WRONG_OPTIONS
    return [changed(NETWORK, *change) for change in WRONG_NETWORKS.values()]


def load(name, document):
    if name == "options":
        return neat_onnx.export(neat_onnx.Network.mlp([1, 1]), options=document)
    return neat_onnx.load_network(document)


def test_published_is_generated():
    """Rewritten by `make schema`; in a fresh process, as other tests register operators."""
    names = ["model", "network", "options", "certificate"]
    program = "import sys\nfrom neat_onnx.cli import main\n"
    program += "for name in sys.argv[1:]: assert main(['schema', name]) == 0"
    fresh = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, text=True, check=True
    ).stdout
    published = [(ROOT / "schema" / f"{name}.schema.json").read_text() for name in names]
    assert "".join(published) == fresh


@pytest.mark.parametrize("name", ["model", "network", "options", "certificate"])
def test_a_schema_is_one_with_a_name_and_examples(name):
    schema = neat_onnx.json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].endswith(f"/{name}.schema.json")
    assert schema["title"]
    assert schema["description"]
    for example in schema.get("examples", ()):
        jsonschema.Draft202012Validator(schema).validate(example)


@pytest.mark.parametrize("name", ["model", "network", "certificate"])
def test_a_document_may_name_its_schema(name, tmp_path):
    """Validators allow the key, readers read past it, and a model keeps it."""
    net = neat_onnx.Network.mlp([2, 2, 1], seed=0)
    model = neat_onnx.export(net)
    certificate = neat_onnx.certify(net, model, samples=4)
    document = {"model": model, "network": net, "certificate": certificate}[name]
    document.save(tmp_path / "document.json", schema=True)
    written = json.loads((tmp_path / "document.json").read_text())
    schema = neat_onnx.json_schema(name)
    assert next(iter(written)) == "$schema"
    assert written["$schema"] == schema["$id"]
    jsonschema.Draft202012Validator(schema).validate(written)
    if name == "network":
        assert neat_onnx.load_network(written) == net
    elif name == "model":
        assert neat_onnx.load_model(written).to_document() == written
        assert neat_onnx.load_model(written) == neat_onnx.load_model(model.to_document())
    else:
        assert neat_onnx.replay(written, net, model).passed


def test_options_may_name_their_schema():
    link = {"$schema": neat_onnx.json_schema("options")["$id"], "dtype": "float64"}
    jsonschema.Draft202012Validator(neat_onnx.json_schema("options")).validate(link)
    assert neat_onnx.export(neat_onnx.Network.mlp([1, 1]), options=link).graph.inputs


def test_a_schema_is_named_where_there_is_one(tmp_path):
    net = neat_onnx.Network.mlp([1, 1], activation="sigmoid")
    for save in (
        lambda: net.save(tmp_path / "net.json", "neataptic", schema=True),
        lambda: neat_onnx.export(net).save(tmp_path / "net.onnx", schema=True),
        lambda: neat_onnx.export(net).save(tmp_path / "n.json", spelling="protobuf", schema=True),
    ):
        with pytest.raises(neat_onnx.OptionError, match="the JSON Schema is of"):
            save()
    assert list(tmp_path.iterdir()) == []


def test_there_is_no_other_schema():
    with pytest.raises(neat_onnx.OptionError, match="no schema named 'genome'"):
        neat_onnx.json_schema("genome")


@pytest.mark.parametrize("name", ["network", "options", "certificate"])
def test_every_property_says_what_it_is(name):
    schema = neat_onnx.json_schema(name)
    for part in (schema, *schema.get("$defs", {}).values()):
        assert [key for key, value in part["properties"].items() if not value["description"]] == []


@pytest.mark.parametrize("name", ["network", "options"])
def test_jsonschema_agrees_with_our_reader(name):
    validator = jsonschema.Draft202012Validator(neat_onnx.json_schema(name))
    for document in right(name):
        validator.validate(document)
        load(name, document)
    for document in wrong(name):
        assert not validator.is_valid(document), document
        with pytest.raises(neat_onnx.NeatOnnxError):
            load(name, document)


@pytest.mark.parametrize("name", ["network", "options"])
def test_ajv_agrees(name, tmp_path):
    verdicts = ["valid"] * len(right(name)) + ["wrong"] * len(wrong(name))
    documents = [*right(name), *wrong(name)]
    lines = verdicts_of_ajv(tmp_path, neat_onnx.json_schema(name), documents)
    assert [line.split(":")[0] for line in lines] == verdicts
