"""Networks written for FANN, run by FANN itself where Debian's libfann2 is installed."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.examples.cases import assert_within, cases
from support.peers import fann_peer

from neat_onnx import Network, NetworkError, load_network

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
RECORDED = sorted((Path(__file__).parent / "fann").glob("*.json"))
needs_fann = pytest.mark.skipif(
    fann_peer.library() is None, reason="FANN is not installed: Debian's libfann2"
)
X = np.random.default_rng(1).normal(size=(6, 2))


@needs_fann
def test_fann_computes_recorded_networks_again():
    for path in RECORDED:
        case = json.loads(path.read_text("utf-8"))
        net = load_network(case["source"].encode())
        outputs = fann_peer.computed(net.to_library("fann"), case["inputs"])
        np.testing.assert_allclose(outputs, case["outputs"], rtol=1e-12, atol=1e-12)


@needs_fann
def test_fann_computes_networks_of_others_and_the_rest_is_refused_by_name():
    said = 0
    for case in cases("nts-net", "nap-net", "np-ff", "np-atom")[::2]:
        try:
            document = case.network().to_library("fann")
        except NetworkError as error:
            assert "FANN cannot hold" in str(error)
            assert "(neuron " in str(error)
            continue
        assert_within(
            fann_peer.computed(document, case.inputs), case.outputs, case.tolerance64 + 1e-15
        )
        said += 1
    assert said >= 10


@needs_fann
def test_fann_trains_on_and_what_it_saves_is_read():
    net = Network.mlp([2, 6, 1], activation="sigmoid", seed=3)
    rows, wanted = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)], [0.0, 1.0, 1.0, 0.0]
    saved = fann_peer.trained(net.to_library("fann"), rows, wanted, 1500)
    after = load_network(saved.encode()).activate(rows)
    assert np.max(np.abs(after.ravel() - wanted)) < 0.1
    np.testing.assert_allclose(fann_peer.computed(saved, rows), after, rtol=1e-12)


def outputs_of_all_sorts() -> Network:
    """An output that is read, one that is an input, one twice, and one that nothing enters."""
    return Network.build(
        inputs=[0, 1],
        outputs=[3, 0, 2, 2, 4, 5],
        neurons=[
            {"id": 2, "activation": "relu", "bias": 0.25},
            {"id": 3, "activation": "complement", "bias": -1.0},
            {"id": 4, "activation": "bipolar", "bias": 0.5},
            {"id": 5, "activation": "neat_sin", "bias": 1.0},
        ],
        connections=[(0, 2, 200.0), (1, 2, -1.5), (2, 3, 2.0), (3, 4, 1.0), (0, 4, 0.5)],
    )


def test_outputs_that_cannot_stand_last_are_copied():
    net = outputs_of_all_sorts()
    written = net.to_library("fann")
    assert "layer_sizes=3 1 1 1 6\n" in written
    np.testing.assert_allclose(load_network(written.encode()).activate(X), net.activate(X), 1e-14)
    if fann_peer.library():
        np.testing.assert_allclose(fann_peer.computed(written, X), net.activate(X), 1e-14)


def test_weights_too_large_to_be_multiplied_are_refused():
    net = Network.build(inputs=1, outputs=[1], neurons=[{"id": 1}], connections=[(0, 1, 1e300)])
    with pytest.raises(NetworkError, match=r"a weight that large \(neuron 1\)"):
        net.to_library("fann")


@pytest.mark.parametrize(
    ("code", "steepness", "outputs"),
    [
        (5, 100.0, [-0.9051482536448664, 0.0, 0.9051482536448664, 0.9051482536448664]),
        (3, 100.0, [0.04742587317756678, 0.5, 0.9525741268224334, 0.9525741268224334]),
        (0, -2.0, [-75.0, -75.0, -75.0, 75.0]),
        (5, -1.0, [-1.0, -1.0, -1.0, 1.0]),
        (13, -300.0, [-0.5, -0.5, 0.5, 0.5]),
    ],
)
def test_sums_are_limited_for_each_steepness(code, steepness, outputs):
    """Outputs of libfann 2.2, which computes in float32."""
    net = Network.build(
        inputs=1,
        outputs=[1],
        neurons=[{"id": 1, "activation": "tanh"}],
        connections=[(0, 1, 1.0)],
    )
    document = net.to_library("fann").replace("(2, 5, 1.0)", f"(2, {code}, {steepness})")
    read = load_network(document.encode())
    x = [[-6.0], [0.0], [0.25], [500.0]]
    np.testing.assert_allclose(read.activate(x).ravel(), outputs, rtol=1e-7)
