"""Import: the graph itself is what counts, and the metadata only adds to it."""

import json
import warnings

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.examples.networks import NETWORKS
from support.harness.routes import stripped

from neat_onnx import (
    DocumentError,
    ModelError,
    NeatOnnxError,
    NeatOnnxWarning,
    Network,
    export,
    import_model,
    load_model,
)
from neat_onnx.model import MetadataEntry, Model, Tensor

NET = NETWORKS["genes_out_of_order"]
X = np.random.default_rng(0).normal(size=(5, 2))


def with_metadata(model: Model, **entries: str) -> Model:
    """The model with these entries instead of its own of the same end of the key."""
    kept = [each for each in model.metadata_props if each.key.split(".")[-1] not in entries]
    added = [MetadataEntry(key=f"neat_onnx.{key}", value=value) for key, value in entries.items()]
    return model.model_copy(update={"metadata_props": kept + added})


def genome(model: Model) -> dict:
    return json.loads(model.metadata["neat_onnx.genome"])


def with_weights(model: Model, **changed: np.ndarray) -> Model:
    tensors = [
        Tensor.of(each.name, changed[each.name], each.data_type) if each.name in changed else each
        for each in model.graph.initializer
    ]
    body = model.graph.model_copy(update={"initializer": tensors})
    return model.model_copy(update={"graph": body})


# --- sources --------------------------------------------------------------------------------------


def test_anything_that_holds_a_model_can_be_imported(tmp_path):
    model = export(NET, dtype="float64")
    model.save(tmp_path / "net.onnx")
    model.save(tmp_path / "net.json")
    proto = onnx.load(tmp_path / "net.onnx")
    for source in (
        model,
        tmp_path / "net.onnx",
        str(tmp_path / "net.json"),
        (tmp_path / "net.onnx").read_bytes(),
        model.to_json(),
        json.loads(model.to_json()),
        proto,
    ):
        assert import_model(source) == NET


def test_what_holds_no_model_is_refused():
    with pytest.raises(ModelError):
        import_model({"nodes": []})
    with pytest.raises((DocumentError, ModelError)):
        import_model(b"\x00\x01 not a model")


# --- metadata -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the metadata neat_onnx.genome is left out")
def test_edited_weights_win_over_metadata():
    net = Network.mlp([2, 3, 1], activation="tanh", output_activation="identity")
    model = export(net)
    doubled = with_weights(model, W1=2.0 * model.graph.tensors["W1"].values)
    back = import_model(doubled)
    np.testing.assert_array_equal(back.connections.weight[6:], 2.0 * net.connections.weight[6:])
    bias = net.neurons.bias[-1]
    np.testing.assert_allclose(back.activate(X) - bias, 2.0 * (net.activate(X) - bias))


