"""A network as the page draws it: all of it, and what is near a neuron of a large one."""

import json

import numpy as np
import pytest
from support.examples.cases import case
from support.harness.page import ask, convert

import neat_onnx
from neat_onnx.page.drawing import drawing, neighbourhood, neuron_called

WIDE = neat_onnx.Network.mlp([20, 400, 3], activation="tanh", seed=0)


def ends(drawn: dict) -> set[tuple[int, int]]:
    """The connections of a drawing, by places in the network."""
    place = [neuron["place"] for neuron in drawn["neurons"]]
    return {(place[gene["source"]], place[gene["target"]]) for gene in drawn["connections"]}


def test_a_large_network_is_drawn_in_levels_or_around_a_neuron():
    convert(WIDE.to_json().encode(), name="wide.json")
    levels = ask("drawing")[0]["result"]
    assert levels["graph"] is None
    assert levels["svg"].startswith("<svg")
    everyone = ask("drawing", every=True)[0]["result"]["graph"]
    assert len(everyone["neurons"]) == len(WIDE)
    near = ask("drawing", around="output 2")[0]["result"]
    assert near["centre"] == WIDE.output_neurons[1]
    (output,) = (each for each in near["graph"]["neurons"] if each["place"] == near["centre"])
    assert (output["kind"], output["label"], output["name"]) == ("output", "output 2", "")
    assert "called 'nobody'" in ask("drawing", around="nobody")[0]["error"]["message"]


def test_of_too_many_the_strongest_are_near():
    output = int(WIDE.output_neurons[0])
    genes = WIDE.connections
    into = np.flatnonzero(genes.target == output)
    strongest = into[np.argsort(-np.abs(genes.weight[into]))][:59]
    drawn = neighbourhood(WIDE, output)
    assert ends(drawn) == {(int(genes.source[edge]), output) for edge in strongest}
    for gene in drawn["connections"]:
        assert gene["weight"] == genes.weight[gene["gene"]]


@pytest.mark.parametrize("name", ["np-ff-19", "nts-net-lstm-2", "np-rec-08", "nts-net-disabled-2"])
def test_every_neuron_has_its_neighbours(name):
    net = neat_onnx.load_network(json.dumps(case(name).document["source"]).encode())
    genes, whole = net.connections, drawing(net)
    for centre in range(len(net)):
        drawn = neighbourhood(net, centre)
        touching = (genes.source == centre) | (genes.target == centre)
        both = zip(genes.source[touching].tolist(), genes.target[touching].tolist(), strict=True)
        assert ends(drawn) >= set(both)
        for neuron in drawn["neurons"]:
            same = whole["neurons"][neuron["place"]]
            shown = ("id", "name", "label", "kind", "family", "activation", "idle", "bias")
            assert [neuron[key] for key in shown] == [same[key] for key in shown]
        edges = {gene["gene"]: gene["edge"] for gene in whole["connections"]}
        assert all(edges[gene["gene"]] == gene["edge"] for gene in drawn["connections"])
        assert neuron_called(net, str(net.neurons.id[centre])) is not None
