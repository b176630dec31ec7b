"""Convolutions whose kernel is computed come back as themselves, whatever their window is."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from support.examples.backend_cases import backend_cases
from support.examples.graphs import graph_of_inputs, node, operators
from support.harness.sweep import every

from neat_onnx import Model, NeatOnnxWarning, Network, export, import_model, verify

CASES = backend_cases("Conv", "ConvTranspose")
FEATURES = pytest.mark.filterwarnings("ignore:the first axis is no batch")


def of_inputs(
    nodes: Sequence[onnx.NodeProto], inputs: dict[str, tuple[int, ...]], **constants: Any
) -> onnx.ModelProto:
    """A model of nodes with these inputs, of which the last node gives the output."""
    model = graph_of_inputs(nodes, inputs, outputs=nodes[-1].output, **constants)
    return onnx.shape_inference.infer_shapes(model)


def come_back(model: onnx.ModelProto, *, times: float = 2.0) -> tuple[Network, Model]:
    """The network of a model and its export, which has the same network, in few bytes."""
    net = import_model(model)
    written = export(net)
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=16, runtime="onnxruntime").passed
    return net, written


def operators_for_each_sample(net: Network) -> list[str]:
    """The operators inside of the Scans over samples of an export for any number of them."""
    written = export(net, batch_dimension="N")
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=16, runtime="onnxruntime").passed
    scans = [each for each in written.graph.node if each.op_type == "Scan"]
    return [inner.op_type for each in scans for inner in each.given_attributes["body"].node]


@FEATURES
@pytest.mark.parametrize("name", sorted(CASES))
def test_onnx_s_own_cases_come_back(name):
    model = CASES[name].model
    _net, _written = come_back(model)


WINDOWS = [
    ("Conv", ((1, 2, 9), (3, 2, 3)), {"strides": [2], "pads": [1, 0]}),
    ("Conv", ((2, 2, 6, 7), (3, 2, 3, 3)), {"strides": [2, 1], "dilations": [1, 2]}),
    ("Conv", ((1, 4, 6, 7), (6, 2, 3, 3)), {"group": 2, "pads": [1, 0, 1, 2]}),
    ("Conv", ((1, 2, 6, 5), (3, 2, 3, 3), (3,)), {}),
    ("Conv", ((1, 2, 4, 4, 5), (2, 2, 2, 3, 1)), {"strides": [2, 1, 2]}),
    ("ConvTranspose", ((1, 4, 5), (4, 3, 3), (3,)), {"strides": [2]}),
    ("ConvTranspose", ((2, 4, 3, 4), (4, 1, 2, 2)), {"group": 2, "strides": [2, 2]}),
    (
        "ConvTranspose",
        ((1, 1, 4, 4), (1, 2, 3, 3)),
        {"dilations": [2, 1], "pads": [1, 0, 0, 1]},
    ),
]


@FEATURES
@pytest.mark.parametrize(("window", "behind"), every(WINDOWS, ["", "Tanh", "Flatten"]), ids=str)
def test_windows_come_back(window, behind):
    operator, shapes, attributes = window
    inputs = dict(zip("xwb", shapes, strict=False))
    nodes = [node(operator, " ".join(inputs), "c", **attributes)]
    if behind:
        nodes.append(node(behind, "c", "y"))
    _net, _written = come_back(of_inputs(nodes, inputs))


@FEATURES
@pytest.mark.parametrize("groups", [1, 4])
def test_a_picture_slides_over_another(groups):
    rng = np.random.default_rng(0)
    nodes = [
        *(node("Conv", f"{each} k", f"{each}_c") for each in "xz"),
        *(node("Relu", f"{each}_c", f"{each}_r") for each in "xz"),
        node("Reshape", "z_r shape", "kernel"),
        node("Conv", "x_r kernel", "found", group=groups),
        node("Sigmoid", "found", "y"),
    ]
    constants = {"k": rng.normal(size=(4, 3, 3, 3)), "shape": [groups, 4 // groups, 4, 4]}
    inputs = {"x": (1, 3, 12, 12), "z": (1, 3, 6, 6)}
    net, _written = come_back(of_inputs(nodes, inputs, **constants))
    assert operators_for_each_sample(net)[0] == "Conv"


@FEATURES
def test_a_changed_tap_leaves_neurons():
    model = of_inputs([node("Conv", "x w", "y")], {"x": (1, 1, 5, 5), "w": (1, 1, 3, 3)})
    document = import_model(model).to_document().model_dump()
    document["connections"][7]["weight"] = 0.5
    changed = Network.from_document(document)
    written = export(changed)
    assert "Conv" not in operators(written)
    assert verify(changed, written, samples=16, runtime="onnxruntime").passed


def test_a_kernel_that_is_computed_takes_every_axis_for_features():
    model = of_inputs([node("Conv", "x w", "y")], {"x": (1, 1, 5, 5), "w": (1, 1, 3, 3)})
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        import_model(model)


@FEATURES
def test_a_network_of_many_connections_comes_back():
    inputs = {"x": (1, 16, 24, 24), "w": (16, 16, 3, 3)}
    net, _ = come_back(of_inputs([node("Conv", "x w", "y", pads=[1, 1, 1, 1])], inputs))
    assert len(net.connections) > 1_048_576
