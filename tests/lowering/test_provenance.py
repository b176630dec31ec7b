"""The source of an import: kept, carried, written again with other numbers, and never trusted."""

import base64
import copy
import json
import pickle
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import graph, node, operators

from neat_onnx import NeatOnnxWarning, Network, export, import_model, load_network, validate, verify
from neat_onnx.network.source import MAX_BYTES, Source

RANDOM = np.random.default_rng(0)
W, B, V = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=4), RANDOM.normal(size=(4, 2))
LAYERS = [node("Gemm", "x w b", "h"), node("Tanh", "h", "t"), node("MatMul", "t v", "y")]


def layers(nodes: list[onnx.NodeProto] = LAYERS, **settings: Any) -> onnx.ModelProto:
    return graph(nodes, **{"w": W, "b": B, "v": V, **settings})


def scaled(net: Network, factor: float = 1.25) -> Network:
    """The network with every weight multiplied, and rounded to float32."""
    weight = (net.connections.weight * factor).astype(np.float32)
    return replace(net, connections=replace(net.connections, weight=weight))


def weights_that_are_inputs(ir: int, opset: int) -> onnx.ModelProto:
    model = layers(opset=opset)
    for tensor in model.graph.initializer:
        entry = helper.make_tensor_value_info(tensor.name, TensorProto.FLOAT, tensor.dims)
        model.graph.input.append(entry)
    model.ir_version = ir
    return model


def constants_as_nodes() -> onnx.ModelProto:
    value = numpy_helper.from_array(W.astype(np.float32))
    return graph([helper.make_node("Constant", [], ["w"], "c", value=value), *LAYERS], b=B, v=V)


def local_function() -> onnx.ModelProto:
    opset = helper.make_opsetid("", 18)
    nodes = [node("MatMul", "a c", "h"), node("Tanh", "h", "t")]
    layer = helper.make_function("own", "Layer", ["a", "c"], ["t"], nodes, [opset])
    model = graph([helper.make_node("Layer", ["x", "w"], ["y"], "n", domain="own")], w=W)
    model.functions.append(layer)
    model.opset_import.append(helper.make_opsetid("own", 1))
    return model


def of_type(kind: int) -> onnx.ModelProto:
    model = layers()
    for tensor in model.graph.initializer:
        numbers = numpy_helper.to_array(tensor)
        made = helper.make_tensor(tensor.name, kind, numbers.shape, numbers.ravel().tolist())
        tensor.CopyFrom(made)
    for entry in (*model.graph.input, *model.graph.output):
        entry.type.tensor_type.elem_type = kind
    return model


def inner_weights() -> onnx.ModelProto:
    """An If whose branches have a weight of their own."""
    end = helper.make_tensor_value_info("o", TensorProto.FLOAT, None)
    branches = {
        name: helper.make_graph([node("Mul", "x c", "o")], name, [], [end], [
            numpy_helper.from_array(np.array(numbers, np.float32), "c")
        ])
        for name, numbers in (("then_branch", [0.5, 0.6, 0.7]), ("else_branch", [2.0, 3.0, 4.0]))
    }  # fmt: skip
    nodes = [
        node("ReduceSum", "x", "s", keepdims=0),
        node("Greater", "s z", "up"),
        helper.make_node("If", ["yes"], ["y"], "choice", **branches),
    ]
    model = graph(nodes, z=0.5)
    model.graph.initializer.append(helper.make_tensor("yes", TensorProto.BOOL, [], [True]))
    return model


TWO = [*LAYERS, node("Relu", "h", "z")]
CELL = [node("Concat", "x hx", "c", axis=1), node("MatMul", "c u", "q"), node("Tanh", "q", "hy")]
MEMORY = graph(
    [*CELL, node("MatMul", "hy v", "y")],
    beside={"hx": ("N", 4)},
    outputs=("y", "hy"),
    **{"u": RANDOM.normal(size=(7, 4)), "v": V},
)
IMAGE = graph([node("Conv", "x k", "y")], x=("N", 1, "H", "W"), k=RANDOM.normal(size=(2, 1, 2, 2)))

CASES: dict[str, tuple[onnx.ModelProto, dict[str, Any], bool]] = {
    "layers": (layers(), {}, True),
    "constants as nodes": (constants_as_nodes(), {}, True),
    "weights that are inputs": (weights_that_are_inputs(8, 18), {}, True),
    "old weights that are inputs": (weights_that_are_inputs(3, 8), {}, True),
    "a local function": (local_function(), {}, True),
    "float64": (of_type(TensorProto.DOUBLE), {}, True),
    "float16": (of_type(TensorProto.FLOAT16), {}, False),
    "weights inside of a branch": (inner_weights(), {}, False),
    "one weight twice": (layers([*LAYERS[:2], node("Mul", "t s", "y")], s=[0.3, 0.4, 0.5, 0.6]),
                         {}, True),
    "a folded normalization": (layers([*LAYERS[:1], node("BatchNormalization", "h s b b s", "y")],
                                      s=[0.3, 0.4, 0.5, 0.6]), {}, False),
    "a window": (IMAGE, {"shapes": {"x": ("N", 1, 3, 3)}}, True),
    "one output": (layers(TWO, outputs=("y", "z")), {"outputs": ["z"]}, True),
    "an inner tensor": (layers(), {"outputs": ["t"]}, True),
    "no batch": (layers(), {"batch_axis": None}, True),
    "features alone": (graph([node("Mul", "x m", "y")], x=(3, 2), m=V[:3]), {}, True),
    "given memory": (MEMORY, {"memory": {"hx": "hy"}}, True),
    "no memory": (MEMORY, {"memory": {}}, True),
    "memory of one output": (MEMORY, {"memory": {"hx": "hy"}, "outputs": ["y"]}, True),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("name", CASES)
def test_it_goes_out_as_it_came_in_whatever_was_asked_of_import(name: str):
    model, asked, has_elements = CASES[name]
    net = import_model(model, **asked)
    assert net.source
    source = import_model(net.source.model)
    assert source == net
    for each, in_its_graph in ((net, True), (scaled(net), has_elements)):
        written = export(each)
        ordinary = export(each.without_source())
        assert validate(written, "onnx") == []
        assert verify(each, written).passed
        assert import_model(written) == each
        assert (written != ordinary) == in_its_graph
    assert load_network(net.to_json()).source == net.source


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "float64"}, {"opset": 21}, {"batch_dimension": False}, {"sequence": True},
        {"include_metadata": False}, {"embed_network": True}, {"fold": True},
        {"quantize": "weights"}, {"dialect": "neataptic"}, {"profile": "sonnx"},
    ],
    ids=str,
)  # fmt: skip
def test_an_option_that_the_source_cannot_meet_is_met(options: dict[str, Any]):
    net = import_model(layers([node("Gemm", "x w b", "y")]))
    assert export(net, **options) == export(net.without_source(), **options)