def test_a_weight_edited_to_zero_is_told_and_the_function_is_the_files():
    model = export(Network.mlp([2, 3, 1]))
    weights = model.graph.tensors["W0"].values.copy()
    weights[1, 1] = 0.0
    edited = with_weights(model, W0=weights)
    want = import_model(stripped(edited)).activate(X)
    with pytest.warns(NeatOnnxWarning, match="changed after the export"):
        got = import_model(edited)
    np.testing.assert_allclose(got.activate(X), want, rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 2, "ids": {}}',
        '{"version": 1}',
        '{"ids": {"Layer_9": [1, 2]}}',
        '{"ids": {"input": [1]}}',
        '{"ids": {"input": [1, 1]}}',
        '{"ids": {"input": ["a", 2]}}',
    ],
)
def test_wrong_metadata_is_told_and_left_out(text):
    model = export(NET)
    with pytest.warns(NeatOnnxWarning, match=r"neat_onnx\.genome is left out of account"):
        back = import_model(with_metadata(model, genome=text))
    np.testing.assert_allclose(back.activate(X), NET.activate(X), rtol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["ids"].pop(next(iter(document["ids"]))),
        lambda document: document["ids"].update({"nowhere": [7]}),
        lambda document: document.update(order=[1, 2, 3]),
        lambda document: document["order"].append(document["order"][0]),
        lambda document: document.update(connections=[[1, 2]]),
        lambda document: document.update(connections=[[5, 6, 7]]),
        lambda document: document["genes"].update({"99": {"weight": 1.0}}),
        lambda document: document["genes"].update({"x": {"weight": 1.0}}),
        lambda document: document["genes"].update({"0": {"weight": 100.0}}),
        lambda document: document["genes"].update({"0": {"enabled": False}}),
        lambda document: document["genes"].update({"0": {"colour": "red"}}),
        lambda document: document["neurons"].append({"id": -7, "activation": "tanh"}),
        lambda document: document["neurons"].append({"id": -7, "activation": "unheard_of"}),
        lambda document: document["neurons"].append({"id": -7, "bias": "high"}),
    ],
)
def test_metadata_that_does_not_fit_is_told_and_left_out(change):
    model = export(NET)
    document = {"order": NET.neurons.id.tolist(), "genes": {}, "neurons": []} | genome(model)
    change(document)
    with pytest.warns(NeatOnnxWarning, match="is left out of account"):
        back = import_model(with_metadata(model, genome=json.dumps(document)))
    np.testing.assert_allclose(back.activate(X), NET.activate(X), rtol=1e-12)


def test_metadata_of_another_network_is_told_and_left_out():
    one, other = Network.mlp([2, 3, 1], seed=1), Network.mlp([2, 3, 1], seed=2)
    text = json.dumps(json.loads(other.to_json()))
    with pytest.warns(NeatOnnxWarning, match="does not compute what the graph computes"):
        back = import_model(with_metadata(export(one), network=text))
    np.testing.assert_array_equal(back.activate(X), one.activate(X))


def test_a_stale_embedded_network_is_told_and_the_edited_file_counts():
    net = Network.mlp([2, 3, 1], output_activation="identity")
    model = export(net, embed_network=True)
    edited = with_weights(model, W1=-model.graph.tensors["W1"].values)
    with pytest.warns(NeatOnnxWarning, match=r"neat_onnx\.network is left out"):
        back = import_model(edited)
    bias = net.neurons.bias[-1]
    np.testing.assert_allclose(back.activate(X) - bias, bias - net.activate(X), rtol=1e-9)


def test_metadata_of_other_tools_is_none_of_ours():
    model = export(NET)
    foreign = [MetadataEntry(key="author", value="{"), MetadataEntry(key="genome", value="[")]
    more = model.model_copy(update={"metadata_props": model.metadata_props + foreign})
    assert import_model(more) == NET


# --- axes -----------------------------------------------------------------------------------------

W = np.array([[0.5, -1.25], [0.75, 2.0]])


def test_the_first_axis_is_the_batch():
    net = assert_lifts(graph([node("MatMul", "x W", "y")], x=("N", 2), W=W))
    assert (net.inputs[0].shape, net.outputs[0].shape) == ((2,), (2,))
    net = assert_lifts(graph([node("MatMul", "x W", "y")], x=("N", 3, 2), W=W))
    assert net.outputs[0].shape == (3, 2)


def test_without_a_batch_every_axis_is_features():
    net = import_model(graph([node("MatMul", "x W", "y")], x=(3, 2), W=W), batch_axis=None)
    assert (net.inputs[0].shape, net.outputs[0].shape) == ((3, 2), (3, 2))
    x = np.random.default_rng(1).normal(size=(3, 2))
    np.testing.assert_allclose(net.activate({"x": x})["y"], x @ W, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "batch_axis", "message"),
    [
        (("N", 2, "M"), "auto", "has the shape"),
        ((None, None), None, "has the shape"),
        (("N", 0), "auto", "has the shape"),
        (("N", 2**31 - 1, 2**31 - 1), "auto", "elements"),
    ],
)
def test_shapes_that_neurons_cannot_have(shape, batch_axis, message):
    with pytest.raises(ModelError, match=message) as caught:
        import_model(graph([node("Tanh", "x", "y")], x=shape), batch_axis=batch_axis)
    assert "'x'" in str(caught.value)


