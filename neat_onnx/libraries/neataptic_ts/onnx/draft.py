"""A document being written, and the model whose JSON has exactly NeatapticTS's keys."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
from pydantic import SerializerFunctionWrapHandler, model_serializer

from neat_onnx.errors import warn
from neat_onnx.libraries.neataptic_ts.onnx.metadata import MetadataWriter
from neat_onnx.libraries.neataptic_ts.onnx.names import INPUT, NodeNames
from neat_onnx.libraries.neataptic_ts.onnx.shapes import ATTRIBUTES
from neat_onnx.model import Graph, Model, Node, Tensor, ValueInfo, node_class
from neat_onnx.options import ExportOptions


class NeatapticModel(Model):
    """A model whose JSON holds every field that was given, empty ones too."""

    @model_serializer(mode="wrap")
    def _only_given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document = {
            key: value for key, value in handler(self).items() if key in self.model_fields_set
        }
        for entry in document.get("opset_import", ()):
            entry.setdefault("domain", "")
        for node in document["graph"]["node"]:
            if node["op_type"] in ("Conv", "MaxPool", "AveragePool"):
                node["attributes"].sort(key=lambda entry: ATTRIBUTES.index(entry["name"]))
        return document


@dataclass
class Draft:
    """The document so far.

    Attributes:
        options: the export's, with NeatapticTS's defaults.
        metadata: the model's.
        inputs, outputs, initializers, nodes: the graph's.
        tensor: the output of the last layer, which the next one reads.
    """

    options: ExportOptions
    metadata: MetadataWriter
    inputs: list[ValueInfo] = field(default_factory=list)
    outputs: list[ValueInfo] = field(default_factory=list)
    initializers: list[Tensor] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    tensor: str = INPUT

    def port(self, name: str, size: int) -> ValueInfo:
        """Return an input or output of `size` neurons, batched as the options say."""
        return ValueInfo.of(name, shape=["N", size] if self.options.batch_dimension else [size])

    def initializer(self, name: str, values: npt.ArrayLike) -> str:
        """Add a tensor and return its name."""
        self.initializers.append(Tensor.of(name, values))
        return name

    def node(self, op_type: str, names: NodeNames, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        kind = node_class(op_type)
        declared = kind.model_fields["attributes"].annotation
        assert declared is not None
        self.nodes.append(
            kind(
                name=names.node,
                input=list(inputs),
                output=[names.output],
                attributes=declared(**attributes),
            )
        )
        return names.output

    def graph(self) -> Graph:
        """Return the graph so far."""
        return Graph(
            inputs=self.inputs,
            outputs=self.outputs,
            initializer=self.initializers,
            node=self.nodes,
        )


def warn_repaired(text: str) -> None:
    """Warn that the document was repaired."""
    warn(f"repaired: {text}")


def with_graph(model: Model, **changes: Any) -> Model:
    """Return the model with fields of its graph replaced."""
    return model.model_copy(update={"graph": model.graph.model_copy(update=changes)})


def renamed(names: list[str], old: str, new: str) -> list[str]:
    """Return the names with `old` replaced by `new`."""
    return [new if name == old else name for name in names]
