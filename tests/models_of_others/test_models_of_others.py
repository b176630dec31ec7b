"""Models of other tools come in equal, and go out as themselves, also with other weights.

Exporters of PyTorch, Keras, tf2onnx, JAX and scikit-learn wrote the recorded ones; random weights.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from small_models import cell, layers, model, small_models
from support.examples.graphs import operators
from support.harness.sessions import open_session

from neat_onnx import Model, Network, export, import_model, load_model, validate, verify
from neat_onnx.network.genes import Connections
from neat_onnx.runtimes.packages import in_parts, session_of

HERE = Path(__file__).parent
MODELS = {path.stem: path.read_bytes() for path in sorted(HERE.glob("recorded/*.onnx"))}
MODELS |= {name: each.SerializeToString() for name, each in (*small_models(), *layers())}
LEAST = 210
LEAST_IN_THEIR_GRAPH = 145  # of those whose weights can change alike where they are alike
_TYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_}

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def samples(model: Model) -> dict[str, Any]:
    """Four samples for each input, of masks of actions one that allows all."""
    random, feed = np.random.default_rng(0), {}
    for entry in model.graph.inputs:
        kind = _TYPES[entry.elem_type]
        sizes = [size if isinstance(size, int) else 4 for size in entry.shape or ()]
        floats = kind is np.float32
        x = random.normal(size=sizes) if floats else random.integers(0, 5, sizes)
        feed[entry.name] = (np.ones(sizes) if entry.name == "action_masks" else x).astype(kind)
    return feed


def outputs(model: Model, feed: dict[str, Any]) -> dict[str, Any]:
    """What onnxruntime computes; the maps of a ZipMap as rows."""
    session = open_session(model)
    names = [output.name for output in session.get_outputs()]
    found = zip(names, session.run(names, feed), strict=True)
    return {
        name: np.array([[*row.values()] for row in each] if isinstance(each, list) else each)
        for name, each in found
    }


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


def test_there_are_enough():
    assert len(MODELS) >= LEAST


@pytest.mark.parametrize("name", MODELS)
def test_it_comes_in_equal_and_goes_out_as_itself(name: str):
    source = load_model(MODELS[name])
    feed, net = samples(source), import_model(MODELS[name])
    want = outputs(source, feed)
    for port, got in net.activate(feed).items():
        np.testing.assert_allclose(got, want[port], rtol=1e-4, atol=1e-5)
    model = export(net)
    assert operators(model) == operators(source)
    assert validate(model, "onnx") == []
    for port, got in outputs(model, feed).items():
        np.testing.assert_array_equal(got, want[port])
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


@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_gives_in_parts_what_it_gives_at_once(name: str):
    if name in ("torch_mlagents_hybrid", "torch_resized"):
        pytest.skip("draws at random, or resizes to sizes that stand in a part of their own")
    feed = samples(load_model(MODELS[name]))
    whole = session_of(MODELS[name], optimized=False).run(feed)
    parts = in_parts(onnx.ModelProto.FromString(MODELS[name]), 2).run(feed)
    assert [*parts] == [*whole]
    for port, want in whole.items():
        np.testing.assert_array_equal(parts[port], want)


@pytest.mark.parametrize("name", list(MODELS)[::7])
def test_another_connection_is_written(name: str):
    net = with_another_connection(import_model(MODELS[name], check=False))
    assert verify(net, export(net), samples=16).passed


def test_a_sequence_of_any_length_of_one_sample_is_a_network_with_memory():
    path = HERE / "sequences" / "torch_gru_of_any_length.onnx"
    feed = {"x": np.random.default_rng(0).normal(size=(7, 1, 3)).astype(np.float32)}
    (want,) = outputs(load_model(path), feed).values()
    net = import_model(path)
    (got,) = net.run(feed).values()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    (again,) = outputs(export(net, sequence=True), feed).values()
    np.testing.assert_allclose(again, want, rtol=1e-5, atol=1e-6)


def test_time_and_a_batch_of_one_may_change_places():
    nodes = f"t = Transpose <perm = [1, 0, 2]> (x) {cell('RNN', 't', 3)} y = Squeeze (Yt, i_1)"
    net = import_model(model("1, T, 3", nodes, outputs="float[T, 1, 4] y"))
    assert verify(net, export(net), samples=16).passed


def test_hidden_neurons_that_no_output_needs_stay_away():
    nodes = "h = Gemm (x, w_3_4, b_4) used, idle = Split <axis = 1> (h, i_1_3) y = Tanh (used)"
    assert len(import_model(model("N, 3", nodes))) == 4
