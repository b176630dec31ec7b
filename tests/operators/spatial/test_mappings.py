"""Mappings that hold, and those that do not: what is written then, and what is said."""

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from chains import Building, mappings_of
from routes import Trip, is_valid, json_trip, onnxruntime_agrees

from neat_onnx import (
    NeatOnnxWarning,
    Network,
    OptionError,
    export,
    import_model,
    load_network,
    verify,
)
from neat_onnx.model import Model
from neat_onnx.network.genes import Port
from neat_onnx.network.spatial import Kind
from neat_onnx.network.window import Window
from neat_onnx.options.mappings import camel

CONV = {
    "layer_index": 1,
    "in_channels": 2, "in_height": 4, "in_width": 3,
    "out_channels": 2, "out_height": 4, "out_width": 3,
    "kernel_height": 3, "kernel_width": 3, "stride_height": 1, "stride_width": 1,
    "pad_top": 1, "pad_left": 1, "pad_bottom": 1, "pad_right": 1,
}  # fmt: skip
POOL = {
    "after_layer_index": 1, "type": "MaxPool",
    "kernel_height": 2, "kernel_width": 2, "stride_height": 2, "stride_width": 1,
}  # fmt: skip
FIRST = "neuron 24 (channel 0, at 0, 0)"


def network(pool: Kind | None = "MaxPool", blocks: bool = False, dense: bool = True) -> Network:
    """Inputs 0 to 23, a Conv of 24 to 47, a pool, and two dense neurons; ids are positions."""
    building = Building(np.random.default_rng(0))
    inputs = building.neurons((2, 4, 3))
    window = Window.of((3, 3), begin=(1, 1), end=(1, 1))
    last = building.slide("Conv", inputs, (2, 4, 3), window, "neat_tanh")
    if pool is not None:
        window = Window.of((2, 2), strides=(2, 1))
        last = building.slide(pool, last, (2, 2, 2), window, "identity")
    if dense:
        last = building.dense(last.ravel(), 2, "tanh")
    net = building.network(
        Port("input", (24,), inputs.ravel()),
        Port("output", (last.size,), last.ravel()),
        blocks=blocks,
        order=np.arange(len(building.activation)),
        sparse=False,
    )
    return replace(net, neurons=replace(net.neurons, id=np.arange(len(net))))


NET = network()
BOTH = {"conv2d_mappings": [CONV], "pool2d_mappings": [POOL]}


def kinds(model: Model) -> list[str]:
    return [node.op_type for node in model.graph.node]


def assert_same(net: Network, model: Model, **options: Any) -> None:
    """The model is valid, and a runtime computes what the network does."""
    trip = Trip(net, options)
    trip.__dict__["model"] = model
    for route in (is_valid, onnxruntime_agrees, json_trip):
        route(trip)


def changed_neuron(net: Network, neuron: int, **genes: Any) -> Network:
    """The network with other genes of one neuron."""
    document = json.loads(net.to_json())
    document["neurons"][neuron] |= genes
    return load_network(document)


def changed_edge(net: Network, source: int, target: int, **genes: Any) -> Network:
    """The network with other genes of one connection."""
    document = json.loads(net.to_json())
    (edge,) = (e for e in document["connections"] if (e["source"], e["target"]) == (source, target))
    edge |= genes
    return load_network(document)


def with_edges(net: Network, *edges: dict[str, Any]) -> Network:
    document = json.loads(net.to_json())
    document["connections"] += edges
    return load_network(document)


# --- what holds -----------------------------------------------------------------------------------


def test_layers_are_written_as_the_mappings_say():
    model = export(NET, **BOTH)
    assert kinds(model) == ["Reshape", "Conv", "Mul", "Tanh", "MaxPool", "Flatten", "Gemm", "Tanh"]
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


def test_names_in_camel_case_say_the_same():
    document = {
        camel(name): [{camel(key): value for key, value in mapping.items()} for mapping in mappings]
        for name, mappings in BOTH.items()
    }
    assert list(document) == ["conv2dMappings", "pool2dMappings"]
    assert export(NET, options=document).to_json() == export(NET, **BOTH).to_json()


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
    assert kinds(export(net, conv2d_mappings=[CONV]))[1] == "Conv"
    assert_same(net, export(net, conv2d_mappings=[CONV]))
    with pytest.warns(NeatOnnxWarning, match="neuron 47"):
        assert "Conv" not in kinds(export(back, conv2d_mappings=[CONV]))


