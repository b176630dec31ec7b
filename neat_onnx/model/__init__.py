"""Model: the content of an ONNX file, as Pydantic models of JSON ONNX."""

from neat_onnx.model.attributes import Attributes
from neat_onnx.model.budget import limits
from neat_onnx.model.data_type import DataType
from neat_onnx.model.graph import Graph, MetadataEntry, OpenNode, OperatorSet
from neat_onnx.model.model import Model, load_model
from neat_onnx.model.node import Node, node_class, node_classes
from neat_onnx.model.tensor import Tensor
from neat_onnx.model.validate import validate
from neat_onnx.model.value import ValueInfo
from neat_onnx.model.wiring import Finding

__all__ = [
    "Attributes",
    "DataType",
    "Finding",
    "Graph",
    "MetadataEntry",
    "Model",
    "Node",
    "OpenNode",
    "OperatorSet",
    "Tensor",
    "ValueInfo",
    "limits",
    "load_model",
    "node_class",
    "node_classes",
    "validate",
]
