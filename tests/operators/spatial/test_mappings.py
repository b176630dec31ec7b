"""Mappings that hold: layers written as they say, and brought back."""

import json
from dataclasses import replace

import numpy as np
import pytest
from chains import Building
from mapped import (
    BOTH,
    CONV,
    NET,
    POOL,
    assert_same,
    changed_edge,
    changed_neuron,
    network,
    said,
    with_edges,
)
from support.examples.graphs import operators

from neat_onnx import NeatOnnxWarning, Network, export, import_model, load_network, verify
from neat_onnx.network.port import Port
from neat_onnx.network.window import Window
from neat_onnx.options.mappings import camel


def test_layers_are_written_as_the_mappings_say():
    model = export(NET, **BOTH)
    assert operators(model) == [
        "Reshape",
        "Conv",
        "Mul",
        "Tanh",
        "MaxPool",
        "Flatten",
        "Gemm",
        "Tanh",
    ]
    names = {node.op_type: node.name for node in model.graph.node}
    assert names["Conv"] == "conv_l1" and names["MaxPool"] == "pool_after_l1"
    assert names["Flatten"] == "flatten_after_l1"
    assert_same(NET, model)


def test_metadata_tells_of_them_under_the_known_keys():
    metadata = export(NET, **BOTH).metadata
    keys = ("layers", "sharing_verified", "specs")
    found = {key: json.loads(metadata[key]) for key in metadata if key.endswith(keys)}
    assert found["conv2d_layers"] == found["conv2d_sharing_verified"] == [1]
    assert "conv2d_sharing_mismatch" not in metadata
    assert found["pool2d_layers"] == found["flatten_layers"] == [1]
    assert found["conv2d_specs"] == [{camel(key): value for key, value in CONV.items()}]
    assert found["pool2d_specs"] == [{camel(key): value for key, value in POOL.items()}]


def test_weights_in_the_file_are_those_of_the_genome():
    (weights,) = (t for t in export(NET, **BOTH).graph.initializer if t.name == "ConvW0")
    edges = NET.connections
    middle = (edges.source == 4) & (edges.target == 24 + 4)  # the middle of the kernel
    assert weights.values[0, 0, 1, 1] == edges.weight[middle]


def test_the_last_layer_may_be_one():
    """Its neurons are counted in the order of the outputs."""
    net = network(pool=None, dense=False)
    turned = net.outputs[0].neurons[::-1]
    back = replace(net, outputs=(Port("output", (24,), turned),))
    assert operators(export(net, conv2d_mappings=[CONV]))[1] == "Conv"
    assert_same(net, export(net, conv2d_mappings=[CONV]))
    with pytest.warns(NeatOnnxWarning, match="neuron 47"):
        assert "Conv" not in operators(export(back, conv2d_mappings=[CONV]))


def test_a_pool_may_be_the_first_and_the_last_layer():
    building = Building(np.random.default_rng(0))
    inputs = building.neurons((1, 2, 2))
    last = building.slide("AveragePool", inputs, (1, 1, 1), Window((2, 2)), "identity")
    ends = Port("input", (4,), inputs.ravel()), Port("output", (1,), last.ravel())
    net = building.network(*ends, blocks=False, order=np.arange(5), sparse=False)
    mapping = POOL | {"after_layer_index": 0, "type": "AveragePool", "stride_height": 1}
    sizes = {"in_height": 2, "in_width": 2, "in_channels": 1}
    model = export(net, pool2d_mappings=[mapping | sizes])
    assert operators(model) == ["Reshape", "AveragePool", "Flatten"]
    assert_same(net, model)
    with pytest.warns(NeatOnnxWarning, match="nothing tells the channels, height and width of"):
        export(net, pool2d_mappings=[mapping])


def test_connections_that_add_up_to_shared_weights_are_shared():
    """What a neuron reads twice counts twice; the genome keeps both."""
    weight = float(NET.connections.weight[NET.connections.target == 24][0])
    source = int(NET.connections.source[NET.connections.target == 24][0])
    halves = with_edges(
        changed_edge(NET, source, 24, weight=weight / 2),
        {"source": source, "target": 24, "weight": weight / 2},
    )
    model = export(halves, **BOTH)
    assert "Conv" in operators(model)
    assert_same(halves, model)