def test_a_pool_may_be_the_first_and_the_last_layer():
    building = Building(np.random.default_rng(0))
    inputs = building.neurons((1, 2, 2))
    last = building.slide("AveragePool", inputs, (1, 1, 1), Window.of((2, 2)), "identity")
    ends = Port("input", (4,), inputs.ravel()), Port("output", (1,), last.ravel())
    net = building.network(*ends, blocks=False, order=np.arange(5), sparse=False)
    mapping = POOL | {"after_layer_index": 0, "type": "AveragePool", "stride_height": 1}
    sizes = {"in_height": 2, "in_width": 2, "in_channels": 1}
    model = export(net, pool2d_mappings=[mapping | sizes])
    assert kinds(model) == ["Reshape", "AveragePool", "Flatten"]
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
    assert "Conv" in kinds(model)
    assert_same(halves, model)


def test_disabled_genes_do_not_count():
    net = with_edges(NET, {"source": 23, "target": 24, "weight": 3.0, "enabled": False})
    model = export(net, **BOTH)
    assert "Conv" in kinds(model)
    assert_same(net, model)


def test_slopes_go_into_the_weights_on_request():
    model = export(NET, fold=True, **BOTH)
    assert kinds(model) == ["Reshape", "Conv", "Tanh", "MaxPool", "Flatten", "Gemm", "Tanh"]
    assert_same(NET, model, fold=True)


def test_without_metadata_the_graph_alone_brings_the_layers_back():
    model = export(NET, include_metadata=False, **BOTH)
    assert model.metadata == {}
    back = import_model(model)
    assert [block.kind for block in back.blocks] == ["Conv", "MaxPool"]
    assert export(back, include_metadata=False).to_json() == model.to_json()
    np.testing.assert_allclose(back.activate(np.ones(24)), NET.activate(np.ones(24)), atol=1e-12)


def test_flatten_after_pooling_stands_between_spatial_layers_too():
    net = network(pool="AveragePool", dense=False)
    pool = POOL | {"type": "AveragePool"}
    options = {"conv2d_mappings": [CONV], "pool2d_mappings": [pool], "flatten_after_pooling": True}
    model = export(net, **options)
    assert kinds(model)[-2:] == ["AveragePool", "Flatten"]
    assert_same(net, model, flatten_after_pooling=True)


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
    operators = kinds(model)
    if sequence:
        (scan,) = (node for node in model.graph.node if node.op_type == "Scan")
        operators = [node.op_type for node in scan.attributes.body.node]
    assert {"Conv", "MaxPool"} <= set(operators)
    for runtime in ("reference", "onnxruntime"):
        report = verify(net, model, samples=8, runtime=runtime)
        assert report.passed and report.normalised_mse <= 1e-12
    back = import_model(model.to_json())
    assert back == net
    assert export(back, sequence=sequence).to_json() == model.to_json()


def test_what_a_convolution_gives_before_its_activation_may_be_read():
    net = with_edges(NET, {"source": 31, "target": 57, "weight": 0.25, "reads_state": True})
    model = export(net, **BOTH)
    assert "Conv" in kinds(model)
    assert_same(net, model)


# --- what does not hold: convolutions -------------------------------------------------------------


