"""The options of an export, what they refuse, and that the bytes are always the same."""

import functools
import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from support.examples.networks import NETWORKS
from support.harness.routes import stripped
from support.harness.sweep import WHOLE, unlike

from neat_onnx import (
    ExportOptions,
    NeatOnnxWarning,
    Network,
    NetworkError,
    OptionError,
    export,
    import_model,
    load_model,
    load_network,
    validate,
    verify,
)
from neat_onnx.model import DataType

MLP = NETWORKS["mlp_tanh"]


@functools.cache
def exported(name):
    return export(NETWORKS[name])


# --- what it takes --------------------------------------------------------------------------------


def test_anything_that_can_be_read_can_be_exported(tmp_path):
    MLP.save(tmp_path / "net.json")
    want = export(MLP)
    for source in (tmp_path / "net.json", MLP.to_json(), json.loads(MLP.to_json())):
        assert export(source) == want


def test_options_as_a_document_as_keywords_and_both():
    want = export(MLP, dtype="float64", mixed_activations="per_neuron")
    assert want == export(MLP, options={"dtype": "float64", "mixedActivations": "per_neuron"})
    assert want == export(MLP, options={"dtype": "float64"}, mixed_activations="per_neuron")
    camel = {"dtype": "float64", "mixedActivations": "grouped"}
    assert want == export(MLP, options=camel, mixed_activations="per_neuron")
    with pytest.raises(OptionError, match="mixed_activations is given twice, also as mixedActi"):
        export(MLP, options=camel | {"mixed_activations": "per_neuron"})
    options = ExportOptions(dtype="float32", mixed_activations="per_neuron")
    assert want == export(MLP, options=options, dtype="float64")


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"opset": 12}, "opset"),
        ({"opset": 29}, "opset"),
        ({"opset": "18"}, "opset"),
        ({"dtype": "float16"}, "dtype"),
        ({"fold": 1}, "fold"),
        ({"mixed_activations": "both"}, "mixed_activations"),
        ({"allowEverything": True}, "allowEverything"),
        ({"producer_name": 3}, "producer_name"),
    ],
)
def test_wrong_options_are_refused_by_name(options, where):
    with pytest.raises(OptionError) as caught:
        export(MLP, options=options)
    assert where in caught.value.where


def test_options_have_to_be_an_object():
    with pytest.raises(OptionError):
        export(MLP, options=["fold"])


def test_an_option_of_several_types_says_all_of_them():
    with pytest.raises(OptionError) as caught:
        export(Network.mlp([2, 1]), options={"batch_dimension": 4})
    assert caught.value.where == "batch_dimension"
    assert caught.value.message == "batch_dimension is not true or false and is not a string, got 4"


@pytest.mark.parametrize("name", ["batch_dimension", "producer_name", "doc_string"])
def test_a_text_that_no_file_can_hold_is_refused(name):
    with pytest.raises(OptionError, match=f"{name} is not UTF-8 text"):
        export(Network.mlp([2, 1]), options={name: "\udcff"})


def test_a_cycle_is_refused_with_its_neurons():
    cycle = Network.build(
        inputs=1, outputs=[2], neurons=[1, 2, 3], connections=[(1, 2, 1.0), (2, 1, 1.0), (0, 1, 1)]
    )
    with pytest.raises(NetworkError, match="cycle: neuron") as caught:
        export(cycle)
    assert "neuron 1" in str(caught.value)
    assert "neuron 3" not in str(caught.value)


# --- what it writes -------------------------------------------------------------------------------


def test_the_head_of_the_file():
    model = export(MLP, producer_name="mine", producer_version="3", doc_string="a net")
    assert (model.producer_name, model.producer_version, model.doc_string) == ("mine", "3", "a net")
    default = export(MLP)
    assert default.producer_name == "neat_onnx"
    assert default.ir_version == 8
    assert default.opset == 18
    assert default.graph.inputs[0].elem_type is DataType.FLOAT


@pytest.mark.parametrize(
    ("opset", "ir"),
    [(13, 7), (14, 7), (15, 8), (18, 8), (19, 9), (20, 9), (21, 10), (23, 11), (24, 12), (26, 13)],
)
def test_the_oldest_ir_version_of_each_opset(opset, ir):
    assert export(MLP, opset=opset).ir_version == ir


@pytest.mark.parametrize(("opset", "ir"), [(27, 13), (28, 14)])
@pytest.mark.parametrize("name", ["every_activation", "evolved_mixed", "convolution_and_pools"])
def test_an_opset_ahead_of_onnxruntime_is_valid_and_told(name, opset, ir):
    net = NETWORKS[name]
    with pytest.warns(NeatOnnxWarning, match=f"onnxruntime .* opset {opset} .IR {ir}.*is 26"):
        model = export(net, opset=opset, dtype="float64")
    assert (model.ir_version, validate(model)) == (ir, [])
    back = load_model(model.to_bytes())
    assert verify(net, back, samples=8).verdict == "equal"
    found, wanted = import_model(back).to_document(), net.to_document()
    assert (found.neurons, found.connections) == (wanted.neurons, wanted.connections)


def test_every_tensor_of_numbers_has_the_asked_type():
    for dtype, wanted in (("float32", DataType.FLOAT), ("float64", DataType.DOUBLE)):
        model = export(NETWORKS["every_activation"], dtype=dtype)
        found = {tensor.data_type for tensor in model.graph.initializer}
        assert found <= {wanted, DataType.INT64}
        assert {entry.elem_type for entry in model.graph.inputs + model.graph.outputs} == {wanted}