def test_disabled_genes_do_not_count():
    net = with_edges(NET, {"source": 23, "target": 24, "weight": 3.0, "enabled": False})
    model = export(net, **BOTH)
    assert "Conv" in operators(model)
    assert_same(net, model)


def test_slopes_go_into_the_weights_on_request():
    model = export(NET, fold=True, **BOTH)
    assert operators(model) == ["Reshape", "Conv", "Tanh", "MaxPool", "Flatten", "Gemm", "Tanh"]
    assert_same(NET, model, fold=True)


def test_flatten_after_pooling_stands_between_spatial_layers_too():
    net = network(pool="AveragePool", dense=False)
    pool = POOL | {"type": "AveragePool"}
    options = {"conv2d_mappings": [CONV], "pool2d_mappings": [pool], "flatten_after_pooling": True}
    model = export(net, **options)
    assert operators(model)[-2:] == ["AveragePool", "Flatten"]
    assert_same(net, model, flatten_after_pooling=True)


def test_blocks_of_the_network_need_no_mapping():
    net = network(blocks=True)
    assert export(net).to_json() == export(NET, **BOTH).to_json()
    assert export(load_network(net.to_json())).to_json() == export(net).to_json()


NOT_SHARED = {
    "weighs neuron 4 with 0.75, where the first neuron of its channel has": (28, {}, 4),
    "has a bias of its own, unlike its channel": (30, {"bias": 9.0}, None),
    "has another activation than neat_tanh": (30, {"activation": "tanh"}, None),
    "has a response of its own": (30, {"response": 2.0}, None),
    "does not take the sum of its inputs": (30, {"aggregation": "mean"}, None),
}


@pytest.mark.parametrize("message", NOT_SHARED)
def test_a_layer_that_shares_no_weights_is_written_as_it_is_and_told(message: str):
    neuron, genes, source = NOT_SHARED[message]
    net = (
        changed_neuron(NET, neuron, **genes)
        if genes
        else changed_edge(NET, source, neuron, weight=0.75)
    )
    model, warnings = said(net, conv2d_mappings=[CONV])
    assert "Conv" not in operators(model)
    assert json.loads(model.metadata["conv2d_sharing_mismatch"]) == [1]
    assert len(warnings) == 1 and message in warnings[0]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"layer_index": 9}, "there is no layer 8, the last one is 3"),
        ({"out_width": 2}, "outChannels·outHeight·outWidth is 2·4·2 = 16, but layer 1 has 24"),
        ({"pad_top": 0}, "the window has 3×3 positions over 4×3 neurons, not 4×3"),
        ({"kernel_height": 1, "pad_top": 0, "pad_bottom": 0}, "reads more than its window"),
        ({"activation": "relu"}, "the activation relu is left out, the layer has neat_tanh"),
    ],
)
def test_mappings_that_do_not_fit_are_told(mapping: dict, message: str):
    _, (warning,) = said(NET, conv2d_mappings=[CONV | mapping])
    assert message in warning


# --- memory ---------------------------------------------------------------------------------------


def with_memory(net: Network) -> Network:
    """One of the dense neurons reads itself, and the other one step ago; one reads the Conv so."""
    loops = [
        {"source": 56, "target": 56, "weight": 0.5, "delay": 1},
        {"source": 57, "target": 56, "weight": -0.5, "delay": 2},
        {"source": 30, "target": 57, "weight": 0.25, "delay": 1},
    ]
    return with_edges(net, *loops)


@pytest.mark.parametrize("sequence", [False, True])
def test_layers_stand_in_a_network_with_memory(sequence: bool):
    net = with_memory(NET)
    model = export(net, sequence=sequence, **BOTH)
    found = operators(model)
    if sequence:
        (scan,) = (node for node in model.graph.node if node.op_type == "Scan")
        found = [node.op_type for node in scan.attributes.body.node]
    assert {"Conv", "MaxPool"} <= set(found)
    report = verify(net, model, samples=8, runtime="onnxruntime")
    assert report.passed and report.normalised_mse <= 1e-12
    back = import_model(model.to_json())
    assert back == net
    assert export(back, sequence=sequence).to_json() == model.to_json()


def test_what_a_convolution_gives_before_its_activation_may_be_read():
    net = with_edges(NET, {"source": 31, "target": 57, "weight": 0.25, "reads_state": True})
    model = export(net, **BOTH)
    assert "Conv" in operators(model)
    assert_same(net, model)
