"""Lists of a genome's document end where the rest is the graph's, in its order."""

import json

import numpy as np
import pytest

from neat_onnx import NeatOnnxWarning, Network, export, import_model

LINKS = [(0, 2, 1.5), (1, 2, -0.5), (0, 3, 2.0), (1, 3, 0.25), (2, 4, 1.0), (3, 4, -1.0)]
"""In the order of a graph."""


def network(links: list[tuple[int, int, float]], disabled: int | None = None) -> Network:
    connections = [
        {"source": source, "target": target, "weight": weight, "enabled": at != disabled}
        for at, (source, target, weight) in enumerate(links)
    ]
    neurons = [{"id": at, "activation": "tanh"} for at in (2, 3, 4)]
    return Network.build(inputs=2, outputs=[4], neurons=neurons, connections=connections)


@pytest.mark.parametrize(
    ("places", "listed"),
    [
        ([0, 1, 2, 3, 4, 5], None),
        ([1, 0, 2, 3, 4, 5], [1]),
        ([0, 1, 2, 3, 5, 4], [0, 1, 2, 3, 5]),
        ([0, 1, 3, 2, 4, 5], [0, 1, 3]),
    ],
)
def test_connections_are_listed_up_to_the_last_that_is_out_of_order(
    places: list[int], listed: list[int] | None
):
    net = network([LINKS[at] for at in places])
    model = export(net)
    assert json.loads(model.metadata["neat_onnx.genome"]).get("connections") == listed
    assert import_model(model) == net


@pytest.mark.parametrize("disabled", [0, 3, 5])
def test_behind_a_disabled_gene_the_rest_is_not_listed(disabled: int):
    net = network(LINKS, disabled)
    model = export(net)
    listed = json.loads(model.metadata["neat_onnx.genome"])["connections"]
    assert len(listed) == disabled + 1
    assert import_model(model) == net


def test_neurons_of_any_order_come_back():
    draw = np.random.default_rng(0)
    for _ in range(30):
        ids = draw.permutation(np.arange(3, 9)).tolist()  # three of them feed no output
        links = [(0, ids[0], 1.0), (1, ids[1], 1.0), (ids[0], ids[2], 1.0), (ids[1], ids[2], 1.0)]
        neurons = [{"id": each} for each in draw.permutation(ids).tolist()]
        net = Network.build(
            inputs=3, outputs=[ids[2]], neurons=neurons, connections=[*links, (2, ids[4], 1.0)]
        )
        assert import_model(export(net)) == net


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connections", [0, 0]),
        ("connections", [99]),
        ("connections", [-1]),
        ("order", [0, 0]),
        ("order", [2**63]),
        ("order", ["0..4"]),
    ],
)
def test_a_list_that_does_not_fit_is_refused(key: str, value: list[int]):
    net = network(LINKS)
    proto = export(net).to_proto()
    (entry,) = [each for each in proto.metadata_props if each.key == "neat_onnx.genome"]
    entry.value = json.dumps({**json.loads(entry.value), key: value})
    with pytest.warns(NeatOnnxWarning, match="left out of account"):
        assert len(import_model(proto)) == len(net)
