"""Damaged files: read, or refused by an error of ours; never another exception."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from cases import case
from fuzzing import damaged, damaged_bytes
from onnx import TensorProto, helper
from sweep import count

from neat_onnx import NeatOnnxError, Network, export, import_model, load_model, load_network

pytestmark = [
    pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]

_MODELS = [
    export(net, **options)
    for net in (Network.gru(1, 2, 1), Network.mlp([2, 3, 2]))
    for options in ({}, {"dtype": "float64"})
]
_NETWORKS = ["nts-net-gate-7", "nap-net-gru-1", "np-ff-02"]


def _survives(work: Callable[[], Any]) -> None:
    with suppress(NeatOnnxError):
        work()


@pytest.mark.parametrize("name", _NETWORKS)
def test_damaged_networks(name: str) -> None:
    source = case(name).source
    for seed in range(count(60, 1000)):
        _survives(lambda: _played(load_network(damaged(source, seed))))  # noqa: B023


def _played(net: Network) -> None:
    net.run(np.ones((2, len(net.input_neurons))))
    export(net)


@pytest.mark.parametrize("model", _MODELS, ids=range(len(_MODELS)))
def test_damaged_models(model: Any) -> None:
    document, data = json.loads(model.to_json()), model.to_bytes()
    for seed in range(count(60, 1000)):
        _survives(lambda: import_model(load_model(damaged(document, seed))))  # noqa: B023
        _survives(lambda: import_model(load_model(damaged_bytes(data, seed))))  # noqa: B023


@pytest.mark.parametrize("name", [{}, [], 7, None])
def test_an_attribute_whose_name_is_no_text(name: Any) -> None:
    document = json.loads(_MODELS[0].to_json())
    node = next(node for node in document["graph"]["node"] if node["attributes"])
    node["attributes"][0]["name"] = name
    with pytest.raises(NeatOnnxError):
        load_model(document)


def test_an_old_slice_without_starts_is_refused() -> None:
    slicing = helper.make_node("Slice", ["x"], ["y"], axes=[1], ends=[1])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 2]) for name in "xy"]
    graph = helper.make_graph([slicing], "g", ends[:1], ends[1:])
    old = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)])
    with pytest.raises(NeatOnnxError, match="starts"):
        import_model(load_model(old.SerializeToString()))