def test_options_about_the_file_are_met_by_the_source():
    net = import_model(layers(opset=17))
    model = export(net, opset=17, producer_name="p", doc_string="d", encoding="raw")
    assert operators(model) == ["Gemm", "Tanh", "MatMul"]
    assert (model.opset, model.producer_name, model.doc_string) == (17, "p", "d")
    assert "raw_data" in model.to_json()
    assert export(net, opset=18).opset == 18


def changed_id(net: Network) -> Network:
    return replace(net, neurons=replace(net.neurons, id=net.neurons.id + 100))


def disabled(net: Network) -> Network:
    enabled = net.connections.enabled.copy()
    enabled[0] = False
    return replace(net, connections=replace(net.connections, enabled=enabled))


def one_changed(at: int, value: float) -> Callable[[Network], Network]:
    def changed(net: Network) -> Network:
        weight = net.connections.weight.copy()
        weight[at] = value
        return replace(net, connections=replace(net.connections, weight=weight))

    return changed


@pytest.mark.parametrize(
    "change",
    [changed_id, disabled, one_changed(0, 0.0), one_changed(0, 1e-60)],
    ids=["ids", "a disabled gene", "a weight of 0", "a weight that rounds to 0"],
)
def test_a_change_that_the_graph_cannot_hold_is_kept_by_the_ordinary_export(change: Any):
    net = change(import_model(layers()))
    model = export(net)
    assert model.metadata
    assert import_model(model) == net
    assert verify(net, model).passed


def test_a_kernel_of_which_one_neuron_moved_is_no_kernel():
    net = one_changed(0, 0.7)(import_model(IMAGE, shapes={"x": ("N", 1, 3, 3)}))
    with pytest.warns(NeatOnnxWarning, match="a Conv of the network is written neuron by neuron"):
        model = export(net)
    assert "Conv" not in operators(model)
    assert import_model(model) == net


def test_every_bit_of_a_weight_goes_into_json():
    net = one_changed(2, 1 / 3)(import_model(layers()))
    assert import_model(export(net).to_json()) == net
    assert operators(export(net)) == ["Gemm", "Tanh", "MatMul"]


def test_notes_are_left_out_and_files_of_ours_have_no_source():
    model = layers()
    model.doc_string = model.graph.doc_string = "long"
    model.metadata_props.add(key="license", value="text")
    net = import_model(model)
    assert net.source == import_model(layers()).source
    assert import_model(export(Network.mlp([2, 3, 1]))).source is None
    assert import_model(export(changed_id(net)).to_bytes()).source is None


def test_it_is_carried_and_takes_no_part_in_equality(tmp_path: Path):
    net = import_model(layers())
    for other in (
        copy.deepcopy(net),
        pickle.loads(pickle.dumps(net)),
        replace(net, library="mine"),
        scaled(net),
    ):
        assert other.source == net.source
    assert net.without_source() == net
    assert net.without_source().source is None
    for kept in (True, False):
        net.save(tmp_path / "net.json", source=kept)
        assert (load_network(tmp_path / "net.json").source == net.source) is kept
    assert "source" not in json.loads(Network.mlp([2, 1]).to_json())


def test_a_large_source_is_left_out_of_json_with_a_warning():
    net = import_model(layers())
    large = replace(net, source=Source.of(bytes(MAX_BYTES + 1), net))
    with pytest.warns(NeatOnnxWarning, match="source of the network is left out"):
        text = large.to_json()
    assert load_network(text) == net


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


HOSTILE = {
    "no base64": "#",
    "no deflate": base64.b64encode(b"deflate").decode(),
    "a bomb": packed(bytes(1 << 28)),
    "cut off": base64.b64encode(zlib.compress(layers().SerializeToString())[:-9]).decode(),
    "no model": packed(b"\x08\x08nothing"),
    "empty": packed(b""),
    "another network": packed(layers(w=W + 1.0).SerializeToString()),
    "another structure": packed(layers([node("MatMul", "x w", "y")]).SerializeToString()),
    "an operator that there is not": packed(
        layers([node("Gemm", "x w b", "h"), node("Nothing", "h", "y")]).SerializeToString()
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_source_is_not_trusted(name: str):
    net = import_model(layers())
    document = json.loads(net.to_json())
    document["source"]["model"] = HOSTILE[name]
    if name == "another network":  # its numbers are put right, those of the network count
        assert import_model(export(load_network(document))) == net
        return
    with pytest.warns(NeatOnnxWarning, match="source is left out of account"):
        model = export(load_network(document))
    assert model == export(net.without_source())
