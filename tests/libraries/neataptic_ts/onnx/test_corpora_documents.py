"""What NeatapticTS wrote: read, repaired, and computing what the corpora say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.examples.cases import Case, assert_within, cases
from support.examples.flat_documents import with_warnings
from support.harness.playing import played, sequences
from support.peers.interpreter import computed

from neat_onnx import ModelError, Network, convert, import_model, load_model, validate

DOCUMENTS = cases("nts-onnx")
WHOLE = [case for case in DOCUMENTS if case.document["graph_status"] == "ok"]
BROKEN = [case for case in DOCUMENTS if case.document["graph_status"] != "ok"]
SHOWN = ("convpad", "convshare", "pool")  # losses that the document itself shows
PEERS = json.loads(Path(__file__).with_name("peer_documents.json").read_text("utf-8"))
BEYOND = {"conv-of-its-activation", "conv-with-memory", "conv-and-a-pool-that-does-nothing"}
TOO_SMALL = {"pools-everywhere", "pool-after-memory", "lstm-and-gru-then-pool"}


def wanted(case: Case) -> Case:
    """The case with the outputs of its graph, where that is not the network's."""
    if case.document["faithful"]:
        return case
    return replace(case, outputs=np.array(case.document["graph_outputs"]))


def ran(net: Network, case: Case) -> Any:
    return net.run(case.inputs) if case.sequence else net.activate(case.inputs)


def test_the_groups_are_there():
    assert len(WHOLE) >= 50
    assert len(BROKEN) >= 4
    assert {case.document["faithful"] for case in WHOLE} == {True, False}


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
def test_every_document_computes_what_it_should(case: Case):
    net, texts = with_warnings(import_model, case.source)
    want = wanted(case)
    assert_within(ran(net, case), want.outputs, want.tolerance64)
    lost = [text for text in texts if text.startswith("the document computes something else")]
    shown = not case.document["faithful"] and case.group.removeprefix("nts-onnx-").startswith(SHOWN)
    assert bool(lost) == shown


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case.name)
def test_every_document_becomes_valid_onnx(case: Case):
    model, _ = with_warnings(convert, case.source)
    assert validate(model) == []
    want = wanted(case)
    x, outputs, tolerance, _ = sequences(want)
    assert_within(played(model, x), outputs, tolerance)
    # nothing is left to repair, in either form: a warning would be an error here
    assert_within(ran(import_model(model.to_json()), case), want.outputs, want.tolerance64)
    assert convert(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
@pytest.mark.parametrize("make", [import_model, convert])
def test_a_document_that_contradicts_itself_is_refused_by_name(case: Case, make: Any):
    with pytest.raises(ModelError) as refusal:
        with_warnings(make, case.source)
    status, line = case.document["graph_status"], str(refusal.value)
    _, operator, name, *_ = status.split()
    assert f"{name} ({operator})" in line
    assert "pool_after_l1" in line
    if "columns" in status:
        assert status.split(operator + " " + name)[1] in line
    assert "export it again without pool2dMappings" in line


@pytest.mark.parametrize("recorded", PEERS, ids=lambda recorded: recorded["case"])
def test_the_corners_of_the_peer_are_read(recorded: dict[str, Any]):
    document = recorded["document"]
    if recorded["case"] in TOO_SMALL:
        with pytest.raises(
            ModelError, match=r"gemm_l2_n0 .* changes the size|pool_after_l2 .* flat layer"
        ):
            with_warnings(convert, document)
        return
    net, texts = with_warnings(import_model, document)
    assert not any("has no pools" in text for text in texts)  # the one that there is does nothing
    model, _ = with_warnings(convert, document)
    assert validate(model) == []
    x = np.random.default_rng(0).normal(size=(5, len(net.input_neurons))).astype(np.float32)
    got = net.run(x.astype(np.float64))
    np.testing.assert_allclose(played(model, x[:, None])[:, 0], got, rtol=1e-5, atol=1e-5)
    if recorded["case"] not in BEYOND:
        want = computed(document, recorded["options"], x.astype(np.float64))
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_a_state_that_nothing_reads_is_left_out():
    (document,) = (peer["document"] for peer in PEERS if peer["case"] == "conv-with-memory")
    model, texts = with_warnings(convert, document)
    assert any("no node reads the state 'hidden_prev'" in text for text in texts)
    assert [entry.name for entry in model.graph.inputs] == ["input"]


def test_by_products_leave_nothing_behind():
    (case,) = (case for case in WHOLE if case.name == "nts-onnx-gru-1")
    assert any(node.op_type == "GRU" for node in load_model(case.source).graph.node)
    model, texts = with_warnings(convert, case.source)
    assert not any("GRU" in name for name in model.graph.tensors)
    assert "gru_emitted_layers" not in model.metadata
    assert "layer_sizes" in model.metadata
    assert sum("LSTM and GRU" in text for text in texts) == 1
    assert not any("left out: 0 nodes" in text for text in texts)
