"""Broken and hostile network files: every verdict of the corpora's index."""

import warnings

import numpy as np
import pytest
from support.examples.cases import assert_within, bad_files

from neat_onnx.errors import DocumentError, NeatOnnxError, NeatOnnxWarning
from neat_onnx.libraries import load_network

NETWORKS = bad_files("network-json", "neat-python")
MODELS = bad_files("onnx-json", "onnx-binary")
MAY_REFUSE = {"refuse", "refuse-or-warn", "either"}
MUST_WARN = {"refuse-or-warn", "accept-with-warning"}

PLACES = {
    "json-nan-literal": "connections[4].weight",
    "json-infinity-literal": "nodes[2].bias",
    "json-1e400": "connections[4].weight",
    "net-weight-string": "connections[4].weight",
    "net-weight-null": "connections[4].weight",
    "net-node-null": "nodes[2]",
    "net-missing-endpoint": "connections[4].to",
    "net-negative-endpoint": "connections[4].from",
    "net-output-count": "output",
    "net-unknown-squash": "nodes[2].squash",
    "net-huge-input": "input",
    "net-no-connections-key": "connections",
    "np-missing-endpoint": "connections[6].from",
    "np-custom-shadow": "nodes[0].activation",
    "np-unknown-activation": "nodes[0].activation",
    "np-unknown-aggregation": "nodes[0].aggregation",
    "np-unknown-network-type": "network_type",
    "np-response-string": "nodes[0].response",
    "np-ctrnn-no-tau": "nodes[0].time_constant",
}


@pytest.mark.parametrize(("path", "entry"), NETWORKS, ids=lambda value: getattr(value, "stem", ""))
def test_verdict(path, entry):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            net = load_network(path)
        except NeatOnnxError as error:
            assert entry["verdict"] in MAY_REFUSE
            assert "\n" not in str(error)
            assert len(str(error)) < 1000
            return
    assert entry["verdict"] != "refuse"
    assert entry["verdict"] not in MUST_WARN or any(
        issubclass(warning.category, NeatOnnxWarning) for warning in caught
    )
    expected = entry["if_accepted"]
    want = np.array(expected["outputs"])
    assert_within(net.activate(expected["inputs"]), want, 1e-12 * np.maximum(1.0, np.abs(want)))


@pytest.mark.parametrize("name", PLACES)
def test_says_where(name):
    (path,) = [path for path, _ in NETWORKS if path.stem == name]
    with pytest.raises(NeatOnnxError) as caught:
        load_network(path)
    assert caught.value.where == PLACES[name]


@pytest.mark.parametrize("name", ["np-order", "json-utf8-bom"])
def test_what_can_be_read_rightly_is_read(name):
    (path,) = [path for path, _ in NETWORKS if path.stem == name]
    load_network(path)


def test_a_cycle_is_told_by_its_neurons():
    (path,) = [path for path, _ in NETWORKS if path.stem == "np-cycle"]
    with pytest.raises(NeatOnnxError, match=r"form a cycle: neuron 2, neuron 1"):
        load_network(path)


@pytest.mark.parametrize(("path", "entry"), MODELS, ids=lambda value: getattr(value, "stem", ""))
def test_a_model_is_no_network(path, entry):
    with pytest.raises(DocumentError) as caught:
        load_network(path)
    if entry["format"] == "onnx-json" and entry["verdict"] == "accept":
        assert "import" in (caught.value.hint or "")
