"""Files that were edited after their export: the graph counts, always, and a warning says so."""

import json
import re
import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from support.examples.cases import case
from support.examples.networks import NETWORKS
from support.harness.fuzzing import damaged
from support.harness.rewriting import by_converter, by_onnxruntime
from support.harness.sweep import WHOLE

from neat_onnx import NeatOnnxWarning, Network, export, import_model, load_model
from neat_onnx.genome.live import live_genes
from neat_onnx.model import DataType
from neat_onnx.network.source import structure_checksum

STATES = ("neat_onnx.state", "neat_onnx.initial_state")
NAMES = [name for name in NETWORKS if len(NETWORKS[name]) < 40][::6]
KINDS = ("scaled", "one_bit", "connection", "activation", "rounded")
OTHER = {"Tanh": "Sigmoid", "Sigmoid": "Tanh", "Relu": "Tanh"}


def edited(proto: onnx.ModelProto, kind: str, random: np.random.Generator) -> onnx.ModelProto:
    """A copy with one thing changed, however little; the same if there is nothing of the kind."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    nodes = copy.graph.node
    for at, node in [each for each in enumerate(nodes) if each[1].op_type in OTHER][:1]:
        if kind == "activation":
            node.op_type = OTHER[node.op_type]
        elif kind == "rounded":
            real = copy.graph.input[0].type.tensor_type.elem_type
            nodes.insert(at, onnx.helper.make_node("Cast", node.input, ["whole"], to=7))
            nodes.insert(at + 1, onnx.helper.make_node("Cast", ["whole"], ["real"], to=real))
            node.input[0] = "real"
    if kind in ("activation", "rounded"):
        return copy
    floats = [t for t in copy.graph.initializer if t.data_type in (1, 11) and np.prod(t.dims)]
    if kind == "connection":  # no response, of which 0 takes all connections away
        floats = [tensor for tensor in floats if tensor.name.startswith(("W", "R"))]
    tensor = floats[random.integers(len(floats))]
    values = numpy_helper.to_array(tensor).copy()
    place = random.integers(values.size)
    if kind == "scaled":
        values *= 1.0005
    elif kind == "one_bit":
        bits = values.reshape(-1).view(np.uint32 if values.dtype == np.float32 else np.uint64)
        bits[place] ^= 1
    else:
        values.reshape(-1)[place] = 0.25 if values.reshape(-1)[place] == 0.0 else 0.0
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    return copy


def without_genome(proto: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    del copy.metadata_props[:]
    copy.metadata_props.extend(entry for entry in proto.metadata_props if entry.key in STATES)
    return copy


@pytest.mark.parametrize(
    ("name", "kind", "dtype"),
    [
        (name, kind, dtype)
        for k, name in enumerate(NAMES)
        for at, kind in enumerate(KINDS)
        for turn, dtype in enumerate(("float32", "float64"))
        if WHOLE or turn == (k + at) % 2
    ],
)
def test_the_graph_counts(name: str, kind: str, dtype: str):
    embed = dtype == "float64"
    proto = export(NETWORKS[name], dtype=dtype, embed_network=embed).to_proto()
    changed = edited(proto, kind, np.random.default_rng(len(name)))
    if changed == proto:
        return
    graphs = [import_model(without_genome(each), check=False) for each in (proto, changed)]
    before, after = map(structure_checksum, graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if before == after:
            warnings.filterwarnings("ignore", "the metadata neat_onnx.network is left out")
            check_trained(NETWORKS[name], changed)
            return
    with pytest.warns(NeatOnnxWarning, match="changed after the export"):
        got = import_model(changed)
    assert got == graphs[1]


def check_trained(net: Network, changed: onnx.ModelProto) -> None:
    """The ids, names and disabled genes are those of the network, the numbers those of the file."""
    got, graphs = import_model(changed), import_model(without_genome(changed), check=False)
    assert got.neurons.id.tolist() == net.neurons.id.tolist()
    assert got.neuron_names == net.neuron_names
    genes, wanted = got.connections, net.connections
    for name in ("source", "target", "enabled", "delay", "gater", "gate_delay", "reads_state"):
        assert getattr(genes, name).tolist() == getattr(wanted, name).tolist()
    x = np.random.default_rng(0).normal(size=(4, 3, len(net.input_neurons)))
    np.testing.assert_allclose(got.run(x), graphs.run(x), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_no_form_of_a_file_is_an_edit(name: str, tmp_path):
    model = export(NETWORKS[name])
    model.save(tmp_path / "net.onnx")
    model.save(tmp_path / "raw.json", encoding="raw")
    for path in sorted(tmp_path.iterdir()):
        back = import_model(load_model(path))
        assert back.neurons.id.tolist() == NETWORKS[name].neurons.id.tolist(), path.name


@pytest.mark.parametrize("name", [name for name in NAMES if name != "without_inputs"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_genome_comes_back_from_rewritten_files(name: str, dtype: str):
    net = NETWORKS[name]
    model = export(net, dtype=dtype)
    for rewritten in (by_onnxruntime, by_converter):
        back = import_model(rewritten(model))
        assert back.neurons.id.tolist() == net.neurons.id.tolist()
        assert back.connections.enabled.tolist() == net.connections.enabled.tolist()
        if dtype == "float64":
            assert back == import_model(model.to_proto())


@pytest.mark.parametrize("initial", [0.0, 0.5])
def test_a_helper_that_begins_elsewhere_is_no_connection(initial: float):
    """A sum that only the graph has stands for its inputs, unless its first value is its own."""
    chain = [(0, 2, 1.0), {"source": 2, "target": 3, "weight": 2.0, "delay": 1}]
    neurons = [{"id": 2, "initial": initial}, {"id": 3, "activation": "tanh"}]
    net = Network.build(inputs=1, outputs=[3], neurons=neurons, connections=chain)
    if initial:
        with pytest.raises(LookupError):
            live_genes(net, np.array([0, -1, 1]), DataType.DOUBLE)
        return
    live = live_genes(net, np.array([0, -1, 1]), DataType.DOUBLE)
    (delayed,) = zip(
        live.genes.source, live.genes.target, live.genes.delay, live.weight, strict=True
    )
    assert delayed == (0, 1, 1, 2.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_genome_of_a_memory_that_starts_elsewhere_comes_back(dtype: str):
    """Its first values are in the metadata, and not in the graph."""
    neurons = [{"id": 2, "activation": "tanh", "initial": 0.5}]
    connections = [(0, 2, 1.0), {"source": 2, "target": 2, "weight": 0.5, "delay": 1}]
    net = Network.build(inputs=1, outputs=[2], neurons=neurons, connections=connections)
    model = export(net, dtype=dtype)
    assert STATES[1] in model.metadata
    assert import_model(by_converter(model)) == import_model(model.to_proto())


def test_the_genome_comes_back_where_an_identity_is_gone():
    """Its output was the tensor that the genome names; neurons of the max are plain there."""
    net = Network.build(
        inputs=2,
        outputs=[9],
        neurons=[
            {"id": 7, "aggregation": "max", "response": 2.0, "bias": 0.5},
            {"id": 4, "bias": 1.0, "response": -0.5},
            {"id": 9, "activation": "tanh"},
        ],
        connections=[(0, 7, 1.5), (1, 7, -1.0), (0, 4, 1.0), (7, 9, 1.0), (4, 9, 2.0)],
    )
    model = export(net, dtype="float64")
    named = {name for node in model.graph.node for name in node.output}
    other = onnx.load_from_string(by_onnxruntime(model))
    assert {"Layer_1"} <= named - {name for node in other.graph.node for name in node.output}
    assert import_model(other) == net


def test_an_identity_that_is_gone_is_not_the_inputs_of_its_place():
    net = case("np-atom-agg-max").network()  # a Gather and a Concat have the place in their names
    assert import_model(by_onnxruntime(export(net))).neurons.id.tolist() == net.neurons.id.tolist()


@pytest.mark.parametrize("kind", ["one_bit", "scaled"])
def test_a_rewritten_file_that_was_trained_keeps_its_genome(kind: str):
    for name in NAMES:
        if name in ("mlp_tanh", "mixed_layers", "activation_relu", "unread_inputs"):
            proto = onnx.load_from_string(by_onnxruntime(export(NETWORKS[name])))
            check_trained(NETWORKS[name], edited(proto, kind, np.random.default_rng(1)))


@pytest.mark.parametrize("seed", range(60))
def test_no_metadata_overrules_the_graph(seed: int):
    """Whatever stands in the document, the function is the graph's."""
    random = np.random.default_rng(seed)
    net = NETWORKS[NAMES[seed % len(NAMES)]]
    proto = export(net, fold=bool(seed % 2), embed_network=bool(seed % 3 == 0)).to_proto()
    (entry,) = [each for each in proto.metadata_props if each.key == "neat_onnx.genome"]
    wanted = import_model(without_genome(proto), check=False)
    entry.value = json.dumps(damaged(json.loads(entry.value), seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        got = import_model(proto, check=False)
    x = random.normal(size=(2, 3, len(net.input_neurons)))
    np.testing.assert_allclose(got.run(x), wanted.run(x), rtol=1e-4, atol=1e-4)


def test_genes_of_input_neurons_come_back():
    document = {
        "inputs": [{"name": "x", "shape": [2], "neurons": [0, 1]}],
        "outputs": [{"name": "y", "shape": [1], "neurons": [2]}],
        "neurons": [
            {"id": 0, "bias": 0.5, "activation": "tanh", "name": "left"},
            {"id": 1, "response": 2.0, "aggregation": "max"},
            {"id": 2},
        ],
        "connections": [
            {"source": 0, "target": 2, "weight": 1.0},
            {"source": 1, "target": 2, "weight": -1.0},
            {"source": 2, "target": 0, "weight": 3.0, "enabled": False, "delay": 1},
        ],
    }
    net = Network.from_document(document)
    assert import_model(export(net)) == net
    assert import_model(export(net).to_json()).to_json() == net.to_json()


def test_a_model_of_another_type_leaves_the_genome_out():
    proto = export(Network.mlp([2, 2, 1])).to_proto()
    for entry in (*proto.graph.input, *proto.graph.output):
        entry.type.tensor_type.elem_type = TensorProto.FLOAT16
    for tensor in proto.graph.initializer:
        values = numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    with pytest.warns(NeatOnnxWarning) as caught:
        assert len(import_model(proto, check=False)) == 5
    texts = [str(each.message) for each in caught]
    assert any(re.search("left out of account.* rounded to FLOAT16", text) for text in texts)
    assert any(text.startswith("numbers are rounded to FLOAT16 at node") for text in texts)
