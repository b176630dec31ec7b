"""Recorded and small models come in, and go out as themselves, also with other weights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_models import small_models
from support.examples.graphs import operators
from support.harness.sessions import open_session

from neat_onnx import Model, Network, export, import_model, load_model, validate, verify
from neat_onnx.network.genes import Connections

RECORDED = sorted(Path(__file__).parent.glob("recorded/*.onnx"))
MODELS = {path.stem: path.read_bytes() for path in RECORDED}
MODELS |= {name: model.SerializeToString() for name, model in small_models()}
LEAST_IN_THEIR_GRAPH = 145  # of 176 whose weights can change alike where they are alike
_TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_}

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def outputs(model: Model) -> list[Any]:
    """Everything that onnxruntime computes of three samples."""
    session = open_session(model)
    random = np.random.default_rng(0)
    feed = {}
    for entry in model.graph.inputs:
        kind = _TYPES[entry.elem_type]
        sizes = [size if isinstance(size, int) else 3 for size in entry.shape or ()]
        floats = kind is np.float32
        x = random.normal(size=sizes) if floats else random.integers(0, 2, sizes)
        feed[entry.name] = x.astype(kind)
    return [np.asarray(each) for each in session.run(None, feed)]


def with_other_weights(net: Network) -> Network:
    """The network with equal weights changed alike, but for whole numbers: one may be the index
    that an ArgMax gives, and is no weight.
    """
    values, which = np.unique(net.connections.weight, return_inverse=True)
    factors = 1.0 + 0.25 * np.random.default_rng(0).random(len(values))
    new = np.where(values == np.round(values), values, (values * factors).astype("f4"))
    return replace(net, connections=replace(net.connections, weight=new[which]))


def with_another_connection(net: Network) -> Network:
    """The network with a connection from its first input to its first output."""
    ends = [net.input_neurons[0]], [net.output_neurons[0]]
    added, genes = Connections.of(*ends, [0.37]), net.connections
    columns = {
        name: np.concatenate([getattr(genes, name), getattr(added, name)])
        for name in Connections.__dataclass_fields__
    }
    return replace(net, connections=Connections(**columns))


def runtime_of(name: str) -> Any:
    """The default, but for models that it refuses by name."""
    return "onnxruntime" if name in ("LRN", "sklearn_boosted_trees") else "reference"


def is_in_its_graph(model: Model, source: Model) -> bool:
    return operators(model) == operators(source) and model.opset == source.opset


@pytest.mark.parametrize("name", MODELS)
def test_it_goes_out_as_itself(name: str):
    source = load_model(MODELS[name])
    net = import_model(source)
    model = export(net)
    assert operators(model) == operators(source)
    assert validate(model, "onnx") == []
    assert all(map(np.array_equal, outputs(model), outputs(source)))
    assert verify(net, model, samples=16, runtime=runtime_of(name)).passed
    assert import_model(model, check=False) == net


def test_other_weights_stand_in_its_graph():
    inside = 0
    for name, data in MODELS.items():
        source = load_model(data)
        net = import_model(source, check=False)
        other = with_other_weights(net)
        if other == net:
            continue
        model = export(other)
        assert verify(other, model, samples=16, runtime=runtime_of(name)).passed, name
        inside += is_in_its_graph(model, source)
    assert inside >= LEAST_IN_THEIR_GRAPH


@pytest.mark.parametrize("name", list(MODELS)[::7])
def test_another_connection_is_written(name: str):
    net = with_another_connection(import_model(MODELS[name], check=False))
    assert verify(net, export(net), samples=16).passed