def test_a_batch_that_goes_elsewhere_is_followed():
    net = import_model(graph([node("Transpose", "x", "y", perm=[1, 0])], x=("N", 3)))
    assert net.outputs[0].shape == (3,)
    assert net.activate([1.0, 2.0, 3.0]).tolist() == [1.0, 2.0, 3.0]


def test_a_graph_without_outputs_is_refused():
    empty = graph([], outputs=())
    with pytest.raises(ModelError, match="the graph has no outputs"):
        import_model(empty)


# --- graphs that hang together wrongly ------------------------------------------------------------


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Tanh", "nowhere", "y")],
        [node("Add", "x b", "a"), node("Tanh", "a", "b"), node("Tanh", "b", "y")],
        [node("Tanh", "x", "y"), node("Abs", "x", "y")],
        [node("Tanh", "c", "y")],
    ],
)
def test_a_broken_graph_is_refused(nodes):
    with pytest.raises(ModelError, match=r"make_|'y'"):
        import_model(graph(nodes, c=[1.0]))


def test_nodes_in_the_wrong_order_are_the_same_graph():
    nodes = [node("Tanh", "s", "y"), node("Abs", "x", "s")]
    with pytest.warns(NeatOnnxWarning):
        net = import_model(graph(nodes))
    x = np.array([[1.0, -2.0, 0.5]])
    np.testing.assert_allclose(net.activate({"x": x})["y"], np.tanh(np.abs(x)))


# --- the network that comes back ------------------------------------------------------------------


def test_it_can_evolve_on():
    """What was imported is a network like any other: its genes change, and it is exported again."""
    net = import_model(stripped(export(NETWORKS["evolved_small"])))
    document = net.to_document().model_dump()
    document["connections"][0]["enabled"] = False
    document["neurons"].append({"id": 1000, "activation": "relu", "bias": 0.5})
    target = net.neurons.id[net.output_neurons[0]].item()
    document["connections"] += [
        {"source": 0, "target": 1000, "weight": 1.5},
        {"source": 1000, "target": target, "weight": -0.5},
    ]
    from neat_onnx import load_network

    grown = load_network(document)
    assert import_model(load_model(export(grown).to_json())) == grown
    assert not np.allclose(grown.activate(np.ones(5)), net.activate(np.ones(5)))


def test_what_does_not_contribute_does_not_come_back_without_metadata():
    net = NETWORKS["dead_neurons"]
    model = export(net)
    assert import_model(model) == net
    assert len(import_model(stripped(model))) == 4


def test_a_state_that_gates_a_step_later_keeps_its_own_neuron():
    """Its square is a formula of the state, but what gates is the state itself."""
    net = Network.build(
        inputs=1,
        outputs=[3],
        neurons=[{"id": 1, "activation": "tanh"}, {"id": 2}, {"id": 3, "activation": "tanh"}],
        connections=[
            {"source": 0, "target": 1, "weight": 0.5, "gater": 2, "gate_delay": 1},
            {"source": 1, "target": 2, "weight": 1.5},
            {"source": 0, "target": 2, "weight": 0.5},
            {"source": 2, "target": 3, "weight": -0.5, "gater": 2},
        ],
    )
    back = import_model(export(net, dtype="float64", include_metadata=False))
    x = np.random.default_rng(0).normal(size=(20, 1))
    np.testing.assert_allclose(back.run(x), net.run(x), rtol=1e-12)


@pytest.mark.parametrize("divisor", [0.0, [0.0, 1.0]])
def test_a_division_by_zero_is_refused_without_a_warning_of_numpy(divisor):
    nodes = [node("Gemm", "x w b", "t"), node("Div", "t c", "y")]
    model = graph(nodes, x=("N", 2), w=np.eye(2), b=np.array([1.0, 0.0]), c=np.array(divisor))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(NeatOnnxError, match="finite"):
            import_model(model)
