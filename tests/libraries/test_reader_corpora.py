"""Every network of the corpora that has a reader, against what the peer computed."""

import pytest
from support.examples.cases import Case, assert_within, case, cases

from neat_onnx.errors import NeatOnnxWarning
from neat_onnx.libraries import load_network
from neat_onnx.network.evaluate import evaluate

CASES = cases("nts-net", "nap-net", "np-ff", "np-atom", "np-rec")


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def read(request):
    return request.param


def test_computes_what_the_peer_computes(read: Case):
    net = read.network()
    run = net.run if read.sequence else net.activate
    assert_within(run(read.inputs), read.outputs, read.tolerance64)


def test_the_plain_evaluator_agrees(read: Case):
    net = read.network()
    rows = [read.inputs] if read.sequence else [row[None] for row in read.inputs]
    start = 0
    for steps in rows:
        part = slice(start, start + len(steps))
        assert_within(evaluate(net, steps), read.outputs[part], read.tolerance64[part])
        start += len(steps)


def test_keeps_every_gene(read: Case):
    net = read.network()
    bias = sorted(node["bias"] for node in read.source["nodes"] if node["type"] != "input")
    weights = sorted(gene["weight"] for gene in read.source["connections"])
    masks = [node.get("mask", 1) for node in read.source["nodes"] if node["type"] != "input"]
    added = [mask for mask in masks if mask != 1]
    assert sorted(net.connections.weight) == sorted(weights + added)
    constants = len(net) - len(read.source["nodes"])
    if not read.name.startswith("np-ff"):  # there, unused nodes may be among those left out
        assert sorted(net.neurons.bias[~net.is_input]) == sorted(bias + [0.0] * constants)


def test_a_connection_that_an_input_gates_is_dead_and_said_to_be():
    read = case("nts-net-edge-2")
    with pytest.warns(NeatOnnxWarning, match="1 connection gated by an input"):
        net = load_network(read.source)
    gated = net.connections.gater >= 0
    assert gated.sum() == 1
    assert not net.connections.enabled[gated].any()


def test_a_disabled_self_connection_acts_in_neataptic_ts():
    read = case("nts-net-disabled-3")
    disabled = [gene for gene in read.source["connections"] if not gene["enabled"]]
    to_itself = [gene for gene in disabled if gene["from"] == gene["to"]]
    assert to_itself
    place = f"connections\\[{read.source['connections'].index(to_itself[0])}\\]"
    with pytest.warns(NeatOnnxWarning, match=f"written as enabled: {place};"):
        net = load_network(read.source)
    assert (~net.connections.enabled).sum() == len(disabled) - len(to_itself)


def test_gene_ids_are_kept():
    read = case("nts-net-gate-1")
    assert load_network(read.source).neurons.id.tolist() == [
        node["geneId"] for node in read.source["nodes"]
    ]