def said(net: Network, **options: Any) -> tuple[Model, list[str]]:
    """The model, which is right, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = export(net, **options)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    return model, [str(each.message) for each in caught if each.category is NeatOnnxWarning]


BROKEN = {
    "weight": (
        changed_edge(NET, 4, 28, weight=3.0),
        "neuron 28 (channel 0, at 1, 1) weighs neuron 4 with 3, where the first neuron of its "
        "channel has ",
    ),
    "bias": (
        changed_neuron(NET, 26, bias=9.0),
        "neuron 26 (channel 0, at 0, 2) has a bias of its own, unlike its channel",
    ),
    "response": (
        changed_neuron(NET, 25, response=2.0),
        "neuron 25 (channel 0, at 0, 1) has a response of its own",
    ),
    "activation": (
        changed_neuron(NET, 40, activation="relu"),
        "neuron 40 (channel 1, at 1, 1) has another activation than neat_tanh",
    ),
    "aggregation": (
        changed_neuron(NET, 24, aggregation="mean"),
        f"{FIRST} does not take the sum of its inputs",
    ),
    "outside": (
        with_edges(NET, {"source": 23, "target": 24, "weight": 0.5}),
        f"{FIRST} reads more than its window",
    ),
    "missing": (
        changed_edge(NET, 4, 28, enabled=False),
        "neuron 28 (channel 0, at 1, 1) weighs neuron 4 with 0, where",
    ),
    "gated": (changed_edge(NET, 0, 24, gater=1), f"{FIRST} reads more than its window"),
    "delayed": (changed_edge(NET, 0, 24, delay=1), f"{FIRST} reads more than its window"),
    "state": (
        with_edges(NET, {"source": 30, "target": 30, "weight": 1.0, "delay": 1}),
        "neuron 30 (channel 0, at 2, 0) reads more than its window",
    ),
    "twice": (
        with_edges(NET, {"source": 4, "target": 28, "weight": 1.0}),
        "neuron 28 (channel 0, at 1, 1) weighs neuron 4 with ",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_layer_that_is_no_convolution_is_written_dense(what: str):
    net, reason = BROKEN[what]
    model, (message,) = said(net, conv2d_mappings=[CONV])
    assert message.startswith("conv2d_mappings[0]: no Conv is written for layer 1: ")
    assert reason in message
    assert "Conv" not in kinds(model)
    assert json.loads(model.metadata["conv2d_sharing_mismatch"]) == [1]
    assert not {"conv2d_layers", "conv2d_specs", "conv2d_sharing_verified"} & set(model.metadata)
    assert import_model(model.to_json()) == net


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"in_width": 4}, "inChannels·inHeight·inWidth is 2·4·4 = 32, but layer 0 has 24 neurons"),
        ({"out_channels": 3}, "outChannels·outHeight·outWidth is 3·4·3 = 36, but layer 1 has 24"),
        ({"pad_top": 0}, "the window has 3×3 positions over 4×3 neurons, not 4×3"),
        ({"stride_width": 2}, "the window has 4×2 positions over 4×3 neurons, not 4×3"),
        ({"kernel_height": 9}, "the window has 0×3 positions over 4×3 neurons, not 4×3"),
        ({"groups": 3}, "3 groups do not divide 2 channels into 2"),
        ({"layer_index": 9}, "there is no layer 8, the last one is 3"),
        ({"layer_index": 2}, "but layer 2 has 8 neurons"),
    ],
)
def test_sizes_found_and_wanted_are_told(change: dict[str, int], reason: str):
    model, (message,) = said(NET, conv2d_mappings=[CONV | change])
    assert reason in message
    assert "Conv" not in kinds(model)


def test_float64_has_no_convolution_in_runtimes():
    model, (message,) = said(NET, dtype="float64", conv2d_mappings=[CONV])
    assert "runtimes compute Conv in float32 only" in message
    assert "Conv" not in kinds(model)
    assert "conv2d_sharing_mismatch" not in model.metadata  # nobody has looked


def test_the_second_mapping_of_a_layer_is_told():
    _, (message,) = said(NET, conv2d_mappings=[CONV, CONV])
    assert message.endswith("conv2d_mappings[1]: no Conv is written for layer 1: another mapping "
                            "has its neurons")  # fmt: skip


def test_an_activation_that_the_layer_does_not_have_is_told():
    _, none = said(NET, conv2d_mappings=[CONV | {"activation": "neat_tanh"}])
    assert none == []
    model, (message,) = said(NET, conv2d_mappings=[CONV | {"activation": "relu"}])
    assert message == (
        "conv2d_mappings[0]: the activation relu is left out, the layer has neat_tanh"
    )
    assert "Relu" not in kinds(model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layer_index": 0}, "layer_index"),
        ({"in_width": 0}, "in_width"),
        ({"pad_left": -1}, "pad_left"),
        ({"kernel": 3}, "kernel is not a known key"),
        ({"stride_height": "2"}, "stride_height"),
    ],
)
def test_mappings_that_make_no_sense_are_refused(change: dict[str, Any], message: str):
    with pytest.raises(OptionError) as raised:
        export(NET, conv2d_mappings=[CONV | change])
    assert message in f"{raised.value.where} {raised.value.message}"
    assert (raised.value.where or "").startswith("conv2d_mappings[0]")


# --- what does not hold: pools --------------------------------------------------------------------

NO_POOL = {
    "weight": (
        changed_edge(NET, 24, 48, weight=2.0),
        POOL,
        "neuron 48 (channel 0, at 0, 0) does not read every neuron of its window once, with the "
        "weight 1",
    ),
    "twice": (
        with_edges(NET, {"source": 24, "target": 48, "weight": 1.0}),
        POOL,
        "does not read every neuron of its window once",
    ),
    "missing": (changed_edge(NET, 24, 48, enabled=False), POOL, "does not read every neuron"),
    "outside": (
        with_edges(NET, {"source": 40, "target": 48, "weight": 1.0}),
        POOL,
        "neuron 48 (channel 0, at 0, 0) reads more than its window",
    ),
    "bias": (changed_neuron(NET, 50, bias=1.0), POOL, "neuron 50 (channel 0, at 1, 0) has a bias"),
    "kind": (NET, POOL | {"type": "AveragePool"}, "does not take the mean of its inputs"),
    "sizes": (NET, POOL | {"stride_height": 1}, "2·3·2 = 12, but layer 2 has 8 neurons"),
    "given": (
        NET,
        POOL | {"in_channels": 1, "in_height": 4, "in_width": 3},
        "inChannels·inHeight·inWidth is 1·4·3 = 12, but layer 1 has 24 neurons",
    ),
    "layer": (NET, POOL | {"after_layer_index": 3}, "nothing tells the channels, height and"),
    "padding": (
        NET,
        POOL | {"stride_width": 2, "pad_right": 2},
        "less padding",
    ),
}


@pytest.mark.parametrize("what", NO_POOL)
def test_a_layer_that_is_no_pool_is_written_as_it_is(what: str):
    net, mapping, reason = NO_POOL[what]
    model, (message,) = said(net, conv2d_mappings=[CONV], pool2d_mappings=[mapping])
    assert message.startswith("pool2d_mappings[0]: no pool is written after layer ")
    assert reason in message
    assert {"Conv", "ReduceMax"} <= set(kinds(model))
    assert not {"MaxPool", "AveragePool"} & set(kinds(model))


def pooled(kind: Kind, window: Window, height: int, width: int) -> tuple[Network, dict[str, Any]]:
    """One pool over one channel of this size, and the mapping that says so."""
    building = Building(np.random.default_rng(0))
    inputs = building.neurons((1, height, width))
    shape = (1, *window.positions((height, width)))
    last = building.slide(kind, inputs, shape, window, "identity")
    net = building.network(
        Port("input", (1, height, width), inputs.ravel()),
        Port("output", (last.size,), last.ravel()),
        blocks=True,
        order=np.arange(len(building.activation)),
        sparse=False,
    )
    return replace(net, blocks=()), mappings_of(list(net.blocks), sizes_of_pools=False)


@pytest.mark.parametrize(
    ("kind", "window", "since", "reason"),
    [
        (
            "AveragePool",
            Window.of((2, 2), dilations=(2, 2)),
            19,
            "AveragePool has dilations from opset 19 only",
        ),
        (
            "MaxPool",
            Window.of((2, 1), strides=(2, 2), ceil=True),  # three rows want it, columns not
            22,
            "before opset 22 positions that start after the layer count",
        ),
    ],
)
def test_what_the_opset_does_not_say_is_written_otherwise(
    kind: Kind, window: Window, since: int, reason: str
):
    net, mappings = pooled(kind, window, 3, 4)
    model, (message,) = said(net, opset=since - 1, **mappings)
    assert message.endswith(reason)
    assert kind not in kinds(model)
    model, none = said(net, opset=since, **mappings)
    assert none == [] and kind in kinds(model)
    assert_same(net, model, opset=since)
    back = import_model(model.to_json())
    assert [block.kind for block in back.blocks] == [kind]
    assert kind not in kinds(export(back, opset=since - 1))  # nobody asked, so nothing is said


@pytest.mark.parametrize("opset", [13, 18, 26])
def test_ceil_mode_is_left_out_where_it_changes_nothing_but_what_onnx_infers(opset: int):
    net, mappings = pooled("MaxPool", Window.of((1, 1), strides=(1, 2), ceil=True), 2, 2)
    model = export(net, opset=opset, **mappings)
    assert_same(net, model, opset=opset)
    (pool,) = (node for node in model.graph.node if node.op_type == "MaxPool")
    assert pool.attributes.ceil_mode == 0


# --- blocks ---------------------------------------------------------------------------------------


def test_blocks_of_the_network_need_no_mapping():
    net = network(blocks=True)
    assert export(net).to_json() == export(NET, **BOTH).to_json()
    assert export(load_network(net.to_json())).to_json() == export(net).to_json()


@pytest.mark.parametrize("what", BROKEN)
def test_a_block_that_evolution_has_broken_is_told_and_not_used(what: str):
    broken, reason = BROKEN[what]
    net = replace(broken, blocks=network(blocks=True).blocks)
    model, messages = said(net)
    assert messages[0].startswith("a Conv of the network is written neuron by neuron: ")
    assert reason in messages[0]
    assert "Conv" not in kinds(model) and "MaxPool" in kinds(model)
