"""Draft: the document while it is being written."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from neat_onnx.libraries.neataptic_ts.onnx.write.metadata import Metadata
from neat_onnx.model import Graph, Node, Tensor, ValueInfo, node_class
from neat_onnx.options import ExportOptions


@dataclass
class Draft:
    """What has been written so far.

    Attributes:
        options: as chosen.
        metadata: of the model.
        inputs, outputs, initializers, nodes: of the graph.
        tensor: what the next layer reads.
    """

    options: ExportOptions
    metadata: Metadata
    inputs: list[ValueInfo] = field(default_factory=list)
    outputs: list[ValueInfo] = field(default_factory=list)
    initializers: list[Tensor] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    tensor: str = "input"

    def port(self, name: str, size: int) -> ValueInfo:
        """An input or output of that many neurons, with a batch axis if there is to be one."""
        return ValueInfo.of(name, shape=["N", size] if self.options.batch_dimension else [size])

    def initializer(self, name: str, values: npt.ArrayLike) -> str:
        """Add a tensor; returns its name."""
        self.initializers.append(Tensor.of(name, values))
        return name

    def node(
        self, op_type: str, inputs: Sequence[str], output: str, name: str, **attributes: Any
    ) -> str:
        """Add a node; returns the name of its output."""
        kind = node_class(op_type)
        declared = kind.model_fields["attributes"].annotation
        assert declared is not None
        self.nodes.append(
            kind(name=name, input=list(inputs), output=[output], attributes=declared(**attributes))
        )
        return output

    def graph(self) -> Graph:
        return Graph(
            inputs=self.inputs,
            outputs=self.outputs,
            initializer=self.initializers,
            node=self.nodes,
        )
