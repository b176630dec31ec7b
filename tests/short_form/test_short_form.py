"""The short form of networks that were imported and not changed."""

from dataclasses import replace

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.usual_form import usual_form

from neat_onnx import Network, export, import_model, validate, verify
from neat_onnx.genome import CHECKSUM, GENES, GENOME
from neat_onnx.short_form.short_names import BEFORE

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


SPREAD = [  # both ends of rows are computed before what reads one of them
    node("ReduceMin", "x a", "low", keepdims=1),
    node("Sub", "x low", "above"),
    node("ReduceMax", "x a", "high", keepdims=1),
    node("Sub", "high low", "width"),
    node("Div", "above width", "y"),
]


def spread():
    return assert_lifts(graph(SPREAD, x=("N", 6), a=np.array([1])))


def deviation():
    return assert_lifts(graph(DEVIATION, x=("N", 4, 6), a=np.array([2])))


def parallel():
    return assert_lifts(graph(PARALLEL, x=("N", 8), w=RANDOM.normal(size=(8, 8))))


@pytest.mark.parametrize("net", [deviation(), parallel()], ids=["deviation", "parallel"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_the_same_network_in_half_of_the_bytes(net, dtype):
    short = export(net, dtype=dtype)
    usual = usual_form(net, dtype=dtype)
    named = [entry.name for entry in (*short.graph.inputs, *short.graph.outputs)]
    assert named == ["x", "y"]
    made = {name for each in short.graph.node for name in each.output} - {*named}
    assert max(len(name.rstrip(BEFORE)) for name in made) == 1
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
    net = spread()
    net = replace(net, neurons=replace(net.neurons, id=net.neurons.id + 1000))
    short = export(net)
    assert {len(short.metadata[key]) for key in (CHECKSUM, GENES)} == {16}
    document = short.to_document()
    for entry in document["metadata_props"]:
        entry["value"] = entry["value"].replace('"library":"ONNX"', '"library":"XNNO"')
    with pytest.warns(UserWarning, match=r"neat_onnx\.genome is left out of account"):
        import_model(document)


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "sonnx"},
        {"embed_network": True},
        {"infer_conv": True},
        {"mixed_activations": "per_neuron"},
    ],
    ids=str,
)
def test_options_that_ask_for_a_form_have_it(options):
    model = export(deviation(), **options)
    assert all(each.name for each in model.graph.node)
    assert verify(deviation(), model).passed


@pytest.mark.parametrize(
    "net", [deviation(), parallel(), spread()], ids=["deviation", "parallel", "spread"]
)
def test_without_metadata_it_is_as_short(net):
    model = export(net, include_metadata=False)
    assert not model.metadata
    assert model.graph == export(net).graph
    assert verify(net, model, runtime="onnxruntime").passed


def test_evolved_networks_keep_their_names():
    evolved = Network.mlp([4, 6, 2], activation="tanh", seed=1)
    assert all(each.name for each in export(evolved).graph.node)


def test_chains_of_dense_layers_keep_the_names_that_neataptic_ts_looks_for():
    """The names of weights, of biases, those of zeros too, and of the nodes of its activations."""
    w, b = RANDOM.normal(size=(3, 5)), RANDOM.normal(size=5)
    v, c = RANDOM.normal(size=(5, 2)), np.zeros(2)
    nodes = [node("Gemm", "x w b", "h"), node("Tanh", "h", "t"), node("Gemm", "t v c", "y")]
    net = assert_lifts(graph(nodes, x=("N", 3), w=w, b=b, v=v, c=c))
    model, usual = export(net), usual_form(net)
    assert [each.name for each in model.graph.initializer] == ["W0", "B0", "W1", "B1"]
    operators = [(each.op_type, each.name) for each in model.graph.node]
    assert operators == [("Gemm", ""), ("Tanh", "act_l1"), ("Gemm", "")]
    assert not model.metadata
    assert len(model.to_bytes()) < 0.8 * len(usual.to_bytes())
    assert import_model(model.to_bytes()) == net
    assert verify(net, model, runtime="onnxruntime").passed
    assert export(import_model(model)).to_bytes() == model.to_bytes()


