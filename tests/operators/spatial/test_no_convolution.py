"""Layers that are no convolution, whatever mappings and blocks say: dense, with the reason."""

import json
from typing import Any

import pytest
from mapped import (
    CONV,
    NET,
    changed_edge,
    changed_neuron,
    said,
    with_edges,
)
from support.examples.graphs import operators

from neat_onnx import OptionError, export, import_model

FIRST = "neuron 24 (channel 0, at 0, 0)"
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
    assert "Conv" not in operators(model)
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
    assert "Conv" not in operators(model)


def test_float64_has_no_convolution_in_runtimes():
    model, (message,) = said(NET, dtype="float64", conv2d_mappings=[CONV])
    assert "runtimes compute Conv in float32 only" in message
    assert "Conv" not in operators(model)
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
    assert "Relu" not in operators(model)


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
