"""The documents: equal to what NeatapticTS wrote, for the corpora and for cases of our own.

`peer_documents.json` holds what NeatapticTS 0.1.14's own exportToONNX wrote for small networks that
meet its corners: several mappings, empty texts, layers that look like several things at once.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import Case, cases
from interpreter import computed
from jsonschema import Draft202012Validator

from neat_onnx import (
    Model,
    ModelError,
    NeatOnnxError,
    NeatOnnxWarning,
    Network,
    convert,
    export,
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


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["case"])
def test_corners_are_written_as_the_peer_does(recorded: dict[str, Any]):
    model, _ = written(recorded["network"], recorded["options"], lossy=True)
    assert json.loads(model.to_json()) == recorded["document"]


@pytest.mark.parametrize("case", COMPUTED, ids=lambda case: case.name)
def test_what_is_not_refused_computes_the_network(case: Case):
    options = case.document["options"]
    model, _ = written(case.document["source_network"], options)
    rows = [case.inputs] if case.sequence else case.inputs[:, None]
    got = [computed(model.to_document(), options, np.array(steps)) for steps in rows]
    np.testing.assert_allclose(np.concatenate(got), case.outputs, rtol=1e-11, atol=1e-11)


def test_the_published_schema_accepts_every_form():
    accepts = Draft202012Validator(json_schema("model"))
    for recorded in RECORDED:
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
