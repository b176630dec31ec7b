"""ONNX graphs written by onnx's own helpers, and onnxruntime to say what they compute."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support.harness.sessions import open_session
from support.harness.sweep import WHOLE

from neat_onnx import Model, Network, export, import_model, validate

Shape = Sequence[int | str]


def node(operator: str, reads: str, gives: str, **attributes: Any) -> onnx.NodeProto:
    """A node named after what it gives; `_` in `reads` is an input that is left out."""
    names = ["" if name == "_" else name for name in reads.split()]
    return helper.make_node(operator, names, gives.split(), f"make_{gives}", **attributes)


Nodes = str | onnx.NodeProto | Sequence["Nodes"]


def nodes_of(nodes: Nodes) -> list[onnx.NodeProto]:
    """Nodes, or ONNX's own text of some, as `h = MatMul(x, w) y = Softmax<axis=1>(h)`, in a list;
    those of texts are named as `node` names them.
    """
    if isinstance(nodes, onnx.NodeProto):
        return [nodes]
    if not isinstance(nodes, str):
        return [found for each in nodes for found in nodes_of(each)]
    parsed = onnx.parser.parse_graph(f"g (float x) => (float y) {{ {nodes} }}").node
    for each in parsed:
        each.name = f"make_{' '.join(each.output)}"
    return list(parsed)


def graph(
    nodes: Nodes,
    *,
    x: Shape = ("N", 3),
    beside: Mapping[str, Shape] | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = 18,
    **constants: Any,
) -> onnx.ModelProto:
    """A float32 model with the input x, others of these shapes beside it, and initializers."""
    inputs = {"x": x, **(beside or {})}
    return graph_of_inputs(nodes, inputs, outputs=outputs, opset=opset, **constants)


def graph_of_inputs(
    nodes: Nodes,
    inputs: Mapping[str, Shape],
    *,
    outputs: Sequence[str] | Mapping[str, Shape] = ("y",),
    opset: int = 18,
    **constants: Any,
) -> onnx.ModelProto:
    """A float32 model with inputs of these shapes, and initializers; outputs may have shapes."""
    nodes = nodes_of(nodes)
    tensors = [
        numpy_helper.from_array(
            np.asarray(value, np.int64 if np.asarray(value).dtype.kind == "i" else np.float32), name
        )
        for name, value in constants.items()
    ]
    stated = outputs if isinstance(outputs, Mapping) else dict.fromkeys(outputs)
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in each]
        for each in (inputs.items(), stated.items())
    ]
    body = helper.make_graph(list(nodes), "graph", *ends, tensors)
    return helper.make_model(
        body, opset_imports=[helper.make_opsetid("", opset)], ir_version=9 if opset > 18 else 8
    )


def operators(model: Model | onnx.ModelProto) -> list[str]:
    """The operators of a graph's nodes, in their order."""
    return [each.op_type for each in model.graph.node]


def computed(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    """The first output of a model with the input x, as onnxruntime gives it."""
    return open_session(model).run(None, {"x": x})[0]


def assert_lifts(model: onnx.ModelProto, rows: int = 6, scale: float = 1.0) -> Network:
    """Import the model, and assert that the network gives what onnxruntime gives."""
    net = import_model(model, check=False)  # by onnxruntime, below
    shape = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim][1:]
    x = (scale * np.random.default_rng(0).normal(size=(rows, *shape))).astype(np.float32)
    session = open_session(model)
    names = [output.name for output in session.get_outputs()]
    got = net.activate({"x": x})
    assert list(got) == names
    for name, want in zip(names, session.run(names, {"x": x}), strict=True):
        np.testing.assert_allclose(got[name], want, rtol=2e-6, atol=2e-6)
    return net


_FORMS = (("float64", 13), ("float32", 25))


def assert_valid_in_any_form(net: Network) -> None:
    """Assert that exports of both types, and of an old and a new opset, are valid, and load; of one
    of the two where not a whole sweep is tested.
    """
    for dtype, opset in _FORMS if WHOLE else _FORMS[len(net) % 2 :][:1]:
        model = export(net, dtype=dtype, opset=opset)
        assert validate(model) == []
        open_session(model)
