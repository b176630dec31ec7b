"""The options in the neataptic dialect: that tool's defaults, its form, and what means nothing."""

import json
from typing import Any

import pytest

from neat_onnx import ModelError, NeatOnnxWarning, Network, NetworkError, OptionError, export

NET = Network.mlp([4, 4, 2], activation="tanh")
STEPS = {"kernelHeight": 1, "kernelWidth": 1, "strideHeight": 1, "strideWidth": 1}
POOL = {"afterLayerIndex": 1, "type": "MaxPool", **STEPS}
CONV = {
    "layerIndex": 1,
    **{"inHeight": 2, "inWidth": 2, "inChannels": 1},
    **{"outHeight": 2, "outWidth": 2, "outChannels": 1},
    **STEPS,
}


def document(net: Network = NET, **options: Any) -> dict[str, Any]:
    return json.loads(export(net, dialect="neataptic", **options).to_json())


def loop(**connection: Any) -> Network:
    """A neuron that reads its own state of the step before."""
    back = {"source": 1, "target": 1, "weight": 0.5, "delay": 1, "reads_state": True}
    neurons = [{"id": 1, "activation": "tanh"}, 2]
    connections = [(0, 1, 1.0), {**back, **connection}, (1, 2, 1.0)]
    return Network.build(inputs=1, outputs=[2], neurons=neurons, connections=connections)


def test_what_is_not_set_is_as_the_peer_has_it():
    plain = document()
    assert list(plain) == ["graph"]
    (entry,) = plain["graph"]["inputs"]
    assert entry["type"]["tensor_type"]["shape"]["dim"] == [{"dim_value": 4}]
    full = document(include_metadata=True, batch_dimension=True)
    assert full["producer_name"] == "neataptic-ts"
    assert (full["ir_version"], full["opset_import"]) == (9, [{"version": 18, "domain": ""}])
    (entry,) = full["graph"]["inputs"]
    assert entry["type"]["tensor_type"]["shape"]["dim"][0] == {"dim_param": "N"}


def test_options_of_the_peer_are_forbidding_until_they_are_set():
    neurons = [{"id": 2, "activation": "tanh"}, {"id": 3, "activation": "relu"}]
    mixed = Network.build(
        inputs=2, outputs=[2, 3], neurons=neurons, connections=[(0, 2, 0.5), (1, 3, 0.5)]
    )
    with pytest.raises(OptionError, match="relu, tanh") as refusal:
        document(mixed)
    assert refusal.value.where == "allow_mixed_activations"
    with pytest.raises(OptionError, match="neuron 2 is not connected to neuron 1") as refusal:
        document(mixed, allow_mixed_activations=True)
    assert refusal.value.where == "allow_partial_connectivity"
    graph = document(mixed, allow_mixed_activations=True, allow_partial_connectivity=True)["graph"]
    assert [node["name"] for node in graph["node"]][-1] == "concat_l1"
    assert graph["initializer"][0]["float_data"] == [0.5, 0.0]


def test_memory_needs_both_of_its_options():
    with pytest.raises(NetworkError, match="self-connections are left out") as refusal:
        document(loop(), allow_recurrent=True)
    assert "recurrent_single_step" in str(refusal.value.hint)
    graph = document(loop(), allow_recurrent=True, recurrent_single_step=True)["graph"]
    assert [entry["name"] for entry in graph["inputs"]] == ["input", "hidden_prev"]
    assert "attributes" not in graph["node"][2]