def test_small_files_that_need_no_genome_have_no_metadata_and_larger_ones_a_checksum():
    assert not export(parallel()).metadata
    wide = graph(PARALLEL, x=("N", 24), w=RANDOM.normal(size=(24, 24)))
    assert export(assert_lifts(wide)).metadata.keys() == {CHECKSUM}


def test_genes_that_float32_rounds_come_back_as_from_the_usual_form():
    net = parallel()
    weights = net.connections.weight
    weights = np.where(weights == 1.0, 1.0, weights + 1e-12)
    changed = replace(net, connections=replace(net.connections, weight=weights))
    short, usual = export(changed), usual_form(changed)
    assert len(short.to_bytes()) < 0.75 * len(usual.to_bytes())
    assert verify(changed, short).passed
    assert import_model(short.to_bytes()) == import_model(usual.to_bytes())


def test_formulas_that_are_neurons_of_their_own_need_no_genome():
    """Other networks write them behind a copy, a sum with 0 or by 1, which import reads as one."""
    nodes = [node("ReduceL1", "x a", "l", keepdims=1), node("Neg", "l", "n"), node("Exp", "n", "y")]
    net = assert_lifts(graph(nodes, x=("N", 3, 2), outputs=["y", "l"], a=np.array([1])))
    short = export(net)
    assert GENOME not in short.metadata
    assert not {"Add", "Identity"} & {each.op_type for each in short.graph.node}
    assert import_model(short.to_bytes()) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_nodes_stand_in_the_order_of_the_genome():
    nodes = [node("ReduceMin", "x a", "low", keepdims=1), node("ReduceMax", "x a", "high")]
    net = assert_lifts(graph(nodes, x=("N", 6), outputs=["high", "low"], a=np.array([1])))
    short = export(net)
    assert GENOME not in short.metadata
    assert import_model(short.to_bytes()) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_constants_are_packed_where_that_saves_a_tenth():
    choice = RANDOM.permutation(np.eye(24))
    nodes = [node("MatMul", "x w", "h"), node("Add", "h x", "s"), node("Abs", "s", "y")]
    net = assert_lifts(graph(nodes, x=("N", 24), w=3.0 * choice))
    model = export(net)
    assert len(model.to_bytes()) < 24 * 24 + 700
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net


def test_integers_of_two_bytes_are_packed():
    places = RANDOM.permutation(600)
    nodes = [node("Gather", "x places", "g", axis=1), node("Mul", "g x", "y")]
    net = assert_lifts(graph(nodes, x=("N", 600), places=places))
    model = export(net)
    assert len(model.to_bytes()) < 2 * (2 * 600) + 500
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net


def test_integers_with_one_step_between_them_are_a_range():
    """Comparisons with each of some numbers, as a table that is looked up has them."""
    nodes = [node("Sub", "u k", "d"), node("Abs", "d", "y")]
    nodes.insert(0, node("Unsqueeze", "x a", "u"))
    net = assert_lifts(graph(nodes, x=("N", 4), a=np.array([2]), k=np.arange(200.0)))
    model = export(net)
    assert {"Range", "Sub"} <= {each.op_type for each in model.graph.node}
    assert GENOME not in model.metadata
    assert len(model.to_bytes()) < 500
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net


def test_fifty_tensors_have_names_of_one_letter():
    functions = ("Tanh", "Sigmoid")
    nodes = [node(functions[k % 2], f"t{k}" if k else "x", f"t{k + 1}") for k in range(50)]
    nodes.append(node("Softsign", "t50", "y"))
    net = assert_lifts(graph(nodes))
    names = [name for each in export(net).graph.node for name in each.output]
    assert len(names) == 51
    assert max(map(len, names)) == 1
