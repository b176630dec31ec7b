"""RNN, LSTM and GRU nodes for the tests."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support.harness.sessions import open_session

from neat_onnx.network.genes import Floats

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STATES = {"RNN": 1, "GRU": 1, "LSTM": 2}
Array = np.ndarray[Any, Any]


@dataclass
class Case:
    """One node with all that it is given, and its size."""

    op: str
    inputs: int
    units: int
    attributes: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Array] = field(default_factory=dict)
    directions: int = 1

    def model(self, x: Array, dims: list[Any] | None = None) -> onnx.ModelProto:
        """The node on its own; without `dims` X has the shape of `x`."""
        order = ["X", "W", "R", "B", "", *("initial_h", "initial_c")[: STATES[self.op]]]
        names = [name if name in ("X", *self.tensors) else "" for name in order]
        names += ["P"] if "P" in self.tensors else []
        while not names[-1]:
            names.pop()
        outputs = ["Y", "Y_h", "Y_c"][: 1 + STATES[self.op]]
        node = helper.make_node(
            self.op, names, outputs, **({"hidden_size": self.units} | self.attributes)
        )
        dims = dims or list(x.shape)
        t, n = dims[:2]
        shapes = [[t, self.directions, n, self.units]] + [[self.directions, n, self.units]] * 2
        return one_graph(
            [node], {"X": dims}, dict(zip(outputs, shapes, strict=False)), self.tensors
        )


def one_graph(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[Any]],
    outputs: dict[str, list[Any]],
    tensors: dict[str, Array],
) -> onnx.ModelProto:
    entries = [
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
            for name, dims in ends.items()
        ]
        for ends in (inputs, outputs)
    ]
    initializer = [numpy_helper.from_array(values, name) for name, values in tensors.items()]
    graph = helper.make_graph(nodes, "graph", *entries, initializer)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def in_onnxruntime(model: onnx.ModelProto, x: Array) -> dict[str, Array]:
    session = open_session(model)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": x}), strict=True))


def assert_close(got: Floats, want: Array, tolerance: float) -> None:
    assert got.shape == want.shape
    assert np.all(np.abs(got - want) <= tolerance * np.maximum(1.0, np.abs(want)))
