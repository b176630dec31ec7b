"""The short form of networks that were imported and not changed."""

import numpy as np
import pytest
from graphs import assert_lifts, graph, node

from neat_onnx import Network, export, import_model, validate, verify
from neat_onnx.genome import CHECKSUM, GENOME

RANDOM = np.random.default_rng(7)
DEVIATION = [
    node("Tanh", "x", "t"),
    node("ReduceMean", "t a", "m", keepdims=1),
    node("Sub", "t m", "d"),
    node("Mul", "d d", "q"),
    node("ReduceMean", "q a", "v", keepdims=1),
    node("Sqrt", "v", "y"),
]
PARALLEL = [
    node("MatMul", "x w", "h"),
    node("Sigmoid", "h", "g"),
    node("Mul", "x g", "p"),
    node("Add", "p x", "y"),
]


def deviation():
    return assert_lifts(graph(DEVIATION, x=("N", 4, 6), a=np.array([2])))


def parallel():
    return assert_lifts(graph(PARALLEL, x=("N", 8), w=RANDOM.normal(size=(8, 8))))


@pytest.mark.parametrize("net", [deviation(), parallel()], ids=["deviation", "parallel"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_the_same_network_in_half_of_the_bytes(net, dtype):
    short = export(net, dtype=dtype)
    usual = export(net, dtype=dtype, include_metadata=False)
    named = [entry.name for entry in (*short.graph.inputs, *short.graph.outputs)]
    assert named == ["x", "y"]
    made = {name for each in short.graph.node for name in each.output} - {*named}
    assert max(map(len, made)) == 1
    assert {each.name for each in short.graph.node} == {""}
    assert len(short.graph.node) < len(usual.graph.node)
    if dtype == "float32" and net == parallel():
        assert len(short.to_bytes()) < 0.75 * len(usual.to_bytes())
    assert import_model(short.to_bytes()) == import_model(short.to_json()) == net
    assert validate(short) == []
    for runtime in ("reference", "onnxruntime"):
        assert verify(net, short, runtime=runtime).passed
    assert export(import_model(short), dtype=dtype).to_bytes() == short.to_bytes()


def test_its_checksum_is_shorter_and_sees_a_change():
    net = deviation()
    short = export(net)
    assert len(short.metadata[CHECKSUM]) == 16
    document = short.to_document()
    assert GENOME not in short.metadata
    document["metadata_props"] = [
        {"key": GENOME, "value": '{"library":"ONNX","ids":{}}'},
        {"key": CHECKSUM, "value": short.metadata[CHECKSUM]},
    ]
    with pytest.warns(UserWarning, match=r"neat_onnx\.genome is left out of account"):
        assert import_model(document) == net


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "sonnx"},
        {"include_metadata": False},
        {"embed_network": True},
        {"infer_conv": True},
        {"mixed_activations": "per_neuron"},
    ],
    ids=str,
)
def test_options_that_ask_for_a_form_have_it(options):
    model = export(deviation(), **options)
    assert all(each.name for each in model.graph.node)
    assert import_model(model) == deviation()


def test_evolved_networks_keep_their_names():
    net = Network.from_json(deviation().to_json())
    assert {each.name for each in export(net).graph.node} == {""}
    evolved = Network.mlp([4, 6, 2], activation="tanh", seed=1)
    assert all(each.name for each in export(evolved).graph.node)


def test_chains_of_dense_layers_keep_their_names_which_neataptic_ts_looks_for():
    w, b = RANDOM.normal(size=(3, 5)), RANDOM.normal(size=5)
    layers = [node("Gemm", "x w b", "h"), node("Tanh", "h", "y")]
    model = export(assert_lifts(graph(layers, x=("N", 3), w=w, b=b)))
    assert {"W0", "B0"} <= {each.name for each in model.graph.initializer}
    assert all(each.name for each in model.graph.node)
    assert len(model.metadata[CHECKSUM]) == 16


def test_changed_weights_that_float32_rounds_are_no_matter_of_the_short_form():
    """The genome is then the usual one: what a file of float32 holds is not the network."""
    document = parallel().to_document()
    document["connections"][0]["weight"] = 0.1
    net = Network.from_document(document)
    assert verify(net, export(net)).passed
    rounded = import_model(export(net))
    assert rounded.connections.weight[0] == np.float32(0.1)
    assert export(rounded).to_bytes() == export(import_model(export(rounded))).to_bytes()


def test_constants_are_packed_where_that_saves_a_tenth():
    choice = RANDOM.permutation(np.eye(24))
    nodes = [node("MatMul", "x w", "h"), node("Add", "h x", "s"), node("Abs", "s", "y")]
    net = assert_lifts(graph(nodes, x=("N", 24), w=3.0 * choice))
    model = export(net)
    assert len(model.to_bytes()) < 24 * 24 + 700
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net