def test_memory_and_several_activations_in_one_layer_are_not_possible():
    neurons = [{"id": 1, "activation": "tanh"}, {"id": 2, "activation": "relu"}, 3]
    net = Network.build(
        inputs=1,
        outputs=[3],
        neurons=neurons,
        connections=[
            *((0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0)),
            {"source": 1, "target": 1, "weight": 0.5, "delay": 1, "reads_state": True},
        ],
    )
    options = {"allow_recurrent": True, "recurrent_single_step": True}
    with pytest.raises(OptionError, match="layer 1 has memory and several activations"):
        document(net, allow_mixed_activations=True, lossy=True, **options)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("dtype", "float64"),
        ("mixed_activations", "grouped"),
        ("encoding", "raw"),
        ("fold", True),
        ("sequence", True),
        ("infer_conv", True),
        ("embed_network", True),
        ("batch_dimension", "batch"),
        ("conv2d_mappings", [{**CONV, "dilationHeight": 2}]),
        ("conv2d_mappings", [{**CONV, "groups": 2}]),
        ("pool2d_mappings", [{**POOL, "ceilMode": True}]),
    ],
)
def test_what_means_nothing_in_this_dialect_is_refused(option: str, value: Any):
    with pytest.raises(OptionError, match="in the neataptic dialect") as refusal:
        document(lossy=True, **{option: value})
    assert str(refusal.value.where).startswith(option)


def test_the_legacy_order_is_of_this_dialect_only():
    names = [node["name"] for node in document(legacy_node_ordering=True)["graph"]["node"]]
    assert names == ["act_l1", "gemm_l1", "act_l2", "gemm_l2"]
    with pytest.warns(NeatOnnxWarning, match="for the neataptic dialect only"):
        model = export(NET, legacy_node_ordering=True)
    assert model == export(NET)


@pytest.mark.parametrize(
    "mapping",
    [
        {"conv2d_mappings": [{**CONV, "layerIndex": 3}]},
        {"conv2d_mappings": [{**CONV, "inChannels": 2}]},
        {"pool2d_mappings": [{**POOL, "afterLayerIndex": 0}]},
    ],
)
def test_mappings_that_do_not_fit_are_left_out(mapping: dict[str, Any]):
    told = r"2d_mappings\[0\] is left out: no layer .* the layers are 4 to 4, 4 to 2"
    with pytest.warns(NeatOnnxWarning, match=told):
        assert document(**mapping) == document()


def test_an_operator_that_is_no_activation_is_refused():
    with pytest.raises(OptionError, match="'Softmax' is no activation's operator") as refusal:
        document(conv2d_mappings=[{**CONV, "activation": "Softmax"}], lossy=True)
    assert "Softplus" in str(refusal.value.hint)


def test_a_kernel_without_end_is_refused():
    endless = {**CONV, "kernelHeight": 2**20, "kernelWidth": 2**20}
    fitting = {**endless, "padBottom": 2**20 - 1, "padRight": 2**20 - 1}
    with pytest.raises(OptionError, match="taps over the layer"):
        document(conv2d_mappings=[fitting])


@pytest.mark.parametrize(
    ("net", "why"),
    [
        (
            Network.build(
                inputs=1, outputs=[2], neurons=[1, 2, 3],
                connections=[(0, 1, 1.0), (0, 3, 1.0), (1, 3, 1.0), (3, 2, 1.0)],
            ),
            "not layered: neuron 3 reads neuron 0",
        ),
        (
            Network.build(
                inputs=1, outputs=[2], neurons=[1, 2],
                connections=[
                    (1, 2, 1.0), {"source": 2, "target": 1, "weight": 1.0, "delay": 1}
                ],
            ),
            "not layered: neuron 1 reads neuron 2",
        ),
        (Network.build(inputs=1, outputs=[1], neurons=[1], connections=[]), "no connections"),
        (
            Network.build(inputs=1, outputs=[1, 1], neurons=[1], connections=[(0, 1, 1.0)]),
            "several outputs",
        ),
    ],
)  # fmt: skip
def test_a_network_that_has_no_layers_is_refused(net: Network, why: str):
    with pytest.raises(NetworkError, match=why) as refusal:
        document(net, lossy=True)
    assert "standard dialect" in str(refusal.value.hint)


def test_the_document_is_json_only(tmp_path):
    model = export(NET, dialect="neataptic")
    with pytest.raises(ModelError, match="no node produces the output 'output'") as refusal:
        model.save(tmp_path / "net.onnx")
    assert "saved as .json" in str(refusal.value.hint)
    assert not list(tmp_path.iterdir())
    model.save(tmp_path / "net.onnx.json")
    assert json.loads((tmp_path / "net.onnx.json").read_bytes()) == document()