def test_names_are_unique_and_nothing_has_none():
    for name in unlike(NETWORKS):
        graph = exported(name).graph
        nodes = [node.name for node in graph.node]
        tensors = [name for node in graph.node for name in node.output if name]
        tensors += list(graph.tensors) + [entry.name for entry in graph.inputs]
        assert len(set(nodes)) == len(nodes)
        assert len(set(tensors)) == len(tensors)
        assert all(nodes)


def test_encoding_is_how_the_json_is_written():
    raw = export(MLP, encoding="raw")
    assert raw.to_bytes() == export(MLP).to_bytes()
    assert "raw_data" in raw.to_json()
    assert "raw_data" not in export(MLP).to_json()
    assert raw.to_json() == export(MLP).to_json(encoding="raw")


def test_json_keeps_every_bit_of_every_weight():
    weights = [0.1, 1 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 2.0**-1074 * 7]
    genes = [(0, 1 + k, weight) for k, weight in enumerate(weights)]
    ids = [1 + k for k in range(len(weights))]
    net = Network.build(inputs=1, outputs=ids, neurons=ids, connections=genes)
    back = import_model(load_model(export(net, dtype="float64").to_json()))
    assert [value.hex() for value in back.connections.weight.tolist()] == [
        value.hex() for value in weights
    ]


# --- metadata -------------------------------------------------------------------------------------


def test_layer_sizes_are_those_of_hidden_layers():
    assert export(NETWORKS["deep_mlp"]).metadata["layer_sizes"] == "[6, 5, 4]"
    assert export(NETWORKS["one_layer"]).metadata["layer_sizes"] == "[]"
    assert "layer_sizes" not in export(NETWORKS["skip_connections"]).metadata


def test_layers_that_other_libraries_read_by_name_keep_their_equal_weights():
    document = json.loads(Network.mlp([3, 40, 40, 40, 2]).to_json())
    for neuron in document["neurons"]:
        neuron["bias"] = 0.0
    names = {each.name for each in export(load_network(document)).graph.initializer}
    assert names == {f"{letter}{layer}" for letter in "WB" for layer in range(4)}


def test_without_metadata():
    model = export(NETWORKS["genes_out_of_order"], include_metadata=False)
    assert model.metadata_props == []
    assert model == stripped(export(NETWORKS["genes_out_of_order"]))
    assert validate(model) == []


def test_a_plain_mlp_needs_little_metadata():
    """Weights come from the graph: the metadata holds ids, and nothing for each connection."""
    net = Network.mlp([30, 30, 30])
    (genome,) = [entry.value for entry in export(net).metadata_props if "genome" in entry.key]
    assert set(json.loads(genome)) == {"library", "structure", "numbers", "ids"}


def test_embedded_networks_come_back_from_float32_bit_for_bit():
    net = NETWORKS["evolved_mixed"]
    model = export(net, embed_network=True)
    assert import_model(model.to_bytes()) == net
    entry = next(each for each in model.metadata_props if each.key == "neat_onnx.genome")
    entry.value = entry.value.replace('"structure":"', '"structure":"0')  # that fails
    assert import_model(model.to_bytes()) == net
    plain = import_model(export(net).to_bytes())
    assert plain != net
    np.testing.assert_array_equal(plain.connections.source, net.connections.source)
    np.testing.assert_array_equal(plain.neurons.id, net.neurons.id)


@pytest.mark.parametrize("tiny", [1e-60, 2.0**-150, -5e-324])
def test_a_weight_that_float32_has_no_room_for_costs_no_gene(tiny):
    neurons = [{"id": 9, "activation": "tanh", "name": "last"}]
    connections = [(5, 9, tiny), (6, 9, 0.5), {"source": 5, "target": 9, "weight": 2.0}]
    net = Network.build(inputs=[5, 6], outputs=[9], neurons=neurons, connections=connections)
    assert import_model(export(net).to_bytes()).connections.weight.tolist() == [tiny, 0.5, 2.0]
    assert import_model(load_model(export(net).to_json())) == net


def test_zeros_keep_their_signs():
    net = NETWORKS["disabled_and_duplicate_genes"]
    for dtype in ("float32", "float64"):
        for back in (
            import_model(export(net, dtype=dtype).to_bytes()),
            import_model(export(net, embed_network=True, dtype=dtype)),
        ):
            np.testing.assert_array_equal(
                np.signbit(back.connections.weight), np.signbit(net.connections.weight)
            )
            np.testing.assert_array_equal(
                np.signbit(back.neurons.bias), np.signbit(net.neurons.bias)
            )


# --- determinism ----------------------------------------------------------------------------------

_DIGESTS = """
import hashlib, sys
from support.examples.networks import NETWORKS
from neat_onnx import export
for name in sys.argv[1:]:
    for options in ({}, {"mixed_activations": "per_neuron", "fold": True}):
        model = export(NETWORKS[name], **options)
        print(hashlib.sha256(model.to_bytes() + model.to_json().encode()).hexdigest())
"""


def test_the_bytes_do_not_depend_on_the_process():
    names = ["evolved_mixed", "every_aggregation_on_a_level", "genes_out_of_order", "shaped_ports"]
    want = []
    for name in names:
        for options in ({}, {"mixed_activations": "per_neuron", "fold": True}):
            model = export(NETWORKS[name], **options)
            data = model.to_bytes() + model.to_json().encode()
            want.append(hashlib.sha256(data).hexdigest())
    for seed in ("1", "4242") if WHOLE else ("4242",):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", _DIGESTS, *names],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == want
