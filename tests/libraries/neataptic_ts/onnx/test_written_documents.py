"""The documents: equal to what NeatapticTS wrote, for the corpora and for cases of our own.

`peer_documents.json` holds what NeatapticTS 0.1.14's own exportToONNX wrote for small networks that
meet its corners: several mappings, empty texts, layers that look like several things at once.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.examples.cases import Case, case, cases

from neat_onnx import (
    Model,
    ModelError,
    NeatOnnxError,
    NeatOnnxWarning,
    Network,
    OptionError,
    convert,
    export,
    import_model,
    json_schema,
    load_model,
    load_network,
    verify,
)

CORPUS = cases("nts-onnx")
RECORDED = json.loads(Path(__file__).with_name("peer_documents.json").read_text("utf-8"))
COMPUTED = [case for case in CORPUS if case.document["faithful"]]


def written(network: Any, options: dict[str, Any], **more: Any) -> tuple[Model, list[str]]:
    """The model, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NeatOnnxWarning)
        net = network if isinstance(network, Network) else load_network(network)
        model = export(net, options={**options, "dialect": "neataptic"}, **more)
    return model, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_the_corpora_are_written_or_refused(case: Case):
    network, options = case.document["source_network"], case.document["options"]
    if not case.document["faithful"]:
        with pytest.raises(NeatOnnxError, match="would lose something") as refusal:
            written(network, options)
        assert refusal.value.where
        assert "lossy=True" in str(refusal.value.hint)
    model, reply = written(network, options, lossy=not case.document["faithful"])
    assert json.loads(model.to_json()) == case.source
    assert any(text.startswith("lost: ") for text in reply) != case.document["faithful"]
    assert len(set(reply)) == len(reply)


def test_the_documentation_counts_the_documents():
    text = (Path(__file__).parents[4] / "docs" / "neataptic-onnx.md").read_text("utf-8")
    lossy = len(CORPUS) - len(COMPUTED)
    assert f"all {len(CORPUS)} come out equal, {lossy} of them with `lossy=True`" in text


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["case"])
def test_corners_are_written_as_the_peer_does(recorded: dict[str, Any]):
    model, _ = written(recorded["network"], recorded["options"], lossy=True)
    assert json.loads(model.to_json()) == recorded["document"]


def respelled(case: Case, squashes: list[str]) -> dict[str, Any]:
    """The network of a case, its hidden nodes of these activations, over and over."""
    network = json.loads(json.dumps(case.document["source_network"]))
    hidden = [node for node in network["nodes"] if node["type"] == "hidden"]
    for k, node in enumerate(hidden):
        node["squash"] = squashes[k % len(squashes)]
    return network


def test_logistic_and_sigmoid_are_two_activations_as_the_peer_has_it(tmp_path: Path):
    """It tells activations apart by the names of functions, so such a layer is a mixed one."""
    recorded = case("nts-onnx-mixed-1")
    network, options = respelled(recorded, ["sigmoid", "logistic"]), recorded.document["options"]
    expected = json.loads(json.dumps(recorded.source))
    for node in expected["graph"]["node"]:
        if node["name"].startswith("act_l1_"):
            node["op_type"] = "Sigmoid"
    net = load_network(network)
    assert json.loads(written(net, options)[0].to_json()) == expected
    with pytest.raises(OptionError, match="logistic, sigmoid"):
        written(net, {})
    net.save(tmp_path / "own.json")
    net.save(tmp_path / "theirs.json", library="neataptic-ts")
    for again in (
        load_network(tmp_path / "own.json"),
        load_network(tmp_path / "theirs.json"),
        import_model(export(net)),
    ):
        assert json.loads(written(again, options)[0].to_json()) == expected
    assert net == load_network(respelled(recorded, ["logistic"]))


def test_the_published_schema_accepts_every_form():
    accepts = Draft202012Validator(json_schema("model"))
    for recorded in RECORDED[::4]:  # validation in Python is slow
        accepts.validate(recorded["document"])


def test_a_document_is_read_and_verified():
    net = Network.mlp([3, 4, 2])
    model, _ = written(net, {"batch_dimension": True})
    again = load_model(model.to_json())
    assert again.graph == model.graph
    for each in (again, model):  # no runtime loads it: it has to be repaired first
        with pytest.raises(ModelError, match="no node produces the output 'output'"):
            verify(net, each, samples=8)
    with pytest.warns(NeatOnnxWarning, match="no node produces the output 'output'"):
        repaired = convert(again)
    assert verify(net, repaired, samples=8).passed
