"""Models of sequences x [N, T, 3] with a static input s [N, 2], which has no axis of time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from support.examples.graphs import Nodes, graph_of_inputs, node, nodes_of
from support.harness.sessions import open_session

from neat_onnx import Network, export, import_model, verify
from neat_onnx.network.genes import Floats

UNITS = 4
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LENGTHS = ((1, 1), (1, 5), (4, 1), (3, 6))
"""Numbers of samples and steps to run a model with."""


def layer(operator: str, reads: str, gives: str, start: str = "") -> list[onnx.NodeProto]:
    """A recurrent layer over [N, T, F] named `reads`: `gives` [T, N, H], and its end [N, H]."""
    weights = " ".join(f"{name}_{operator}_{reads}" for name in "WRB")
    reads_start = f" _ {start}" if start else ""
    every, last = f"{gives}_each", f"{gives}_last"
    return [
        node("Transpose", reads, f"{reads}_steps", perm=[1, 0, 2]),
        node(
            operator, f"{reads}_steps {weights}{reads_start}", f"{every} {last}", hidden_size=UNITS
        ),
        node("Squeeze", f"{every} second", gives),
        node("Squeeze", f"{last} first", f"{gives}_end"),
    ]


def conditioned(
    nodes: Nodes,
    outputs: Sequence[str] = ("y",),
    s: Sequence[Any] = ("N", 2),
    **constants: Any,
) -> onnx.ModelProto:
    """A model with these nodes; layers have random weights, and so have `into_H` and `into_3`."""
    nodes, rng = nodes_of(nodes), np.random.default_rng(1)
    known = {"into_H": rng.normal(size=(2, UNITS)), "into_3": rng.normal(size=(2, 3))}
    known |= {"first": np.array([0]), "second": np.array([1]), "third": np.array([2])} | constants
    for operator, gates in _GATES.items():
        for reads, width in (("x", 3), ("also", 3), ("wide", 5), ("s1", 2)):
            known |= {
                f"W_{operator}_{reads}": rng.normal(size=(1, gates * UNITS, width)),
                f"R_{operator}_{reads}": rng.normal(size=(1, gates * UNITS, UNITS)),
                f"B_{operator}_{reads}": rng.normal(size=(1, 2 * gates * UNITS)),
            }
    read = {name for each in nodes for name in each.input}
    model = graph_of_inputs(
        nodes,
        {"x": ["N", "T", 3], "s": s},
        outputs=outputs,
        opset=17,
        **{name: values for name, values in known.items() if name in read},
    )
    return onnx.shape_inference.infer_shapes(model)


def run(model: onnx.ModelProto, samples: int, steps: int) -> list[Floats]:
    """The outputs of a model for random inputs of so many samples and steps."""
    rng, sizes = np.random.default_rng(2), {"N": samples, "T": steps}
    feed = {
        entry.name: rng.normal(
            size=[
                sizes.get(axis.dim_param, axis.dim_value)
                for axis in entry.type.tensor_type.shape.dim
            ]
        ).astype(np.float32)
        for entry in sorted(model.graph.input, key=lambda entry: entry.name)
    }
    return open_session(model).run(None, feed)


def assert_comes_back(model: onnx.ModelProto) -> Network:
    """Assert that the export takes the inputs of the model, and gives its outputs."""
    net = import_model(model)
    exported = export(net)
    proto = exported.to_proto()
    for mine, theirs in zip(proto.graph.input, model.graph.input, strict=True):
        assert (mine.name, len(mine.type.tensor_type.shape.dim)) == (
            theirs.name,
            len(theirs.type.tensor_type.shape.dim),
        )
    for samples, steps in LENGTHS:
        for mine, theirs in zip(
            run(proto, samples, steps), run(model, samples, steps), strict=True
        ):
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
    assert verify(net, exported, samples=16).passed
    assert verify(net, model, samples=16).passed
    assert import_model(exported) == net
    return net
